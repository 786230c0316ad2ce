//! The replicas' side: requests into the log, and the log into the state.

use super::replicated::{Asks, EventOf};
use super::{
    Ask, Command, Engine, Entry, Event, Message, Notice, Outcome, Reads, Replicated, RequestId,
    Sessions, StateMachine, sessions::Status,
};
use crate::cx::Cx;
use crate::process::ProcessId;

/// At most this many reads wait at a process.
const MOST_READS: usize = 4_096;

impl<M: StateMachine, L: Engine<Command<M::Operation>, Sessions<M>>> Replicated<M, L> {
    pub(super) fn on_request(
        &mut self,
        from: ProcessId,
        command: Command<M::Operation>,
        asks: &mut Asks<M>,
        cx: &mut Cx<'_, Self>,
    ) {
        if command.request.client.at != from {
            return cx.accuse(from, "asks in the name of a client of another process");
        }
        self.take_in(command, asks, cx);
    }

    /// Takes a request in: answers it, if that can be done at once, or gives it to the engine.
    pub(super) fn take_in(
        &mut self,
        command: Command<M::Operation>,
        asks: &mut Asks<M>,
        cx: &mut Cx<'_, Self>,
    ) {
        if self.goes_around(&command.operation) {
            return self.begin_read(command, asks);
        }
        if !self.engine.keeps_log(cx.me()) {
            return asks.push_back(Ask::Append(command));
        }
        match self.state.status(&command.request) {
            Status::Done(answer) => {
                let answer = answer.clone();
                self.reply(command.request, answer, cx);
            }
            Status::Void if !self.leaves_to_log(&command.request) => {
                self.say_closed(command.request, cx);
            }
            _ if self.engine.room() > asks.len() => asks.push_back(Ask::Append(command)),
            _ => {}
        }
    }

    /// Where one process alone is not believed, only the log can say that a session is closed: this
    /// process may just not have heard of it yet.
    fn leaves_to_log(&self, request: &RequestId) -> bool {
        self.engine.answers_needed() > 1 && !self.state.is_past(request)
    }

    /// Whether this is a read that need not be in the log.
    pub(super) fn goes_around(&self, operation: &M::Operation) -> bool {
        self.settings.reads == Reads::Index && M::is_read(operation)
    }

    fn begin_read(&mut self, command: Command<M::Operation>, asks: &mut Asks<M>) {
        if self.reads.len() < MOST_READS {
            self.reads_made += 1;
            self.reads.insert(self.reads_made, command);
            asks.push_back(Ask::Read(self.reads_made));
        }
    }

    fn reply(&mut self, request: RequestId, answer: M::Answer, cx: &mut Cx<'_, Self>) {
        let to = request.client.at;
        if to == cx.me() {
            // This process has applied the request itself, so it needs no other answer.
            self.give(request, answer, cx);
        } else if cx.is_member(to) && self.engine.answers(cx.me()) {
            cx.send(to, Message::Reply { request, answer });
        }
    }

    /// The request came too late for its session: only its client can know what that means.
    fn say_closed(&mut self, request: RequestId, cx: &mut Cx<'_, Self>) {
        let to = request.client.at;
        if to == cx.me() {
            self.close(request, cx);
        } else if cx.is_member(to) && self.engine.answers(cx.me()) {
            cx.send(to, Message::Closed(request));
        }
    }

    pub(super) fn on_event(
        &mut self,
        event: EventOf<M>,
        asks: &mut Asks<M>,
        cx: &mut Cx<'_, Self>,
    ) {
        match event {
            Event::Committed { index, entry } => {
                self.apply(index, entry, cx);
                self.compact_if_due(asks);
            }
            Event::Restored { index, state } => self.restore(index, state, cx),
            Event::Requested(command) => self.take_in(command, asks, cx),
            Event::Due => self.compact(asks),
            Event::Readable(read) => self.finish_read(read, cx),
            Event::Unreadable(read) => {
                self.reads.remove(&read);
            }
            Event::Leads(term) => {
                cx.output(Notice::Leads(term));
                self.ask_all_again(asks, cx);
            }
            Event::Follows { leader: Some(_), .. } => self.ask_all_again(asks, cx),
            Event::Follows { leader: None, .. } => {}
        }
    }

    fn apply(&mut self, index: u64, entry: Entry<Command<M::Operation>>, cx: &mut Cx<'_, Self>) {
        assert_eq!(index, self.applied + 1, "an engine commits entries in order");
        self.applied = index;
        let Entry::Command(command) = entry else {
            return cx.output(Notice::Applied { index, request: None, fresh: false });
        };
        let request = command.request;
        let outcome = self.state.apply(&command);
        let fresh = matches!(outcome, Outcome::Fresh(_));
        cx.output(Notice::Applied { index, request: Some(request), fresh });
        match outcome {
            Outcome::Fresh(answer) | Outcome::Known(answer) => self.reply(request, answer, cx),
            Outcome::Void => self.say_closed(request, cx),
        }
    }

    fn finish_read(&mut self, read: u64, cx: &mut Cx<'_, Self>) {
        let Some(command) = self.reads.remove(&read) else { return };
        let answer = self.state.machine().read(&command.operation).expect("it is a read");
        self.reply(command.request, answer, cx);
    }

    fn compact_if_due(&mut self, asks: &mut Asks<M>) {
        let every = self.settings.snapshot_every;
        if every > 0 && self.applied - self.compacted >= every {
            self.compact(asks);
        }
    }

    /// Hands the state over.
    fn compact(&mut self, asks: &mut Asks<M>) {
        self.compacted = self.applied;
        asks.push_back(Ask::Compact { index: self.applied, state: self.state.clone() });
    }

    /// Takes the state of another process, if it is newer than ours.
    fn restore(&mut self, index: u64, state: Sessions<M>, cx: &mut Cx<'_, Self>) {
        if index <= self.applied {
            return;
        }
        self.state = state;
        (self.applied, self.compacted) = (index, index);
        cx.output(Notice::Restored(index));
    }
}
