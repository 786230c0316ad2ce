//! Sinks for events, and the end of a run whose trace can no longer be written.

use std::io;
use synod_core::card::Rounds;
use synod_protocols::mutex::{MaekawaSanders, RicartAgrawala};
use synod_sim::trace::{Digest, Event, Jsonl, Sink, Tracer, Window, write_event};
use synod_sim::{Options, Plan, Report, Simulator};

fn options() -> Options {
    let mut options = Options::new(Plan::new(5, Rounds::Times(30)), 11);
    options.network.reordering = 0.1;
    options.faults.pauses = 3;
    options.faults.within_us = 500_000;
    options
}

fn run(sinks: Vec<&mut dyn Sink>) -> io::Result<Report> {
    let tracer = Tracer::new(5, sinks);
    Simulator::of::<MaekawaSanders>(options(), Some(tracer)).expect("the size fits").run(|_, _| {})
}

#[test]
fn every_sink_sees_the_same_events() {
    let (mut window, mut digest) = (Window::new(0, usize::MAX), Digest::default());
    let mut jsonl = Jsonl::new(Vec::new());
    let report = run(vec![&mut window, &mut jsonl, &mut digest]).expect("memory never fails");
    assert_eq!(window.events.len() as u64, report.meter.events, "the meter counts events");
    let mut written = Vec::new();
    let mut hashed = Digest::default();
    for (index, event) in window.events.iter().enumerate() {
        assert_eq!(event.index, index as u64);
        write_event(event, &mut written);
        hashed.take(event).expect("a digest never fails");
    }
    assert!(written == jsonl.into_inner(), "the lines are the events");
    assert_eq!(hashed.value(), digest.value());
}

/// A sink that writes events keeps none: it has a writer and one line. Only a window keeps events,
/// and no more than its width.
#[test]
fn a_window_keeps_no_more_events_than_it_is_wide() {
    let mut all = Window::new(0, usize::MAX);
    run(vec![&mut all]).expect("a window never fails");
    let mut some = Window::new(100, 40);
    run(vec![&mut some]).expect("a window never fails");
    assert_eq!(some.events, all.events[100..140]);
    assert_eq!(some.beyond, all.events.len() as u64 - 140);
}

#[test]
fn a_run_that_is_traced_counts_the_same_as_one_that_is_not() {
    let untraced = Simulator::of::<MaekawaSanders>(options(), None).expect("the size fits");
    let untraced = untraced.run(|_, _| {}).expect("nothing is written");
    let traced = run(vec![&mut Digest::default()]).expect("a digest never fails");
    assert_eq!(format!("{:?}", traced.meter), format!("{:?}", untraced.meter));
    assert_eq!((traced.steps, traced.time_us), (untraced.steps, untraced.time_us));
    assert!(traced.meter.events > 1_000);
}

/// A disk with room for this many bytes.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is full"));
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_run_that_cannot_be_written_down_ends_soon_and_says_why() {
    let mut options = Options::new(Plan::new(3, Rounds::Forever), 1);
    options.steps_at_most = u64::MAX;
    let mut full = Jsonl::new(Full(10_000));
    let tracer = Tracer::new(3, vec![&mut full]);
    let run = Simulator::of::<RicartAgrawala>(options, Some(tracer)).expect("the size fits");
    // Only the failure ends this run.
    let error = run.run(|_, _| {}).expect_err("the disk is full");
    assert_eq!(
        (error.kind(), error.to_string()),
        (io::ErrorKind::StorageFull, "the disk is full".to_owned())
    );
}

/// Fails only when it should flush.
struct Late;

impl Sink for Late {
    fn take(&mut self, _: &Event) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Err(io::Error::other("it could not be flushed"))
    }
}

#[test]
fn what_fails_only_at_the_end_is_told_too() {
    let error = run(vec![&mut Late]).expect_err("the sink fails");
    assert_eq!(error.to_string(), "it could not be flushed");
}
