//! The commands of a script, parsed line by line.

use super::error::{ParseError, did_you_mean};
use super::header::{is_number, process};
use super::parse::{Word, error_at, error_in, join};
use crate::network::microseconds;
use crate::world::LinkChange;
use synod_core::ProcessId;
use synod_core::family::Facts;

/// A parsed line.
#[derive(Clone, Debug)]
pub(super) enum Command<I> {
    Input(ProcessId, I),
    Tell {
        from: ProcessId,
        to: ProcessId,
    },
    Message(Fate, Pick),
    DeliverSome(u64),
    DeliverAll,
    Crash(ProcessId),
    Restart {
        at: ProcessId,
        disk: bool,
    },
    Pause(ProcessId),
    Resume(ProcessId),
    Links(LinkChange),
    /// The timer's name; empty for the only timer.
    Fire(ProcessId, String),
    Sync(ProcessId),
    Wait(u64),
    Tick,
    Run(HowFar),
    Expect(Expectation),
}

/// The extent of a run by the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HowFar {
    /// A number of turns, each of at least one step.
    Turns(u64),
    /// A time in microseconds.
    Time(u64),
    /// Until no event is planned, or every request is fulfilled.
    End,
}

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Deliver,
    Drop,
    Duplicate,
}

/// The description of a message in flight.
#[derive(Clone, Debug)]
pub(super) struct Pick {
    pub(super) from: ProcessId,
    pub(super) to: ProcessId,
    /// Its kind or its whole text; empty for any message of the link.
    pub(super) name: String,
    /// Its rank among several matches, from 1, the oldest first.
    pub(super) number: usize,
}

/// A condition that must hold at this point of the script.
#[derive(Clone, Debug)]
pub(super) enum Expectation {
    /// The last input or output of the application.
    Said(ProcessId, String),
    Waits(ProcessId),
    NobodyWaits,
    NothingInFlight,
    Messages(u64),
    Violated(Vec<Word>),
    Holds(Vec<Word>),
}

/// A command, and the choices that are fixed for it.
pub(super) struct Instruction<I> {
    pub(super) command: Command<I>,
    pub(super) choices: Choices,
    /// The process that takes the step crashes after this number of its messages and outputs.
    pub(super) crashing: Option<(u32, Word)>,
}

const VERBS: &[(&str, &str)] = &[
    ("deliver", "deliver p0 -> p1 Request, deliver 5, deliver all"),
    ("drop", "drop p0 -> p1 Request"),
    ("duplicate", "duplicate p0 -> p1 Request"),
    ("crash", "crash p1"),
    ("restart", "restart p1, restart p1 without disk"),
    ("pause", "pause p1"),
    ("resume", "resume p1"),
    ("partition", "partition p0 p1 | p2"),
    ("cut", "cut p0 -> p1"),
    ("mend", "mend p0 -> p1"),
    ("heal", "heal"),
    ("fire", "fire p1 Timer"),
    ("sync", "sync p1"),
    ("wait", "wait 10ms"),
    ("tick", "tick"),
    ("run", "run 20, run 50ms, run"),
    (
        "expect",
        "expect p1 enters, expect p1 waits, expect nobody waits, expect nothing in flight, \
         expect 8 messages, expect violated ME1, expect holds ME1 ME2",
    ),
];

/// Parses one line of the script.
pub(super) fn read<Input>(
    text: &str,
    words: &[Word],
    n: usize,
    family: &Facts<Input>,
) -> Result<Instruction<Input>, ParseError> {
    let (words, choices) = split_choices(text, words)?;
    let (words, crashing) = split_crash(text, words)?;
    let mut reader = Reader { text, words, next: 0, n, verb: 0 };
    let command = reader.command(family)?;
    reader.end()?;
    Ok(Instruction { command, choices, crashing })
}

/// The number of messages and outputs after which a step is cut off, and the word that gives it.
type Crash = Option<(u32, Word)>;

/// `crashing after 2`, at the end.
fn split_crash<'w>(text: &str, words: &'w [Word]) -> Result<(&'w [Word], Crash), ParseError> {
    let Some(place) = words.iter().skip(1).position(|word| word.text == "crashing") else {
        return Ok((words, None));
    };
    let (words, crash) = words.split_at(place + 1);
    match crash {
        [word, after, count] if after.text == "after" && is_number(&count.text) => {
            let wrong = |_| error_at(text, count, "that is too many".to_owned());
            Ok((words, Some((count.text.parse().map_err(wrong)?, word.clone()))))
        }
        _ => {
            let message = "write 'crashing after 1': the step crashes after 1 message or output";
            Err(error_at(text, &crash[0], message.to_owned()))
        }
    }
}

/// Numbers for `cx.choose`, in order.
pub(super) type Choices = Vec<(u32, Word)>;

fn split_choices<'w>(text: &str, words: &'w [Word]) -> Result<(&'w [Word], Choices), ParseError> {
    match words.iter().skip(1).position(|word| word.text == "choosing") {
        None => Ok((words, Vec::new())),
        Some(place) => Ok((&words[..=place], choices(text, &words[place + 2..])?)),
    }
}

/// Parses the numbers after `choosing`.
pub(super) fn choices(text: &str, words: &[Word]) -> Result<Choices, ParseError> {
    let choice = |word: &Word| match word.text.parse() {
        Ok(number) => Ok((number, word.clone())),
        Err(_) => Err(error_at(text, word, "a choice is a number, from 0".to_owned())),
    };
    words.iter().map(choice).collect()
}

struct Reader<'w> {
    text: &'w str,
    /// Never empty.
    words: &'w [Word],
    next: usize,
    n: usize,
    /// Which of the verbs it is, for hints.
    verb: usize,
}

impl<'w> Reader<'w> {
    fn command<Input>(&mut self, family: &Facts<Input>) -> Result<Command<Input>, ParseError> {
        let first = self.word("a command")?;
        if first.text.strip_prefix('p').is_some_and(is_number) {
            let at = process(self.text, first, self.n)?;
            return self.application(at, family);
        }
        let Some(verb) = VERBS.iter().position(|(verb, _)| *verb == first.text) else {
            return Err(self.unknown_verb(first));
        };
        self.verb = verb;
        Ok(match first.text.as_str() {
            "deliver" => self.deliver()?,
            "drop" => Command::Message(Fate::Drop, self.pick()?),
            "duplicate" => Command::Message(Fate::Duplicate, self.pick()?),
            "crash" => Command::Crash(self.process()?),
            "restart" => self.restart()?,
            "pause" => Command::Pause(self.process()?),
            "resume" => Command::Resume(self.process()?),
            "partition" => self.partition()?,
            "cut" => {
                let (from, to) = self.link()?;
                Command::Links(LinkChange::Cut { from, to })
            }
            "mend" => {
                let (from, to) = self.link()?;
                Command::Links(LinkChange::Mend { from, to })
            }
            "heal" => Command::Links(LinkChange::Heal),
            "fire" => Command::Fire(self.process()?, self.rest()),
            "sync" => Command::Sync(self.process()?),
            "wait" => self.wait()?,
            "tick" => Command::Tick,
            "run" => self.run()?,
            _ => Command::Expect(self.expectation()?),
        })
    }

    fn unknown_verb(&self, word: &Word) -> ParseError {
        let verbs = VERBS.iter().map(|(verb, _)| *verb);
        let hint = did_you_mean(&word.text, verbs.clone());
        let known = match hint.is_empty() {
            true => format!("; a line begins with a process or with {}", list(verbs)),
            false => hint,
        };
        error_at(self.text, word, format!("'{}' is no command{known}", word.text))
    }

    /// `p1 requests`, `p1 tells p2`.
    fn application<Input>(
        &mut self,
        at: ProcessId,
        family: &Facts<Input>,
    ) -> Result<Command<Input>, ParseError> {
        let rest = &self.words[self.next..];
        let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
        if let ["tells", _] = texts.as_slice() {
            self.next += 1;
            let to = self.process()?;
            if to == at {
                let message = format!("{at} cannot tell itself; name another process");
                return Err(error_at(self.text, &rest[1], message));
            }
            return Ok(Command::Tell { from: at, to });
        }
        if let Some(input) = (family.input_from_words)(&texts) {
            self.next = self.words.len();
            return Ok(Command::Input(at, input));
        }
        let phrases = || family.phrases.iter().copied().chain(["tells p1"]);
        let may = list(phrases());
        let Some(first) = rest.first() else {
            return Err(self.fail_at_end(&format!("what does {at} do? It may: {may}")));
        };
        let words = join(rest);
        let hint = did_you_mean(&words, phrases());
        let message = format!("{at} does not understand '{words}'; it may: {may}{hint}");
        Err(error_at(self.text, first, message))
    }

    fn deliver<I>(&mut self) -> Result<Command<I>, ParseError> {
        let rest = &self.words[self.next..];
        match rest {
            [word] if word.text == "all" => {
                self.next += 1;
                Ok(Command::DeliverAll)
            }
            [word] if is_number(&word.text) => {
                self.next += 1;
                let wrong = |_| error_at(self.text, word, "that is too many".to_owned());
                word.text.parse().map(Command::DeliverSome).map_err(wrong)
            }
            _ => Ok(Command::Message(Fate::Deliver, self.pick()?)),
        }
    }

    /// `p0 -> p1 Request #2`.
    fn pick(&mut self) -> Result<Pick, ParseError> {
        let (from, to) = self.link()?;
        let mut number = 1;
        let mut rest = &self.words[self.next..];
        if let Some((last, before)) = rest.split_last()
            && let Some(digits) = last.text.strip_prefix('#')
        {
            number = match digits.parse() {
                Ok(number) if number > 0 => number,
                _ => {
                    let message = "the oldest is #1, the next #2, and so on".to_owned();
                    return Err(error_at(self.text, last, message));
                }
            };
            rest = before;
        }
        self.next = self.words.len();
        Ok(Pick { from, to, name: join(rest), number })
    }

    fn restart<I>(&mut self) -> Result<Command<I>, ParseError> {
        let at = self.process()?;
        let disk = match self.words.get(self.next) {
            None => true,
            Some(word) => {
                self.next += 1;
                let with = word.text == "with";
                if !with && word.text != "without" {
                    return Err(self.misread(word));
                }
                self.fixed("disk")?;
                with
            }
        };
        Ok(Command::Restart { at, disk })
    }

    /// `p0 p1 | p2`.
    fn partition<I>(&mut self) -> Result<Command<I>, ParseError> {
        let mut parts = vec![Vec::new()];
        let mut named: Vec<ProcessId> = Vec::new();
        while let Some(word) = self.words.get(self.next) {
            if word.text == "|" {
                self.next += 1;
                parts.push(Vec::new());
                continue;
            }
            let at = self.process()?;
            if named.contains(&at) {
                let message = format!("{at} is named twice");
                return Err(error_at(self.text, word, message));
            }
            named.push(at);
            parts.last_mut().expect("there is always one").push(at);
        }
        if parts.len() < 2 || parts.iter().any(Vec::is_empty) {
            return Err(self.fail_at_end("a partition has two parts or more, none of them empty"));
        }
        Ok(Command::Links(LinkChange::Partition(parts)))
    }

    fn wait<I>(&mut self) -> Result<Command<I>, ParseError> {
        let word = self.word("how long?")?;
        match microseconds(&word.text) {
            Some(us) => Ok(Command::Wait(us)),
            None => {
                let message = format!("'{}' is no time; write 10ms, 500us or 1s", word.text);
                Err(error_at(self.text, word, message))
            }
        }
    }

    /// `run`, `run 20`, `run 50ms`.
    fn run<I>(&mut self) -> Result<Command<I>, ParseError> {
        let Some(word) = self.words.get(self.next) else { return Ok(Command::Run(HowFar::End)) };
        self.next += 1;
        let turns = word.text.parse().ok().filter(|_| is_number(&word.text)).map(HowFar::Turns);
        let how_far = turns.or_else(|| microseconds(&word.text).map(HowFar::Time));
        how_far.map(Command::Run).ok_or_else(|| self.misread(word))
    }

    fn expectation(&mut self) -> Result<Expectation, ParseError> {
        let first = self.word("what is expected?")?;
        match first.text.as_str() {
            "nothing" => {
                self.fixed("in")?;
                self.fixed("flight")?;
                Ok(Expectation::NothingInFlight)
            }
            "nobody" => {
                self.fixed("waits")?;
                Ok(Expectation::NobodyWaits)
            }
            "violated" => Ok(Expectation::Violated(self.properties()?)),
            "holds" => Ok(Expectation::Holds(self.properties()?)),
            word if is_number(word) => {
                let wrong = |_| error_at(self.text, first, "that is too many".to_owned());
                let count = word.parse().map_err(wrong)?;
                let next = self.word("messages")?;
                if !matches!(next.text.as_str(), "messages" | "message") {
                    return Err(self.misread(next));
                }
                Ok(Expectation::Messages(count))
            }
            word if word.strip_prefix('p').is_some_and(is_number) => {
                let at = process(self.text, first, self.n)?;
                match self.rest().as_str() {
                    "" => Err(self.fail_at_end(&format!("what is expected of {at}?"))),
                    "waits" => Ok(Expectation::Waits(at)),
                    words => Ok(Expectation::Said(at, words.to_owned())),
                }
            }
            _ => Err(self.misread(first)),
        }
    }

    fn properties(&mut self) -> Result<Vec<Word>, ParseError> {
        let rest = self.words[self.next..].to_vec();
        self.next = self.words.len();
        match rest.is_empty() {
            true => Err(self.fail_at_end("which property?")),
            false => Ok(rest),
        }
    }

    fn link(&mut self) -> Result<(ProcessId, ProcessId), ParseError> {
        let from = self.process()?;
        self.fixed("->")?;
        Ok((from, self.process()?))
    }

    fn process(&mut self) -> Result<ProcessId, ParseError> {
        let word = self.word("a process is missing")?;
        process(self.text, word, self.n)
    }

    fn fixed(&mut self, wanted: &str) -> Result<(), ParseError> {
        let word = self.word(&format!("'{wanted}' is missing"))?;
        if word.text == wanted { Ok(()) } else { Err(self.misread(word)) }
    }

    /// The rest of the line, with one space between the words.
    fn rest(&mut self) -> String {
        let rest = join(&self.words[self.next..]);
        self.next = self.words.len();
        rest
    }

    fn word(&mut self, missing: &str) -> Result<&'w Word, ParseError> {
        match self.words.get(self.next) {
            Some(word) => {
                self.next += 1;
                Ok(word)
            }
            None => Err(self.fail_at_end(missing)),
        }
    }

    fn end(&self) -> Result<(), ParseError> {
        match self.words.get(self.next) {
            None => Ok(()),
            Some(word) => Err(self.misread(word)),
        }
    }

    fn misread(&self, word: &Word) -> ParseError {
        let message = format!("'{}' is not expected here; write: {}", word.text, self.example());
        error_at(self.text, word, message)
    }

    fn fail_at_end(&self, message: &str) -> ParseError {
        let last = &self.words[self.words.len() - 1];
        let column = last.column + last.text.chars().count();
        let is_verb = self.words[0].text == VERBS[self.verb].0;
        let hint = if is_verb { format!("; write: {}", self.example()) } else { String::new() };
        error_in(self.text, last.line, column, 1, format!("{message}{hint}"))
    }

    fn example(&self) -> &'static str {
        VERBS[self.verb].1
    }
}

/// `a, b, c`.
pub(super) fn list<'t>(words: impl IntoIterator<Item = &'t str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}
