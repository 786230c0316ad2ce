//! Every member has the same share for ever, without any message.

use crate::policy::{Holding, Policy};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use synod_core::ProcessId;
use synod_core::family::slots::{Input, Output, Refusal, SlotId, Token};
use synod_core::group::{Delivery, Service, Session, View};
use synod_core::protocol::Never;

/// One member.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StaticSplit {
    free: BTreeSet<u32>,
    used: u32,
}

impl StaticSplit {
    /// The group: slots are dealt out in turn, so the first members may have one more.
    pub fn group(nodes: usize, slots: u32) -> Vec<Self> {
        let mut members = vec![StaticSplit { free: BTreeSet::new(), used: 0 }; nodes];
        for slot in 0..slots {
            members[slot as usize % nodes].free.insert(slot);
        }
        members
    }
}

impl Service for StaticSplit {
    type Message = Never;
    type Command = Input;
    type Notice = Output;
    type Timer = Never;

    fn on_command(&mut self, command: Input, session: &mut Session<'_, Self>) {
        match command {
            Input::Claim => match self.free.pop_first() {
                None => session.notify(Output::Refused(Refusal::Starved)),
                Some(slot) => {
                    self.used += 1;
                    session.notify(Output::Claimed(SlotId(slot), Token::default()));
                }
            },
            Input::Release(slot, _) if self.free.insert(slot.0) => self.used -= 1,
            _ => {}
        }
    }

    fn on_view(&mut self, _view: &View, _session: &mut Session<'_, Self>) {}

    fn on_deliver(&mut self, delivery: Delivery<Never>, _session: &mut Session<'_, Self>) {
        match delivery.message {}
    }

    fn on_lost(&mut self, _session: &mut Session<'_, Self>) {}
}

impl Policy for StaticSplit {
    fn holding(&self) -> Holding {
        Holding { used: self.used, free: self.free.len() as u32, pledged: 0 }
    }

    fn answers(_message: &Never, _sender: ProcessId, _to: ProcessId) -> bool {
        false
    }
}
