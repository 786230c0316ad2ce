//! A keeper of a key, and clients that ask for it. The algorithm survives the death of any process,
//! because the keeper writes the holder of the key to its disk.
//!
//! A client repeats each request until it is answered. Every request has a number that its process
//! never uses again, so lost and duplicated messages do no harm.

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
/// The keeper replaces its log by a checkpoint after this many records.
const LONGEST_LOG: u64 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Message {
    /// A client asks the keeper for the key, with this request number.
    Ask(u64),
    /// A client returns the key of all its requests up to this number.
    Return(u64),
    /// The keeper gives the key for this request; the second number counts how often it gave the
    /// key.
    Key(u64, u64),
    /// The keeper confirms a return.
    Returned(u64),
}

impl Wire for Message {}

/// The holder of the key with its request (None if the keeper has it), and how often the keeper
/// gave it.
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
    /// At the keeper. The queue is not durable: a waiting client asks again.
    given: Given,
    records: u64,
    queue: VecDeque<(ProcessId, u64)>,
    /// At a client: the number of its request, the message that it repeats until the answer, and
    /// whether the application waits.
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

    /// A restarted client does not know whether it held the key, and returns it.
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
