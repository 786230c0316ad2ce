//! Turns happenings in a world into events with logical times.

use super::{Event, Sink, What};
use crate::world::{Body, Envelope, Happening, Process, Slot, TELL};
use std::fmt::Write;
use std::io;
use synod_core::family::Mark;
use synod_core::{Algorithm, Family, ProcessId, Sight, Wire};

/// Stamps every happening with its Lamport and vector time and hands it to the sinks.
///
/// Every action and every input of a process is an event of that process and advances its clocks. A
/// happening outside of it (a loss, a pause, a partition, a violation) does not.
pub struct Tracer<'s> {
    n: usize,
    sinks: Vec<&'s mut dyn Sink>,
    lamport: Vec<u64>,
    /// The vector time of each process, one after the other.
    vectors: Vec<u32>,
    /// The times at which the messages under way left, by slot.
    sent_lamport: Vec<u64>,
    sent_vectors: Vec<u32>,
    event: Event,
    /// What was last seen of each process.
    sights: Vec<Sight>,
    failure: Option<io::Error>,
    kept: Option<Kept>,
}

/// Events that a tracer keeps for its owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// The events.
    pub(crate) events: Vec<Event>,
    /// The numbers of the events with which a step began; of a step without any event, the number
    /// of the next one.
    pub(crate) begins: Vec<u64>,
}

/// A copy has the same times and what was kept, but none of the sinks: those are lent to one tracer
/// only.
impl Clone for Tracer<'_> {
    fn clone(&self) -> Self {
        Tracer {
            n: self.n,
            sinks: Vec::new(),
            lamport: self.lamport.clone(),
            vectors: self.vectors.clone(),
            sent_lamport: self.sent_lamport.clone(),
            sent_vectors: self.sent_vectors.clone(),
            event: self.event.clone(),
            sights: self.sights.clone(),
            failure: None,
            kept: self.kept.clone(),
        }
    }
}

impl<'s> Tracer<'s> {
    /// A tracer of `n` processes.
    pub fn new(n: usize, sinks: Vec<&'s mut dyn Sink>) -> Self {
        Tracer {
            n,
            sinks,
            lamport: vec![0; n],
            vectors: vec![0; n * n],
            sent_lamport: Vec::new(),
            sent_vectors: Vec::new(),
            event: Event {
                index: 0,
                time_us: 0,
                process: None,
                lamport: 0,
                vector: vec![0; n],
                what: What::Start,
                message: None,
                peer: None,
                kind: "",
                input: "",
                text: String::new(),
                mark: Mark::None,
                label: String::new(),
                sights: Vec::new(),
            },
            sights: vec![Sight::default(); n],
            failure: None,
            kept: None,
        }
    }

    /// A tracer of `n` processes that keeps every event until its owner takes them.
    pub(crate) fn keeping(n: usize) -> Self {
        Tracer { kept: Some(Kept::default()), ..Tracer::new(n, Vec::new()) }
    }

    /// What was kept since it was taken last.
    pub(crate) fn take_kept(&mut self) -> Kept {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// A step of the world begins.
    #[inline]
    pub(crate) fn begin_step(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.begins.push(self.event.index);
        }
    }

    /// Ends the trace. Fails with the first error of a sink.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.sinks.iter_mut().try_for_each(|sink| sink.finish())
    }

    /// Whether a sink has failed, so that the run may as well end.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Takes in a happening.
    pub fn see<A: Algorithm>(&mut self, now_us: u64, happening: &Happening<'_, A>) {
        self.event.time_us = now_us;
        match happening {
            Happening::Started(at) => self.tick(*at, What::Start).emit(),
            Happening::Input(at, input) => {
                let words = A::Family::input_in_words(input);
                self.tick(*at, What::Input).text(&words);
                self.event.input = A::Family::input_name(input);
                self.event.mark = A::Family::mark_of_input(input);
                self.emit();
            }
            Happening::Output(at, output) => {
                let words = A::Family::output_in_words(output);
                self.tick(*at, What::Output).text(&words);
                self.event.mark = A::Family::mark_of_output(*at, output);
                self.emit();
            }
            Happening::Sent { slot, envelope, .. } => {
                self.tick(envelope.from, What::Send).message(envelope, envelope.to);
                if let Some(slot) = slot {
                    self.keep_times(*slot, envelope.from);
                }
                self.emit();
            }
            Happening::Received { slot, envelope } => {
                self.learn(envelope.to, *slot);
                self.tick(envelope.to, What::Receive).message(envelope, envelope.from);
                self.emit();
            }
            Happening::Lost { envelope, why, .. } => {
                self.note(Some(envelope.to), What::Lose).message(envelope, envelope.from);
                self.because(why);
                self.emit();
            }
            Happening::Duplicated { of, slot, envelope } => {
                self.copy_times(*of, *slot);
                self.note(Some(envelope.to), What::Duplicate).message(envelope, envelope.from);
                self.emit();
            }
            Happening::TimerFired(at, timer) => {
                self.tick(*at, What::Timer);
                let _ = write!(self.event.text, "{timer:?}");
                self.emit();
            }
            Happening::Accused(at, who, why) => {
                self.tick(*at, What::Accuse).text(why);
                self.event.peer = Some(*who);
                self.emit();
            }
            Happening::Violated(violation) => {
                self.note(Some(violation.at), What::Violation).text(&violation.because);
                self.event.kind = violation.property;
                self.emit();
            }
            Happening::TimerSet { .. } | Happening::Writing(_) => {}
            _ => self.see_fault(happening),
        }
    }

    fn see_fault<A: Algorithm>(&mut self, happening: &Happening<'_, A>) {
        match happening {
            Happening::Crashed(at) => self.tick(*at, What::Crash).emit(),
            Happening::Restarted(at, disk) => {
                let with = if *disk { "with its disk" } else { "without its disk" };
                self.tick(*at, What::Restart).text(with).emit();
            }
            Happening::Paused(at) => self.note(Some(*at), What::Pause).emit(),
            Happening::Resumed(at) => self.note(Some(*at), What::Resume).emit(),
            Happening::Synced(at, records) => {
                self.tick(*at, What::Sync);
                let plural = if *records == 1 { "" } else { "s" };
                let _ = write!(self.event.text, "{records} record{plural}");
                self.emit();
            }
            Happening::Relinked(change) => {
                self.note(None, What::Network);
                let _ = write!(self.event.text, "{change}");
                self.emit();
            }
            _ => unreachable!("every other happening is seen by `see`"),
        }
    }

    /// Adds the reason of a loss.
    fn because(&mut self, why: &str) {
        let _ = write!(self.event.text, ": {why}");
        if !self.event.label.is_empty() {
            let _ = write!(self.event.label, ": {why}");
        }
    }

    /// Whether the event at hand is drawn.
    fn is_drawn(&self) -> bool {
        self.kept.is_some() || self.sinks.iter().any(|sink| sink.draws(self.event.index))
    }

    /// Looks at the processes after a step, for those who draw.
    pub fn look<A: Algorithm>(&mut self, processes: &[Process<A>]) {
        if !self.is_drawn() {
            return;
        }
        for (at, process) in ProcessId::all(self.n).zip(processes) {
            let sight = process.state().sight();
            if self.sights[at.index()] != sight {
                self.show(at, &sight);
                self.sights[at.index()] = sight;
            }
        }
    }

    fn show(&mut self, at: ProcessId, sight: &Sight) {
        self.sinks.iter_mut().for_each(|sink| sink.sees(at, sight));
        let last = self.kept.as_mut().and_then(|kept| kept.events.last_mut());
        if let Some(last) = last {
            last.sights.push((at, sight.clone()));
        }
    }

    /// Begins an event that does not advance a clock.
    fn note(&mut self, at: Option<ProcessId>, what: What) -> &mut Self {
        let event = &mut self.event;
        event.process = at;
        event.what = what;
        event.message = None;
        event.peer = None;
        event.kind = "";
        event.input = "";
        event.text.clear();
        event.label.clear();
        event.mark = Mark::None;
        match at {
            Some(at) => {
                event.lamport = self.lamport[at.index()];
                event.vector.clear();
                let row = at.index() * self.n;
                event.vector.extend_from_slice(&self.vectors[row..row + self.n]);
            }
            None => {
                event.lamport = 0;
                event.vector.clear();
            }
        }
        self
    }

    /// Begins an event of a process.
    fn tick(&mut self, at: ProcessId, what: What) -> &mut Self {
        self.lamport[at.index()] += 1;
        self.vectors[at.index() * self.n + at.index()] += 1;
        self.note(Some(at), what)
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.event.text.push_str(text);
        self
    }

    fn message<A: Algorithm>(&mut self, envelope: &Envelope<A>, peer: ProcessId) {
        let event = &mut self.event;
        event.message = Some(envelope.number);
        event.peer = Some(peer);
        event.kind = envelope.body.kind();
        let _ = match &envelope.body {
            Body::Message(message) => write!(event.text, "{message:?}"),
            Body::Tell(_) => write!(event.text, "{TELL}"),
        };
        if let Body::Message(message) = &envelope.body
            && self.is_drawn()
        {
            self.event.label = message.label();
        }
    }

    fn emit(&mut self) {
        for sink in &mut self.sinks {
            if let Err(error) = sink.take(&self.event) {
                // The first error is the cause of later ones.
                self.failure.get_or_insert(error);
            }
        }
        if let Some(kept) = &mut self.kept {
            kept.events.push(self.event.clone());
        }
        self.event.index += 1;
    }

    fn keep_times(&mut self, slot: Slot, from: ProcessId) {
        let (slot, n, row) = (slot as usize, self.n, from.index() * self.n);
        if self.sent_lamport.len() <= slot {
            self.sent_lamport.resize(slot + 1, 0);
            self.sent_vectors.resize((slot + 1) * n, 0);
        }
        self.sent_lamport[slot] = self.lamport[from.index()];
        self.sent_vectors[slot * n..][..n].copy_from_slice(&self.vectors[row..row + n]);
    }

    /// A duplicate carries the times of the original.
    fn copy_times(&mut self, of: Slot, slot: Slot) {
        let (of, slot, n) = (of as usize, slot as usize, self.n);
        if self.sent_lamport.len() <= slot {
            self.sent_lamport.resize(slot + 1, 0);
            self.sent_vectors.resize((slot + 1) * n, 0);
        }
        self.sent_lamport[slot] = self.sent_lamport[of];
        self.sent_vectors.copy_within(of * n..(of + 1) * n, slot * n);
    }

    /// The receiver merges the sender's times.
    fn learn(&mut self, at: ProcessId, slot: Slot) {
        let (slot, n) = (slot as usize, self.n);
        let lamport = &mut self.lamport[at.index()];
        *lamport = (*lamport).max(self.sent_lamport[slot]);
        let mine = &mut self.vectors[at.index() * n..][..n];
        for (mine, theirs) in mine.iter_mut().zip(&self.sent_vectors[slot * n..][..n]) {
            *mine = (*mine).max(*theirs);
        }
    }
}
