//! Families of algorithms: what the application may ask and be told, how it behaves, and which
//! properties are judged. Written once, for every algorithm of the family.

pub mod clock_sync;
pub mod commitment;
pub mod consensus;
pub mod detection;
pub mod election;
pub mod generalized;
pub mod group;
pub mod lockstep;
pub mod logical_time;
pub mod multicast;
pub mod mutex;
pub mod replication;
pub mod slots;
pub mod table;

pub use crate::clock::Moment;
pub use clock_sync::ClockSync;
pub use commitment::Commitment;
pub use consensus::Consensus;
pub use detection::Detection;
pub use election::Election;
pub use generalized::GeneralizedConsensus;
pub use group::GroupService;
pub use lockstep::Lockstep;
pub use logical_time::LogicalTime;
pub use multicast::GroupMulticast;
pub use mutex::Mutex;
pub use replication::Replication;
pub use slots::Allocation;
pub use table::SharedTable;

use crate::card::Rounds;
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::Data;
use crate::setup::Setup;
use std::fmt::Debug;
use std::hash::Hash;

/// What a family of algorithms has in common.
pub trait Family: Debug + Copy + 'static {
    /// Its name, as `synod list` shows it.
    const NAME: &'static str;
    /// What one fulfilled request is called: "entry".
    const OPERATION: &'static str;
    /// Every property that its monitor can judge.
    const PROPERTIES: &'static [Property];
    /// The properties without which a run is not worth anything: judged even where an algorithm
    /// does not promise them.
    const ESSENTIAL: &'static [&'static str];
    /// The properties about what must come true in the end: somebody who waits for ever violates
    /// them. All others are judged at every step.
    const LIVENESS: &'static [&'static str];
    /// Those of them that must come true for good: whoever makes them untrue again and again
    /// violates them, too.
    const LASTING: &'static [&'static str] = &[];
    /// The properties of only some of the problems that the family is about: judged if the card of
    /// the algorithm speaks of them, or if somebody asks for them by name.
    const SPECIAL: &'static [&'static str] = &[];

    /// How long a run goes on at least, in milliseconds, if its algorithm never falls silent: where
    /// nobody asks for anything, only time tells.
    const RUN_FOR_MS: u64 = 0;

    /// Whether the monitor can judge this property, by id, in a group of `n`. Some need more memory
    /// than a large group allows.
    fn can_judge(_id: &str, _n: usize) -> bool {
        true
    }

    /// What an application may ask.
    type Input: Data;
    /// What it is told.
    type Output: Data;
    /// The application at one process.
    type Application: Application<Family = Self>;
    /// The judge of the whole system.
    type Monitor: Monitor<Family = Self>;

    /// What happens in the application when this is asked: it thinks first, or it holds something.
    fn pace(input: &Self::Input) -> Pace;
    /// Whether an operator may ask this at any time, whatever the application does.
    fn is_order(_input: &Self::Input) -> bool {
        false
    }
    /// What asking or telling means for the operation under way, for meters and pictures.
    fn mark_of_input(input: &Self::Input) -> Mark;
    /// The same for what the application at a process is told.
    fn mark_of_output(at: ProcessId, output: &Self::Output) -> Mark;

    /// A number for this request that no other of its process has, if it takes effect elsewhere
    /// too: so it can be told how long that takes.
    fn request(_input: &Self::Input) -> Option<u64> {
        None
    }
    /// Who made the request that takes effect with this output, and its number there.
    fn request_of(_output: &Self::Output) -> Option<(ProcessId, u64)> {
        None
    }

    /// Who asks, where several do at one process.
    fn asker(_input: &Self::Input) -> u32 {
        0
    }
    /// Who is told.
    fn asker_of(_output: &Self::Output) -> u32 {
        0
    }

    /// `enters`: the words after the process's name in a scenario, for what it may ask.
    fn input_in_words(input: &Self::Input) -> String;
    /// The same for what it is told.
    fn output_in_words(output: &Self::Output) -> String;
    /// The input that the words mean.
    fn input_from_words(words: &[&str]) -> Option<Self::Input>;
    /// Examples of what `input_from_words` understands, for error messages.
    const PHRASES: &'static [&'static str];
}

/// A property of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Property {
    /// `ME1`.
    pub id: &'static str,
    /// One or two words.
    pub name: &'static str,
    /// The whole sentence.
    pub statement: &'static str,
}

/// A property does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Which, by id.
    pub property: &'static str,
    /// Where it showed.
    pub at: ProcessId,
    /// What happened, in words.
    pub because: String,
}

/// How long an application waits before it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It has other things to do first.
    Think,
    /// It uses what it holds.
    Hold,
    /// It asks as soon as it can, whatever the load; where time has bounds, before any time passes.
    AtOnce,
}

/// What an event means for the operation under way at its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The operation is asked for.
    Ask,
    /// It is fulfilled; what follows until `End` is drawn shaded.
    Begin,
    /// It is over.
    End,
    /// It is fulfilled, and over at once.
    Done,
    /// It is asked for and over in one.
    Whole,
    /// The operation of another process takes effect at this one.
    Reached,
    /// Nothing.
    None,
}

/// The application above one process: a state machine too, so that explorers can try everything
/// that it might do.
pub trait Application: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// The family it belongs to.
    type Family: Family;

    /// An application at `me` that asks so many times; if it takes part at all. The algorithm has
    /// accepted the setup.
    fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self;

    /// What it may ask now. A simulator picks one after a while, an explorer tries each.
    fn offers(&self, offers: &mut Vec<<Self::Family as Family>::Input>);

    /// One of its offers: the one that `pick` names, if there are more than one. An application that has
    /// very many need not make them all. `room` is for those who do.
    fn offer(
        &self,
        pick: &mut dyn FnMut(usize) -> usize,
        room: &mut Vec<<Self::Family as Family>::Input>,
    ) -> Option<<Self::Family as Family>::Input> {
        room.clear();
        self.offers(room);
        match room.len() {
            0 => None,
            1 => room.pop(),
            many => Some(room.swap_remove(pick(many))),
        }
    }

    /// Whether this is among its offers.
    fn may_ask(
        &self,
        input: &<Self::Family as Family>::Input,
        room: &mut Vec<<Self::Family as Family>::Input>,
    ) -> bool {
        room.clear();
        self.offers(room);
        room.contains(input)
    }

    /// It asked.
    fn on_input(&mut self, input: &<Self::Family as Family>::Input);

    /// It was told. It may answer at once, before anything else happens at this process.
    fn on_output(
        &mut self,
        output: &<Self::Family as Family>::Output,
        moment: Moment<'_>,
    ) -> Option<<Self::Family as Family>::Input>;

    /// Its process crashed: whatever it was doing is over.
    fn on_crash(&mut self);
}

/// The judge of the whole system. It sees every step, and its state is part of the world, because
/// a verdict may depend on the past.
pub trait Monitor: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// The family it judges.
    type Family: Family;
    /// What each message carries, invisibly, so that the monitor knows what happened before what.
    type Tag: Clone + Eq + Hash + Debug + Default + Send + Sync + 'static;

    /// A judge of a group, for the properties that `judged` names (by id). The algorithm has
    /// accepted the setup.
    fn new(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self;

    /// An application asks.
    fn on_input(
        &mut self,
        at: ProcessId,
        input: &<Self::Family as Family>::Input,
        moment: Moment<'_>,
        found: &mut Vec<Violation>,
    );

    /// An application is told.
    fn on_output(
        &mut self,
        at: ProcessId,
        output: &<Self::Family as Family>::Output,
        moment: Moment<'_>,
        found: &mut Vec<Violation>,
    );

    /// A message leaves.
    fn on_send(&mut self, _from: ProcessId) -> Self::Tag {
        Self::Tag::default()
    }

    /// A message arrives.
    fn on_receive(&mut self, _at: ProcessId, _tag: &Self::Tag) {}

    /// A process crashes.
    fn on_crash(&mut self, _at: ProcessId) {}

    /// Whether a message from this process could carry anything at all. An explorer does not try
    /// application messages that carry nothing.
    fn has_news(&self, _from: ProcessId) -> bool {
        true
    }

    /// Whether messages on their way now carry something that no longer matters. Asked after each
    /// output; if so, `prune` is called for each tag.
    fn has_stale_tags(&self) -> bool {
        false
    }

    /// Takes out of a tag what no longer matters.
    fn prune(&self, _tag: &mut Self::Tag) {}

    /// What could not be judged although it was to be, in words.
    fn unjudged(&self) -> Option<String> {
        None
    }

    /// Those for whom a property of [`Family::LIVENESS`] has not come true: who asked and was not
    /// answered, for example. If nothing can happen any more, or a fair circle leaves somebody in
    /// here for ever, the property is violated.
    fn waiting(&self, _property: &str) -> ProcessSet {
        ProcessSet::EMPTY
    }

    /// What somebody in [`Monitor::waiting`] waits for, after its name: `waits`.
    fn complaint(&self, _property: &str, _at: ProcessId) -> String {
        "waits".to_owned()
    }

    /// A crashed process starts again.
    fn on_restart(&mut self, _at: ProcessId) {}

    /// Links were cut or mended; `works` tells of each, from one process to another, whether it
    /// works now.
    fn on_links(&mut self, _works: &dyn Fn(ProcessId, ProcessId) -> bool) {}
}
