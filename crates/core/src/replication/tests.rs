use super::*;
use crate::cx::{Cx, Effect, step};
use crate::durable::Durable;
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::{Never, Protocol, Wire};
use serde::{Deserialize, Serialize};

const P0: ProcessId = ProcessId(0);
const P1: ProcessId = ProcessId(1);

type Wanted = Command<Operation>;
type Kept = Sessions<Store>;

/// An engine that does as it is told: p0 leads, and what it is asked to append is committed when a
/// message says how often.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Puppet {
    asked: Vec<Ask<Wanted, Kept>>,
    committed: u64,
    needed: usize,
    room: usize,
    /// Who does not keep the log.
    outside: Option<ProcessId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum String {
    /// Commit the first command that was to be appended, this often.
    Commit(u32),
    Tell(Event<Wanted, Kept>),
}

impl Wire for String {}

impl Protocol for Puppet {
    type Input = Ask<Wanted, Kept>;
    type Output = Event<Wanted, Kept>;
    type Message = String;
    type Timer = Never;

    fn on_input(&mut self, ask: Self::Input, _cx: &mut Cx<'_, Self>) {
        self.asked.push(ask);
    }

    fn on_message(&mut self, _from: ProcessId, message: String, cx: &mut Cx<'_, Self>) {
        match message {
            String::Tell(event) => cx.output(event),
            String::Commit(times) => {
                let Some(Ask::Append(command)) = self.asked.first().cloned() else { return };
                for _ in 0..times {
                    self.committed += 1;
                    let entry = Entry::Command(command.clone());
                    cx.output(Event::Committed { index: self.committed, entry });
                }
            }
        }
    }
}

impl Durable for Puppet {
    type Record = ();
    fn replay(&mut self, (): ()) {}
}

impl Engine<Wanted, Kept> for Puppet {
    fn whom_to_ask(&self, _me: ProcessId, tries: u32) -> ProcessSet {
        if tries == 0 { [P0].into_iter().collect() } else { ProcessSet::all(3) }
    }

    fn answers(&self, me: ProcessId) -> bool {
        me == P0
    }

    fn answers_needed(&self) -> usize {
        self.needed
    }

    fn keeps_log(&self, at: ProcessId) -> bool {
        self.outside != Some(at)
    }

    fn room(&self) -> usize {
        self.room
    }
}

/// A process in a group of three, and what it wanted done, in words.
struct Tried {
    at: ProcessId,
    process: Replicated<Store, Puppet>,
    done: Vec<std::string::String>,
}

impl Tried {
    fn with(at: ProcessId, needed: usize, settings: Settings) -> Self {
        let engine = Puppet { needed, room: 2, ..Puppet::default() };
        Tried { at, process: Replicated::new(engine, settings), done: Vec::new() }
    }

    fn new(at: ProcessId) -> Self {
        Tried::with(at, 1, SETTINGS)
    }

    fn does(
        mut self,
        act: impl FnOnce(&mut Replicated<Store, Puppet>, &mut Cx<'_, Replicated<Store, Puppet>>),
    ) -> Self {
        let effects = step(self.at, 3, |cx| act(&mut self.process, cx));
        self.done = effects.into_iter().filter_map(words).collect();
        self
    }

    fn invokes(self, client: u32, action: Action) -> Self {
        let operation = Operation { key: 1, action };
        self.does(|process, cx| process.on_input(Invoke::Operation { client, operation }, cx))
    }

    fn hears(self, from: ProcessId, message: Message<Operation, Answer, String>) -> Self {
        self.does(|process, cx| process.on_message(from, message, cx))
    }

    fn pulls(self, string: String) -> Self {
        self.hears(P1, Message::Engine(string))
    }

    fn asked(&self) -> usize {
        self.process.engine().asked.len()
    }
}

fn words(
    effect: Effect<Message<Operation, Answer, String>, Timer<Never>, Notice<Answer>>,
) -> Option<std::string::String> {
    match effect {
        Effect::Send { to, message } => Some(format!("to {to}: {message:?}")),
        Effect::Multicast { to, message } => {
            let to: Vec<_> = to.iter().map(|at| at.to_string()).collect();
            Some(format!("to {}: {message:?}", to.join(" ")))
        }
        Effect::Output(notice) => Some(format!("{notice:?}")),
        Effect::Accuse { who, why } => Some(format!("{who} {why}")),
        _ => None,
    }
}

const SETTINGS: Settings =
    Settings { reads: Reads::Log, patience_ms: 100, tries: None, snapshot_every: 0 };

fn request(at: ProcessId, number: u64, action: Action) -> Wanted {
    let client = Client { at, name: 0, session: (1, 0) };
    Command { request: RequestId { client, number }, operation: Operation { key: 1, action } }
}

fn reply(number: u64, value: u64) -> Message<Operation, Answer, String> {
    let request = request(P1, number, Action::Get).request;
    Message::Reply { request, answer: Answer::Value(Some(value)) }
}

#[test]
fn a_request_goes_to_the_leader_and_its_reply_to_the_client() {
    let client = Tried::new(P1).invokes(0, Action::Put(5));
    let asked = "to p0: Request(p1.0#1 Operation { key: 1, action: Put(5) })";
    assert_eq!(client.done, [asked]);
    let leader = Tried::new(P0).hears(P1, Message::Request(request(P1, 1, Action::Put(5))));
    let leader = leader.pulls(String::Commit(1));
    assert_eq!(leader.done[1], "to p1: Reply(p1.0#1 Done)");
}

#[test]
fn a_second_request_of_a_client_is_refused_and_the_first_one_is_answered() {
    let tried = Tried::new(P0).invokes(0, Action::Put(5)).invokes(0, Action::Get);
    let refused = "Refused { client: 0, error: StillOpen { open: p0.0#1 } }";
    assert_eq!((tried.done.as_slice(), tried.asked()), (&[refused.to_owned()][..], 1));
    let tried = tried.pulls(String::Commit(1));
    assert_eq!(tried.done[1], "Returned { client: 0, answer: Done }");
    assert_eq!(tried.invokes(0, Action::Get).asked(), 2, "the next request is taken in");
}

#[test]
fn a_client_is_answered_by_its_own_process_too() {
    for needed in [1, 2] {
        let tried = Tried::with(P0, needed, SETTINGS).invokes(0, Action::Put(5));
        assert_eq!(tried.pulls(String::Commit(1)).done[1], "Returned { client: 0, answer: Done }");
    }
}

#[test]
fn a_command_that_is_in_the_log_twice_takes_effect_and_is_answered_once() {
    let tried = Tried::new(P0).invokes(0, Action::Put(5)).pulls(String::Commit(2));
    let fresh = |notice: &&std::string::String| notice.contains("fresh: true");
    let returned = |notice: &&std::string::String| notice.contains("Returned");
    assert_eq!(tried.done.iter().filter(fresh).count(), 1);
    assert_eq!(tried.done.iter().filter(returned).count(), 1);
    assert_eq!(tried.process.applied(), 2);
}

#[test]
fn a_client_that_hears_nothing_asks_again_and_wider() {
    let tried = Tried::new(P1).invokes(0, Action::Put(5));
    let again = tried.does(|process, cx| process.on_timer(Timer::AskAgain(0), cx));
    assert!(again.done[0].starts_with("to p0 p2: Request"), "{:?}", again.done);
    assert_eq!(again.asked(), 1, "its own engine is asked as well");
}

#[test]
fn a_request_that_has_been_answered_is_answered_again_without_the_log() {
    let leader = Tried::new(P0).hears(P1, Message::Request(request(P1, 1, Action::Put(5))));
    let leader = leader.pulls(String::Commit(1));
    let leader = leader.hears(P1, Message::Request(request(P1, 1, Action::Put(5))));
    assert_eq!(leader.done, ["to p1: Reply(p1.0#1 Done)"]);
    assert_eq!(leader.asked(), 1);
}

#[test]
fn a_request_of_a_closed_session_is_refused_and_not_done_twice() {
    let leader = Tried::new(P0).hears(P1, Message::Request(request(P1, 2, Action::Put(5))));
    assert_eq!(leader.done, ["to p1: Closed(p1.0#2)"]);
    let client = Tried::new(P1).invokes(0, Action::Put(5));
    let client = client.hears(P0, Message::Closed(request(P1, 1, Action::Get).request));
    assert_eq!(client.done, ["Closed { client: 0 }"]);
    let client = client.invokes(0, Action::Get);
    assert!(client.done[0].contains("p1.0'1.1#1"), "a new session begins: {:?}", client.done);
}

#[test]
fn where_traitors_may_be_enough_equal_answers_of_different_processes_count() {
    let client = Tried::with(P1, 2, SETTINGS).invokes(0, Action::Get);
    let client = client.hears(P0, reply(1, 9));
    assert!(client.done.is_empty());
    let client = client.hears(P0, reply(1, 9)).hears(ProcessId(2), reply(1, 8));
    assert!(client.done.is_empty());
    let client = client.hears(P1, reply(1, 9));
    assert_eq!(client.done, ["Returned { client: 0, answer: Value(Some(9)) }"]);
}

#[test]
fn where_traitors_may_be_one_alone_does_not_close_a_session() {
    let closed = || Message::Closed(request(P1, 1, Action::Get).request);
    let client = Tried::with(P1, 2, SETTINGS).invokes(0, Action::Get);
    let client = client.hears(P0, closed()).hears(P0, closed());
    assert!(client.done.is_empty());
    assert_eq!(client.hears(ProcessId(2), closed()).done, ["Closed { client: 0 }"]);
}

#[test]
fn a_process_that_only_has_clients_asks_its_engine_and_is_believed_by_nobody() {
    let mut tried = Tried::new(P1);
    tried.process.engine.outside = Some(P1);
    let again = |process: &mut Replicated<Store, Puppet>, cx: &mut Cx<'_, _>| {
        process.on_timer(Timer::AskAgain(0), cx);
    };
    let tried = tried.invokes(0, Action::Get).hears(P0, reply(1, 9));
    assert_eq!(tried.invokes(0, Action::Get).does(again).asked(), 1, "the second of a session");
    let mut client = Tried::new(P0);
    client.process.engine.outside = Some(P1);
    let own = request(P0, 1, Action::Get).request;
    let client = client.invokes(0, Action::Get);
    let client = client.hears(P1, Message::Reply { request: own, answer: Answer::Done });
    assert_eq!(client.done, ["p1 answers what it cannot know"]);
}

#[test]
fn what_the_engine_was_asked_for_is_answered_or_given_back_to_it() {
    let requested = || String::Tell(Event::Requested(request(P1, 1, Action::Put(5))));
    let tried = Tried::new(P0).pulls(requested());
    assert_eq!(tried.asked(), 1);
    let tried = tried.pulls(String::Commit(1)).pulls(requested());
    assert_eq!(tried.done, ["to p1: Reply(p1.0#1 Done)"]);
    assert_eq!(tried.asked(), 1);
}

#[test]
fn where_traitors_may_be_the_log_decides_whether_a_session_is_closed() {
    let late = || Message::Request(request(P1, 2, Action::Put(5)));
    let leader = Tried::with(P0, 2, SETTINGS).hears(P1, late());
    assert!(leader.done.is_empty());
    assert_eq!(leader.pulls(String::Commit(1)).done[1], "to p1: Closed(p1.0#2)");
}

#[test]
fn an_engine_that_wants_to_forget_gets_the_state() {
    let tried = Tried::new(P0).invokes(0, Action::Put(5)).pulls(String::Commit(1));
    let tried = tried.pulls(String::Tell(Event::Due));
    assert!(matches!(tried.process.engine().asked[..], [_, Ask::Compact { index: 1, .. }]));
}

#[test]
fn a_reply_to_something_else_is_ignored() {
    let client = Tried::new(P1).invokes(0, Action::Get).hears(P0, reply(7, 9));
    assert!(client.done.is_empty());
}

#[test]
fn nobody_asks_in_the_name_of_another() {
    let leader = Tried::new(P0);
    let leader = leader.hears(ProcessId(2), Message::Request(request(P1, 1, Action::Get)));
    assert_eq!(leader.done, ["p2 asks in the name of a client of another process"]);
    assert_eq!(leader.asked(), 0);
}

#[test]
fn an_engine_without_room_is_not_asked() {
    let mut tried = Tried::new(P0);
    tried.process.engine.room = 0;
    assert_eq!(tried.invokes(0, Action::Put(5)).asked(), 0);
}

#[test]
fn a_read_around_the_log_waits_for_the_engine() {
    let settings = Settings { reads: Reads::Index, ..SETTINGS };
    let tried = Tried::with(P0, 1, settings).invokes(0, Action::Get);
    assert_eq!(tried.process.engine().asked, [Ask::Read(1)]);
    let tried = tried.pulls(String::Tell(Event::Readable(1)));
    assert_eq!(tried.done, ["Returned { client: 0, answer: Value(None) }"]);
    let tried = tried.invokes(0, Action::Put(5));
    let Some(Ask::Append(command)) = tried.process.engine().asked.last() else { panic!("a put") };
    assert_eq!(command.request.number, 1, "a read around the log is in no session");
}

#[test]
fn the_state_is_handed_over_now_and_then_and_taken_from_others() {
    let settings = Settings { snapshot_every: 2, ..SETTINGS };
    let tried = Tried::with(P0, 1, settings).invokes(0, Action::Put(5)).pulls(String::Commit(2));
    let Some(Ask::Compact { index: 2, state }) = tried.process.engine().asked.last().cloned()
    else {
        panic!("{:?}", tried.process.engine().asked);
    };
    let other = Tried::new(P1);
    let other = other.pulls(String::Tell(Event::Restored { index: 2, state: state.clone() }));
    assert_eq!(other.done, ["Restored(2)"]);
    assert_eq!(other.process.state().machine().get(&1), Some(&5));
    let late = other.pulls(String::Tell(Event::Restored { index: 1, state }));
    assert!(late.done.is_empty(), "an older state is of no use");
}

#[test]
fn whoever_leads_now_is_asked_what_is_open() {
    let tried = Tried::new(P1).invokes(0, Action::Put(5));
    let follows = Event::Follows { term: 2, leader: Some(P0) };
    let tried = tried.pulls(String::Tell(follows));
    assert!(tried.done[0].starts_with("to p0: Request"), "{:?}", tried.done);
}
