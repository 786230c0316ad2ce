//! A keeper of a key, and others who ask for it: an algorithm that survives the death of anybody,
//! because the keeper writes down to whom it gave the key.
//!
//! Everybody repeats what it says until it is answered, and every request has a number that its
//! process never uses again, so that it does no harm if something is lost, or heard twice.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::algorithm::Replay;
use synod_core::card::{Crashes, Tolerance};
use synod_core::family::Mutex;
use synod_core::family::mutex::{Input, ME1, ME2, Output};
use synod_core::{
    Algorithm, Card, Cx, Durable, ProcessId, Protocol, Setup, SetupError, Wire, durable,
};

const KEEPER: ProcessId = ProcessId(0);
const AGAIN_MS: u64 = 20;
/// After so many records the keeper begins its log anew.
const LONGEST_LOG: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Message {
    /// To the keeper: the key, for my request with this number.
    Ask(u64),
    /// To the keeper: whatever I had up to this number, I need no more.
    Return(u64),
    /// From the keeper: here it is; it was given away so often.
    Key(u64, u64),
    /// From the keeper: so it is.
    Returned(u64),
}

impl Wire for Message {}

/// To whom the key was given and for which request, and how often that happened; nobody if it is
/// back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Given {
    to: Option<(ProcessId, u64)>,
    times: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Again {
    Say,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Keeper {
    /// At the keeper. The queue is not written down: who waits asks again.
    given: Given,
    records: u64,
    queue: VecDeque<(ProcessId, u64)>,
    /// At the others: the number of the request, what is repeated until it is answered, and whether
    /// the application waits.
    number: u64,
    repeat: Option<Message>,
    wants: bool,
}

impl Keeper {
    fn say(&mut self, message: Message, cx: &mut Cx<'_, Self>) {
        self.repeat = Some(message);
        cx.send(KEEPER, message);
        cx.set_timer(Again::Say, AGAIN_MS);
    }

    fn ask(&mut self, cx: &mut Cx<'_, Self>) {
        self.number += 1;
        self.wants = false;
        self.say(Message::Ask(self.number), cx);
    }

    fn note(&mut self, to: Option<(ProcessId, u64)>, cx: &mut Cx<'_, Self>) {
        self.given = Given { to, times: self.given.times + u64::from(to.is_some()) };
        self.records += 1;
        match self.records.is_multiple_of(LONGEST_LOG) {
            true => cx.checkpoint(&self.given),
            false => cx.persist(&self.given),
        }
    }

    fn give(&mut self, cx: &mut Cx<'_, Self>) {
        if let (None, Some(next)) = (self.given.to, self.queue.pop_front()) {
            self.note(Some(next), cx);
            cx.send(next.0, Message::Key(next.1, self.given.times));
        }
    }

    fn on_ask(&mut self, from: ProcessId, number: u64, cx: &mut Cx<'_, Self>) {
        if self.given.to == Some((from, number)) {
            return cx.send(from, Message::Key(number, self.given.times));
        }
        if !self.queue.contains(&(from, number)) {
            self.queue.push_back((from, number));
        }
        self.give(cx);
    }

    fn on_return(&mut self, from: ProcessId, up_to: u64, cx: &mut Cx<'_, Self>) {
        self.queue.retain(|(who, number)| *who != from || *number > up_to);
        if self.given.to.is_some_and(|(who, number)| who == from && number <= up_to) {
            self.note(None, cx);
        }
        cx.send(from, Message::Returned(up_to));
        self.give(cx);
    }

    fn on_key(&mut self, number: u64, cx: &mut Cx<'_, Self>) {
        if self.repeat == Some(Message::Ask(number)) {
            self.repeat = None;
            cx.cancel_timer(Again::Say);
            cx.output(Output::Entered);
        }
    }

    fn on_returned(&mut self, number: u64, cx: &mut Cx<'_, Self>) {
        if self.repeat == Some(Message::Return(number)) {
            self.repeat = None;
            cx.cancel_timer(Again::Say);
            if self.wants {
                self.ask(cx);
            }
        }
    }
}

impl Protocol for Keeper {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Again;

    /// Who comes back does not know what it had, and gives it back.
    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.number = u64::from(cx.incarnation()) << 32;
        if cx.me() != KEEPER && cx.incarnation() > 1 {
            self.say(Message::Return(self.number), cx);
        }
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Enter if self.repeat.is_some() => self.wants = true,
            Input::Enter => self.ask(cx),
            Input::Exit => self.say(Message::Return(self.number), cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Ask(number) => self.on_ask(from, number, cx),
            Message::Return(up_to) => self.on_return(from, up_to, cx),
            Message::Key(number, _) => self.on_key(number, cx),
            Message::Returned(number) => self.on_returned(number, cx),
        }
    }

    fn on_timer(&mut self, Again::Say: Again, cx: &mut Cx<'_, Self>) {
        if let Some(message) = self.repeat {
            self.say(message, cx);
        }
    }
}

impl Durable for Keeper {
    type Record = Given;

    fn replay(&mut self, record: Given) {
        self.given = record;
        self.records += 1;
    }
}

impl Algorithm for Keeper {
    type Family = Mutex;
    const CARD: Card = Card {
        name: "keeper",
        smallest: 2,
        promises: &[ME1, ME2],
        tolerates: Tolerance {
            crashes: Crashes::None,
            recovery: true,
            loss: true,
            ..Tolerance::NOTHING
        },
        ..Card::BLANK
    };
    const REPLAY: Option<Replay<Self>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![Keeper::default(); setup.n])
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me != KEEPER
    }
}
