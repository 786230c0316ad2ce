//! The ways of effects from a protocol to the one that drives it.

use super::{Cx, Effect, EffectOf, Effects};
use crate::algorithm::Algorithm;
use crate::boxed::{Boxed, BoxedMessage, BoxedTimer};
use crate::durable::Record;
use crate::family::Known;
use crate::protocol::Protocol;
use smallvec::SmallVec;
use std::marker::PhantomData;

/// What becomes of the effects of a protocol `L` that another one, `P`, drives.
///
/// The ways are types of their own and not closures: a closure's type would depend on the step, and
/// [`Below`] would be compiled again for each place that takes one.
pub(super) trait Way<P: Protocol, L: Protocol> {
    fn message(&self, message: L::Message) -> P::Message;
    fn timer(&self, timer: L::Timer) -> P::Timer;
    fn output(&mut self, above: &mut Cx<'_, P>, output: L::Output);
    fn record(&self, record: Record) -> Record;
}

/// The way of a layer below: its outputs are kept for the one above.
pub(super) struct Layer<L: Protocol> {
    pub(super) outputs: SmallVec<[L::Output; 1]>,
    pub(super) record: fn(Record) -> Record,
}

impl<P, L> Way<P, L> for Layer<L>
where
    P: Protocol,
    L: Protocol,
    P::Message: From<L::Message>,
    P::Timer: From<L::Timer>,
{
    fn message(&self, message: L::Message) -> P::Message {
        message.into()
    }

    fn timer(&self, timer: L::Timer) -> P::Timer {
        timer.into()
    }

    fn output(&mut self, _: &mut Cx<'_, P>, output: L::Output) {
        self.outputs.push(output);
    }

    fn record(&self, record: Record) -> Record {
        (self.record)(record)
    }
}

/// The way of a protocol that acts in our place, in an envelope.
pub(super) struct Wrapped<M, T, O> {
    pub(super) message: M,
    pub(super) timer: T,
    pub(super) output: O,
}

impl<P, L, M, T, O> Way<P, L> for Wrapped<M, T, O>
where
    P: Protocol,
    L: Protocol,
    M: Fn(L::Message) -> P::Message,
    T: Fn(L::Timer) -> P::Timer,
    O: Fn(L::Output) -> P::Output,
{
    fn message(&self, message: L::Message) -> P::Message {
        (self.message)(message)
    }

    fn timer(&self, timer: L::Timer) -> P::Timer {
        (self.timer)(timer)
    }

    fn output(&mut self, above: &mut Cx<'_, P>, output: L::Output) {
        above.output((self.output)(output));
    }

    fn record(&self, record: Record) -> Record {
        no_record(record)
    }
}

/// The way of a protocol that acts in our place and speaks our language.
pub(super) struct Same;

impl<P, L> Way<P, L> for Same
where
    P: Protocol,
    L: Protocol<Message = P::Message, Timer = P::Timer, Output = P::Output>,
{
    fn message(&self, message: P::Message) -> P::Message {
        message
    }

    fn timer(&self, timer: P::Timer) -> P::Timer {
        timer
    }

    fn output(&mut self, above: &mut Cx<'_, P>, output: P::Output) {
        above.output(output);
    }

    fn record(&self, record: Record) -> Record {
        record
    }
}

/// The way of an algorithm in a box.
pub(super) struct IntoBoxes<A>(pub(super) PhantomData<A>);

impl<A: Algorithm> Way<Boxed, A> for IntoBoxes<A> {
    fn message(&self, message: A::Message) -> BoxedMessage {
        BoxedMessage::new(message)
    }

    fn timer(&self, timer: A::Timer) -> BoxedTimer {
        BoxedTimer::new::<A>(timer)
    }

    fn output(&mut self, above: &mut Cx<'_, Boxed>, output: A::Output) {
        above.output(A::Family::any_output(output));
    }

    fn record(&self, record: Record) -> Record {
        record
    }
}

/// The world as the layer below sees it: ourselves.
pub(super) struct Below<'a, 'b, P: Protocol, W> {
    pub(super) above: &'a mut Cx<'b, P>,
    pub(super) way: &'a mut W,
}

pub(super) fn no_record(_: Record) -> Record {
    panic!("a layer below that persists is driven by below_durable")
}

impl<P: Protocol, L: Protocol, W: Way<P, L>> Effects<L> for Below<'_, '_, P, W> {
    fn effect(&mut self, effect: EffectOf<L>) {
        let way = &mut *self.way;
        let effect = match effect {
            Effect::Send { to, message } => Effect::Send { to, message: way.message(message) },
            Effect::Multicast { to, message } => {
                Effect::Multicast { to, message: way.message(message) }
            }
            Effect::SetTimer { timer, after_ms } => {
                Effect::SetTimer { timer: way.timer(timer), after_ms }
            }
            Effect::CancelTimer(timer) => Effect::CancelTimer(way.timer(timer)),
            Effect::Output(output) => return way.output(self.above, output),
            Effect::Persist(record) => Effect::Persist(way.record(record)),
            Effect::Checkpoint { record, keep } => {
                Effect::Checkpoint { record: way.record(record), keep }
            }
            Effect::Accuse { who, why } => Effect::Accuse { who, why },
        };
        self.above.push(effect);
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

    fn cross(&mut self, down: bool) {
        self.above.effects.cross(down);
    }

    fn retract(&mut self) {
        self.above.effects.retract();
    }
}
