//! A member's part of the abstract engine: it passes events on to its service, and counts
//! multicasts.

use super::settings::{Passing, Settings};
use super::{Abstract, Message, ORACLE, WINDOW};
use serde::{Deserialize, Serialize};
use synod_core::Cx;
use synod_core::group::{Ask, Event, Member, ViewId};
use synod_core::reductions::Fleeting;

/// A member.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stub {
    /// Whether the engine offers safe delivery.
    pub(super) safe: bool,
    /// Whether a multicast of this member may be under way for any time.
    late: bool,
    standing: Standing,
    /// Multicasts of this member, made in its present view, that it has not delivered yet.
    under_way: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Standing {
    /// Not in the group. The number is the life in which this member left, because the oracle goes
    /// on passing it events until it knows; 0 if the oracle excluded it.
    Outside(u32),
    /// In the group, as this member, in this view.
    Inside(Member, ViewId),
}

impl Stub {
    pub(super) fn new(settings: &Settings) -> Self {
        Stub {
            safe: settings.safe,
            // A lazy oracle has a multicast at once, and gives it its place when it chooses.
            late: settings.late && settings.passing != Passing::Lazy,
            standing: Standing::Outside(0),
            under_way: 0,
        }
    }

    pub(super) fn room(&self) -> usize {
        match self.standing {
            Standing::Outside(_) => 0,
            Standing::Inside(..) => WINDOW - self.under_way,
        }
    }

    pub(super) fn on_ask<M: Fleeting>(&mut self, ask: Ask<M>, cx: &mut Cx<'_, Abstract<M>>) {
        match (ask, self.standing) {
            (Ask::Multicast { level, message }, Standing::Inside(sender, sent_in))
                if self.room() > 0 =>
            {
                self.under_way += 1;
                let late = self.late;
                cx.send(ORACLE, Message::Cast { sender, sent_in, level, message, late });
            }
            (Ask::Multicast { message, .. }, _) => cx.output(Event::Refused(message)),
            (Ask::Leave, Standing::Inside(member, _)) => {
                cx.send(ORACLE, Message::Leave(member));
                self.on_event(Event::Lost, cx);
                self.standing = Standing::Outside(member.incarnation);
            }
            (Ask::Leave, Standing::Outside(_)) => {}
        }
    }

    /// Outside the group a member ignores every event but a view of its next life: the oracle goes
    /// on passing events to a member that left until it knows.
    pub(super) fn on_event<M: Fleeting>(&mut self, event: Event<M>, cx: &mut Cx<'_, Abstract<M>>) {
        let was_full = matches!(self.standing, Standing::Inside(..)) && self.room() == 0;
        match (&event, self.standing) {
            (Event::View(view), standing) => {
                let Some(member) = view.member(cx.me()) else { return };
                match standing {
                    Standing::Outside(lives) if member.incarnation <= lives => return,
                    _ => self.standing = Standing::Inside(member, view.id),
                }
                self.under_way = 0;
            }
            (_, Standing::Outside(_)) => return,
            (Event::Lost, Standing::Inside(..)) => {
                self.standing = Standing::Outside(0);
                self.under_way = 0;
            }
            (Event::Deliver(delivery), Standing::Inside(member, view)) => {
                let own = delivery.sender == member && delivery.sent_in == view;
                self.under_way = self.under_way.saturating_sub(usize::from(own));
            }
            (Event::Transitional(_) | Event::Refused(_) | Event::Room, _) => {}
        }
        let may_tell = matches!(event, Event::Deliver(_) | Event::View(_));
        let has_room = was_full && may_tell && self.room() > 0;
        cx.output(event);
        if has_room {
            cx.output(Event::Room);
        }
    }
}
