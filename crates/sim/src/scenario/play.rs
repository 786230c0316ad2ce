//! Plays a script on a world.

use super::Scenario;
use super::command::{self, Command, Fate, HowFar, Instruction, Pick, list};
use super::diff::Difference;
use super::error::ParseError;
use super::header::Header;
use super::parse::{Word, error_at, plain};
use crate::network::in_words;
use crate::simulator::Run;
use crate::trace::{Event, Tracer};
use crate::world::{Action, Body, Envelope, Slot, Status, TELL, World};
use synod_core::boxed::Which;
use synod_core::family::{AnyFamily, AnyInput};
use synod_core::{Algorithm, Application, Boxed, Family, ProcessId};

/// Limit of steps of one line; beyond it the line counts as endless.
const STEPS_AT_MOST: u64 = 10_000;
/// Limit of events of one scenario.
const EVENTS_AT_MOST: usize = 100_000;
/// Limit of alternatives that an error message lists.
const LISTED_AT_MOST: usize = 8;

/// The result of a played scenario.
#[derive(Clone, Debug)]
pub struct Played {
    /// Whether the trace and all `expect` lines came out as written.
    pub passed: bool,
    /// The differences from the trace in the file. Empty if the file has none.
    pub differences: Vec<Difference>,
    /// The `expect` lines that were not true.
    pub unmet: Vec<ParseError>,
    /// All events.
    pub events: Vec<Event>,
    /// The properties that were violated, in the order of their first violation.
    pub violated: Vec<&'static str>,
    /// The story, line by line.
    pub trace: Vec<String>,
    /// The file with this story after the rule; header, script and comments untouched.
    pub blessed: String,
}

/// Plays the scenario.
pub(super) fn play(scenario: &Scenario, which: Which) -> Result<Played, ParseError> {
    let mut player = scenario.player(which)?;
    player.start(scenario)?;
    for words in &scenario.script {
        player.line(&scenario.text, words)?;
    }
    player.finish(scenario)
}

impl Scenario {
    /// A player with a world of the algorithm, before its first event. Call [`Player::start`] next.
    /// Fails if the algorithm refuses the setup.
    pub fn player(&self, which: Which) -> Result<Player, ParseError> {
        let mut plan = self.header.plan(&self.text, which.card())?;
        plan.setup = plan.setup.running(which);
        let options = self.header.options(plan);
        let tracer = Tracer::keeping(self.header.n);
        let run = Run::new(options, Some(tracer)).map_err(|error| self.explain(&error))?;
        Ok(Player::new(run, &self.header))
    }
}

/// A world, and the events of the script that was played on it so far.
#[derive(Clone)]
pub struct Player {
    pub(super) run: Run<'static, Boxed>,
    pub(super) events: Vec<Event>,
    /// The numbers of the events with which a step began.
    pub(super) begins: Vec<u64>,
    pub(super) unmet: Vec<ParseError>,
}

/// The message of an error before its place in the file is known.
type Wrong = String;

impl Player {
    fn new(mut run: Run<'static, Boxed>, header: &Header) -> Self {
        run.engine.witness.traces_every_violation = true;
        run.leave_to_hands(header.latency.is_some());
        Player { run, events: Vec::new(), begins: Vec::new(), unmet: Vec::new() }
    }

    /// Starts every process, as the header of the scenario says.
    pub fn start(&mut self, scenario: &Scenario) -> Result<(), ParseError> {
        let choices = &scenario.header.choices;
        self.run.fix(choices.iter().map(|(choice, _)| *choice), None);
        self.run.begin();
        self.collect();
        self.all_chosen(&scenario.text, choices)
    }

    /// Plays one line of a script. If it fails, the world may have taken a part of its steps.
    pub(super) fn line(&mut self, text: &str, words: &[Word]) -> Result<(), ParseError> {
        let n = self.world().processes().len();
        let Instruction { command, choices, crashing } =
            command::read(text, words, n, self.world().family())?;
        let after = crashing.as_ref().map(|(after, _)| *after);
        self.run.fix(choices.iter().map(|(choice, _)| *choice), after);
        let wrong = |message| error_at(text, &words[0], message);
        match command {
            Command::Expect(expectation) => self.expect(&expectation, text, words)?,
            command => self.obey(command).map_err(wrong)?,
        }
        if let (true, Some((_, word))) = (self.run.is_crash_left(), crashing) {
            let message = "nobody takes a step here, in the middle of which it could crash";
            return Err(error_at(text, &word, message.to_owned()));
        }
        self.all_chosen(text, &choices)
    }

    /// Fails unless the step made exactly the fixed choices.
    fn all_chosen(&self, text: &str, choices: &[(u32, Word)]) -> Result<(), ParseError> {
        let Some(bad) = self.run.bad_choice() else { return Ok(()) };
        let message = match bad.among {
            Some(among) => format!("the choice is among {among}: a number from 0 to {}", among - 1),
            None => "nothing is left to be chosen here".to_owned(),
        };
        Err(error_at(text, &choices[bad.place].1, message))
    }

    /// Collects the events since the last call.
    pub(super) fn collect(&mut self) {
        let kept = self.run.engine.witness.take_kept();
        self.events.extend(kept.events);
        self.begins.extend(kept.begins);
    }

    /// The world.
    pub fn world(&self) -> &World<Boxed> {
        &self.run.world
    }

    /// All events so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    fn obey(&mut self, command: Command<AnyInput>) -> Result<(), Wrong> {
        match command {
            Command::Input(at, input) => self.ask(at, input),
            Command::Tell { from, to } => self.step(&Action::Tell { from, to }),
            Command::Message(fate, pick) => self.message(fate, &pick),
            Command::DeliverSome(count) => self.deliver_some(count),
            Command::DeliverAll => self.deliver_all(),
            Command::Crash(at) => self.step(&Action::Crash(at)),
            Command::Restart { at, disk } => self.step(&Action::Restart { at, disk }),
            Command::Pause(at) => self.step(&Action::Pause(at)),
            Command::Resume(at) => self.step(&Action::Resume(at)),
            Command::Links(change) => self.step(&Action::Links(change)),
            Command::Fire(at, name) => self.fire(at, &name),
            Command::Sync(at) => self.step(&Action::Sync(at)),
            Command::Wait(us) => self.wait(us),
            Command::Tick => self.step(&Action::Tick),
            Command::Run(how_far) => self.run_on(how_far),
            Command::Expect(_) => unreachable!("expectations are not obeyed"),
        }
    }

    /// Takes one step, if it is possible; and only the first part of it, if its process crashes.
    fn step(&mut self, action: &Action<AnyInput>) -> Result<(), Wrong> {
        self.world().can(action).map_err(|impossible| impossible.to_string())?;
        self.must_be_short()?;
        self.run.by_hand(action.clone());
        self.collect();
        Ok(())
    }

    fn must_be_short(&self) -> Result<(), Wrong> {
        match self.events.len() > EVENTS_AT_MOST {
            true => Err(format!("this goes on too long: more than {EVENTS_AT_MOST} events")),
            false => Ok(()),
        }
    }

    /// The application makes the request, if it may. A protocol relies on that.
    fn ask(&mut self, at: ProcessId, input: AnyInput) -> Result<(), Wrong> {
        let mut offers = Vec::new();
        self.world().process(at).application.offers(&mut |offer| offers.push(offer));
        let action = Action::Input { at, input };
        self.world().can(&action).map_err(|impossible| impossible.to_string())?;
        let Action::Input { input, .. } = &action else { unreachable!("it was just made") };
        let may = self.world().process(at).application.may_ask(input);
        if may || AnyFamily::is_order(input) {
            return self.step(&action);
        }
        let words = AnyFamily::input_in_words(input);
        let why = match self.world().waiting().contains(at) {
            true => format!(": {at} waits for the answer to its last request"),
            false => String::new(),
        };
        let may: Vec<String> = offers.iter().map(AnyFamily::input_in_words).collect();
        let may = match may.is_empty() {
            true => format!("; {at} may ask nothing now"),
            false => format!("; {at} may: {}", shorten(&may)),
        };
        Err(format!("'{at} {words}' is not possible now{why}{may}"))
    }

    fn message(&mut self, fate: Fate, pick: &Pick) -> Result<(), Wrong> {
        let slot = self.find(pick)?;
        match fate {
            Fate::Deliver => {
                self.must_be_deliverable(slot)?;
                self.step(&Action::Deliver(slot))
            }
            Fate::Drop => self.step(&Action::Drop(slot)),
            Fate::Duplicate => self.step(&Action::Duplicate(slot)),
        }
    }

    /// The message that the script describes.
    fn find(&self, pick: &Pick) -> Result<Slot, Wrong> {
        let matching: Vec<Slot> = in_flight(self.world())
            .into_iter()
            .filter(|(_, envelope)| {
                (envelope.from, envelope.to) == (pick.from, pick.to)
                    && (pick.name.is_empty()
                        || envelope.body.kind() == pick.name
                        || message_text(envelope) == pick.name)
            })
            .map(|(slot, _)| slot)
            .collect();
        matching.get(pick.number - 1).copied().ok_or_else(|| {
            let name = if pick.name.is_empty() { "message" } else { &pick.name };
            let number = if pick.number > 1 { format!(" #{}", pick.number) } else { String::new() };
            let (from, to) = (pick.from, pick.to);
            format!("no {name}{number} is on its way {from} -> {to}; {}", self.on_their_way())
        })
    }

    fn must_be_deliverable(&self, slot: Slot) -> Result<(), Wrong> {
        let Some(envelope) = self.world().flight().get(slot) else { return Ok(()) };
        if self.world().is_deliverable(slot) {
            return Ok(());
        }
        if self.world().process(envelope.to).status == Status::Paused {
            return Err(format!("{0} is paused; resume {0} first", envelope.to));
        }
        let order = format!("{:?}", self.world().order()).to_lowercase();
        let first = "another message must arrive before it";
        Err(format!("the network keeps {order} order, and {first}; {}", self.on_their_way()))
    }

    pub(super) fn on_their_way(&self) -> String {
        let all: Vec<String> =
            in_flight(self.world()).iter().map(|(_, envelope)| message_name(envelope)).collect();
        match all.is_empty() {
            true => "nothing is on its way".to_owned(),
            false => format!("on their way: {}", shorten(&all)),
        }
    }

    fn oldest(&self) -> Option<Slot> {
        let mut slots = in_flight(self.world()).into_iter().map(|(slot, _)| slot);
        slots.find(|slot| self.world().is_deliverable(*slot))
    }

    fn deliver_some(&mut self, count: u64) -> Result<(), Wrong> {
        for done in 0..count {
            let Some(slot) = self.oldest() else {
                return Err(format!("after {done} of {count} nothing can be delivered"));
            };
            self.step(&Action::Deliver(slot))?;
        }
        Ok(())
    }

    /// Lets all disks write and all messages arrive, the oldest first, until none is left.
    fn deliver_all(&mut self) -> Result<(), Wrong> {
        for _ in 0..STEPS_AT_MOST {
            let writes = |at: &ProcessId| {
                let process = self.world().process(*at);
                process.is_up() && process.is_writing()
            };
            let writer = ProcessId::all(self.world().processes().len()).find(writes);
            match (writer, self.oldest()) {
                (Some(at), _) => self.step(&Action::Sync(at))?,
                (None, Some(slot)) => self.step(&Action::Deliver(slot))?,
                (None, None) => return Ok(()),
            }
        }
        Err(format!(
            "this never ends: after {STEPS_AT_MOST} steps messages are still sent; write deliver \
             20 to deliver only so many; {}",
            self.on_their_way()
        ))
    }

    fn fire(&mut self, at: ProcessId, name: &str) -> Result<(), Wrong> {
        let timers = self.world().process(at).timers();
        let named: Vec<(u64, String)> =
            timers.iter().map(|set| (set.number, plain(&format!("{:?}", set.timer)))).collect();
        let wanted = match named.as_slice() {
            [(number, _)] if name.is_empty() => Some(*number),
            all => all.iter().find(|(_, timer)| timer == name).map(|(number, _)| *number),
        };
        match wanted {
            Some(timer) => self.step(&Action::Fire { at, timer }),
            None if named.is_empty() => Err(format!("{at} has set no timer")),
            None => {
                let all: Vec<String> = named.into_iter().map(|(_, timer)| timer).collect();
                let which = if name.is_empty() {
                    "which timer?".to_owned()
                } else {
                    format!("{at} has no timer {name};")
                };
                Err(format!("{which} {at} has set: {}", shorten(&all)))
            }
        }
    }

    /// Lets time pass, with all events that become due.
    fn wait(&mut self, us: u64) -> Result<(), Wrong> {
        let end_us = self.world().now_us.saturating_add(us);
        let begun = self.begins.len();
        while self.run.next_until(end_us) {
            self.collect();
            self.must_be_short()?;
            if (self.begins.len() - begun) as u64 >= STEPS_AT_MOST {
                let now = in_words(self.world().now_us);
                return Err(format!(
                    "too much happens: {STEPS_AT_MOST} steps, and it is only {now}"
                ));
            }
        }
        Ok(())
    }

    /// The run goes on by the seed: applications ask, messages arrive, timers run out.
    fn run_on(&mut self, how_far: HowFar) -> Result<(), Wrong> {
        self.run.wake();
        self.collect();
        match how_far {
            HowFar::Time(us) => self.wait(us),
            HowFar::Turns(turns) => {
                for done in 0..turns {
                    if !self.turn()? {
                        return Err(format!("after {done} of {turns} nothing is left to happen"));
                    }
                }
                Ok(())
            }
            HowFar::End => {
                for _ in 0..STEPS_AT_MOST {
                    if self.run.has_ended() || !self.turn()? {
                        return Ok(());
                    }
                }
                Err(format!(
                    "this never ends: after {STEPS_AT_MOST} steps there is more to come; write run \
                     100 for so many steps, run 50ms for so long, or rounds: 3 in the header, and \
                     applications ask so often"
                ))
            }
        }
    }

    /// Takes the next planned event by the seed, with its immediate consequences. False if no event
    /// is planned.
    pub(super) fn turn(&mut self) -> Result<bool, Wrong> {
        self.must_be_short()?;
        let took = self.run.next();
        self.collect();
        Ok(took)
    }
}

/// The messages in flight, the oldest first.
pub(super) fn in_flight<A: Algorithm>(world: &World<A>) -> Vec<(Slot, &Envelope<A>)> {
    let mut all: Vec<(Slot, &Envelope<A>)> = world.flight().iter().collect();
    all.sort_by_key(|(slot, envelope)| (envelope.number, *slot));
    all
}

/// The text of a message, with one space between the words.
pub(super) fn message_text<A: Algorithm>(envelope: &Envelope<A>) -> String {
    match &envelope.body {
        Body::Message(message) => plain(&format!("{message:?}")),
        Body::Tell(_) => TELL.to_owned(),
    }
}

/// A message with its link.
pub(super) fn message_name<A: Algorithm>(envelope: &Envelope<A>) -> String {
    format!("{} -> {} {}", envelope.from, envelope.to, message_text(envelope))
}

/// The first few, and how many more.
pub(super) fn shorten(all: &[String]) -> String {
    let more = all.len().saturating_sub(LISTED_AT_MOST);
    let listed = list(all.iter().take(LISTED_AT_MOST).map(String::as_str));
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}
