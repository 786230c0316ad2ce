//! The scene of a picture: the number of processes, their names, and the part of the run.

use std::ops::Range;
use synod_core::ProcessId;
use synod_sim::trace::Event;

/// The facts that a picture shows beside the events themselves.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    title: String,
    n: usize,
    labels: Vec<String>,
    window: Option<Range<u64>>,
    beyond: u64,
    ending: Option<String>,
    /// Whether an event tells more about itself where a reader points at it.
    silent: bool,
}

/// The events of a window, and the number left out on either side.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Events before the window: they determine the activity of each process when it opens.
    pub earlier: &'a [Event],
    /// Inside the window.
    pub events: &'a [Event],
    /// The number of events of the run before the window.
    pub before: u64,
    /// The number of events of the run known to come after it.
    pub after: u64,
}

impl Scene {
    /// A picture of `n` processes, called `p0`, `p1`, …
    pub fn new(title: impl Into<String>, n: usize) -> Self {
        Scene { title: title.into(), n, ..Scene::default() }
    }

    /// Other names for the processes. Those without one keep their own.
    pub fn with_labels(mut self, labels: Vec<String>) -> Self {
        self.labels = labels;
        self
    }

    /// Shows only the events with these numbers.
    pub fn with_window(mut self, window: Range<u64>) -> Self {
        self.window = Some(window);
        self
    }

    /// Adds the number of events of the run after the given ones.
    pub fn with_beyond(mut self, beyond: u64) -> Self {
        self.beyond = beyond;
        self
    }

    /// The run ends because no step is possible, or goes round in a circle, although
    /// processes wait: why that is wrong, in words.
    pub fn with_ending(mut self, words: impl Into<String>) -> Self {
        self.ending = Some(words.into());
        self
    }

    /// Without that.
    pub(crate) fn without_ending(mut self) -> Self {
        self.ending = None;
        self
    }

    /// Without the words that show where a reader points: pages show pictures as images, which
    /// cannot be pointed at.
    pub(crate) fn without_tips(mut self) -> Self {
        self.silent = true;
        self
    }

    /// Whether the picture has such words.
    pub(crate) fn has_tips(&self) -> bool {
        !self.silent
    }

    /// Another title.
    pub(crate) fn with_title(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// Why the end of the run is wrong.
    pub fn ending(&self) -> Option<&str> {
        self.ending.as_deref()
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The number of processes.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The name of a process.
    pub fn label(&self, process: ProcessId) -> String {
        self.labels.get(process.index()).cloned().unwrap_or_else(|| process.to_string())
    }

    /// The lane of the event's process, if the picture has it.
    pub fn lane_of(&self, event: &Event) -> Option<usize> {
        event.process.map(ProcessId::index).filter(|&lane| lane < self.n)
    }

    /// The lane of the peer.
    pub fn peer_lane_of(&self, event: &Event) -> Option<usize> {
        event.peer.map(ProcessId::index).filter(|&lane| lane < self.n)
    }

    /// Cuts the window out of the events, which are in the order of their numbers.
    pub fn cut<'a>(&self, events: &'a [Event]) -> Shown<'a> {
        let window = self.window.clone().unwrap_or(0..u64::MAX);
        let from = events.partition_point(|event| event.index < window.start);
        let to = events.partition_point(|event| event.index < window.end).max(from);
        let missing = events.first().map_or(0, |event| event.index);
        Shown {
            earlier: &events[..from],
            events: &events[from..to],
            before: missing + from as u64,
            after: (events.len() - to) as u64 + self.beyond,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_window_counts_what_it_leaves_out_on_either_side() {
        let events = sample::two_requests();
        let all = Scene::new("", 3).cut(&events);
        assert_eq!((all.before, all.events.len(), all.after), (0, events.len(), 0));

        let scene = Scene::new("", 3).with_window(4..10).with_beyond(100);
        let shown = scene.cut(&events[2..]);
        assert_eq!(shown.events.len(), 6);
        assert_eq!(shown.events[0].index, 4);
        assert_eq!((shown.before, shown.earlier.len()), (4, 2));
        assert_eq!(shown.after, events.len() as u64 - 10 + 100);
    }

    #[test]
    fn a_window_beside_the_run_is_empty() {
        let events = sample::two_requests();
        let shown = Scene::new("", 3).with_window(1_000..2_000).cut(&events);
        assert!(shown.events.is_empty());
        assert_eq!((shown.before, shown.after), (events.len() as u64, 0));
    }

    #[test]
    fn processes_without_a_label_keep_their_own_name() {
        let scene = Scene::new("", 2).with_labels(vec!["alice".to_owned()]);
        assert_eq!(scene.label(ProcessId(0)), "alice");
        assert_eq!(scene.label(ProcessId(1)), "p1");
    }
}
