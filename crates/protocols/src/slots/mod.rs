//! SLOTS: a pool of identical resources, shared by a group, that stays usable on every side of a
//! partition.
//!
//! Every slot has an owner among the members, who uses it and stops using it without asking
//! anybody. All members know who owns what, in a replicated table that changes only when a message
//! or a view is delivered; the group's total order keeps the copies equal. Whoever runs short gets
//! slots from others: how, a *scheme* says. What happens when the group falls apart and comes
//! together again is the business of the membership.
//!
//! # Layout
//! - [`ranges`], [`table`], [`pool`]: sets of slots, the replicated table, one member's own slots
//! - [`settings`], [`message`], [`estate`]: what is fixed, what is said, what every rule set shares
//! - [`scheme`]: how slots move: [`donation`], or as it was [`published`]; [`heuristics`]: how many
//! - `membership`, `crossing`, `merge`: views, new members, parts that come together
//! - `literal`: the same as it was published; [`mutants`]: with a rule that does not hold
//!
//! # The rule that makes it safe
//! A slot of somebody who cannot be reached is *absent*: nobody uses it. Absent slots are given out
//! again only when every node that there is is accounted for: it is in the view and has said what
//! it owns, or no life of it can have anything (`crossing` says when that is known). So it costs
//! availability of some slots if a node is not accounted for, and never safety.
//!
//! - Assumes: the contract of [`synod_core::group`], with agreed delivery.
//! - Guarantees: no slot has two owners, on whichever sides of a partition (π1); members of a
//!   settled view agree on the table (π2); transactions end (π4); every side goes on (π15).
//! - Cost: nothing for a claim or a release; a join is one multicast, a merge one for each part.
//! - State: the table as runs, a bit and a token for each slot, what is unsaid for lack of room.

pub mod appetite;
mod bits;
mod card;
mod claims;
mod crossing;
#[cfg(test)]
mod dice;
pub mod donation;
pub mod estate;
pub mod exchange;
pub mod heuristics;
mod invariants;
mod literal;
mod membership;
mod merge;
pub mod message;
pub mod mutants;
pub mod offers;
pub mod pool;
mod proved;
pub mod published;
pub mod ranges;
mod refuted;
pub mod scheme;
pub mod settings;
pub mod table;
mod tokens;
mod view_by_view;

pub use card::SlotsAlgorithm;

use estate::{Estate, Stage};
use merge::Merging;
use message::{Body, Message};
use scheme::Scheme;
use serde::{Deserialize, Serialize};
use settings::{Beginning, Rules, Settings};
use synod_core::family::slots::{Input, Order, Output, Refusal, SlotId, Token};
use synod_core::group::{Delivery, Service, Session, View};
use synod_core::reductions::Fleeting;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// One member of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slots {
    /// The state that all rule sets share.
    estate: Estate,
    /// How slots move.
    scheme: Scheme,
    /// The statuses of the other parts, while parts come together.
    merging: Option<Merging>,
    /// The members that were initialised since the group was last settled.
    new: ProcessSet,
    /// The operator's commands of this view that are not delivered yet, at most one of each kind
    /// and node.
    orders: Vec<Body>,
    /// Whether this member has begun to leave.
    leaving: bool,
    /// The owners of slots when the group starts. Void after the first view.
    beginning: Option<Box<Beginning>>,
}

/// The timers of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Released slots cool down.
    Cool,
}

impl Service for Slots {
    type Message = Message;
    type Command = Input;
    type Notice = Output;
    type Timer = Timer;

    fn on_command(&mut self, command: Input, session: &mut Session<'_, Self>) {
        match command {
            Input::Claim => self.claim(None, session),
            Input::ClaimSlot(slot) => self.claim(Some(slot), session),
            Input::Release(slot, token) => self.release(slot, token, session),
            Input::CertifyDead(node) => self.order(Body::Certify(node), session),
            Input::Bootstrap => self.order(Body::Bootstrap, session),
            Input::Leave => self.leave(session),
        }
    }

    fn on_view(&mut self, view: &View, session: &mut Session<'_, Self>) {
        if self.estate.view == Some(view.id) || !view.contains(session.me()) {
            return;
        }
        if self.leaving {
            return session.leave();
        }
        self.void_orders(session);
        match self.estate.settings.rules {
            Rules::Paper => self.cross_literally(view, session),
            Rules::Repaired | Rules::Offers => self.cross(view, session),
        }
    }

    fn on_transitional(&mut self, _with: &ProcessSet, _session: &mut Session<'_, Self>) {
        // The published rules know nothing of it.
        if self.estate.settings.rules != Rules::Paper && self.estate.stage != Stage::Outside {
            self.estate.stage = Stage::Between;
            self.estate.unsay();
            self.merging = None;
            self.scheme.pause();
        }
    }

    fn on_deliver(&mut self, delivery: Delivery<Message>, session: &mut Session<'_, Self>) {
        let Delivery { sender, sent_in, message, .. } = delivery;
        self.estate.hear(sender.node, &message);
        // The rule of the view tags (step 2): a message of another view is void.
        let is_void = self.estate.view != Some(sent_in);
        if is_void && self.estate.settings.rules != Rules::Paper {
            return;
        }
        self.estate.delivered.0 += u64::from(!message.ends_with_its_view());
        self.on_body(sender.node, message.body, session);
        self.estate.say_rest(session);
    }

    fn on_room(&mut self, session: &mut Session<'_, Self>) {
        self.estate.say_rest(session);
    }

    fn on_lost(&mut self, session: &mut Session<'_, Self>) {
        self.begin_anew();
        session.cancel_timer(Timer::Cool);
        session.tell(Output::Lost);
    }

    fn on_timer(&mut self, timer: Timer, session: &mut Session<'_, Self>) {
        match timer {
            Timer::Cool => self.cool(session),
        }
    }
}

impl Slots {
    /// The member at `me`, as the parameters say. `configured` are all nodes that may be members.
    pub fn from_setup(
        me: ProcessId,
        configured: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self, SetupError> {
        let settings = Settings::from_setup(configured.clone(), setup)?;
        let scheme = Scheme::from_setup(&settings, setup)?;
        let beginning = Beginning::from_setup(&settings, setup)?.map(Box::new);
        Ok(Slots {
            estate: Estate::new(me, settings),
            scheme,
            merging: None,
            new: ProcessSet::EMPTY,
            orders: Vec::new(),
            leaving: false,
            beginning,
        })
    }

    /// A process that is never a member. Explorers copy it all the time, so it has no pool.
    fn without_a_pool(self) -> Self {
        let Estate { me, settings, .. } = self.estate;
        let settings = Settings { slots: 0, reserved: Vec::new(), ..settings };
        Slots { estate: Estate::new(me, settings), beginning: None, ..self }
    }

    /// The state that all rule sets share.
    pub fn estate(&self) -> &Estate {
        &self.estate
    }

    /// How slots move.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    fn claim(&mut self, which: Option<SlotId>, session: &mut Session<'_, Self>) {
        if self.leaving {
            return session.tell(Output::Refused(Refusal::Outside));
        }
        session.tell(match self.estate.claim(which) {
            Ok((slot, token)) => Output::Claimed(slot, token),
            Err(why) => Output::Refused(why),
        });
        self.scheme.on_need(&mut self.estate, session);
    }

    fn release(&mut self, slot: SlotId, token: Token, session: &mut Session<'_, Self>) {
        if !self.estate.release(slot, token) {
            return session.tell(Output::Stale(slot));
        }
        session.tell(Output::Released(slot));
        let cools = self.estate.settings.cooldown_ms;
        if cools > 0 && self.estate.cooling() == 1 {
            session.set_timer(Timer::Cool, cools);
        }
        self.scheme.on_release(&mut self.estate, session);
    }

    fn cool(&mut self, session: &mut Session<'_, Self>) {
        if self.estate.warm() {
            session.set_timer(Timer::Cool, self.estate.settings.cooldown_ms);
        }
        self.scheme.on_release(&mut self.estate, session);
    }

    /// An operator gives a command. This member multicasts it when the group is settled. The
    /// command counts in this view only.
    fn order(&mut self, order: Body, session: &mut Session<'_, Self>) {
        if let Body::Certify(node) = order
            && !self.estate.settings.configured.contains(node)
        {
            return;
        }
        if !self.orders.contains(&order) {
            self.orders.push(order.clone());
            match self.estate.stage {
                Stage::Settled => self.estate.say(order, session),
                Stage::Unsettled => {}
                Stage::Outside | Stage::Between => self.void_orders(session),
            }
        }
    }

    /// An operator's command is about the nodes that are elsewhere when it is given. A new view
    /// means that other nodes are elsewhere. So the command may be wrong by now, and the operator
    /// has to give it again.
    fn void_orders(&mut self, session: &mut Session<'_, Self>) {
        for order in std::mem::take(&mut self.orders) {
            session.tell(match order {
                Body::Certify(node) => Output::Void(Order::CertifyDead(node)),
                _ => Output::Void(Order::Bootstrap),
            });
        }
    }

    /// Drops all ownership and all knowledge.
    fn begin_anew(&mut self) {
        self.estate.forget();
        self.scheme.reset();
        self.merging = None;
        self.new.clear();
        self.orders.clear();
        self.leaving = false;
        self.beginning = None;
    }
}
