//! The paper's baseline: slots without an owner lie in one heap, and every change of it is a
//! multicast.
//!
//! A member without a free slot multicasts FORK, and every member that delivers it gives the first
//! [`BATCH`] slots of the heap to the sender. A member with [`HIGH`] free slots or more multicasts
//! EXIT with [`BATCH`] of them, and they go back to the heap. Each member has one FORK and one EXIT
//! under way at most; it repeats a FORK that brings no slot at once.
//!
//! With the *slip* the baseline does what the authors' public simulation does: an EXIT with four
//! slots puts slots 0 to 3 back to the heap, not those that it names. The named slots have no owner
//! ever after, and the users of slots 0 to 3 lose them without notice.
//!
//! Source: section V of the paper; the sizes and the slip are in the authors' public simulation.

use crate::policy::{Holding, Policy, Program};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::ProcessId;
use synod_core::family::slots::{Input, Output, Refusal, SlotId, Token};
use synod_core::group::{Delivery, Level, Service, Session, View};
use synod_core::protocol::{Never, Wire};

/// The number of slots that are taken and given back at a time.
const BATCH: usize = 4;
/// A member with this many free slots gives some back.
const HIGH: u32 = 8;

/// One member.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MutualExclusion {
    slip: bool,
    heap: Heap,
    free: Heap,
    used: BTreeMap<u32, u64>,
    claims: u64,
    taking: bool,
    giving: bool,
}

/// A multicast.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The sender needs slots.
    Fork,
    /// The sender gives these slots back.
    Exit(Vec<u32>),
}

impl Wire for Message {}

impl MutualExclusion {
    /// A member of a group that shares `slots` slots.
    pub fn new(slots: u32, slip: bool) -> Self {
        MutualExclusion {
            slip,
            heap: Heap::full(slots),
            free: Heap::empty(slots),
            used: BTreeMap::new(),
            claims: 0,
            taking: false,
            giving: false,
        }
    }

    fn claim(&mut self, session: &mut Session<'_, Self>) {
        match self.free.take_first() {
            None => session.notify(Output::Refused(Refusal::Starved)),
            Some(slot) => {
                self.claims += 1;
                self.used.insert(slot, self.claims);
                session
                    .notify(Output::Claimed(SlotId(slot), Token { epoch: 1, count: self.claims }));
            }
        }
    }

    fn release(&mut self, slot: SlotId, token: Token, session: &mut Session<'_, Self>) {
        if self.used.get(&slot.0) != Some(&token.count) {
            return session.notify(Output::Stale(slot));
        }
        self.used.remove(&slot.0);
        self.free.insert(slot.0);
        session.notify(Output::Released(slot));
    }

    fn on_fork(&mut self, mine: bool) {
        for _ in 0..BATCH {
            let Some(slot) = self.heap.take_first() else { break };
            if mine {
                self.free.insert(slot);
            }
        }
        self.taking &= !mine;
    }

    fn on_exit(&mut self, given: &[u32], mine: bool) {
        for (place, slot) in given.iter().enumerate() {
            let slot = if self.slip { place as u32 } else { *slot };
            self.heap.insert(slot);
            self.free.remove(slot);
            self.used.remove(&slot);
        }
        self.giving &= !mine;
    }
}

impl Service for MutualExclusion {
    type Message = Message;
    type Command = Input;
    type Notice = Output;
    type Timer = Never;

    fn on_command(&mut self, command: Input, session: &mut Session<'_, Self>) {
        match command {
            Input::Claim => self.claim(session),
            Input::Release(slot, token) => self.release(slot, token, session),
            _ => {}
        }
    }

    fn on_view(&mut self, _view: &View, _session: &mut Session<'_, Self>) {}

    fn on_deliver(&mut self, delivery: Delivery<Message>, session: &mut Session<'_, Self>) {
        let mine = delivery.sender.node == session.me();
        match delivery.message {
            Message::Fork => self.on_fork(mine),
            Message::Exit(given) => self.on_exit(&given, mine),
        }
    }

    fn on_lost(&mut self, _session: &mut Session<'_, Self>) {}
}

impl Policy for MutualExclusion {
    const MANAGES: bool = true;

    fn program(&self) -> Program {
        Program { ends_first: true, counts_passes: false }
    }

    /// Takes or gives back slots, if it must.
    fn manage(&mut self, session: &mut Session<'_, Self>) {
        if self.free.count == 0 && !self.taking {
            self.taking = session.multicast(Level::Agreed, Message::Fork).is_ok();
        }
        if self.free.count >= HIGH && !self.giving {
            let given = (0..BATCH).filter_map(|_| self.free.take_first()).collect();
            self.giving = session.multicast(Level::Agreed, Message::Exit(given)).is_ok();
        }
    }

    fn holding(&self) -> Holding {
        Holding { used: self.used.len() as u32, free: self.free.count, pledged: 0 }
    }

    fn answers(message: &Message, sender: ProcessId, to: ProcessId) -> bool {
        *message == Message::Fork && sender == to
    }
}

/// A set of slots from which the first is taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Heap {
    words: Vec<u64>,
    count: u32,
}

impl Heap {
    fn empty(slots: u32) -> Self {
        Heap { words: vec![0; slots.div_ceil(64) as usize], count: 0 }
    }

    fn full(slots: u32) -> Self {
        let mut heap = Heap::empty(slots);
        (0..slots).for_each(|slot| heap.insert(slot));
        heap
    }

    fn place(slot: u32) -> (usize, u64) {
        (slot as usize / 64, 1 << (slot % 64))
    }

    /// Adds a slot; ignores one that does not exist.
    fn insert(&mut self, slot: u32) {
        let (place, bit) = Heap::place(slot);
        if let Some(word) = self.words.get_mut(place).filter(|word| **word & bit == 0) {
            *word |= bit;
            self.count += 1;
        }
    }

    fn remove(&mut self, slot: u32) {
        let (place, bit) = Heap::place(slot);
        if let Some(word) = self.words.get_mut(place).filter(|word| **word & bit != 0) {
            *word &= !bit;
            self.count -= 1;
        }
    }

    fn take_first(&mut self) -> Option<u32> {
        let place = self.words.iter().position(|word| *word != 0)?;
        let slot = place as u32 * 64 + self.words[place].trailing_zeros();
        self.remove(slot);
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use synod_core::group::{Act, Capabilities, Member, ViewId};

    const CAN: Capabilities =
        Capabilities { safe: true, partitionable: true, came_with: true, longest_message: 1_000 };

    /// Delivers a multicast of p0 at `member`, which is p0.
    fn deliver(member: &mut MutualExclusion, message: Message) -> VecDeque<Act<MutualExclusion>> {
        let p0 = ProcessId(0);
        let delivery = Delivery {
            sender: Member { node: p0, incarnation: 1 },
            sent_in: ViewId { epoch: 1, by: Member { node: p0, incarnation: 1 } },
            level: Level::Agreed,
            message,
        };
        let mut acts = VecDeque::new();
        member.on_deliver(delivery, &mut Session::new(p0, CAN, 9, &mut acts));
        acts
    }

    #[test]
    fn a_release_gives_back_what_it_names() {
        let mut member = MutualExclusion::new(12, false);
        (0..2).for_each(|_| drop(deliver(&mut member, Message::Fork)));
        // Eight free slots are too many: the first four are on their way back.
        let mut acts = VecDeque::new();
        member.manage(&mut Session::new(ProcessId(0), CAN, 9, &mut acts));
        let given = Message::Exit(vec![0, 1, 2, 3]);
        assert_eq!(acts, [Act::Multicast(Level::Agreed, given)]);
        assert_eq!(member.holding().free, 4);
        deliver(&mut member, Message::Exit(vec![0, 1, 2, 3]));
        assert_eq!((member.holding().free, member.heap.count), (4, 8));
    }

    #[test]
    fn with_the_slip_released_slots_leak_and_others_are_lost() {
        let mut member = MutualExclusion::new(12, true);
        deliver(&mut member, Message::Fork);
        let mut acts = VecDeque::new();
        member.on_command(Input::Claim, &mut Session::new(ProcessId(0), CAN, 9, &mut acts));
        assert_eq!(member.holding(), Holding { used: 1, free: 3, pledged: 0 });
        // Another member gave back 8 to 11: slots 0 to 3 are in the heap, though this member owned
        // them.
        deliver(&mut member, Message::Exit(vec![8, 9, 10, 11]));
        assert_eq!(member.holding().owned(), 0);
        assert_eq!(member.heap.take_first(), Some(0));
    }

    #[test]
    fn forged_slots_are_no_reason_to_panic() {
        let mut member = MutualExclusion::new(12, false);
        deliver(&mut member, Message::Exit(vec![u32::MAX, 5_000]));
        assert_eq!(member.heap.count, 12);
    }
}
