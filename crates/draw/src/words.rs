//! Events in words.

use crate::Scene;
use std::collections::BTreeSet;
use synod_sim::trace::{Event, What};

/// The event in a few words, without the name of its process: `sends Request(1@p0) to p1`.
pub fn event_in_words(scene: &Scene, event: &Event) -> String {
    in_words(scene, event, &message_text(event))
}

/// The same with the whole message, where there is room for it.
pub fn event_in_full(scene: &Scene, event: &Event) -> String {
    in_words(scene, event, &whole_message(event))
}

fn in_words(scene: &Scene, event: &Event, message: &str) -> String {
    let peer = || event.peer.map_or_else(|| "?".to_owned(), |peer| scene.label(peer));
    let text = one_line(&event.text);
    let with_text = |verb: &str| {
        if text.is_empty() { verb.to_owned() } else { format!("{verb}: {text}") }
    };
    match event.what {
        What::Start => "starts".to_owned(),
        What::Input | What::Output | What::Network => text,
        What::Send => format!("sends {message} to {}", peer()),
        What::Receive => format!("receives {message} from {}", peer()),
        What::Lose => format!("never gets {message} from {}", peer()),
        What::Duplicate => format!("will get {message} from {} once more", peer()),
        What::Timer => with_text("timer"),
        What::Sync => with_text("sync"),
        What::Crash => "crashes".to_owned(),
        What::Restart => format!("restarts {text}").trim_end().to_owned(),
        What::Pause => "pauses".to_owned(),
        What::Resume => "goes on".to_owned(),
        What::Accuse => with_text(&format!("accuses {}", peer())),
        What::Violation => with_text(&format!("violates {}", event.kind)),
    }
}

/// The message of an event, in the few words that its type has for it; in full if the event has no
/// label.
pub fn message_text(event: &Event) -> String {
    if event.label.is_empty() { whole_message(event) } else { one_line(&event.label) }
}

/// The message of an event: in full if the trace says so, else its kind. The blanks that Rust puts
/// into braces are left out.
fn whole_message(event: &Event) -> String {
    let text = one_line(&event.text).replace(" { ", "{").replace(" }", "}");
    if text.is_empty() { event.kind.to_owned() } else { text }
}

/// The kinds of messages, in the order in which they appear: pictures give each a colour.
pub fn kinds(events: &[Event]) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    for event in events.iter().filter(|event| event.message.is_some()) {
        if !kinds.contains(&event.kind) {
            kinds.push(event.kind);
        }
    }
    kinds
}

/// Tells new violations from those that were shown before: a monitor often reports the same
/// violation again after every step.
#[derive(Clone, Debug, Default)]
pub struct Known(BTreeSet<(&'static str, String)>);

impl Known {
    /// Whether this violation is new. Remembers it.
    pub fn is_new(&mut self, violation: &Event) -> bool {
        self.0.insert((violation.kind, violation.text.clone()))
    }
}

/// Text on one line, without characters that a terminal would obey.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Cuts text to this many characters; the last one, `…`, shows the cut.
pub fn shortened(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(length.saturating_sub(1)).collect();
    if length > 0 {
        short.push('…');
    }
    short
}

/// The same, but between words if there is a gap in the second half.
pub fn shortened_at_a_word(text: &str, length: usize) -> String {
    let short = shortened(text, length);
    if short == text {
        return short;
    }
    let at = short.rfind(' ').filter(|at| 2 * short[..*at].chars().count() >= length);
    at.map_or(short.clone(), |at| format!("{}…", &short[..at]))
}

/// Breaks text into lines of at most `width` characters, between words where possible.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// What a process has, in words.
pub fn has_in_words(has: &str) -> &str {
    if has.is_empty() { "has nothing" } else { has }
}

/// A time in the unit that suits it: `12.3 ms`.
pub fn time_in_words(time_us: u64) -> String {
    let (value, unit) = match time_us {
        0..1_000 => return format!("{time_us} µs"),
        1_000..1_000_000 => (time_us as f64 / 1e3, "ms"),
        _ => (time_us as f64 / 1e6, "s"),
    };
    let text = format!("{value:.3}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `1 event is` or `7 events are` left out before or after.
pub fn left_out(count: u64, side: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 event {side} is left out")),
        _ => Some(format!("{count} events {side} are left out")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Script;

    #[test]
    fn times_are_said_in_the_unit_that_suits_them() {
        let said: Vec<String> =
            [0, 999, 1_000, 12_340, 999_999, 2_500_000].map(time_in_words).into();
        assert_eq!(said, ["0 µs", "999 µs", "1 ms", "12.34 ms", "999.999 ms", "2.5 s"]);
    }

    #[test]
    fn shortened_text_has_at_most_the_length_and_says_that_it_is_cut() {
        assert_eq!(shortened("Request", 7), "Request");
        assert_eq!(shortened("Request", 5), "Requ…");
        assert_eq!(shortened("Request", 0), "");
    }

    #[test]
    fn words_are_cut_between_them_where_that_leaves_enough() {
        assert_eq!(shortened_at_a_word("settles in v1.1 with p1", 20), "settles in v1.1…");
        assert_eq!(shortened_at_a_word("a very_long_word_that_goes_on", 10), "a very_lo…");
        assert_eq!(shortened_at_a_word("enters", 10), "enters");
    }

    #[test]
    fn a_violation_is_new_only_once() {
        let mut script = Script::new(2);
        script.violation(0, "ME1", "two inside").violation(0, "ME1", "two inside");
        script.violation(1, "ME1", "three inside");
        let mut known = Known::default();
        let new: Vec<bool> = script.events().iter().map(|event| known.is_new(event)).collect();
        assert_eq!(new, [true, false, true]);
    }

    #[test]
    fn text_never_brings_control_characters_into_a_picture() {
        assert_eq!(one_line("a\nb\u{1b}[31mc"), "a b [31mc");
    }
}
