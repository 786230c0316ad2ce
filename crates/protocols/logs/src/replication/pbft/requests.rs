//! Requests: from clients to replicas, and from replicas to the primary.

use super::message::Statement;
use super::{FAR, Message, Pbft, Request, Rules, Timer};
use synod_core::replication::{Client, Command, Event, Parts, RequestId};
use synod_core::{Cx, Data, ProcessId};

/// At most this many requests of one process wait at a replica.
pub(super) const MOST_PENDING: usize = 4_096;

impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    /// The layer above wants a command in the log: of a client here, or one that came in a request.
    pub(super) fn append(&mut self, command: Command<O>, cx: &mut Cx<'_, Self>) {
        if command.request.client.at == cx.me() {
            return self.send_request(command, cx);
        }
        if let Some(request) = self.heard.take().filter(|heard| heard.command == command) {
            self.admit(request, cx);
        }
    }

    /// Section 4.1: a client sends its request to the primary; if it gets no answer, it broadcasts
    /// the request to all replicas.
    fn send_request(&mut self, command: Command<O>, cx: &mut Cx<'_, Self>) {
        let signature = self.sign(&Statement::Request(&command));
        let request = Request { command, signature };
        if self.is_pending(&request.command.request) {
            self.multicast(Message::Request(request), cx);
        } else if self.is_replica() {
            self.admit(request, cx);
        } else {
            let Client { at, name, .. } = request.command.request.client;
            self.pending.retain(|client, _| (client.at, client.name) != (at, name));
            self.pending.insert(request.command.request.client, request.clone());
            cx.send(self.settings.primary(self.view), Message::Request(request));
        }
    }

    fn is_pending(&self, request: &RequestId) -> bool {
        let known = self.pending.get(&request.client);
        known.is_some_and(|known| known.command.request == *request)
    }

    /// A replica tells a client in which view it is. The client believes f + 1 replicas: one of
    /// them is loyal.
    pub(super) fn on_view(&mut self, from: ProcessId, view: u64) {
        if self.is_replica() || !self.settings.is_replica(from) || view >= FAR {
            return;
        }
        self.views.insert(from, view);
        let mut views: Vec<u64> = self.views.values().copied().collect();
        views.sort_unstable_by(|one, other| other.cmp(one));
        if let Some(view) = views.get(self.settings.faulty) {
            self.view = self.view.max(*view);
        }
    }

    /// A request came, from its client or from a replica that relays it.
    pub(super) fn on_request(
        &mut self,
        from: ProcessId,
        request: Request<O>,
        cx: &mut Cx<'_, Self>,
    ) {
        if !self.is_genuine(&request, cx) {
            return cx.accuse(from, "hands on a request that its client did not sign");
        }
        let client = request.command.request.client.at;
        if from == client && !self.settings.is_replica(from) && !self.is_primary() {
            cx.send(from, Message::View(self.view));
        }
        let command = request.command.clone();
        self.heard = Some(request);
        cx.output(Event::Requested(command));
    }

    /// Whether the client's process signed this request.
    pub(super) fn is_genuine(&self, request: &Request<O>, cx: &Cx<'_, Self>) -> bool {
        let (by, what) = (request.command.request.client.at, Statement::Request(&request.command));
        cx.is_member(by) && self.is_signed(by, &what, &request.signature)
    }

    /// A request that this replica has not executed: the primary proposes it. A backup relays it to
    /// the primary, and starts its timer.
    fn admit(&mut self, request: Request<O>, cx: &mut Cx<'_, Self>) {
        let RequestId { client, number } = request.command.request;
        let known = self.pending.get(&client).map(|known| known.command.request.number);
        if known.is_some_and(|known| known >= number) || self.is_full(client.at) {
            // Its client still waits, so this replica goes on asking for lost messages.
            self.rounds = self.rounds.min(3);
            return self.keep_asking(cx);
        }
        self.pending.insert(client, request.clone());
        if self.is_active() && self.is_primary() {
            if !self.queue.contains(&client) {
                self.queue.push_back(client);
            }
            self.propose(cx);
        } else if self.is_active() {
            cx.send(self.settings.primary(self.view), Message::Request(request));
        }
        self.start_timer(cx);
        self.keep_asking(cx);
    }

    fn is_full(&self, at: ProcessId) -> bool {
        let last = (u32::MAX, u32::MAX);
        let first = Client { at, name: 0, session: (0, 0) };
        let of_process = first..=Client { at, name: u32::MAX, session: last };
        self.pending.range(of_process).count() >= MOST_PENDING
    }

    /// Section 4.4: starts the timer for one of the requests that wait, if it does not run already.
    /// Each request has its turn, so a primary cannot leave one out for ever. The timer of the
    /// primary runs as well: it may be the only replica that lacks a message.
    pub(super) fn start_timer(&mut self, cx: &mut Cx<'_, Self>) {
        if !self.is_active() || self.view >= self.limits.most_views {
            return;
        }
        if self.watched.is_some_and(|client| self.pending.contains_key(&client)) {
            return;
        }
        let after = |last: Client| self.pending.keys().find(|client| **client > last);
        let next = self.watched.and_then(after).or(self.pending.keys().next()).copied();
        match (next, std::mem::replace(&mut self.watched, next)) {
            (Some(_), _) => cx.set_timer(Timer::Suspect, self.wait_ms()),
            (None, Some(_)) => cx.cancel_timer(Timer::Suspect),
            (None, None) => {}
        }
    }

    /// Section 4.5.2: the timeout is twice as long after each view in which no request was
    /// executed. So in the end it is longer than the delays of messages.
    pub(super) fn wait_ms(&self) -> u64 {
        self.settings.suspect_ms << self.failures.min(8)
    }
}
