//! Scenarios as text: a script that a world plays, and the trace that it must produce.
//!
//! A file has three parts. The *header* names the algorithm, the number of processes and all other
//! settings that are not the default. After `---` comes the *script*, one step a line. After `----`
//! comes the *trace*, one line for each event. The player compares it with the actual events.
//!
//! ```text
//! # Two ask at once; p1 asked earlier, so p2 waits.
//! algorithm: ricart-agrawala
//! processes: 3
//! ---
//! p1 requests
//! p2 requests
//! deliver all
//! expect p1 enters
//! ----
//! p1 requests
//!   p1 -> p0: Request(1@p1)
//! …
//! ```
//!
//! This crate knows no algorithm by name. A caller with a catalogue looks up the name that
//! [`Scenario::algorithm`] returns and calls [`Scenario::play`] with the algorithm.

mod command;
mod diff;
mod error;
mod header;
mod parse;
mod play;
mod stepping;
mod story;
mod verdict;
mod write;

pub use diff::Difference;
pub use error::ParseError;
pub use play::{Played, Player};
pub use stepping::{Judgement, Mark, Offer, OfferKind, OnItsWay};
pub use story::event_in_words;

use header::Header;
use parse::{Entry, Word, error_at};
use synod_core::boxed::Which;
use synod_core::{Algorithm, SetupError};

/// A scenario, read but not yet played.
#[derive(Clone, Debug)]
pub struct Scenario {
    text: String,
    header: Header,
    entries: Vec<Entry>,
    script: Vec<Vec<Word>>,
    /// The number of the line with the rule, if there is one.
    rule: Option<usize>,
}

impl Scenario {
    /// Reads the header and finds the parts. Parsing the script needs the algorithm, so it comes
    /// later.
    pub fn parse(text: &str) -> Result<Scenario, ParseError> {
        let parts = parse::split(text)?;
        let header = Header::read(text, &parts.header)?;
        let (entries, script, rule) = (parts.header, parts.script, parts.rule);
        Ok(Scenario { text: text.to_owned(), header, entries, script, rule })
    }

    /// The name of the algorithm.
    pub fn algorithm(&self) -> &str {
        &self.header.algorithm.text
    }

    /// The number of processes.
    pub fn processes(&self) -> usize {
        self.header.n
    }

    /// Whether the file has an expected trace, that is, a line `----`.
    pub fn has_trace(&self) -> bool {
        self.rule.is_some()
    }

    /// Whether the script has a line that begins with `expect`.
    pub fn has_expectations(&self) -> bool {
        self.script.iter().any(|line| line[0].text == "expect")
    }

    /// The error for an algorithm that is not in the caller's catalogue, whose names are `known`.
    pub fn unknown_algorithm<'k>(&self, known: impl IntoIterator<Item = &'k str>) -> ParseError {
        let known: Vec<&str> = known.into_iter().collect();
        let name = self.algorithm();
        let hint = match error::did_you_mean(name, known.iter().copied()) {
            hint if hint.is_empty() => format!("; there are: {}", known.join(", ")),
            hint => hint,
        };
        let message = format!("there is no algorithm '{name}'{hint}");
        error_at(&self.text, &self.header.algorithm, message)
    }

    /// Plays the script on a world of the algorithm. Fails if the script cannot be parsed or
    /// played. A different trace is no failure: [`Played`] has the differences.
    pub fn play<A: Algorithm>(&self) -> Result<Played, ParseError> {
        self.play_boxed(Which::of::<A>())
    }

    /// The same for an algorithm that is known only at run time.
    pub fn play_boxed(&self, which: Which) -> Result<Played, ParseError> {
        play::play(self, which)
    }

    fn explain(&self, error: &SetupError) -> ParseError {
        self.header.explain(&self.text, &self.entries, error)
    }

    /// The expected trace: the lines after the rule, without empty ones at the end.
    fn expected(&self) -> Vec<&str> {
        let Some(rule) = self.rule else { return Vec::new() };
        let mut lines: Vec<&str> = self.text.lines().skip(rule).map(str::trim_end).collect();
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        lines
    }

    /// The same file with this trace after the rule.
    fn with_trace(&self, trace: &[String]) -> String {
        let mut text = match self.rule {
            Some(rule) => self.text.lines().take(rule - 1).collect::<Vec<_>>().join("\n"),
            None => self.text.trim_end().to_owned(),
        };
        text.push('\n');
        text.push_str(parse::RULE);
        text.push('\n');
        for line in trace {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}
