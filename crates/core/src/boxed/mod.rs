//! Any algorithm behind one type, so that a driver is compiled once for all of them.
//!
//! Drivers are generic in the algorithm. Compiled for each algorithm of a long catalogue they take
//! many minutes; compiled for [`Boxed`], once. At run time each step costs one indirect call.
//! Copies become cheaper: boxes and messages are shared until a step changes them, and explorers
//! copy worlds all the time.

mod value;
mod which;

pub use value::{BoxedMessage, BoxedTimer};
pub use which::Which;

use crate::algorithm::{Algorithm, Invariant, Kit};
use crate::card::{Card, Size};
use crate::cx::Cx;
use crate::durable::{BadRecord, Record};
use crate::family::{AnyFamily, AnyInput, AnyOutput, Known};
use crate::process::ProcessId;
use crate::protocol::Protocol;
use crate::setup::{Setup, SetupError};
use crate::sight::Sight;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;
use value::{Encode, STAYS, Value, forwards_to_its_value};
use which::{ErasedAlgorithm, Typed};

/// One process of any algorithm. [`Setup::of`] names the algorithm.
pub struct Boxed(Arc<dyn State>);

/// The operations of a process, of any algorithm.
trait State: Encode {
    fn copy(&self) -> Arc<dyn State>;
    fn algorithm(&self) -> &'static dyn ErasedAlgorithm;
    fn on_start(&mut self, cx: &mut Cx<'_, Boxed>);
    fn on_input(&mut self, input: AnyInput, cx: &mut Cx<'_, Boxed>);
    fn on_message(&mut self, from: ProcessId, message: BoxedMessage, cx: &mut Cx<'_, Boxed>);
    fn on_timer(&mut self, timer: BoxedTimer, cx: &mut Cx<'_, Boxed>);
    fn takes_part(&self, me: ProcessId) -> bool;
    fn sight(&self) -> Sight;
    fn replay(&mut self, record: &Record) -> Result<(), BadRecord>;
    fn stamp(&mut self) -> u64;
    fn witness(&mut self, stamp: u64);
}

impl<A: Algorithm> State for A {
    fn copy(&self) -> Arc<dyn State> {
        Arc::new(self.clone())
    }

    fn algorithm(&self) -> &'static dyn ErasedAlgorithm {
        &Typed::<A>(PhantomData)
    }

    fn on_start(&mut self, cx: &mut Cx<'_, Boxed>) {
        cx.unboxed(|cx| Protocol::on_start(self, cx));
    }

    fn on_input(&mut self, input: AnyInput, cx: &mut Cx<'_, Boxed>) {
        let input = A::Family::own_input(input);
        cx.unboxed(|cx| Protocol::on_input(self, input, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: BoxedMessage, cx: &mut Cx<'_, Boxed>) {
        cx.unboxed(|cx| Protocol::on_message(self, from, message.take::<A::Message>(), cx));
    }

    fn on_timer(&mut self, timer: BoxedTimer, cx: &mut Cx<'_, Boxed>) {
        cx.unboxed(|cx| Protocol::on_timer(self, timer.open::<A::Timer>().clone(), cx));
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        Algorithm::takes_part(self, me)
    }

    fn sight(&self) -> Sight {
        Algorithm::sight(self)
    }

    fn replay(&mut self, record: &Record) -> Result<(), BadRecord> {
        A::REPLAY.map_or(Ok(()), |replay| replay(self, record))
    }

    fn stamp(&mut self) -> u64 {
        Algorithm::stamp(self)
    }

    fn witness(&mut self, stamp: u64) {
        Algorithm::witness(self, stamp);
    }
}

impl Boxed {
    /// The state as bytes, which [`Boxed::read_state`] reads back.
    pub fn encode(&self) -> Vec<u8> {
        let mut buffer = vec![0; 1 << 10];
        loop {
            if let Some(length) = self.0.encode(&mut buffer) {
                buffer.truncate(length);
                return buffer;
            }
            buffer.resize(2 * buffer.len(), 0);
        }
    }

    /// Reads the state of a process of the algorithm that the setup names, as [`Boxed::encode`]
    /// wrote it. None if the bytes are no such state.
    pub fn read_state(setup: &Setup, bytes: &[u8]) -> Option<Self> {
        Which::algorithm(setup).read_state(bytes)
    }

    /// All invariants of the algorithm that the setup names, also those that this setup leaves
    /// out.
    pub fn all_invariants(setup: &Setup) -> Vec<Invariant<Self>> {
        Which::algorithm(setup).invariants()
    }

    fn new<A: Algorithm>(state: A) -> Self {
        Boxed(Arc::new(state))
    }

    /// Reads a message of the algorithm that the setup names, as [`BoxedMessage::encode`] wrote it.
    /// None if it is no such message.
    pub fn read_message(setup: &Setup, bytes: &[u8]) -> Option<BoxedMessage> {
        Which::algorithm(setup).read_message(bytes)
    }

    #[inline]
    fn value(&self) -> &dyn Value {
        &*self.0
    }

    /// The state, mutable: copied first if another box shares it.
    #[inline]
    fn own(&mut self) -> &mut dyn State {
        if Arc::strong_count(&self.0) > 1 {
            self.0 = self.0.copy();
        }
        Arc::get_mut(&mut self.0).expect("nobody else has it, and there are no weak references")
    }

    #[inline]
    fn open<A: Algorithm>(&self) -> &A {
        (&*self.0 as &dyn Any).downcast_ref().expect("a process of the same algorithm")
    }

    #[inline]
    fn open_mut<A: Algorithm>(&mut self) -> &mut A {
        (self.own() as &mut dyn Any).downcast_mut().expect("a process of the same algorithm")
    }

    fn replay(&mut self, record: &Record) -> Result<(), BadRecord> {
        self.own().replay(record)
    }
}

impl Clone for Boxed {
    #[inline]
    fn clone(&self) -> Self {
        Boxed(Arc::clone(&self.0))
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        value::share(&mut self.0, &source.0);
    }
}

forwards_to_its_value!(Boxed);

impl Protocol for Boxed {
    type Input = AnyInput;
    type Output = AnyOutput;
    type Message = BoxedMessage;
    type Timer = BoxedTimer;

    #[inline]
    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.own().on_start(cx);
    }

    #[inline]
    fn on_input(&mut self, input: AnyInput, cx: &mut Cx<'_, Self>) {
        self.own().on_input(input, cx);
    }

    #[inline]
    fn on_message(&mut self, from: ProcessId, message: BoxedMessage, cx: &mut Cx<'_, Self>) {
        self.own().on_message(from, message, cx);
    }

    #[inline]
    fn on_timer(&mut self, timer: BoxedTimer, cx: &mut Cx<'_, Self>) {
        self.own().on_timer(timer, cx);
    }
}

impl Algorithm for Boxed {
    type Family = AnyFamily;

    // Which one it is, and what it leaves out, only a setup tells: see `kit`.
    const CARD: Card = Card::BLANK;

    fn kit(setup: &Setup) -> Kit<Self> {
        Which::algorithm(setup).kit(setup)
    }

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Which::algorithm(setup).assemble(setup)
    }

    #[inline]
    fn takes_part(&self, me: ProcessId) -> bool {
        self.0.takes_part(me)
    }

    fn sight(&self) -> Sight {
        self.0.sight()
    }

    fn is_restless(processes: &[Self]) -> bool {
        processes.first().is_some_and(|first| first.0.algorithm().is_restless(processes))
    }

    fn size(processes: &[Self]) -> Size {
        let none = Size { n: 0, k: 0 };
        processes.first().map_or(none, |first| first.0.algorithm().size(processes))
    }

    #[inline]
    fn begins_round(timer: &BoxedTimer) -> bool {
        timer.begins_round
    }

    fn has_costs(setup: &Setup) -> bool {
        Which::algorithm(setup).has_costs(setup)
    }

    #[inline]
    fn stamp(&mut self) -> u64 {
        self.own().stamp()
    }

    #[inline]
    fn witness(&mut self, stamp: u64) {
        self.own().witness(stamp);
    }
}
