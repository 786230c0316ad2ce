//! Requests and answers of clients, in words.

use crate::process::{ProcessId, ProcessSet};
use crate::replication::{Action, Answer, Invoke, Notice, Operation};

pub(super) fn input(input: &Invoke<Operation>) -> String {
    match input {
        Invoke::Operation { client: 0, operation } => asked(operation),
        Invoke::Operation { client, operation } => format!("client {client} {}", asked(operation)),
        Invoke::Transfer(to) => format!("transfers to {to}"),
        Invoke::Reconfigure(voters) => {
            let names: Vec<String> = voters.iter().map(|at| at.to_string()).collect();
            format!("reconfigures to {}", names.join(" "))
        }
    }
}

fn asked(Operation { key, action }: &Operation) -> String {
    match action {
        Action::Get => format!("gets {key}"),
        Action::Put(value) => format!("puts {key} {value}"),
        Action::Delete => format!("deletes {key}"),
        Action::CompareAndSwap { expect: Some(old), new } => format!("swaps {key} {old} {new}"),
        Action::CompareAndSwap { expect: None, new } => format!("swaps {key} nothing {new}"),
    }
}

pub(super) fn output(output: &Notice<Answer>) -> String {
    match output {
        Notice::Returned { client: 0, answer } => format!("is answered {answer}"),
        Notice::Returned { client, answer } => format!("client {client} is answered {answer}"),
        Notice::Applied { index, request: None, .. } => format!("applies {index}: nothing"),
        Notice::Applied { index, request: Some(request), fresh: true } => {
            format!("applies {index}: {request}")
        }
        Notice::Applied { index, request: Some(request), fresh: false } => {
            format!("applies {index}: {request} again")
        }
        Notice::Restored(index) => format!("has the state after {index}"),
        Notice::Leads(term) => format!("leads in term {term}"),
        Notice::Closed { client } => format!("client {client} learns that its session is closed"),
        Notice::Refused { client, error } => format!("client {client} is refused: {error}"),
    }
}

pub(super) fn parse(words: &[&str]) -> Option<Invoke<Operation>> {
    match words {
        ["client", client, words @ ..] => {
            Some(Invoke::Operation { client: client.parse().ok()?, operation: operation(words)? })
        }
        ["transfers", "to", to] => process(to).map(Invoke::Transfer),
        ["reconfigures", "to", voters @ ..] if !voters.is_empty() => {
            let voters: Option<ProcessSet> = voters.iter().map(|word| process(word)).collect();
            voters.map(Invoke::Reconfigure)
        }
        words => operation(words).map(|operation| Invoke::Operation { client: 0, operation }),
    }
}

/// A bound on the names of processes, so that a typing error does not make a huge set.
const MOST: u32 = 1 << 16;

fn process(word: &str) -> Option<ProcessId> {
    let number = word.strip_prefix('p')?.parse().ok().filter(|number| *number < MOST)?;
    Some(ProcessId(number))
}

fn operation(words: &[&str]) -> Option<Operation> {
    let number = |word: &str| word.parse::<u64>().ok();
    let (key, action) = match words {
        ["gets", key] => (key, Action::Get),
        ["deletes", key] => (key, Action::Delete),
        ["puts", key, value] => (key, Action::Put(number(value)?)),
        ["swaps", key, "nothing", new] => {
            (key, Action::CompareAndSwap { expect: None, new: number(new)? })
        }
        ["swaps", key, old, new] => {
            (key, Action::CompareAndSwap { expect: Some(number(old)?), new: number(new)? })
        }
        _ => return None,
    };
    Some(Operation { key: number(key)?, action })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Family, Replication};

    #[test]
    fn what_is_written_is_read_back() {
        for phrase in Replication::PHRASES {
            let words: Vec<&str> = phrase.split(' ').collect();
            let read = parse(&words).unwrap_or_else(|| panic!("{phrase} means something"));
            assert_eq!(input(&read), *phrase);
        }
    }

    #[test]
    fn what_means_nothing_is_not_read() {
        for phrase in ["puts 1", "gets", "swaps 1 2", "puts x 1", "client 2", "transfers to 1", ""]
        {
            assert_eq!(parse(&phrase.split(' ').collect::<Vec<_>>()), None, "{phrase}");
        }
        assert_eq!(parse(&["reconfigures", "to", "p99999999"]), None);
    }
}
