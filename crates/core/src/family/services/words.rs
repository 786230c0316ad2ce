//! Inputs and outputs of several services, in words.

use super::{Definition, Input, Output, PoolSettings, Tag};
use crate::family::{Allocation, Family};
use crate::group::{Level, Member};
use crate::process::{ProcessId, ProcessSet};
use std::fmt;

/// `opens #0 pool 8`.
pub(super) fn of_input(input: &Input) -> String {
    match input {
        Input::Open(tag, Definition::Pool(pool)) => format!("opens {tag} {}", of_pool(pool)),
        Input::Open(tag, Definition::Group) => format!("opens {tag} group"),
        Input::Close(tag) => format!("closes {tag}"),
        Input::Nodes(nodes) => format!("knows {}", of_nodes(nodes)),
        Input::Forget(node, nodes) => format!("forgets {node} of {}", of_nodes(nodes)),
        Input::Pool(tag, input) => format!("{tag} {}", Allocation::input_in_words(input)),
        Input::Cast(tag, level, bytes) => {
            let safe = if *level == Level::Safe { " safe" } else { "" };
            format!("{tag} casts {}{safe}", Hex(bytes))
        }
        Input::Leave => "leaves".to_owned(),
    }
}

/// `pool 8 rest 50`: settings at their default are left out.
fn of_pool(pool: &PoolSettings) -> String {
    let PoolSettings { slots, cooldown_ms, cap, stock, founder } = pool;
    let mut words = format!("pool {slots}");
    if *cooldown_ms > 0 {
        words += &format!(" rest {cooldown_ms}");
    }
    if *cap < u32::MAX {
        words += &format!(" cap {cap}");
    }
    if *stock > 0 {
        words += &format!(" stock {stock}");
    }
    if let Some(Member { node, incarnation }) = founder {
        words += &format!(" founder {node}.{incarnation}");
    }
    words
}

fn of_nodes(nodes: &ProcessSet) -> String {
    nodes.iter().map(|node| node.to_string()).collect::<Vec<_>>().join(" ")
}

/// `#0 gets s3 1.2`.
pub(super) fn of_output(output: &Output) -> String {
    match output {
        Output::View(view, members) => {
            let members: Vec<_> = members.iter().map(Member::to_string).collect();
            format!("is in {view} with {}", members.join(" "))
        }
        Output::Opened(tag) => format!("has {tag}"),
        Output::Closed(tag) => format!("has {tag} no more"),
        Output::Unknown(tag) => format!("does not know {tag}"),
        Output::Pool(tag, output) => format!("{tag} {}", Allocation::output_in_words(output)),
        Output::Heard(tag, from, bytes) => format!("{tag} hears {} of {from}", Hex(bytes)),
        Output::Full(tag) => format!("{tag} has no room for a cast"),
        Output::Lost => "is out of the group".to_owned(),
    }
}

/// The input that the words mean.
pub(super) fn to_input(words: &[&str]) -> Option<Input> {
    Some(match words {
        ["opens", which, "group"] => Input::Open(tag(which)?, Definition::Group),
        ["opens", which, "pool", slots, settings @ ..] => {
            Input::Open(tag(which)?, Definition::Pool(to_pool(slots, settings)?))
        }
        ["closes", which] => Input::Close(tag(which)?),
        ["knows", nodes @ ..] => Input::Nodes(to_nodes(nodes)?),
        ["forgets", node, "of", nodes @ ..] => Input::Forget(to_node(node)?, to_nodes(nodes)?),
        ["leaves"] => Input::Leave,
        [which, "casts", hex] => Input::Cast(tag(which)?, Level::Agreed, unhex(hex)?),
        [which, "casts", hex, "safe"] => Input::Cast(tag(which)?, Level::Safe, unhex(hex)?),
        [which, rest @ ..] => Input::Pool(tag(which)?, Allocation::input_from_words(rest)?),
        [] => return None,
    })
}

fn tag(word: &str) -> Option<Tag> {
    word.strip_prefix('#')?.parse().ok().map(Tag)
}

fn to_pool(slots: &str, settings: &[&str]) -> Option<PoolSettings> {
    let mut pool = PoolSettings::of(slots.parse().ok()?);
    for setting in settings.chunks(2) {
        match setting {
            ["rest", ms] => pool.cooldown_ms = ms.parse().ok()?,
            ["cap", most] => pool.cap = most.parse().ok()?,
            ["stock", free] => pool.stock = free.parse().ok()?,
            ["founder", member] => pool.founder = Some(to_member(member)?),
            _ => return None,
        }
    }
    Some(pool)
}

fn to_member(word: &str) -> Option<Member> {
    let (node, incarnation) = word.split_once('.')?;
    Some(Member { node: to_node(node)?, incarnation: incarnation.parse().ok()? })
}

fn to_node(word: &str) -> Option<ProcessId> {
    word.strip_prefix('p')?.parse().ok().map(ProcessId)
}

fn to_nodes(words: &[&str]) -> Option<ProcessSet> {
    words.iter().map(|word| to_node(word)).collect()
}

/// Bytes in words, two digits for each.
struct Hex<'b>(&'b [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("-");
        }
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn unhex(word: &str) -> Option<Vec<u8>> {
    if word == "-" {
        return Some(Vec::new());
    }
    let digits = word.as_bytes();
    let digit = |digit: &u8| char::from(*digit).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?);
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::slots;

    const P1: ProcessId = ProcessId(1);
    const P2: ProcessId = ProcessId(2);

    #[test]
    fn words_and_inputs_mean_the_same() {
        let pool = PoolSettings {
            slots: 9,
            cooldown_ms: 50,
            cap: 3,
            stock: 2,
            founder: Some(Member { node: P1, incarnation: 4 }),
        };
        for input in [
            Input::Open(Tag(3), Definition::Pool(pool)),
            Input::Open(Tag(3), Definition::Pool(PoolSettings::of(7))),
            Input::Open(Tag(4), Definition::Group),
            Input::Close(Tag(3)),
            Input::Pool(Tag(3), slots::Input::ClaimSlot(slots::SlotId(5))),
            Input::Cast(Tag(4), Level::Safe, vec![0, 171, 255]),
            Input::Cast(Tag(4), Level::Agreed, Vec::new()),
            Input::Nodes([P1, P2].into_iter().collect()),
            Input::Forget(P2, [P1, P2].into_iter().collect()),
            Input::Leave,
        ] {
            let words = of_input(&input);
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(to_input(&words), Some(input), "{words:?}");
        }
        for wrong in [&["opens", "#1", "pool"][..], &["claims"], &["#1", "casts", "abc"], &[]] {
            assert_eq!(to_input(wrong), None, "{wrong:?}");
        }
    }
}
