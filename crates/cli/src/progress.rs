//! A bar on standard error for work longer than a second. If standard error is no terminal: a line
//! now and then.

use crate::output;
use crate::words::grouped;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// The time before the bar appears.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAWS_PER_SECOND: u8 = 8;
/// The time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// The progress of some work.
pub(crate) struct Progress {
    began: Instant,
    length: Option<u64>,
    unit: &'static str,
    bar: Option<ProgressBar>,
    /// The time of the last line, where there is no terminal.
    told: Instant,
}

impl Progress {
    /// Work of known length: the bar shows its rate and the remaining time.
    pub(crate) fn of(length: u64, unit: &'static str) -> Self {
        Self::new(Some(length), unit)
    }

    /// Work of unknown length.
    pub(crate) fn unknown(unit: &'static str) -> Self {
        Self::new(None, unit)
    }

    fn new(length: Option<u64>, unit: &'static str) -> Self {
        let now = Instant::now();
        Progress { began: now, length, unit, bar: None, told: now }
    }

    /// Reports the work done so far. The words are made only if they are shown.
    pub(crate) fn at(&mut self, done: u64, words: impl FnOnce() -> String) {
        if self.bar.is_none() && self.began.elapsed() >= PATIENCE {
            self.bar = Some(self.draw());
        }
        let Some(bar) = &self.bar else { return };
        if !bar.is_hidden() {
            bar.set_position(done);
            bar.set_message(format!("{} {}", self.extent(done), words()));
        } else if self.told.elapsed() >= BETWEEN_LINES {
            self.told = Instant::now();
            output::note(&format!("{} {}\n", self.extent(done), words()));
        }
    }

    /// Removes the bar. Returns the duration of the work, in seconds.
    pub(crate) fn finish(self) -> f64 {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.began.elapsed().as_secs_f64()
    }

    /// `1 200 of 10 000 runs, 400 a second, 22 seconds left`.
    fn extent(&self, done: u64) -> String {
        let (unit, seconds) = (self.unit, self.began.elapsed().as_secs_f64());
        let rate = done as f64 / seconds.max(1e-3);
        let rate_in_words = grouped(rate as u64);
        match self.length {
            None => format!("{} {unit}, {rate_in_words} a second,", grouped(done)),
            Some(length) => {
                let left =
                    Duration::from_secs_f64(length.saturating_sub(done) as f64 / rate.max(1e-3));
                let (done, length, left) = (grouped(done), grouped(length), HumanDuration(left));
                format!("{done} of {length} {unit}, {rate_in_words} a second, {left} left")
            }
        }
    }

    fn draw(&self) -> ProgressBar {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND);
        let bar = ProgressBar::with_draw_target(self.length, target);
        let template =
            if self.length.is_some() { "{bar:20} {wide_msg}" } else { "{spinner} {wide_msg}" };
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.with_elapsed(self.began.elapsed())
    }
}
