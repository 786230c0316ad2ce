//! Command histories: sequences of commands in which only the order of interfering commands
//! matters.

use crate::process::ProcessId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A command to a key-value store, of one process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Command {
    /// The process that wants it; no process wants two.
    pub of: ProcessId,
    /// The key.
    pub key: u32,
    /// Whether it writes; else it reads.
    pub writes: bool,
}

impl Command {
    /// Whether the order of the two matters: they are about the same key, and one of them writes.
    pub fn interferes(&self, other: &Command) -> bool {
        self.key == other.key && (self.writes || other.writes)
    }

    /// `w0` or `r0`, as parameters and scenarios write it.
    pub fn from_word(of: ProcessId, word: &str) -> Option<Command> {
        let (writes, key) = match word.split_at_checked(1)? {
            ("w", key) => (true, key),
            ("r", key) => (false, key),
            _ => return None,
        };
        Some(Command { of, key: key.parse().ok()?, writes })
    }

    /// The word again.
    pub fn word(&self) -> String {
        format!("{}{}", if self.writes { 'w' } else { 'r' }, self.key)
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.of, self.word())
    }
}

/// A history: commands up to the order of those that commute. Equivalent histories are equal
/// values, because each is kept in one normal form: of all commands that may come next, the least
/// does.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Command>")]
pub struct History(Vec<Command>);

impl From<Vec<Command>> for History {
    /// The history of these commands, one after the other; a second command of the same process is
    /// left out.
    fn from(commands: Vec<Command>) -> Self {
        let mut different: Vec<Command> = Vec::new();
        for command in commands {
            if different.iter().all(|known| known.of != command.of) {
                different.push(command);
            }
        }
        History(normal(different))
    }
}

/// The least of all equivalent sequences.
fn normal(mut commands: Vec<Command>) -> Vec<Command> {
    let mut sorted = Vec::with_capacity(commands.len());
    while !commands.is_empty() {
        let is_next = |index: &usize| {
            !commands[..*index].iter().any(|before| before.interferes(&commands[*index]))
        };
        let next = (0..commands.len()).filter(is_next).min_by_key(|index| commands[*index]);
        sorted.push(commands.remove(next.expect("the first one may always be next")));
    }
    sorted
}

impl History {
    /// Its commands, in an order that it allows.
    pub fn commands(&self) -> &[Command] {
        &self.0
    }

    /// Whether the command is in it.
    pub fn contains(&self, command: &Command) -> bool {
        self.0.contains(command)
    }

    /// `•`: the same, and then this command, unless it is there already.
    #[must_use]
    pub fn then(&self, command: Command) -> History {
        History::from(self.0.iter().copied().chain([command]).collect::<Vec<_>>())
    }

    /// The command and all commands that must come before it; empty if the history lacks it.
    #[must_use]
    pub fn up_to(&self, command: &Command) -> History {
        let Some(at) = self.0.iter().position(|other| other == command) else {
            return History::default();
        };
        let mut past = vec![*command];
        for earlier in self.0[..at].iter().rev() {
            if past.iter().any(|later| earlier.interferes(later)) {
                past.insert(0, *earlier);
            }
        }
        History(normal(past))
    }

    /// `⊑`: whether the other one is this one, and perhaps more commands after it.
    pub fn is_prefix_of(&self, other: &History) -> bool {
        self.0
            .iter()
            .all(|command| other.contains(command) && self.up_to(command) == other.up_to(command))
    }

    /// `⊓`: the greatest history that is a prefix of both.
    #[must_use]
    pub fn meet(&self, other: &History) -> History {
        let agree = |command: &&Command| {
            other.contains(command) && self.up_to(command) == other.up_to(command)
        };
        History(normal(self.0.iter().filter(agree).copied().collect()))
    }

    /// `⊔`: the least history of which both are prefixes; none if there is no such history.
    pub fn join(&self, other: &History) -> Option<History> {
        let both: Vec<Command> = self.0.iter().chain(&other.0).copied().collect();
        let joined = History::from(both);
        (self.is_prefix_of(&joined) && other.is_prefix_of(&joined)).then_some(joined)
    }

    /// Whether there is a history of which both are prefixes.
    pub fn is_compatible_with(&self, other: &History) -> bool {
        self.join(other).is_some()
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(|command| format!("{command:?}")).collect();
        write!(f, "[{}]", words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every history of up to three of four commands: two write key 0, one reads it, and one writes
    /// key 1.
    fn all() -> Vec<History> {
        let words = ["w0", "w0", "r0", "w1"];
        let command = |(of, word): (usize, &&str)| {
            Command::from_word(ProcessId(of as u32), word).expect("a command")
        };
        let commands: Vec<Command> = words.iter().enumerate().map(command).collect();
        let mut found = vec![History::default()];
        for _ in 0..3 {
            let longer: Vec<History> = found
                .iter()
                .flat_map(|history| commands.iter().map(|command| history.then(*command)))
                .collect();
            found.extend(longer);
            found.sort();
            found.dedup();
        }
        found
    }

    /// By definition: whether some commands after the first make it the second.
    fn extends(first: &History, second: &History) -> bool {
        let rest = |history: &History| {
            second.commands().iter().filter(|c| !history.contains(c)).copied().collect::<Vec<_>>()
        };
        rest(first).iter().fold(first.clone(), |history, command| history.then(*command)) == *second
    }

    #[test]
    fn a_prefix_is_what_can_be_continued_to_the_whole() {
        for (a, b) in all().iter().flat_map(|a| all().into_iter().map(move |b| (a.clone(), b))) {
            assert_eq!(a.is_prefix_of(&b), extends(&a, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn meet_is_the_greatest_lower_bound_and_join_the_least_upper_bound() {
        let all = all();
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let meet = a.meet(b);
            assert!(meet.is_prefix_of(a) && meet.is_prefix_of(b));
            let lower = all.iter().filter(|h| h.is_prefix_of(a) && h.is_prefix_of(b));
            assert!(lower.into_iter().all(|h| h.is_prefix_of(&meet)), "{a:?} {b:?}");
            let mut upper = all.iter().filter(|h| a.is_prefix_of(h) && b.is_prefix_of(h));
            match a.join(b) {
                Some(join) => assert!(upper.all(|h| join.is_prefix_of(h)), "{a:?} {b:?}"),
                None => assert_eq!(upper.next(), None, "{a:?} {b:?}"),
            }
        }
    }

    #[test]
    fn commands_that_commute_have_no_order_and_those_that_interfere_do() {
        let of = |of, word| Command::from_word(ProcessId(of), word).expect("a command");
        let both = |a: Command, b: Command| History::from(vec![a, b]);
        let same = |a, b| both(a, b) == both(b, a);
        assert!(same(of(0, "w0"), of(1, "w1")) && same(of(0, "r0"), of(1, "r0")));
        assert!(!same(of(0, "w0"), of(1, "r0")) && !same(of(0, "w0"), of(1, "w0")));
        let (one, other) = (both(of(0, "w0"), of(1, "r0")), both(of(1, "r0"), of(0, "w0")));
        assert!(!one.is_compatible_with(&other));
        assert_eq!(one.meet(&other), History::default());
        assert_eq!(format!("{one:?}"), "[p0:w0 p1:r0]");
    }

    #[test]
    fn words_that_are_no_commands_are_refused() {
        assert!(
            ["", "w", "x1", "w-1", "é1"]
                .iter()
                .all(|w| Command::from_word(ProcessId(0), w).is_none())
        );
    }
}
