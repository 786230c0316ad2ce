//! Replays the merged logs in a world, which judges, counts and traces the run like a simulated
//! one.

use crate::actor::{encode, fill};
use crate::control::{Medium, Traffic};
use crate::coordinator::{EndRule, Gathered, LARGEST_GROUP, Launch, gather};
use crate::digest::Digest;
use crate::environment::first_number;
use crate::error::{NetError, Trying};
use crate::facts::{Facts, Latency, Real};
use crate::log::{Entry, Event};
use crate::merge::{Merge, Next};
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::iter::once;
use synod_core::boxed::Which;
use synod_core::card::{Load, Order, Rounds};
use synod_core::family::{AnyFamily, AnyInput, Mark};
use synod_core::{Algorithm, Boxed, Family, Notes, ProcessId, SetupError};
use synod_sim::count::{Conditions, costs};
use synod_sim::trace::Tracer;
use synod_sim::world::{Body, Driver, Happening, Process, Slot, Status};
use synod_sim::{Action, Ended, Plan, Report, Witness, World};

/// On one machine, a datagram that has not arrived after this time is lost.
const LATE_US: u64 = 100_000;

impl Launch {
    /// Makes the run: starts the members, waits for the end, and judges their logs. Calls
    /// `progress` repeatedly with the number of completed operations.
    pub fn run<A: Algorithm>(
        &self,
        tracer: Option<Tracer<'_>>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Real, NetError> {
        self.run_named(Which::of::<A>(), tracer, progress)
    }

    /// The same for an algorithm that is known only at run time.
    pub fn run_named(
        &self,
        which: Which,
        tracer: Option<Tracer<'_>>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Real, NetError> {
        let setup = self.options.plan.setup.clone().running(which);
        let processes = Boxed::processes(&setup)?;
        let n = setup.n;
        if n > LARGEST_GROUP {
            let wanted = format!("on a real network at most {LARGEST_GROUP}");
            let algorithm = which.card().name;
            return Err(SetupError::GroupSize { algorithm, wanted, n }.into());
        }
        if self.medium == Medium::Udp && self.kills.iter().any(|kill| kill.back_us.is_some()) {
            return Err(NetError::NoReturn);
        }
        let end_rule = EndRule {
            restless: Boxed::is_restless(&processes),
            run_for_us: self
                .options
                .run_for_us
                .unwrap_or(Boxed::kit(&setup).family.run_for_ms * 1_000),
        };
        let gathered = gather(self, end_rule, progress)?;
        let (order, multicast) = (Order::Any, gathered.share);
        let plan = Plan { setup, order, multicast, ..self.options.plan.clone() };
        let mut replay =
            Replay { world: World::new(&plan)?, engine: Engine::new(n, tracer), steps: 0 };
        let mut merge = Merge::open(&gathered.lives)?;
        replay.start(&mut merge)?;
        replay.go_on(&mut merge)?;
        replay.settle(self.medium, gathered.ended);
        replay.finish(self, gathered)
    }
}

struct Replay<'s> {
    world: World<Boxed>,
    engine: Engine<'s>,
    steps: u64,
}

/// A message in flight: the time of its sending, the life of its sender, and its slots in the
/// world. A duplicated message has several slots.
#[derive(Clone)]
struct OnItsWay {
    left_us: u64,
    life: u32,
    slots: SmallVec<[Slot; 2]>,
}

/// The driver of the replay: it answers random choices from the log and measures latencies.
struct Engine<'s> {
    witness: Witness<'s>,
    /// The logged choices of the current step, and those of each process's start.
    choices: VecDeque<u32>,
    at_start: Vec<VecDeque<u32>>,
    /// Whether the replay asked for a choice that the log does not have.
    strayed: bool,
    /// The next message number of each process, and its messages in flight.
    numbered: Vec<u64>,
    on_their_way: Vec<BTreeMap<u64, OnItsWay>>,
    copy: Option<Slot>,
    digests: Vec<Digest>,
    /// The current life of each process, and the time when it began.
    lives: Vec<(u32, u64)>,
    /// The number of records ever synced to each disk.
    records: Vec<u64>,
    scratch: Vec<u8>,
    /// What invariants remember of the run so far.
    notes: Notes,
    /// The times of the unanswered requests of each process, by asker; and the time of each
    /// multicast, which is answered at its receivers.
    asked_us: Vec<BTreeMap<u32, VecDeque<u64>>>,
    requests: BTreeMap<(ProcessId, u64), u64>,
    latencies: Vec<u64>,
    first_answer_us: Option<u64>,
    last_answer_us: u64,
    first_us: Option<u64>,
    last_us: u64,
}

impl<'s> Engine<'s> {
    fn new(n: usize, tracer: Option<Tracer<'s>>) -> Self {
        Engine {
            witness: Witness::new(n, tracer),
            choices: VecDeque::new(),
            at_start: vec![VecDeque::new(); n],
            strayed: false,
            numbered: vec![0; n],
            on_their_way: vec![BTreeMap::new(); n],
            copy: None,
            digests: vec![Digest::default(); n],
            lives: vec![(1, 0); n],
            records: vec![0; n],
            scratch: vec![0; 1 << 12],
            notes: Notes::of_one_history(),
            asked_us: vec![BTreeMap::new(); n],
            requests: BTreeMap::new(),
            latencies: Vec::new(),
            first_answer_us: None,
            last_answer_us: 0,
            first_us: None,
            last_us: 0,
        }
    }

    fn place(&self, from: ProcessId, number: u64) -> Option<Slot> {
        self.on_their_way.get(from.index())?.get(&number)?.slots.first().copied()
    }

    fn take_place(&mut self, from: ProcessId, number: u64) -> Option<Slot> {
        let of_sender = self.on_their_way.get_mut(from.index())?;
        let slots = &mut of_sender.get_mut(&number)?.slots;
        let slot = slots.pop();
        if slots.is_empty() {
            of_sender.remove(&number);
        }
        slot
    }

    /// A process begins another life: its message numbers begin anew, and its open requests are
    /// forgotten.
    fn on_restart(&mut self, at: ProcessId, disk: bool, now_us: u64) {
        if !disk {
            self.records[at.index()] = 0;
        }
        let (life, began_us) = &mut self.lives[at.index()];
        (*life, *began_us) = (*life + 1, now_us);
        self.numbered[at.index()] = first_number(*life);
        self.digests[at.index()] = Digest::default();
        self.asked_us[at.index()].clear();
    }

    fn on_mark(&mut self, (at, asker): (ProcessId, u32), mark: Mark, now_us: u64) {
        self.first_us.get_or_insert(now_us);
        self.last_us = now_us;
        let asked_us = self.asked_us[at.index()].entry(asker).or_default();
        match mark {
            Mark::Ask => asked_us.push_back(now_us),
            Mark::Begin | Mark::Done => {
                self.latencies.extend(asked_us.pop_front().map(|asked_us| now_us - asked_us));
                self.first_answer_us.get_or_insert(now_us);
                self.last_answer_us = now_us;
            }
            Mark::Refused => {
                asked_us.pop_front();
                self.first_answer_us.get_or_insert(now_us);
                self.last_answer_us = now_us;
            }
            Mark::End | Mark::Whole | Mark::Reached | Mark::None => {}
        }
    }
}

impl Driver<Boxed> for Engine<'_> {
    fn choose(&mut self, among: u32) -> u32 {
        let chosen = self.choices.pop_front().filter(|chosen| *chosen < among);
        self.strayed |= chosen.is_none();
        chosen.unwrap_or(0)
    }

    fn look(&mut self, processes: &[Process<Boxed>]) {
        self.witness.look(processes);
    }

    fn notes(&mut self) -> Option<&mut Notes> {
        Some(&mut self.notes)
    }

    fn see(&mut self, now_us: u64, happening: Happening<'_, Boxed>) {
        self.witness.see(now_us, &happening);
        match happening {
            Happening::Started(at) => {
                self.choices = std::mem::take(&mut self.at_start[at.index()]);
            }
            Happening::Input(at, input) => match AnyFamily::request(input) {
                None => {
                    let asker = AnyFamily::asker(input);
                    self.on_mark((at, asker), AnyFamily::mark_of_input(input), now_us);
                }
                Some(number) => {
                    self.requests.insert((at, number), now_us);
                    self.on_mark((at, 0), Mark::None, now_us);
                }
            },
            Happening::Output(at, output) => {
                let length = encode(output, &mut self.scratch);
                self.digests[at.index()].output(&self.scratch[..length]);
                if let Some((by, number)) = AnyFamily::request_of(output) {
                    let asked_us = self.requests.get(&(by, number)).filter(|_| by != at);
                    self.latencies.extend(asked_us.map(|asked_us| now_us - asked_us));
                }
                let asker = AnyFamily::asker_of(output);
                self.on_mark((at, asker), AnyFamily::mark_of_output(at, output), now_us);
            }
            Happening::Sent { slot, envelope, .. } => {
                let from = envelope.from.index();
                let to = once(envelope.to);
                match &envelope.body {
                    Body::Message(message) => {
                        let length = fill(&mut self.scratch, |buffer| message.encode(buffer));
                        self.digests[from].sent(to, &self.scratch[..length]);
                    }
                    Body::Tell(stamp) => self.digests[from].sent(to, &stamp.to_le_bytes()),
                }
                let slots = slot.into_iter().collect();
                let on_its_way = OnItsWay { left_us: now_us, life: self.lives[from].0, slots };
                self.on_their_way[from].insert(self.numbered[from], on_its_way);
                self.numbered[from] += 1;
            }
            Happening::Duplicated { slot, .. } => self.copy = Some(slot),
            Happening::Synced(at, records) => self.records[at.index()] += records as u64,
            Happening::Restarted(at, disk) => self.on_restart(at, disk, now_us),
            _ => {}
        }
    }
}

impl Replay<'_> {
    fn start<R: Read>(&mut self, merge: &mut Merge<R>) -> Result<(), NetError> {
        let all = ProcessId::all(self.world.processes().len());
        let mut entries = Vec::new();
        for at in all {
            if let Some(entry) = merge.start(at)? {
                self.engine.at_start[at.index()] = entry.choices.iter().copied().collect();
                entries.push((at, entry));
            }
        }
        self.world.start(&mut self.engine);
        entries.iter().try_for_each(|(at, entry)| self.after(*at, entry))
    }

    /// Repeats every step of the merged logs.
    fn go_on<R: Read>(&mut self, merge: &mut Merge<R>) -> Result<(), NetError> {
        loop {
            let engine = &self.engine;
            match merge.next(|from, number| engine.place(from, number).is_some())? {
                Next::End => return Ok(()),
                Next::Death(at, at_us, found) => {
                    self.world.now_us = self.world.now_us.max(at_us);
                    self.let_records_reach_the_disk(at, found)?;
                    self.step(&Action::Crash(at))?;
                }
                Next::Step(at, entry) => {
                    self.world.now_us = self.world.now_us.max(entry.time_us);
                    self.engine.choices = entry.choices.iter().copied().collect();
                    let action = self.action(at, &entry)?;
                    self.step(&action)?;
                    self.after(at, &entry)?;
                }
            }
        }
    }

    /// A process died, and its next life found `found` records. Some of these may be on the disk
    /// although the process died before it logged their sync: the world syncs these now.
    fn let_records_reach_the_disk(
        &mut self,
        at: ProcessId,
        found: Option<u64>,
    ) -> Result<(), NetError> {
        let known = self.engine.records[at.index()];
        let Some(found) = found else { return Ok(()) };
        let waiting = self.world.process(at).waiting_records() as u64;
        match found.checked_sub(known) {
            Some(more) if more <= waiting => {
                self.world.reach_disk(at, more as usize);
                self.engine.records[at.index()] = found;
                Ok(())
            }
            _ => Err(NetError::Record(format!(
                "{at} found {found} records when it came back, and it had written {known}, and \
                 {waiting} of which it did not know"
            ))),
        }
    }

    fn action(&mut self, at: ProcessId, entry: &Entry) -> Result<Action<AnyInput>, NetError> {
        let unknown = |what: &str| NetError::Record(format!("{at} took in {what}"));
        Ok(match &entry.event {
            Event::Start(records) => Action::Restart { at, disk: records.is_some() },
            Event::Sync => Action::Sync(at),
            Event::Input(bytes) => {
                let input = postcard::from_bytes(bytes);
                Action::Input { at, input: input.map_err(|_| unknown("an unknown input"))? }
            }
            Event::Tell(to) => Action::Tell { from: at, to: *to },
            Event::Timer(bytes) => {
                let scratch = &mut self.engine.scratch;
                let mut timers = self.world.process(at).timers().iter();
                let set = timers.find(|set| {
                    let length = fill(scratch, |buffer| set.timer.encode(buffer));
                    scratch[..length] == bytes[..]
                });
                let set = set.ok_or_else(|| unknown("a timer that was not set"))?;
                Action::Fire { at, timer: set.number }
            }
            Event::Message(from, number) | Event::Unreadable(from, number) => {
                let slot = self.engine.take_place(*from, *number);
                let slot = slot.ok_or_else(|| unknown("a message that was never sent"))?;
                match entry.event {
                    Event::Message(..) => Action::Deliver(slot),
                    _ => Action::Drop(slot),
                }
            }
        })
    }

    fn step(&mut self, action: &Action<AnyInput>) -> Result<(), NetError> {
        self.world.can(action).map_err(|why| NetError::Record(why.to_string()))?;
        self.steps += 1;
        self.world.step(action, &mut self.engine);
        Ok(())
    }

    /// Loses and duplicates the messages of a step as the shim did. Fails if the step differs from
    /// that of the run.
    fn after(&mut self, at: ProcessId, entry: &Entry) -> Result<(), NetError> {
        for number in &entry.lost {
            if let Some(slot) = self.engine.take_place(at, *number) {
                self.world.step(&Action::Drop(slot), &mut self.engine);
            }
        }
        for number in &entry.copied {
            if let Some(slot) = self.engine.place(at, *number) {
                self.world.step(&Action::Duplicate(slot), &mut self.engine);
                let copy = self.engine.copy.take();
                if let Some(sent) = self.engine.on_their_way[at.index()].get_mut(number) {
                    sent.slots.extend(copy);
                }
            }
        }
        let digest = self.engine.digests[at.index()];
        if self.engine.strayed || entry.digest.is_some_and(|expected| expected != digest) {
            let why = format!("{at} did something else in the run than in its replay");
            return Err(NetError::Record(why));
        }
        Ok(())
    }

    /// Decides the fate of the messages that had not arrived when the members stopped. A message to
    /// a dead process is lost. So is one that its sender logged but did not send before its death,
    /// and one whose connection ended with a life of either side. A late datagram is lost, too. All
    /// others are still in flight.
    fn settle(&mut self, medium: Medium, ended: Ended) {
        let is_dead = |at| self.world.process(at).status == Status::Crashed;
        let long_ago_us = self.world.now_us.saturating_sub(LATE_US);
        let mut actions = Vec::new();
        for (from, sent) in
            ProcessId::all(self.engine.on_their_way.len()).zip(&self.engine.on_their_way)
        {
            let life_of = |at: ProcessId| self.engine.lives[at.index()];
            for OnItsWay { left_us, life, slots } in sent.values() {
                let late = medium == Medium::Udp && *left_us < long_ago_us;
                for slot in slots {
                    let Some(envelope) = self.world.flight().get(*slot) else { continue };
                    let is_cut = *life < life_of(from).0 || *left_us < life_of(envelope.to).1;
                    if is_dead(envelope.to) {
                        actions.push(Action::Deliver(*slot));
                    } else if is_cut || ended != Ended::Cut && (late || is_dead(from)) {
                        actions.push(Action::Drop(*slot));
                    }
                }
            }
        }
        for action in actions {
            self.world.step(&action, &mut self.engine);
        }
    }

    fn finish(mut self, launch: &Launch, gathered: Gathered) -> Result<Real, NetError> {
        let why = gathered.because.as_deref();
        for violation in why.map(|why| self.world.unfulfilled(why)).into_iter().flatten() {
            self.engine.see(self.world.now_us, Happening::<Boxed>::Violated(&violation));
        }
        let Engine { witness, mut latencies, first_us, last_us, last_answer_us, .. } = self.engine;
        let first_answer_us = self.engine.first_answer_us.unwrap_or(last_answer_us);
        let pace = (latencies.len().saturating_sub(1) as u64, last_answer_us - first_answer_us);
        let (meter, violations) = witness.finish().trying("the trace cannot be written")?;
        let undecided = self.world.undecided(gathered.ended == Ended::Cut, &violations);
        let options = &launch.options;
        let once = options.plan.rounds.iter().all(|rounds| *rounds == Rounds::Times(1));
        let once_each = once && options.load == Load::Saturated;
        let conditions = Conditions { load: options.load, hop_us: None, once_each };
        let costs = costs(&meter, &self.world, conditions);
        let Gathered { ended, share, crashes, restarts, notes, traffic, .. } = gathered;
        let Traffic { parcels, bytes, strangers, unreadable } = traffic;
        let time_us = self.world.now_us;
        let steps = self.steps;
        Ok(Real {
            report: Report { ended, steps, time_us, violations, undecided, meter, costs },
            facts: Facts {
                medium: launch.medium,
                shared: share,
                busy_us: last_us.saturating_sub(first_us.unwrap_or(last_us)),
                pace,
                latency: Latency::of(&mut latencies),
                parcels,
                bytes,
                strangers,
                unreadable,
                crashes,
                restarts,
                notes,
            },
        })
    }
}
