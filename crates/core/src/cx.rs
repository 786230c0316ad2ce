//! A protocol's only window on the world, during one step.

mod way;

use crate::algorithm::Algorithm;
use crate::boxed::Boxed;
use crate::durable::Record;
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::Protocol;
use smallvec::SmallVec;
use std::marker::PhantomData;
use way::{Below, IntoBoxes, Layer, Same, Way, Wrapped, no_record};

/// What a protocol asks of the world. Drivers carry effects out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect<M, T, O> {
    /// One message to one process.
    Send {
        /// Where it goes.
        to: ProcessId,
        /// What it says.
        message: M,
    },
    /// One message to several processes. A point-to-point network carries it once for each, a
    /// multicast network once for all.
    Multicast {
        /// Where it goes; not to the sender itself.
        to: ProcessSet,
        /// What it says.
        message: M,
    },
    /// Sets a timer, or moves it if it is set.
    SetTimer {
        /// Its name.
        timer: T,
        /// How long from now.
        after_ms: u64,
    },
    /// Forgets a timer, if it is set.
    CancelTimer(T),
    /// Tells the layer above.
    Output(O),
    /// Writes to stable storage. Messages and outputs that follow wait for the disk.
    Persist(Record),
    /// The same, with a record that makes earlier ones superfluous.
    Checkpoint {
        /// The record.
        record: Record,
        /// This many records right before it are still needed; all before those are not.
        keep: u64,
    },
    /// A peer broke the protocol. This is data, not an error: the process goes on.
    Accuse {
        /// Who.
        who: ProcessId,
        /// What it did.
        why: &'static str,
    },
}

/// The effects of a protocol.
pub type EffectOf<P> =
    Effect<<P as Protocol>::Message, <P as Protocol>::Timer, <P as Protocol>::Output>;

/// Takes in what a protocol asks for during one step: a [`Host`](crate::Host) on behalf of a
/// driver, or the layer above.
pub(crate) trait Effects<P: Protocol> {
    /// Carries out one effect.
    fn effect(&mut self, effect: EffectOf<P>);
    /// Decides a randomised step: any number below `among`.
    fn choose(&mut self, among: u32) -> u32;
    /// Which life of the process this is, from 1.
    fn incarnation(&self) -> u32 {
        1
    }
    /// Whether the process had a disk once, and starts again without it.
    fn has_lost_disk(&self) -> bool {
        false
    }
    /// The step enters (`true`) or leaves the layer below: messages now belong to that layer.
    fn cross(&mut self, _down: bool) {}
    /// The step need not have been taken; see [`crate::reductions::retract`].
    fn retract(&mut self) {}
}

/// The protocol's only window on the world, during one step.
pub struct Cx<'a, P: Protocol> {
    me: ProcessId,
    /// How many processes there are in the world.
    n: usize,
    /// The group in which the step takes place, if a layer above narrowed it down.
    members: Option<&'a ProcessSet>,
    effects: &'a mut dyn Effects<P>,
}

impl<'a, P: Protocol> Cx<'a, P> {
    /// A window for the process `me` among `n`.
    pub(crate) fn new(me: ProcessId, n: usize, effects: &'a mut dyn Effects<P>) -> Self {
        Cx { me, n, members: None, effects }
    }

    #[inline]
    pub(crate) fn push(&mut self, effect: EffectOf<P>) {
        self.effects.effect(effect);
    }

    /// This process.
    #[inline]
    pub fn me(&self) -> ProcessId {
        self.me
    }

    /// Which life of this process this is: 1, and one more after each restart. Real systems have a
    /// process number or a boot counter for it.
    #[inline]
    pub fn incarnation(&self) -> u32 {
        self.effects.incarnation()
    }

    /// Whether this process starts again without the disk that it had. Real systems know it by an
    /// empty directory where the configuration says that it is not their first start.
    #[inline]
    pub fn has_lost_disk(&self) -> bool {
        self.effects.has_lost_disk()
    }

    /// How many processes are in the group: all, unless a layer above narrowed it down.
    #[inline]
    pub fn group_size(&self) -> usize {
        self.members.map_or(self.n, ProcessSet::len)
    }

    /// The group, this process included: all processes, unless a layer above narrowed it down.
    pub fn group(&self) -> impl DoubleEndedIterator<Item = ProcessId> + Clone + use<P> {
        let members = self.members.cloned();
        ProcessId::all(self.n).filter(move |&p| members.as_ref().is_none_or(|m| m.contains(p)))
    }

    /// Whether a process is in the group.
    #[inline]
    pub fn is_member(&self, process: ProcessId) -> bool {
        match self.members {
            None => process.index() < self.n,
            Some(members) => members.contains(process),
        }
    }

    /// The group as a set, this process left out.
    #[inline]
    pub fn peers(&self) -> ProcessSet {
        match self.members {
            None => ProcessSet::all_but(self.n, self.me),
            Some(members) => {
                let mut peers = members.clone();
                peers.remove(self.me);
                peers
            }
        }
    }

    /// The group but for this process.
    pub fn others(&self) -> impl DoubleEndedIterator<Item = ProcessId> + Clone + use<P> {
        let me = self.me;
        self.group().filter(move |&p| p != me)
    }

    /// Sends a message to one process.
    #[inline]
    pub fn send(&mut self, to: ProcessId, message: P::Message) {
        self.push(Effect::Send { to, message });
    }

    /// Sends a message to every other process of the group, as one effect.
    #[inline]
    pub fn multicast(&mut self, message: P::Message) {
        let to = self.peers();
        self.push(Effect::Multicast { to, message });
    }

    /// Sends a message to some others of the group, as one effect.
    #[inline]
    pub fn multicast_to(&mut self, mut to: ProcessSet, message: P::Message) {
        to.remove(self.me);
        self.push(Effect::Multicast { to, message });
    }

    /// Sets a timer, or moves it if it is already set.
    pub fn set_timer(&mut self, timer: P::Timer, after_ms: u64) {
        self.push(Effect::SetTimer { timer, after_ms });
    }

    /// Cancels a timer, if it is set.
    pub fn cancel_timer(&mut self, timer: P::Timer) {
        self.push(Effect::CancelTimer(timer));
    }

    /// Tells the layer above.
    #[inline]
    pub fn output(&mut self, output: P::Output) {
        self.push(Effect::Output(output));
    }

    /// Reports a peer that broke the protocol, and goes on.
    pub fn accuse(&mut self, who: ProcessId, why: &'static str) {
        self.push(Effect::Accuse { who, why });
    }

    /// Decides a randomised step: some number in `0..among`. The simulator draws it from the seed,
    /// the explorer tries them all.
    pub fn choose(&mut self, among: u32) -> u32 {
        assert!(among > 0, "a choice among nothing");
        let chosen = self.effects.choose(among);
        assert!(chosen < among, "the driver chose {chosen} among {among}");
        chosen
    }

    /// See [`crate::reductions::retract`].
    pub(crate) fn retract(&mut self) {
        self.effects.retract();
    }

    /// Runs one step of the layer below. Its messages and timers go out as ours; what it outputs
    /// is returned, in order, for us to react to. (Its sends therefore precede our reactions.)
    #[must_use = "the outputs of the layer below are events for this one"]
    pub fn below<L>(&mut self, step: impl FnOnce(&mut Cx<'_, L>)) -> SmallVec<[L::Output; 1]>
    where
        L: Protocol,
        P::Message: From<L::Message>,
        P::Timer: From<L::Timer>,
    {
        self.cross(None, step, no_record)
    }

    /// The same, in a smaller group: for the layer below no other process exists.
    #[must_use = "the outputs of the layer below are events for this one"]
    pub fn below_in<L>(
        &mut self,
        members: &ProcessSet,
        step: impl FnOnce(&mut Cx<'_, L>),
    ) -> SmallVec<[L::Output; 1]>
    where
        L: Protocol,
        P::Message: From<L::Message>,
        P::Timer: From<L::Timer>,
    {
        self.cross(Some(members), step, no_record)
    }

    /// Runs one step of a protocol that acts in our place. All it sends, sets and tells goes out as
    /// ours, wrapped, and in its order. For protocols that choose among several others and add
    /// nothing of their own; they are no layer.
    pub fn through<L: Protocol>(
        &mut self,
        members: Option<&ProcessSet>,
        message: impl Fn(L::Message) -> P::Message,
        timer: impl Fn(L::Timer) -> P::Timer,
        output: impl Fn(L::Output) -> P::Output,
        step: impl FnOnce(&mut Cx<'_, L>),
    ) {
        self.drive(members, &mut Wrapped { message, timer, output }, step);
    }

    /// Runs one step of a protocol in our place: all it wants done is done, records included.
    pub(crate) fn in_place<L>(&mut self, step: impl FnOnce(&mut Cx<'_, L>))
    where
        L: Protocol<Message = P::Message, Timer = P::Timer, Output = P::Output>,
    {
        self.drive(None, &mut Same, step);
    }

    /// Runs one step of a protocol, and returns what it wants done without doing it.
    pub(crate) fn collect_effects<L: Protocol>(
        &mut self,
        step: impl FnOnce(&mut Cx<'_, L>),
    ) -> Vec<EffectOf<L>> {
        let (me, n, members) = (self.me, self.n, self.members);
        let mut collector = Collector { above: self, effects: Vec::new() };
        step(&mut Cx { me, n, members, effects: &mut collector });
        collector.effects
    }

    pub(crate) fn cross<L>(
        &mut self,
        members: Option<&ProcessSet>,
        step: impl FnOnce(&mut Cx<'_, L>),
        record: fn(Record) -> Record,
    ) -> SmallVec<[L::Output; 1]>
    where
        L: Protocol,
        P::Message: From<L::Message>,
        P::Timer: From<L::Timer>,
    {
        let mut layer = Layer::<L> { outputs: SmallVec::new(), record };
        self.effects.cross(true);
        self.drive(members, &mut layer, step);
        self.effects.cross(false);
        layer.outputs
    }

    fn drive<L, W>(
        &mut self,
        members: Option<&ProcessSet>,
        way: &mut W,
        step: impl FnOnce(&mut Cx<'_, L>),
    ) where
        L: Protocol,
        W: Way<P, L>,
    {
        let (me, n) = (self.me, self.n);
        let members = members.or(self.members);
        let mut below = Below { above: self, way };
        step(&mut Cx { me, n, members, effects: &mut below });
    }
}

impl Cx<'_, Boxed> {
    /// Runs one step of a protocol that acts in our place, and is in a box.
    pub(crate) fn unboxed<A: Algorithm>(&mut self, step: impl FnOnce(&mut Cx<'_, A>)) {
        self.drive(None, &mut IntoBoxes::<A>(PhantomData), step);
    }
}

/// The world as a protocol sees it whose effects are only collected.
struct Collector<'a, 'b, P: Protocol, L: Protocol> {
    above: &'a mut Cx<'b, P>,
    effects: Vec<EffectOf<L>>,
}

impl<P: Protocol, L: Protocol> Effects<L> for Collector<'_, '_, P, L> {
    fn effect(&mut self, effect: EffectOf<L>) {
        self.effects.push(effect);
    }

    fn choose(&mut self, among: u32) -> u32 {
        self.above.effects.choose(among)
    }

    fn incarnation(&self) -> u32 {
        self.above.effects.incarnation()
    }

    fn has_lost_disk(&self) -> bool {
        self.above.effects.has_lost_disk()
    }
}

/// Runs one step and collects its effects: the pure function under every driver. Choices are
/// always 0.
pub fn step<P: Protocol>(
    me: ProcessId,
    group_size: usize,
    run: impl FnOnce(&mut Cx<'_, P>),
) -> Vec<EffectOf<P>> {
    struct Collect<P: Protocol>(Vec<EffectOf<P>>);
    impl<P: Protocol> Effects<P> for Collect<P> {
        fn effect(&mut self, effect: EffectOf<P>) {
            self.0.push(effect);
        }
        fn choose(&mut self, _among: u32) -> u32 {
            0
        }
    }
    let mut collected = Collect(Vec::new());
    run(&mut Cx::new(me, group_size, &mut collected));
    collected.0
}
