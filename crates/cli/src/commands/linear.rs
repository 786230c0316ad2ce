//! `synod linear`: judge a recorded history of a key-value store.

use crate::output::{self, Output};
use crate::parse;
use crate::progress::Progress;
use crate::words;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use synod_core::Verdict;
use synod_core::linear::{
    Counterexample, Event, Finding, History, KeyValue, Model, USUAL_LIMIT, What, Word,
};

const FORMAT: &str = r#"Examples:
  synod linear history.jsonl              is there an order that explains every answer?
  synod linear - < history.jsonl          the same, from standard input
  synod linear history.jsonl -o json      for programs

A history has one JSON object a line, in the order of the events. A client calls an operation,
and is answered; it does one operation at a time:

  {"client":1,"invoke":{"key":"x","action":{"put":1}}}
  {"client":2,"invoke":{"key":"x","action":"get"}}
  {"client":1,"answer":"done"}
  {"client":2,"answer":{"value":1}}

Keys and values are whole numbers or texts. Actions, and how they are answered:

  "get"                                           {"value":1}, or {"value":null}
  {"put":1}                                       "done"
  "delete"                                        {"deleted":true} if there was a value
  {"compare-and-swap":{"expect":1,"new":2}}       {"swapped":true} if it had the expected value;
                                                  "expect":null is a key without a value

A client that crashed, or gave up waiting, has a line {"client":1,"abandon":true}: its operation
may take effect at any time later, or never. So may operations without an answer at the end. With
"time_us" on its lines, a history that is not sorted by time is refused; of two events at the same
time, the call comes first.

If there are too many possibilities to decide, the exit code is 3."#;

/// Judge whether a recorded history of a key-value store is linearizable
#[derive(Args)]
#[command(after_help = FORMAT)]
pub(crate) struct Linear {
    /// The history, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Give up on a key if it has more possibilities than this
    #[arg(long, value_name = "K", value_parser = parse::positive, default_value_t = USUAL_LIMIT as u64)]
    limit: u64,
}

/// Keys and values as people write them.
type Store = KeyValue<Word, Word>;

#[derive(Serialize)]
struct Told {
    linearizable: Verdict,
    operations: u64,
    keys: u64,
    counterexample: Option<CounterexampleJson>,
    #[serde(skip)]
    limit: u64,
}

#[derive(Serialize)]
struct CounterexampleJson {
    key: Word,
    /// The initial value of the key.
    start: Option<Word>,
    /// The number of operations on this key that were left out, because the others suffice.
    left_out: u64,
    client: u64,
    operation: String,
    answer: String,
    possible: Vec<String>,
    because: String,
    events: Vec<Event<Store>>,
    #[serde(skip)]
    diagram: String,
}

impl Linear {
    /// Judges the history.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let history = read(&self.file)?;
        let mut progress = Progress::of(history.events().len() as u64, "events");
        let mut tell = |done: usize| progress.at(done as u64, String::new);
        let finding = history.check(self.limit as usize, &mut tell);
        progress.finish();
        let linearizable = Verdict::from(&finding);
        let counterexample = match finding {
            Finding::Broken(found) => Some(CounterexampleJson::from(*found)),
            Finding::Linearizable | Finding::Unknown => None,
        };
        let told = Told {
            linearizable,
            operations: history.operations() as u64,
            keys: keys(&history),
            limit: self.limit,
            counterexample,
        };
        output.answer(&told, || told.in_words())?;
        Ok(linearizable)
    }
}

fn read(path: &Path) -> Result<History<Store>> {
    let name = path.display();
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    } else {
        text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {name}; name a history, a text file"))?;
    }
    History::parse(&text, serde_json::from_str)
        .map_err(|error| anyhow!("{name}: {error}"))
        .context("this is not a history; 'synod linear --help' shows one")
}

fn keys(history: &History<Store>) -> u64 {
    let keys: BTreeSet<&Word> = history
        .events()
        .iter()
        .filter_map(|event| match &event.what {
            What::Invoke(operation) => Some(&operation.key),
            What::Answer(_) | What::Abandon => None,
        })
        .collect();
    keys.len() as u64
}

impl From<Counterexample<Store>> for CounterexampleJson {
    fn from(found: Counterexample<Store>) -> Self {
        CounterexampleJson {
            because: found.to_string(),
            diagram: found.diagram(output::width()),
            client: found.broken.id,
            operation: found.broken.operation.to_string(),
            answer: found.broken.answer.to_string(),
            possible: found.broken.possible.iter().map(ToString::to_string).collect(),
            key: found.key,
            start: found.start,
            left_out: found.left_out as u64,
            events: found.events,
        }
    }
}

impl Told {
    fn in_words(&self) -> String {
        let operations = words::count(self.operations, "operation", "operations");
        let keys = words::count(self.keys, "key", "keys");
        let sign = output::sign(self.linearizable);
        let verdict = match self.linearizable {
            Verdict::Holds => "linearizable",
            Verdict::Violated => "not linearizable",
            Verdict::Undecided => "not decided whether it is linearizable",
        };
        let mut verdict = format!("{sign} {verdict}: {operations} on {keys}\n");
        if self.linearizable == Verdict::Undecided {
            verdict += &format!(
                "Some key has more than {} possibilities; ask again with a larger --limit, or record a \
                 history with more keys or fewer clients.\n",
                words::grouped(self.limit)
            );
        }
        let found = self.counterexample.as_ref().map(CounterexampleJson::in_words);
        output::coloured(&(verdict + &found.unwrap_or_default()))
    }
}

impl CounterexampleJson {
    fn in_words(&self) -> String {
        let mut text = format!("\n{}\n", self.diagram);
        if self.left_out > 0 {
            let operations = words::count(self.left_out, "operation", "operations");
            let (key, start) = (&self.key, Store::describe(&self.start));
            text += &format!("At first {key:?} is {start}; {operations} on it are left out.\n");
        }
        text + &format!("{}\n", self.because)
    }
}
