//! The place of each event from left to right: by true time, or one step after the other.

use crate::paper::nice_ticks;
use crate::words::time_in_words;
use std::ops::Range;
use synod_sim::trace::{Event, What};

/// The spread of events from left to right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// By true time, unless that squeezes neighbours together or time stands still.
    #[default]
    Automatic,
    /// By true time.
    Time,
    /// In their order, at equal distances.
    Order,
}

/// The distance of neighbours, on average, in pixels.
const STEP: f64 = 44.0;
/// Neighbours on one lane that are nearer than this are squeezed.
const SQUEEZED: f64 = 11.0;
/// The axis gives up true time if more than one neighbour in this many is squeezed.
const TOLERATED: usize = 8;

/// The place of each event, from 0 to `width`.
pub(super) struct Axis {
    pub(super) x: Vec<f64>,
    /// The step that each event belongs to.
    pub(super) steps: Vec<usize>,
    pub(super) width: f64,
    /// First and last time, if events are spread by true time.
    times: Option<(u64, u64)>,
}

impl Axis {
    pub(super) fn new(events: &[Event], spread: Spread) -> Self {
        let by_time = || Axis::by_time(events);
        match spread {
            Spread::Order => Axis::by_order(events),
            Spread::Time => by_time().unwrap_or_else(|| Axis::by_order(events)),
            Spread::Automatic => by_time()
                .filter(|axis| !axis.is_squeezed(events))
                .unwrap_or_else(|| Axis::by_order(events)),
        }
    }

    fn by_order(events: &[Event]) -> Self {
        let steps = steps(events);
        let width = steps.last().map_or(0.0, |&last| last as f64 * STEP);
        let x = steps.iter().map(|&step| step as f64 * STEP).collect();
        Axis { x, steps, width, times: None }
    }

    /// None if time stands still.
    fn by_time(events: &[Event]) -> Option<Self> {
        let (first, last) = (events.first()?.time_us, events.last()?.time_us);
        if first >= last {
            return None;
        }
        let steps = steps(events);
        let width = (*steps.last()? as f64 * STEP).max(400.0);
        let scale = width / (last - first) as f64;
        let x = events.iter().map(|event| (event.time_us - first) as f64 * scale).collect();
        Some(Axis { x, steps, width, times: Some((first, last)) })
    }

    fn is_squeezed(&self, events: &[Event]) -> bool {
        let lanes = events.iter().filter_map(|event| event.process).max();
        let mut last = vec![None; lanes.map_or(0, |lane| lane.index() + 1)];
        let (mut near, mut all) = (0, 0);
        for ((event, &x), &step) in events.iter().zip(&self.x).zip(&self.steps) {
            let Some(process) = event.process else { continue };
            if let Some((before, x_before)) = last[process.index()].replace((step, x))
                // Events of one step share a point on purpose.
                && before != step
            {
                all += 1;
                near += usize::from(x - x_before < SQUEEZED);
            }
        }
        near * TOLERATED > all
    }

    /// The marks of the axis: place and text. None where events are only ordered.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let Some((first, last)) = self.times else { return Vec::new() };
        let scale = self.width / (last - first) as f64;
        let ticks = nice_ticks(first as f64, last as f64, (self.width / 80.0) as usize);
        let place = |time: f64| (time - first as f64) * scale;
        let words = |time: f64| match time.round() as u64 {
            0 => "0".to_owned(),
            time_us => time_in_words(time_us),
        };
        ticks.into_iter().map(|time| (place(time), words(time))).collect()
    }

    pub(super) fn is_by_time(&self) -> bool {
        self.times.is_some()
    }
}

/// The numbers of the events in each row, if a row has at most `most` steps.
pub(super) fn rows(events: &[Event], most: usize) -> Vec<Range<u64>> {
    let first = |place: usize| events.get(place).map_or(0, |event| event.index);
    let mut rows: Vec<Range<u64>> = Vec::new();
    for (place, step) in steps(events).into_iter().enumerate() {
        let index = first(place);
        match rows.get_mut(step / most.max(1)) {
            Some(row) => row.end = index + 1,
            None => rows.push(index..index + 1),
        }
    }
    if rows.is_empty() {
        rows.push(first(0)..first(0));
    }
    rows
}

/// The step that each event belongs to. All reactions of a process to one stimulus are one step,
/// and are drawn at one point.
fn steps(events: &[Event]) -> Vec<usize> {
    let mut steps: Vec<usize> = Vec::with_capacity(events.len());
    let mut stimulus = 0;
    for (index, event) in events.iter().enumerate() {
        let continues = index > 0 && continues(&events[stimulus], &events[index - 1], event);
        if !continues {
            stimulus = index;
        }
        let last = steps.last().copied().unwrap_or(0);
        steps.push(if continues || index == 0 { last } else { last + 1 });
    }
    steps
}

fn continues(stimulus: &Event, before: &Event, event: &Event) -> bool {
    let same_time = stimulus.time_us == event.time_us;
    let same_process = stimulus.process == event.process;
    same_time
        && match event.what {
            What::Start => stimulus.what == What::Start,
            What::Send | What::Output | What::Sync | What::Accuse => same_process,
            // A cut link loses a message as soon as it is sent.
            What::Lose => before.what == What::Send && before.message == event.message,
            // The monitor judges after the step, so the violation belongs to it, at any process.
            What::Violation => true,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Script};

    #[test]
    fn what_follows_from_one_stimulus_stands_at_one_point() {
        let events = sample::two_requests();
        let axis = Axis::new(&events, Spread::Order);
        // All three start together; then p0 asks and sends twice.
        assert_eq!(&axis.x[..6], [0.0, 0.0, 0.0, STEP, STEP, STEP]);
        assert!(axis.ticks().is_empty());
    }

    #[test]
    fn losses_on_the_way_do_not_tear_a_multicast_apart() {
        let mut script = Script::new(3);
        script.asks(0, "requests").send(1, 0, 1, "Request", "Request").lose(1, "the link is cut");
        script.send(2, 0, 2, "Request", "Request").violation(1, "X", "judged after the step");
        script.receive(2);
        assert_eq!(steps(&script.events()), [0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn time_is_true_unless_it_stands_still_or_squeezes() {
        let events = sample::two_requests();
        assert!(Axis::new(&events, Spread::Automatic).is_by_time());

        let still: Vec<Event> =
            events.iter().map(|event| Event { time_us: 7, ..event.clone() }).collect();
        assert!(!Axis::new(&still, Spread::Automatic).is_by_time());
        assert!(!Axis::new(&still, Spread::Time).is_by_time());

        let mut burst = Script::new(1);
        for _ in 0..10 {
            burst.after(1).timer(0, "Tick");
        }
        burst.after(1_000_000).timer(0, "Tick");
        assert!(!Axis::new(&burst.events(), Spread::Automatic).is_by_time());
        assert!(Axis::new(&burst.events(), Spread::Time).is_by_time());
    }

    #[test]
    fn later_events_never_stand_further_left() {
        for events in [sample::two_requests(), sample::troubles()] {
            for spread in [Spread::Time, Spread::Order] {
                let axis = Axis::new(&events, spread);
                assert!(axis.x.is_sorted());
                assert_eq!(axis.x.last(), Some(&axis.width));
            }
        }
    }
}
