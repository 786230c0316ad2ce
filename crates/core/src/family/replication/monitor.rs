//! The judge of replicated logs.

use super::{ANSWERED, LINEARIZABLE, ONCE, ONE_LEADER, Replication, SAME_LOG};
use crate::family::consensus::loyal;
use crate::family::{Moment, Monitor, Violation};
use crate::linear::{Checker, Finding, KeyValue};
use crate::process::{ProcessId, ProcessSet};
use crate::replication::{Answer, Client, Invoke, Notice, Operation, RequestId};
use crate::setup::Setup;
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Writes the log as the processes apply it, and listens to the clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chronicler {
    loyal: Arc<ProcessSet>,
    up: ProcessSet,
    /// The clients that wait, by [`name`].
    waiting: BTreeSet<u64>,
    /// The log, as far as any loyal process has applied it: the requests, or none for an empty
    /// entry.
    log: Vec<Option<RequestId>>,
    /// The last index that each process has applied since it started.
    applied: SmallVec<[u64; 4]>,
    /// The last request of each client that took effect, and where.
    effects: BTreeMap<Client, (u64, u64)>,
    /// The leader of each term.
    leaders: BTreeMap<u64, ProcessId>,
    /// None if linearizability is not judged.
    clients: Option<Checker<KeyValue>>,
}

impl Monitor for Chronicler {
    type Family = Replication;

    fn new(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self {
        Chronicler {
            loyal: Arc::new(loyal(setup)),
            up: ProcessSet::all(setup.n),
            waiting: BTreeSet::new(),
            log: Vec::new(),
            applied: smallvec![0; setup.n],
            effects: BTreeMap::new(),
            leaders: BTreeMap::new(),
            clients: judged(LINEARIZABLE).then(Checker::default),
        }
    }

    fn on_input(
        &mut self,
        at: ProcessId,
        input: &Invoke<Operation>,
        _: Moment<'_>,
        _: &mut Vec<Violation>,
    ) {
        let Invoke::Operation { client, operation } = input else { return };
        // A second request of a client is refused, and changes nothing.
        if !self.waiting.insert(name(at, *client)) {
            return;
        }
        // A traitor may put what it likes in the name of its clients: they stay open for ever.
        if let Some(clients) = &mut self.clients {
            clients.invoke(name(at, *client), operation.clone());
        }
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Notice<Answer>,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        let violations = match output {
            Notice::Returned { client, answer } => self.on_returned(at, *client, answer),
            Notice::Closed { client } => self.on_closed(at, *client),
            Notice::Refused { .. } => None,
            _ if !self.loyal.contains(at) => None,
            Notice::Applied { index, request, fresh } => {
                self.on_applied(at, *index, *request, *fresh)
            }
            Notice::Restored(index) => self.on_restored(at, *index),
            Notice::Leads(term) => self.on_leads(at, *term),
        };
        let violation = |(property, because)| Violation { property, at, because };
        found.extend(violations.into_iter().map(violation));
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.up.remove(at);
        self.applied[at.index()] = 0;
        let (gone, left) = self.waiting.iter().partition(|id| **id >> 32 == u64::from(at.0));
        self.waiting = left;
        self.clients.iter_mut().for_each(|clients| abandon(clients, &gone));
    }

    fn on_restart(&mut self, at: ProcessId) {
        self.up.insert(at);
    }

    /// Messages between applications are not judged.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn undecided(&self) -> Option<(&'static str, String)> {
        let keys = self.clients.as_ref()?.given_up();
        let why = || {
            format!(
                "too much was open at the same time to judge whether the answers about {keys} of the \
                 keys are linearizable to the end; use more keys, or fewer clients"
            )
        };
        (keys > 0).then(|| (LINEARIZABLE, why()))
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        if property != ANSWERED {
            return ProcessSet::EMPTY;
        }
        let waiting = self.waiting.iter().map(|id| ProcessId((id >> 32) as u32));
        waiting.filter(|at| self.up.contains(*at) && self.loyal.contains(*at)).collect()
    }

    fn complaint(&self, _property: &str, _at: ProcessId) -> String {
        "has a client that is not answered".to_owned()
    }
}

/// The violated property, and the reason.
type Wrong = Option<(&'static str, String)>;

/// The name of a client's request: it has one at a time.
fn name(at: ProcessId, client: u32) -> u64 {
    u64::from(at.0) << 32 | u64::from(client)
}

/// No client waits for these requests.
fn abandon(clients: &mut Checker<KeyValue>, gone: &BTreeSet<u64>) {
    gone.iter().for_each(|id| clients.abandon(*id));
}

impl Chronicler {
    fn on_returned(&mut self, at: ProcessId, client: u32, answer: &Answer) -> Wrong {
        let asked = self.waiting.remove(&name(at, client));
        let clients = self.clients.as_mut()?;
        if !asked {
            return Some((LINEARIZABLE, format!("client {client} of {at} is answered unasked")));
        }
        if !self.loyal.contains(at) {
            // A traitor may answer its clients as it likes, so its answer proves nothing about the
            // store.
            clients.abandon(name(at, client));
            return None;
        }
        match clients.answer(name(at, client), answer) {
            Finding::Broken(broken) => {
                Some((LINEARIZABLE, format!("client {client} of {at}: {broken}")))
            }
            // Too many requests were open at the same time to be judged.
            Finding::Linearizable | Finding::Unknown => None,
        }
    }

    fn on_closed(&mut self, at: ProcessId, client: u32) -> Wrong {
        if self.waiting.remove(&name(at, client)) {
            self.clients.as_mut()?.abandon(name(at, client));
        }
        None
    }

    fn on_applied(
        &mut self,
        at: ProcessId,
        index: u64,
        request: Option<RequestId>,
        fresh: bool,
    ) -> Wrong {
        let before = std::mem::replace(&mut self.applied[at.index()], index);
        if index != before + 1 {
            return Some((SAME_LOG, format!("{at} applies entry {index} after entry {before}")));
        }
        let place = before as usize;
        match self.log.get(place) {
            // The first process that applies this place defines the log for all others.
            None => self.log.push(request),
            Some(known) if *known == request => return None,
            Some(known) => {
                let (mine, theirs) = (in_words(&request), in_words(known));
                let because = format!("at place {index} {at} applies {mine}, another {theirs}");
                return Some((SAME_LOG, because));
            }
        }
        // The request takes effect at its first application; later ones repeat it at other
        // processes.
        request.filter(|_| fresh).and_then(|request| self.takes_effect(request, index))
    }

    fn takes_effect(&mut self, request: RequestId, index: u64) -> Wrong {
        let before = self.effects.insert(request.client, (request.number, index));
        let (number, place) = before?;
        let again = number >= request.number;
        again.then(|| {
            (ONCE, format!("{request} takes effect at {index}, after #{number} at {place}"))
        })
    }

    fn on_restored(&mut self, at: ProcessId, index: u64) -> Wrong {
        self.applied[at.index()] = index;
        let known = self.log.len() as u64;
        (index > known).then(|| {
            (
                SAME_LOG,
                format!("{at} has the state after entry {index}; nobody applied more than {known}"),
            )
        })
    }

    fn on_leads(&mut self, at: ProcessId, term: u64) -> Wrong {
        let leader = *self.leaders.entry(term).or_insert(at);
        (leader != at)
            .then(|| (ONE_LEADER, format!("{at} leads in term {term}, and so does {leader}")))
    }
}

fn in_words(request: &Option<RequestId>) -> String {
    request.map_or("nothing".to_owned(), |request| request.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::Action;

    const MOMENT: Moment<'static> = Moment { now_us: 0, clocks: &[] };

    /// A group of three, and the violations found.
    struct Watched(Chronicler, Vec<&'static str>);

    impl Watched {
        fn new() -> Self {
            Watched(Chronicler::new(&Setup::new(3), &|_| true), Vec::new())
        }

        fn asks(mut self, at: u32, action: Action) -> Self {
            let operation = Operation { key: 1, action };
            let input = Invoke::Operation { client: 0, operation };
            self.0.on_input(ProcessId(at), &input, MOMENT, &mut Vec::new());
            self
        }

        fn outputs(mut self, at: u32, notice: Notice<Answer>) -> Self {
            let mut found = Vec::new();
            self.0.on_output(ProcessId(at), &notice, MOMENT, &mut found);
            self.1.extend(found.into_iter().map(|violation| violation.property));
            self
        }

        fn answered(self, at: u32, answer: Answer) -> Self {
            self.outputs(at, Notice::Returned { client: 0, answer })
        }

        fn applies(self, at: u32, index: u64, number: u64) -> Self {
            let client = Client { at: ProcessId(0), name: 0, session: (1, 0) };
            let request = Some(RequestId { client, number });
            self.outputs(at, Notice::Applied { index, request, fresh: true })
        }

        fn crashes(mut self, at: u32) -> Self {
            self.0.on_crash(ProcessId(at));
            self
        }
    }

    #[test]
    fn all_apply_the_same_at_the_same_place() {
        let watched = Watched::new().applies(0, 1, 1).applies(1, 1, 1).applies(0, 2, 2);
        assert!(watched.1.is_empty());
        assert_eq!(watched.applies(1, 2, 3).1, [SAME_LOG]);
    }

    #[test]
    fn no_entry_is_left_out_and_none_is_applied_again_in_one_life() {
        assert_eq!(Watched::new().applies(0, 2, 1).1, [SAME_LOG]);
        assert_eq!(Watched::new().applies(0, 1, 1).applies(0, 1, 1).1, [SAME_LOG]);
        assert!(Watched::new().applies(0, 1, 1).crashes(0).applies(0, 1, 1).1.is_empty());
    }

    #[test]
    fn a_state_can_be_taken_only_of_what_was_applied() {
        let watched = Watched::new().applies(0, 1, 1).outputs(1, Notice::Restored(1));
        assert!(watched.applies(1, 2, 2).1.is_empty());
        assert_eq!(Watched::new().outputs(1, Notice::Restored(1)).1, [SAME_LOG]);
    }

    #[test]
    fn a_request_takes_effect_once() {
        assert_eq!(Watched::new().applies(0, 1, 1).applies(0, 2, 1).1, [ONCE]);
    }

    #[test]
    fn a_term_has_one_leader() {
        let watched = Watched::new().outputs(0, Notice::Leads(1)).outputs(1, Notice::Leads(2));
        assert!(watched.1.is_empty());
        assert_eq!(watched.outputs(2, Notice::Leads(2)).1, [ONE_LEADER]);
    }

    #[test]
    fn a_read_that_begins_after_a_write_was_answered_sees_it() {
        let written = || Watched::new().asks(0, Action::Put(5)).answered(0, Answer::Done);
        let read = |value| written().asks(1, Action::Get).answered(1, Answer::Value(value));
        assert!(read(Some(5)).1.is_empty());
        assert_eq!(read(None).1, [LINEARIZABLE]);
        assert_eq!(written().answered(0, Answer::Done).1, [LINEARIZABLE], "nobody asked");
    }

    #[test]
    fn what_a_client_asked_before_its_process_crashed_may_come_or_not() {
        let crashed = || Watched::new().asks(0, Action::Put(5)).crashes(0);
        let read = |value| crashed().asks(1, Action::Get).answered(1, Answer::Value(value));
        assert!(read(Some(5)).1.is_empty() && read(None).1.is_empty());
        assert!(crashed().0.waiting(ANSWERED).is_empty());
    }

    #[test]
    fn a_client_that_asked_waits_until_it_is_answered() {
        let watched = Watched::new().asks(1, Action::Get);
        assert_eq!(watched.0.waiting(ANSWERED).iter().collect::<Vec<_>>(), [ProcessId(1)]);
        assert!(watched.answered(1, Answer::Value(None)).0.waiting(ANSWERED).is_empty());
    }
}
