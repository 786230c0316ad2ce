//! Families of algorithms: the inputs and outputs of the application, its behaviour, and the
//! properties that are judged. Written once, for every algorithm of the family.

pub mod any;
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
pub mod services;
pub mod slots;
pub mod table;

pub use crate::clock::Moment;
pub use any::{AnyFamily, AnyInput, AnyOutput, Known};
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
pub use services::Services;
pub use slots::Allocation;
pub use table::SharedTable;

use crate::card::Rounds;
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::Data;
use crate::setup::Setup;
use crate::variant_name::variant_name;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

/// The common part of a family of algorithms.
pub trait Family: Debug + Copy + 'static {
    /// Its name, as `synod list` shows it.
    const NAME: &'static str;
    /// The word for one fulfilled request: "entry".
    const OPERATION: &'static str;
    /// Every property that its monitor can judge.
    const PROPERTIES: &'static [Property];
    /// The properties without which a run is worthless: judged even where an algorithm does not
    /// promise them.
    const ESSENTIAL: &'static [&'static str];
    /// The properties about the end: a process that waits for ever violates them. All others are
    /// judged at every step.
    const LIVENESS: &'static [&'static str];
    /// Those liveness properties that must come true for good: a process that makes one untrue
    /// again and again violates it, too.
    const LASTING: &'static [&'static str] = &[];
    /// The properties of only some of the family's problems: judged if the card of the algorithm
    /// speaks of them, or if the user names them.
    const SPECIAL: &'static [&'static str] = &[];

    /// The shortest run of an algorithm that never falls silent, in milliseconds: where no
    /// application asks, only time shows a property.
    const RUN_FOR_MS: u64 = 0;

    /// Whether the monitor can judge this property, by id, in a group of `n`. Some need more memory
    /// than a large group allows.
    fn can_judge(_id: &str, _n: usize) -> bool {
        true
    }

    /// A request of the application.
    type Input: Data;
    /// An answer, or any other news for the application.
    type Output: Data;
    /// The application at one process.
    type Application: Application<Family = Self>;
    /// The judge of the whole system.
    type Monitor: Monitor<Family = Self>;

    /// How long the application waits before this request: it thinks first, or it holds a resource.
    fn pace(input: &Self::Input) -> Pace;
    /// Whether an operator may ask this at any time, in any state of the application.
    fn is_order(_input: &Self::Input) -> bool {
        false
    }
    /// The meaning of an input for the operation under way, for meters and pictures.
    fn mark_of_input(input: &Self::Input) -> Mark;
    /// The same for an output at a process.
    fn mark_of_output(at: ProcessId, output: &Self::Output) -> Mark;

    /// The number of this request, unique at its process, if the request takes effect elsewhere
    /// too. Meters measure with it how long that takes.
    fn request(_input: &Self::Input) -> Option<u64> {
        None
    }
    /// The process whose request takes effect with this output, and the request's number there.
    fn request_of(_output: &Self::Output) -> Option<(ProcessId, u64)> {
        None
    }

    /// The client that asks, where a process has several.
    fn asker(_input: &Self::Input) -> u32 {
        0
    }
    /// The client that is answered.
    fn asker_of(_output: &Self::Output) -> u32 {
        0
    }

    /// `Enter`: the name by which the rules of a card refer to an input.
    fn input_name(input: &Self::Input) -> &'static str {
        variant_name(input)
    }

    /// `requests`: the words after the process's name in a scenario, for an input.
    fn input_in_words(input: &Self::Input) -> String;
    /// The same for an output.
    fn output_in_words(output: &Self::Output) -> String;
    /// The input that the words mean.
    fn input_from_words(words: &[&str]) -> Option<Self::Input>;
    /// Examples of what `input_from_words` understands, for error messages.
    const PHRASES: &'static [&'static str];
}

/// The facts about a family that drivers need with no input or output at hand. The type of a boxed
/// algorithm does not tell them, the kit of its setup does.
#[derive(Clone, Copy, Debug)]
pub struct Facts<Input> {
    /// [`Family::NAME`].
    pub name: &'static str,
    /// [`Family::OPERATION`].
    pub operation: &'static str,
    /// [`Family::PROPERTIES`].
    pub properties: &'static [Property],
    /// [`Family::ESSENTIAL`].
    pub essential: &'static [&'static str],
    /// [`Family::LIVENESS`].
    pub liveness: &'static [&'static str],
    /// [`Family::LASTING`].
    pub lasting: &'static [&'static str],
    /// [`Family::SPECIAL`].
    pub special: &'static [&'static str],
    /// [`Family::RUN_FOR_MS`].
    pub run_for_ms: u64,
    /// [`Family::PHRASES`].
    pub phrases: &'static [&'static str],
    /// [`Family::can_judge`].
    pub can_judge: fn(&str, usize) -> bool,
    /// [`Family::input_from_words`].
    pub input_from_words: fn(&[&str]) -> Option<Input>,
}

impl<Input> Facts<Input> {
    /// The facts about this family, whose inputs are read by `input_from_words`.
    pub(crate) const fn of<F: Family>(input_from_words: fn(&[&str]) -> Option<Input>) -> Self {
        Facts {
            name: F::NAME,
            operation: F::OPERATION,
            properties: F::PROPERTIES,
            essential: F::ESSENTIAL,
            liveness: F::LIVENESS,
            lasting: F::LASTING,
            special: F::SPECIAL,
            run_for_ms: F::RUN_FOR_MS,
            phrases: F::PHRASES,
            can_judge: F::can_judge,
            input_from_words,
        }
    }
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
    /// The process at which it showed.
    pub at: ProcessId,
    /// The reason, in words.
    pub because: String,
}

/// How long an application waits before it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It thinks first.
    Think,
    /// It uses the resource that it holds.
    Hold,
    /// It asks as soon as it can, under any load; where time has bounds, before any time passes.
    AtOnce,
}

/// What an event means for the operation under way at its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The operation is asked for.
    Ask,
    /// It is fulfilled; pictures shade the time until `End`.
    Begin,
    /// It is over.
    End,
    /// It is fulfilled, and over at once.
    Done,
    /// It is refused, and over: nothing was fulfilled.
    Refused,
    /// It is asked for and over in one.
    Whole,
    /// The operation of another process takes effect at this one.
    Reached,
    /// No meaning.
    None,
}

/// The application above one process. It is a state machine too, so that explorers can try every
/// request it might make.
pub trait Application: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// The family it belongs to.
    type Family: Family;

    /// An application at `me` that asks in `rounds`, if it takes part. The algorithm has accepted
    /// the setup.
    fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self;

    /// Offers each request that it may make now. A simulator picks one after a while, an explorer
    /// tries each.
    fn offers(&self, offer: &mut dyn FnMut(<Self::Family as Family>::Input));

    /// One of its offers: the one that `pick` names, if there are more than one. An application
    /// with very many offers overrides this, so that it need not make them all.
    fn offer(
        &self,
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> Option<<Self::Family as Family>::Input> {
        let mut offered = 0;
        self.offers(&mut |_| offered += 1);
        let mut to_skip = if offered > 1 { pick(offered) } else { 0 };
        let mut picked = None;
        self.offers(&mut |input| match to_skip.checked_sub(1) {
            Some(still) => to_skip = still,
            None => picked = picked.take().or(Some(input)),
        });
        picked
    }

    /// Whether this is among its offers.
    fn may_ask(&self, input: &<Self::Family as Family>::Input) -> bool {
        let mut found = false;
        self.offers(&mut |offered| found |= offered == *input);
        found
    }

    /// The application made a request.
    fn on_input(&mut self, input: &<Self::Family as Family>::Input);

    /// The application gets an output. It may answer at once, before the next event at this
    /// process.
    fn on_output(
        &mut self,
        output: &<Self::Family as Family>::Output,
        moment: Moment<'_>,
    ) -> Option<<Self::Family as Family>::Input>;

    /// Its process crashed: its operation is over.
    fn on_crash(&mut self);
}

/// An invisible part of each message, by which a monitor knows which events happened before which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tag {
    /// The monitor need not know.
    #[default]
    Nothing,
    /// Mutual exclusion: the unanswered requests that the sender knew of, one bit each.
    Requests(u64),
    /// Logical time: the sender's past.
    Sending(Box<logical_time::Sending>),
}

impl Hash for Tag {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match self {
            Tag::Nothing => (),
            Tag::Requests(known) => known.hash(hasher),
            Tag::Sending(sending) => sending.hash(hasher),
        }
    }
}

/// The judge of the whole system. It sees every step, and its state is part of the world, because
/// a verdict may depend on the past.
pub trait Monitor: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    /// The family it judges.
    type Family: Family;

    /// A judge of a group, for the properties that `judged` names (by id). The algorithm has
    /// accepted the setup.
    fn new(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self;

    /// An application makes a request.
    fn on_input(
        &mut self,
        at: ProcessId,
        input: &<Self::Family as Family>::Input,
        moment: Moment<'_>,
        found: &mut Vec<Violation>,
    );

    /// An application gets an output.
    fn on_output(
        &mut self,
        at: ProcessId,
        output: &<Self::Family as Family>::Output,
        moment: Moment<'_>,
        found: &mut Vec<Violation>,
    );

    /// A message leaves.
    fn on_send(&mut self, _from: ProcessId) -> Tag {
        Tag::Nothing
    }

    /// A message arrives.
    fn on_receive(&mut self, _at: ProcessId, _tag: &Tag) {}

    /// A process crashes.
    fn on_crash(&mut self, _at: ProcessId) {}

    /// Whether a message from this process would carry any knowledge. An explorer does not try
    /// application messages that carry none.
    fn has_news(&self, _from: ProcessId) -> bool {
        true
    }

    /// Whether tags of messages under way carry knowledge that no longer matters. Asked after each
    /// output; if so, `prune` is called for each tag.
    fn has_stale_tags(&self) -> bool {
        false
    }

    /// Removes from a tag the knowledge that no longer matters.
    fn prune(&self, _tag: &mut Tag) {}

    /// A property that this monitor should judge and could not judge to the end, by id, and the
    /// reason, in words.
    fn undecided(&self) -> Option<(&'static str, String)> {
        None
    }

    /// The processes for which a property of [`Family::LIVENESS`] has not come true: a process
    /// without an answer, for example. If no step is left, or a fair circle keeps a process in this
    /// set for ever, the property is violated.
    fn waiting(&self, _property: &str) -> ProcessSet {
        ProcessSet::EMPTY
    }

    /// The complaint of a process in [`Monitor::waiting`], after its name: `waits`.
    fn complaint(&self, _property: &str, _at: ProcessId) -> String {
        "waits".to_owned()
    }

    /// A crashed process starts again.
    fn on_restart(&mut self, _at: ProcessId) {}

    /// Links were cut or mended; `works` says of each, from one process to another, whether it
    /// works now.
    fn on_links(&mut self, _works: &dyn Fn(ProcessId, ProcessId) -> bool) {}
}
