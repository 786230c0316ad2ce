//! A bar on standard error for whatever takes longer than a second. Hidden if nobody looks.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Nothing is shown before.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAWS_PER_SECOND: u8 = 8;

/// How far something has come.
pub(crate) struct Progress {
    began: Instant,
    length: Option<u64>,
    unit: &'static str,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Something of known length: the bar shows its rate and when it will be done.
    pub(crate) fn of(length: u64, unit: &'static str) -> Self {
        Progress { began: Instant::now(), length: Some(length), unit, bar: None }
    }

    /// Something of which nobody knows how long it takes.
    pub(crate) fn unknown(unit: &'static str) -> Self {
        Progress { began: Instant::now(), length: None, unit, bar: None }
    }

    /// So much is done. The words are made only if somebody sees them.
    pub(crate) fn at(&mut self, done: u64, words: impl FnOnce() -> String) {
        if self.bar.is_none() && self.began.elapsed() >= PATIENCE {
            self.bar = Some(self.draw());
        }
        if let Some(bar) = self.bar.as_ref().filter(|bar| !bar.is_hidden()) {
            bar.set_position(done);
            bar.set_message(words());
        }
    }

    /// Takes the bar away. Returns how long it all took, in seconds.
    pub(crate) fn finish(self) -> f64 {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.began.elapsed().as_secs_f64()
    }

    fn draw(&self) -> ProgressBar {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND);
        let bar = ProgressBar::with_draw_target(self.length, target);
        let template = match self.length {
            Some(_) => format!(
                "{{bar:30}} {{human_pos}} of {{human_len}} {} ({{per_sec}}, {{eta}} left) {{msg}}",
                self.unit
            ),
            None => format!("{{spinner}} {{human_pos}} {} ({{per_sec}}) {{msg}}", self.unit),
        };
        let style = ProgressStyle::with_template(&template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.with_elapsed(self.began.elapsed())
    }
}
