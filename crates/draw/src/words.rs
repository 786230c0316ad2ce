//! Events in words.

use crate::Scene;
use std::collections::BTreeSet;
use synod_sim::trace::{Event, What};

/// The event in a few words, without the name of its process: `sends Request(1@p0) to p1`.
pub fn event_in_words(scene: &Scene, event: &Event) -> String {
    let peer = || event.peer.map_or_else(|| "?".to_owned(), |peer| scene.label(peer));
    let text = one_line(&event.text);
    let with_text = |verb: &str| {
        if text.is_empty() { verb.to_owned() } else { format!("{verb}: {text}") }
    };
    match event.what {
        What::Start => "starts".to_owned(),
        What::Input | What::Output | What::Network => text,
        What::Send => format!("sends {} to {}", message_text(event), peer()),
        What::Receive => format!("receives {} from {}", message_text(event), peer()),
        What::Lose => format!("never gets {} from {}", message_text(event), peer()),
        What::Duplicate => format!("will get {} from {} once more", message_text(event), peer()),
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

/// The message of an event: in full if the trace says so, else its kind. The blanks that Rust puts
/// into braces are left out.
pub fn message_text(event: &Event) -> String {
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
