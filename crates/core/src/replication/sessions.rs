//! Sessions: a command takes effect once, even if it is in the log twice.
//!
//! A client that hears nothing asks again, so a command may be in the log more than once. The table
//! of sessions is part of the replicated state: the last request of each session, and the answer.
//! A command that is in the log again gets the same answer, and changes nothing.

use super::{Client, Command, Map, Parts, RequestId, StateMachine};
use crate::durable::encoded_len;
use serde::{Deserialize, Serialize};

/// At most this many sessions are open. With one more, the least recently used one is closed: by
/// the clock of commands, so that all processes close the same one.
const MOST_SESSIONS: usize = 4_096;

/// A state machine with the sessions of its clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "M: StateMachine")]
pub struct Sessions<M: StateMachine> {
    machine: M,
    sessions: Map<Client, Session<M::Answer>>,
    /// The number of commands that took effect.
    clock: u64,
}

/// The last request of a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Session<A> {
    /// The number of its last request.
    number: u64,
    /// The answer to it.
    answer: A,
    /// When that was, by the clock of commands.
    used: u64,
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome<A> {
    /// It took effect.
    Fresh(A),
    /// It had taken effect before.
    Known(A),
    /// It is older than the last one of its session, so its client has gone on; or its session is
    /// closed, so whether it took effect before stays unknown. It changed nothing.
    Void,
}

/// The status of a request, by the table of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status<'a, A> {
    /// It would take effect now.
    New,
    /// It took effect, with this answer.
    Done(&'a A),
    /// See [`Outcome::Void`].
    Void,
}

impl<M: StateMachine> Default for Sessions<M> {
    fn default() -> Self {
        Sessions { machine: M::default(), sessions: Map::default(), clock: 0 }
    }
}

impl<M: StateMachine> Sessions<M> {
    /// Applies a command that stands in the log.
    pub fn apply(&mut self, command: &Command<M::Operation>) -> Outcome<M::Answer> {
        match self.status(&command.request) {
            Status::Done(answer) => return Outcome::Known(answer.clone()),
            Status::Void => return Outcome::Void,
            Status::New => {}
        }
        let answer = self.machine.apply(&command.operation);
        self.clock += 1;
        let (number, used) = (command.request.number, self.clock);
        let session = Session { number, answer: answer.clone(), used };
        self.sessions.insert(command.request.client, session);
        if self.sessions.len() > MOST_SESSIONS {
            self.close_one();
        }
        Outcome::Fresh(answer)
    }

    /// Whether a request took effect, and with which answer.
    pub fn status(&self, request: &RequestId) -> Status<'_, M::Answer> {
        match self.sessions.get(&request.client) {
            Some(session) if session.number == request.number => Status::Done(&session.answer),
            Some(session) if session.number > request.number => Status::Void,
            None if request.number > 1 => Status::Void,
            _ => Status::New,
        }
    }

    /// Whether a later request of the same session took effect.
    pub fn is_past(&self, request: &RequestId) -> bool {
        let session = self.sessions.get(&request.client);
        session.is_some_and(|session| session.number > request.number)
    }

    /// The state machine itself.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    fn close_one(&mut self) {
        let oldest = self.sessions.iter().min_by_key(|(_, session)| session.used);
        let oldest = oldest.map(|(client, _)| *client).expect("there are too many");
        self.sessions.remove(&oldest);
    }
}

/// The end of a part of a state with its sessions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mark<K> {
    /// Among the sessions, which come first.
    Session(Client),
    /// In the state machine.
    Machine(Option<K>),
}

impl<M: StateMachine> Parts for Sessions<M> {
    type Mark = Mark<M::Mark>;

    fn part(&self, after: Option<&Self::Mark>, bytes: usize) -> (Self, Option<Self::Mark>) {
        let clock = self.clock;
        let (sessions, machine_after) = match after {
            Some(Mark::Machine(after)) => (Map::default(), after.as_ref()),
            None | Some(Mark::Session(_)) => {
                let after = match after {
                    Some(Mark::Session(client)) => Some(client),
                    _ => None,
                };
                let (sessions, end) = self.sessions.part(after, bytes);
                if let Some(client) = end {
                    let part = Sessions { machine: M::default(), sessions, clock };
                    return (part, Some(Mark::Session(client)));
                }
                (sessions, None)
            }
        };
        let used = encoded_len(&sessions);
        if used >= bytes && !sessions.is_empty() {
            let part = Sessions { machine: M::default(), sessions, clock };
            return (part, Some(Mark::Machine(None)));
        }
        let (machine, end) = self.machine.part(machine_after, bytes - used.min(bytes));
        (Sessions { machine, sessions, clock }, end.map(|end| Mark::Machine(Some(end))))
    }

    fn join(&mut self, next: Self) {
        self.machine.join(next.machine);
        self.sessions.join(next.sessions);
        self.clock = next.clock;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::ProcessId;
    use crate::replication::{Action, Answer, Incoming, Operation, Outgoing, Store};

    fn put(session: u32, number: u64, value: u64) -> Command<Operation> {
        let client = Client { at: ProcessId(0), name: 0, session: (1, session) };
        let operation = Operation { key: 1, action: Action::Put(value) };
        Command { request: RequestId { client, number }, operation }
    }

    #[test]
    fn a_command_that_is_in_the_log_again_gets_its_answer_and_changes_nothing() {
        let mut sessions = Sessions::<Store>::default();
        assert_eq!(sessions.apply(&put(1, 1, 5)), Outcome::Fresh(Answer::Done));
        assert_eq!(sessions.apply(&put(2, 1, 6)), Outcome::Fresh(Answer::Done));
        assert_eq!(sessions.apply(&put(1, 1, 5)), Outcome::Known(Answer::Done));
        assert_eq!(sessions.machine().get(&1), Some(&6));
    }

    #[test]
    fn a_state_with_its_sessions_is_the_same_after_it_went_in_parts() {
        let mut sessions = Sessions::<Store>::default();
        for session in 0..300 {
            let mut command = put(session, 1, session.into());
            command.operation.key = session.into();
            sessions.apply(&command);
        }
        for bytes in [1, 100, 1_000, 1 << 20] {
            let (mut outgoing, mut incoming) =
                (Outgoing::new(sessions.clone()), Incoming::default());
            let (joined, parts) = loop {
                let part = outgoing.take(bytes);
                let parts = part.number + 1;
                assert!(encoded_len(&part.state) < bytes + 40, "{bytes}");
                if let Some(joined) = incoming.join(part) {
                    break (joined, parts);
                }
            };
            assert_eq!(joined, sessions);
            assert_eq!(parts == 1, bytes == 1 << 20, "{parts} parts of {bytes} bytes");
        }
    }

    #[test]
    fn an_older_command_of_a_session_is_void() {
        let mut sessions = Sessions::<Store>::default();
        for number in [1, 2] {
            sessions.apply(&put(1, number, number));
        }
        assert_eq!(sessions.apply(&put(1, 1, 1)), Outcome::Void);
        assert_eq!(sessions.machine().get(&1), Some(&2));
    }

    #[test]
    fn there_are_not_more_sessions_than_allowed_and_a_closed_one_does_nothing_twice() {
        let mut sessions = Sessions::<Store>::default();
        for session in 0..=MOST_SESSIONS as u32 {
            sessions.apply(&put(session, 1, session.into()));
        }
        assert_eq!(sessions.sessions.len(), MOST_SESSIONS);
        assert_eq!(sessions.apply(&put(0, 2, 9)), Outcome::Void);
        assert_eq!(sessions.apply(&put(1, 2, 9)), Outcome::Fresh(Answer::Done));
    }
}
