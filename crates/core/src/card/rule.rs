//! A rule on a card, and the events that it belongs to.

use serde::Serialize;
use std::slice;

/// A rule of an algorithm, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The words.
    pub text: &'static str,
    on: On,
}

/// One event or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    One(Trigger<'static>),
    Several(&'static [Trigger<'static>]),
}

/// The kind of event in reaction to which a process applies a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(tag = "on", content = "name", rename_all = "lowercase")]
pub enum Trigger<'a> {
    /// The process starts, or starts again.
    Start,
    /// The application asks: the name of the variant of [`Family::Input`](crate::Family::Input).
    Input(&'a str),
    /// A message arrives: its [`Wire::kind`](crate::Wire::kind).
    Message(&'a str),
    /// A timer runs out: the first word of its `Debug` text, as a trace has it. For an enum that is
    /// the name of the variant.
    Timer(&'a str),
}

impl Rule {
    /// A rule for the start.
    pub const fn on_start(text: &'static str) -> Rule {
        Rule { text, on: On::One(Trigger::Start) }
    }

    /// A rule for a request of the application.
    pub const fn on_input(input: &'static str, text: &'static str) -> Rule {
        Rule { text, on: On::One(Trigger::Input(input)) }
    }

    /// A rule for a message.
    pub const fn on_message(kind: &'static str, text: &'static str) -> Rule {
        Rule { text, on: On::One(Trigger::Message(kind)) }
    }

    /// A rule for a timer.
    pub const fn on_timer(timer: &'static str, text: &'static str) -> Rule {
        Rule { text, on: On::One(Trigger::Timer(timer)) }
    }

    /// A rule for several events.
    pub const fn on(triggers: &'static [Trigger<'static>], text: &'static str) -> Rule {
        Rule { text, on: On::Several(triggers) }
    }

    /// A rule about a state or a decision, whatever the event.
    pub const fn always(text: &'static str) -> Rule {
        Rule::on(&[], text)
    }

    /// The rules of a layer and of the one below, in this order, before any number of blanks: the
    /// length of an array cannot depend on a type parameter.
    pub const fn both<const MOST: usize>(above: &[Rule], below: &[Rule]) -> [Rule; MOST] {
        let mut all = [Rule::always(""); MOST];
        let mut at = 0;
        while at < above.len() + below.len() {
            all[at] = if at < above.len() { above[at] } else { below[at - above.len()] };
            at += 1;
        }
        all
    }

    /// The events that it belongs to. Empty: none in particular.
    pub fn triggers(&self) -> &[Trigger<'static>] {
        match &self.on {
            On::One(trigger) => slice::from_ref(trigger),
            On::Several(triggers) => triggers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Trigger::{Input, Message, Start, Timer};
    use super::*;

    #[test]
    fn a_rule_belongs_to_one_event_to_several_or_to_none_in_particular() {
        assert_eq!(Rule::on_start("").triggers(), [Start]);
        assert_eq!(Rule::on_input("Enter", "").triggers(), [Input("Enter")]);
        assert_eq!(Rule::on_message("Reply", "").triggers(), [Message("Reply")]);
        assert_eq!(Rule::on_timer("Retry", "").triggers(), [Timer("Retry")]);
        let both = Rule::on(&[Start, Message("Vote")], "");
        assert_eq!(both.triggers(), [Start, Message("Vote")]);
        assert_eq!(Rule::always("").triggers(), []);
    }
}
