//! A history of the explorer, done again and played as a scenario, is the same trace byte for byte.

use synod_check::Question;
use synod_core::card::Counterexample;
use synod_protocols::{entries, which};
use synod_sim::trace::{Digest, Event, Sink, What, write_event};
use synod_sim::{Judged, Scenario};

/// How many bytes of one counterexample of one card were compared.
fn compare(name: &str, Counterexample { property, scope, .. }: &Counterexample) -> usize {
    let mut question = Question::new(*scope);
    question.judged = Judged::Only(vec![(*property).to_owned()]);
    let explored = synod_drivers::explore(which, name, &question, &mut |_| {});
    let explored = explored.expect("it is in the catalogue").expect("the scope fits the card");
    let refuted =
        explored.verdicts.into_iter().find_map(|(id, refuted)| refuted.filter(|_| id == *property));
    let refuted = refuted.expect("the card says so");
    let text = &refuted.scenario;
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let played = synod_drivers::play(which, &scenario).expect("it is in the catalogue");
    let played = played.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(scenario.has_expectations() && played.unmet.is_empty(), "{:?}\n{text}", played.unmet);
    // A question judges the properties it asks about, and liveness only when no further step is
    // possible.
    let violates = |event: &Event| event.what == What::Violation && event.kind == *property;
    let at_once = refuted.events.iter().any(violates);
    let (found, digest) = written(&refuted.events, |_| true);
    let (again, hash) = written(&played.events, |event| at_once && violates(event));
    assert_eq!(
        String::from_utf8_lossy(&again),
        String::from_utf8_lossy(&found),
        "{name}, {property}:\n{text}"
    );
    assert_eq!(hash, digest, "{name}, {property}");
    found.len()
}

/// The lines of the events and their digest, without violations that are not judged.
fn written(events: &[Event], judged: impl Fn(&Event) -> bool) -> (Vec<u8>, u64) {
    let (mut lines, mut digest) = (Vec::new(), Digest::default());
    let mut index = 0;
    for event in events {
        if event.what == What::Violation && !judged(event) {
            continue;
        }
        let event = Event { index, ..event.clone() };
        index += 1;
        write_event(&event, &mut lines);
        digest.take(&event).expect("a digest never fails");
    }
    (lines, digest.value())
}

#[test]
fn every_counterexample_on_a_card_is_the_same_trace_wherever_it_is_done_again() {
    let (mut histories, mut bytes) = (0, 0);
    for entry in entries() {
        for counterexample in entry.card.counterexamples {
            bytes += compare(entry.card.name, counterexample);
            histories += 1;
        }
    }
    assert!(histories > 15 && bytes > 10_000, "{histories} histories of {bytes} bytes");
}
