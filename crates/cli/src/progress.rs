//! A bar on standard error for work longer than a second. Hidden if standard error is no terminal.

use crate::words::grouped;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// The time before the bar appears.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAWS_PER_SECOND: u8 = 8;

/// The progress of some work.
pub(crate) struct Progress {
    began: Instant,
    length: Option<u64>,
    unit: &'static str,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Work of known length: the bar shows its rate and the remaining time.
    pub(crate) fn of(length: u64, unit: &'static str) -> Self {
        Progress { began: Instant::now(), length: Some(length), unit, bar: None }
    }

    /// Work of unknown length.
    pub(crate) fn unknown(unit: &'static str) -> Self {
        Progress { began: Instant::now(), length: None, unit, bar: None }
    }

    /// Reports the work done so far. The words are made only if the bar is visible.
    pub(crate) fn at(&mut self, done: u64, words: impl FnOnce() -> String) {
        if self.bar.is_none() && self.began.elapsed() >= PATIENCE {
            self.bar = Some(self.draw());
        }
        if let Some(bar) = self.bar.as_ref().filter(|bar| !bar.is_hidden()) {
            bar.set_position(done);
            bar.set_message(format!("{} {}", self.extent(done), words()));
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
        let template = if self.length.is_some() { "{bar:30} {msg}" } else { "{spinner} {msg}" };
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.with_elapsed(self.began.elapsed())
    }
}
