//! A history of the explorer, done again and played as a scenario, is the same trace byte for byte.

use synod_check::{Question, explore, replay};
use synod_core::card::Counterexample;
use synod_core::{Algorithm, Family};
use synod_protocols::{Visit, entries, visit};
use synod_sim::trace::{Digest, Event, Jsonl, Sink, Tracer, What, write_event};
use synod_sim::{Judged, Scenario};

/// One counterexample of one card.
struct Again<'c>(&'c Counterexample);

impl Visit for Again<'_> {
    type Answer = usize;

    /// How many bytes were compared.
    fn visit<A: Algorithm>(self) -> usize {
        let Counterexample { property, scope, .. } = self.0;
        let mut question = Question::new(*scope);
        question.judged = Judged::Only(vec![(*property).to_owned()]);
        let exploration = explore::<A>(&question, |_| {}).expect("the scope fits the card");
        let refuted = exploration.refutation(property).expect("the card says so");
        let history = &refuted.history;

        let (mut lines, mut digest) = (Jsonl::new(Vec::new()), Digest::default());
        let tracer = Tracer::new(scope.n, vec![&mut lines, &mut digest]);
        replay::<A>(&question, history, Some(tracer)).expect("it happened once");
        let lines = lines.into_inner();

        let plan = question.plan::<A>();
        let text = Scenario::from_steps::<A>(A::CARD.name, &plan, &history.start, &history.steps);
        let text = text.expect("the scope fits the card");
        let played = Scenario::parse(&text).and_then(|scenario| scenario.play::<A>());
        let played = played.unwrap_or_else(|error| panic!("{error}\n{text}"));
        // A question judges what it asks about, and liveness only when nothing can happen any more.
        let judged =
            |event: &Event| event.kind == *property && !A::Family::LIVENESS.contains(&event.kind);
        let (again, hash) = written(&played.events, judged);
        let name = A::CARD.name;
        assert_eq!(
            String::from_utf8_lossy(&again),
            String::from_utf8_lossy(&lines),
            "{name}, {property}:\n{text}"
        );
        assert_eq!(hash, digest.value(), "{name}, {property}");
        lines.len()
    }
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
            let compared = visit(entry.card.name, Again(counterexample));
            bytes += compared.expect("it is in the catalogue");
            histories += 1;
        }
    }
    assert!(histories > 15 && bytes > 10_000, "{histories} histories of {bytes} bytes");
}
