//! The clients' side: whom to ask, when to ask again, and which answer to believe.

use super::replicated::{Asks, Made, Open};
use super::{
    Client, Command, Engine, Message, Notice, Refusal, Replicated, RequestId, Sessions,
    StateMachine, Timer,
};
use crate::cx::Cx;
use crate::process::{ProcessId, ProcessSet};
use std::collections::BTreeMap;

/// A request that is open.
type OpenOf<M> = Open<<M as StateMachine>::Operation, <M as StateMachine>::Answer>;

/// Where the numbers of reads begin that go around the log.
const READS: u64 = 1 << 63;

impl<M: StateMachine, L: Engine<Command<M::Operation>, Sessions<M>>> Replicated<M, L> {
    pub(super) fn invoke(
        &mut self,
        client: u32,
        operation: M::Operation,
        asks: &mut Asks<M>,
        cx: &mut Cx<'_, Self>,
    ) {
        if let Some(open) = self.open.get(&client) {
            let error = Refusal::StillOpen { open: open.command.request };
            return cx.output(Notice::Refused { client, error });
        }
        let request = self.name_request(client, self.goes_around(&operation), cx);
        let command = Command { request, operation };
        let (answers, closed) = (BTreeMap::new(), ProcessSet::EMPTY);
        self.open.insert(client, Open { command, tries: 0, answers, closed });
        self.wait(client, cx);
        self.try_once(client, asks, cx);
    }

    /// The next request of a client. Another life of its process is another session: what the last
    /// one asked may still come. Reads around the log are in no session, and have numbers of their
    /// own.
    fn name_request(&mut self, name: u32, is_read: bool, cx: &Cx<'_, Self>) -> RequestId {
        let made = self.made.entry(name).or_default();
        let count = if is_read { &mut made.reads } else { &mut made.logged };
        *count += 1;
        let number = if is_read { READS + *count } else { *count };
        let session = (cx.incarnation(), made.closed);
        RequestId { client: Client { at: cx.me(), name, session }, number }
    }

    /// Waits a while before asking again.
    fn wait(&mut self, client: u32, cx: &mut Cx<'_, Self>) {
        let Some(open) = self.open.get(&client) else { return };
        if self.settings.tries.is_none_or(|most| open.tries < most) {
            cx.set_timer(Timer::AskAgain(client), self.settings.patience_ms);
        }
    }

    pub(super) fn ask_again(&mut self, client: u32, asks: &mut Asks<M>, cx: &mut Cx<'_, Self>) {
        let Some(open) = self.open.get_mut(&client) else { return };
        open.tries = open.tries.saturating_add(1);
        self.wait(client, cx);
        self.try_once(client, asks, cx);
    }

    /// Another process leads now: every open request goes there.
    pub(super) fn ask_all_again(&mut self, asks: &mut Asks<M>, cx: &mut Cx<'_, Self>) {
        let clients: Vec<u32> = self.open.keys().copied().collect();
        for client in clients {
            self.try_once(client, asks, cx);
        }
    }

    fn try_once(&mut self, client: u32, asks: &mut Asks<M>, cx: &mut Cx<'_, Self>) {
        let Some(open) = self.open.get(&client) else { return };
        let command = open.command.clone();
        let mut whom = self.engine.whom_to_ask(cx.me(), open.tries);
        let here = whom.remove(cx.me());
        if !whom.is_empty() {
            cx.multicast_to(whom, Message::Request(command.clone()));
        }
        if here {
            self.take_in(command, asks, cx);
        }
    }

    /// A process answers. The client believes the answer once enough processes give the same.
    pub(super) fn on_reply(
        &mut self,
        from: ProcessId,
        request: RequestId,
        answer: M::Answer,
        cx: &mut Cx<'_, Self>,
    ) {
        if !self.engine.keeps_log(from) {
            return cx.accuse(from, "answers what it cannot know");
        }
        let needed = self.engine.answers_needed();
        let Some((client, open)) = self.find_open(request, cx.me()) else { return };
        open.answers.insert(from, answer.clone());
        if open.answers.values().filter(|other| **other == answer).count() >= needed {
            self.end(client, Notice::Returned { client, answer }, cx);
        }
    }

    /// Gives a client its answer, if it waits for it.
    pub(super) fn give(&mut self, request: RequestId, answer: M::Answer, cx: &mut Cx<'_, Self>) {
        if let Some((client, _)) = self.find_open(request, cx.me()) {
            self.end(client, Notice::Returned { client, answer }, cx);
        }
    }

    pub(super) fn on_closed(&mut self, from: ProcessId, request: RequestId, cx: &mut Cx<'_, Self>) {
        if !self.engine.keeps_log(from) {
            return cx.accuse(from, "answers what it cannot know");
        }
        let needed = self.engine.answers_needed();
        let Some((_, open)) = self.find_open(request, cx.me()) else { return };
        open.closed.insert(from);
        if open.closed.len() >= needed {
            self.close(request, cx);
        }
    }

    /// The session of this request is closed: whether the request took effect stays unknown.
    pub(super) fn close(&mut self, request: RequestId, cx: &mut Cx<'_, Self>) {
        if let Some((client, _)) = self.find_open(request, cx.me()) {
            let made = self.made.entry(client).or_default();
            *made = Made { closed: made.closed + 1, ..Made::default() };
            self.end(client, Notice::Closed { client }, cx);
        }
    }

    /// The open request of that name, if it is one of ours.
    fn find_open(&mut self, request: RequestId, me: ProcessId) -> Option<(u32, &mut OpenOf<M>)> {
        let client = request.client.name;
        let open = self.open.get_mut(&client)?;
        (request.client.at == me && open.command.request == request).then_some((client, open))
    }

    /// Whether this request was made here, and no client waits for its answer.
    pub(super) fn is_over(&self, request: &RequestId) -> bool {
        let Client { name, session: (_, closed), .. } = request.client;
        let was_made = self.made.get(&name).is_some_and(|made| {
            let last = if request.number > READS { READS + made.reads } else { made.logged };
            closed < made.closed || request.number <= last
        });
        let open = self.open.get(&name).map(|open| open.command.request);
        was_made && open != Some(*request)
    }

    fn end(&mut self, client: u32, notice: Notice<M::Answer>, cx: &mut Cx<'_, Self>) {
        self.open.remove(&client);
        cx.cancel_timer(Timer::AskAgain(client));
        cx.output(notice);
    }
}
