//! The talk: a line in, what came of it out.

use super::view;
use crate::export;
use crate::output::{BAD, BOLD, DIM, Output};
use crate::words;
use anyhow::Result;
use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, stdin};
use std::path::Path;
use synod_core::{ProcessId, Rule, Verdict};
use synod_drivers::Session;
use synod_sim::network::in_words;
use synod_sim::scenario::{Offer, OfferKind};

/// Longer lines are no lines of a script.
const LONGEST_LINE: usize = 10_000;
/// So many branches are kept to return to.
const BRANCHES_AT_MOST: usize = 100;

const HELP: &str = "\
list, or an empty line   what may happen next; a number picks one
faults                   the same for what may go wrong: crashes, losses, copies
crash p1, cut p0 -> p1   every line of a scenario does what it says ('docs/scenarios.md' has them all)
next, next 20            go on by the seed: one step, twenty steps
back, back 5             take back the last step, the last five
branch, return           keep this place; go back to the last one that was kept
show, show p1            what the last step changed, and by which rules; the whole state of p1
look 12                  the same for the step to which event 12 belongs
messages, timers         what is on its way, what will run out
verdicts                 which properties hold, are open, are violated, and since which event
events, events 20        the last events, with their numbers
script                   what was done so far, as a scenario
save FILE                write it; 'synod play FILE' does it again
quit                     the end
";

/// A session, and the person who drives it.
pub(super) struct Stepper {
    session: Box<dyn Session>,
    branches: Vec<Box<dyn Session>>,
    /// What was listed last: a number picks one of these.
    listed: Vec<Offer>,
    /// How many events were told.
    told: u64,
    output: Output,
}

impl Stepper {
    pub(super) fn new(session: Box<dyn Session>, output: Output) -> Self {
        Stepper { session, branches: Vec::new(), listed: Vec::new(), told: 0, output }
    }

    /// Answers every line of standard input until it ends.
    pub(super) fn talk(mut self) -> Result<Verdict> {
        let is_person = stdin().is_terminal();
        let (name, n) = (self.session.algorithm(), self.session.processes());
        let processes = words::count(n as u64, "process", "processes");
        let hint = if is_person { "; 'help' says what can be said" } else { "" };
        self.output.print(&format!("{BOLD}{name}{BOLD:#}, {processes}{hint}\n"))?;
        self.tell_news()?;
        let prompt = if is_person { "> " } else { "" };
        self.output.print(prompt)?;
        for line in stdin().lock().lines() {
            let line = line?;
            let line = line.trim();
            if matches!(line, "quit" | "exit" | "q") {
                break;
            }
            if !is_person {
                self.output.print(&format!("{DIM}> {line}{DIM:#}\n"))?;
            }
            self.answer(line)?;
            self.output.print(prompt)?;
        }
        let verdicts = self.session.verdicts();
        Ok(Verdict::on_all(verdicts.iter().map(|judged| judged.verdict)))
    }

    fn answer(&mut self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] | ["list" | "l"] => self.list(false),
            ["faults"] => self.list(true),
            ["help" | "h" | "?"] => self.output.print(HELP),
            [number] if number.bytes().all(|byte| byte.is_ascii_digit()) => self.pick(number),
            ["next" | "n"] => self.next("1"),
            ["next" | "n", count] => self.next(count),
            ["back" | "b"] => self.back("1"),
            ["back" | "b", count] => self.back(count),
            ["branch"] => self.branch(),
            ["return"] => self.give_back(),
            ["show" | "s"] => self.show_last_change(),
            ["show" | "s", process] => self.show(process),
            ["look", event] => self.look(event),
            ["messages" | "m"] => self.output.print(&view::messages(&self.session.messages())),
            ["timers" | "t"] => self.output.print(&view::timers(&self.session.timers())),
            ["verdicts" | "v"] => self.output.print(&view::verdicts(&self.session.verdicts())),
            ["events"] => self.events("10"),
            ["events", count] => self.events(count),
            ["script"] => self.output.print(&self.session.scenario()),
            ["save", path] => self.save(Path::new(path)),
            ["save"] => self.refuse("save it where? write: save FILE"),
            _ => self.take(line),
        }
    }

    fn list(&mut self, faults: bool) -> Result<()> {
        self.listed = self.session.offers();
        self.listed.retain(|offer| (offer.kind == OfferKind::Fault) == faults);
        let mut text = view::offers(&self.listed);
        if self.listed.is_empty() {
            let at = in_words(self.session.now_us());
            text = format!("nothing can happen now, at {at}\n");
        }
        self.output.print(&text)
    }

    fn pick(&mut self, number: &str) -> Result<()> {
        if self.listed.is_empty() {
            self.listed = self.session.offers();
            self.listed.retain(|offer| offer.kind != OfferKind::Fault);
        }
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let offer = place.and_then(|place| self.listed.get(place));
        match offer.map(|offer| offer.line.clone()) {
            Some(line) => self.take(&line),
            None => self.refuse(&format!(
                "there is no {number}; 'list' numbers what may happen, 'faults' what may go wrong"
            )),
        }
    }

    /// Does what a line of a scenario says.
    fn take(&mut self, line: &str) -> Result<()> {
        if line.len() > LONGEST_LINE {
            return self.refuse("that line is too long");
        }
        match self.session.take(line) {
            Ok(()) => self.tell_news(),
            Err(error) => self.refuse(&error.message),
        }
    }

    fn next(&mut self, count: &str) -> Result<()> {
        let Ok(count) = count.parse::<u64>() else {
            return self.refuse("how many steps? write: next 20");
        };
        for _ in 0..count {
            match self.session.advance() {
                Ok(true) => {}
                Ok(false) => {
                    self.tell_news()?;
                    return self.refuse("nothing is left to happen by itself");
                }
                Err(error) => {
                    self.tell_news()?;
                    return self.refuse(&error.message);
                }
            }
        }
        self.tell_news()
    }

    fn back(&mut self, count: &str) -> Result<()> {
        let Ok(count) = count.parse::<usize>() else {
            return self.refuse("how many steps? write: back 5");
        };
        if self.session.moves() == 0 {
            return self.refuse("this is the beginning");
        }
        let steps = count.min(self.session.moves());
        for _ in 0..steps {
            self.session.back();
        }
        self.arrive(&format!("took back {}", words::count(steps as u64, "step", "steps")))
    }

    fn branch(&mut self) -> Result<()> {
        if self.branches.len() == BRANCHES_AT_MOST {
            return self
                .refuse(&format!("{BRANCHES_AT_MOST} places are kept; return to one first"));
        }
        self.branches.push(self.session.branch());
        self.output.print("kept; 'return' comes back here\n")
    }

    fn give_back(&mut self) -> Result<()> {
        match self.branches.pop() {
            Some(session) => {
                self.session = session;
                self.arrive("back at the place that was kept")
            }
            None => self.refuse("no place was kept; 'branch' keeps one"),
        }
    }

    /// Says where one is after going back.
    fn arrive(&mut self, how: &str) -> Result<()> {
        self.listed.clear();
        self.told = self.session.events().len() as u64;
        let (moves, at) = (self.session.moves(), in_words(self.session.now_us()));
        let steps = words::count(moves as u64, "step", "steps");
        self.output.print(&format!("{how}: {steps} from the beginning, at {at}\n"))
    }

    fn show_last_change(&self) -> Result<()> {
        match self.session.events().len() {
            0 => self.refuse("nothing has happened yet"),
            events => self.look_at(events as u64 - 1),
        }
    }

    fn show(&self, process: &str) -> Result<()> {
        let number = process.strip_prefix('p').and_then(|digits| digits.parse::<u32>().ok());
        match number {
            Some(number) if (number as usize) < self.session.processes() => {
                self.output.print(&view::whole(&self.session.state(ProcessId(number))))
            }
            _ => {
                let last = self.session.processes() - 1;
                self.refuse(&format!("there is no {process}; the processes are p0..p{last}"))
            }
        }
    }

    fn look(&self, event: &str) -> Result<()> {
        match event.parse() {
            Ok(event) => self.look_at(event),
            Err(_) => self.refuse("which event? write: look 12; 'events' has their numbers"),
        }
    }

    fn look_at(&self, event: u64) -> Result<()> {
        match self.session.look(event) {
            Some(snapshots) => {
                let rules = view::rules(&self.session.rules(event));
                self.output.print(&(rules + &view::changes(&snapshots)))
            }
            None => {
                let events = self.session.events().len();
                self.refuse(&format!("there is no event {event}; there are {events}, from 0"))
            }
        }
    }

    fn events(&self, count: &str) -> Result<()> {
        let Ok(count) = count.parse::<usize>() else {
            return self.refuse("how many events? write: events 20");
        };
        let events = self.session.events();
        let first = events.len().saturating_sub(count);
        self.output.print(&view::numbered_events(&events[first..]))
    }

    fn save(&self, path: &Path) -> Result<()> {
        match export::write(path, &self.session.scenario()) {
            Ok(()) => {
                let path = path.display();
                self.output.print(&format!("wrote {path}; 'synod play {path}' does it again\n"))
            }
            Err(error) => self.refuse(&format!("{error:#}")),
        }
    }

    /// Tells the events that were not told yet, and the rules by which they came about.
    fn tell_news(&mut self) -> Result<()> {
        self.listed.clear();
        let events = self.session.events();
        let new = &events[(self.told as usize).min(events.len())..];
        let applied = new.iter().flat_map(|event| self.session.rules(event.index));
        let rules: BTreeMap<usize, &Rule> = applied.collect();
        let rules: Vec<(usize, &Rule)> = rules.into_iter().collect();
        let news = view::events(new) + &view::rules(&rules);
        self.told = events.len() as u64;
        self.output.print(&news)
    }

    fn refuse(&self, why: &str) -> Result<()> {
        self.output.print(&format!("{BAD}no:{BAD:#} {why}\n"))
    }
}
