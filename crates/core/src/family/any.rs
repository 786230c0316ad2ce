//! Any family behind one type, so that drivers are compiled once for all of them.
//!
//! [`AnyFamily`] is the family of a [`Boxed`](crate::Boxed) algorithm. Its inputs, outputs,
//! applications and monitors are enums with one variant for each family, and each call goes
//! to the variant at hand. They are enums and not boxes, because explorers copy, compare and hash
//! these values at every step.

use super::{
    Allocation, Application, ClockSync, Commitment, Consensus, Detection, Election, Family,
    GeneralizedConsensus, GroupMulticast, GroupService, Lockstep, LogicalTime, Mark, Moment,
    Monitor, Mutex, Pace, Property, Replication, Services, SharedTable, Tag, Violation,
};
use crate::boxed::Which;
use crate::card::Rounds;
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};

/// The family of boxed algorithms. The setup of a group says for which family it stands.
#[derive(Clone, Copy, Debug)]
pub enum AnyFamily {}

/// A family that [`AnyFamily`] can stand for.
pub trait Known: Family {
    /// The input, as one of any family.
    fn any_input(input: Self::Input) -> AnyInput;
    /// The input of this family.
    ///
    /// # Panics
    /// If the input belongs to another family: worlds do not mix them.
    fn own_input(input: AnyInput) -> Self::Input;
    /// The output, as one of any family.
    fn any_output(output: Self::Output) -> AnyOutput;
    /// The application of a process, as one of any family.
    fn any_application(me: ProcessId, setup: &Setup, rounds: Rounds) -> AnyApplication;
    /// The judge of a group, as one of any family.
    fn any_monitor(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> AnyMonitor;
}

/// A box in a box stays what it is.
impl Known for AnyFamily {
    fn any_input(input: AnyInput) -> AnyInput {
        input
    }

    fn own_input(input: AnyInput) -> AnyInput {
        input
    }

    fn any_output(output: AnyOutput) -> AnyOutput {
        output
    }

    fn any_application(me: ProcessId, setup: &Setup, rounds: Rounds) -> AnyApplication {
        Application::new(me, setup, rounds)
    }

    fn any_monitor(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> AnyMonitor {
        Monitor::new(setup, judged)
    }
}

/// An enum with one variant for each family. It hashes and prints like the value inside.
macro_rules! any_of {
    ($(#[$attribute:meta])* $any:ident { $($name:ident($inner:ty))+ }) => {
        $(#[$attribute])*
        #[derive(Eq)]
        #[expect(missing_docs, reason = "a variant is a family, which has its own documentation")]
        pub enum $any {
            $($name($inner),)+
        }

        impl PartialEq for $any {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                match (self, other) {
                    $(($any::$name(mine), $any::$name(theirs)) => mine == theirs,)+
                    _ => false,
                }
            }
        }

        impl Clone for $any {
            #[inline]
            #[allow(unreachable_code, reason = "some families have no inputs")]
            fn clone(&self) -> Self {
                match self {
                    $($any::$name(inner) => $any::$name(inner.clone()),)+
                }
            }

            /// Explorers copy a world over another one of the same family: the memory is reused.
            #[inline]
            fn clone_from(&mut self, source: &Self) {
                match (self, source) {
                    $(($any::$name(mine), $any::$name(theirs)) => mine.clone_from(theirs),)+
                    (mine, theirs) => *mine = theirs.clone(),
                }
            }
        }

        impl Hash for $any {
            #[inline]
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                match self {
                    $($any::$name(inner) => inner.hash(hasher),)+
                }
            }
        }

        impl fmt::Debug for $any {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($any::$name(inner) => inner.fmt(f),)+
                }
            }
        }
    };
}

/// Two values of one family, and the name of it. Worlds do not mix families.
macro_rules! both {
    ([$($name:ident)+] $one:ident($mine:pat) = $first:expr, $other:ident($theirs:pat) = $second:expr,
     $answer:expr) => {
        match ($first, $second) {
            $(($one::$name($mine), $other::$name($theirs)) => $answer,)+
            _ => unreachable!("a world has one family"),
        }
    };
}

/// What it takes to be one of several families, for a list of them.
macro_rules! any_family {
    ($($name:ident)+) => {
        any_of! {
            /// A request of an application, of any family.
            #[derive(Serialize, Deserialize)]
            AnyInput { $($name(<$name as Family>::Input))+ }
        }
        any_of! {
            /// News for an application, of any family.
            #[derive(Serialize, Deserialize)]
            AnyOutput { $($name(<$name as Family>::Output))+ }
        }
        any_of! {
            /// The application above one process, of any family.
            AnyApplication { $($name(<$name as Family>::Application))+ }
        }
        any_of! {
            /// The judge of a group, of any family.
            AnyMonitor { $($name(<$name as Family>::Monitor))+ }
        }

        $(impl Known for $name {
            #[inline]
            fn any_input(input: Self::Input) -> AnyInput {
                AnyInput::$name(input)
            }

            #[inline]
            fn own_input(input: AnyInput) -> Self::Input {
                match input {
                    AnyInput::$name(input) => input,
                    other => panic!("{other:?} is no input of the family {}", Self::NAME),
                }
            }

            #[inline]
            fn any_output(output: Self::Output) -> AnyOutput {
                AnyOutput::$name(output)
            }

            fn any_application(me: ProcessId, setup: &Setup, rounds: Rounds) -> AnyApplication {
                AnyApplication::$name(Application::new(me, setup, rounds))
            }

            fn any_monitor(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> AnyMonitor {
                AnyMonitor::$name(Monitor::new(setup, judged))
            }
        })+

        // A provided method that is not passed on would be lost in a box.
        #[warn(clippy::missing_trait_methods)]
        impl Family for AnyFamily {
            // Only a setup tells which family it is: drivers ask the kit for its facts. To use
            // one of these constants is an error of the compiler.
            const NAME: &'static str = panic!("see Kit::family");
            const OPERATION: &'static str = panic!("see Kit::family");
            const PROPERTIES: &'static [Property] = panic!("see Kit::family");
            const ESSENTIAL: &'static [&'static str] = panic!("see Kit::family");
            const LIVENESS: &'static [&'static str] = panic!("see Kit::family");
            const LASTING: &'static [&'static str] = panic!("see Kit::family");
            const SPECIAL: &'static [&'static str] = panic!("see Kit::family");
            const RUN_FOR_MS: u64 = panic!("see Kit::family");
            const PHRASES: &'static [&'static str] = panic!("see Kit::family");

            type Input = AnyInput;
            type Output = AnyOutput;
            type Application = AnyApplication;
            type Monitor = AnyMonitor;

            #[inline]
            fn pace(input: &AnyInput) -> Pace {
                match input {
                    $(AnyInput::$name(input) => $name::pace(input),)+
                }
            }

            #[inline]
            fn is_order(input: &AnyInput) -> bool {
                match input {
                    $(AnyInput::$name(input) => $name::is_order(input),)+
                }
            }

            #[inline]
            fn mark_of_input(input: &AnyInput) -> Mark {
                match input {
                    $(AnyInput::$name(input) => $name::mark_of_input(input),)+
                }
            }

            #[inline]
            fn mark_of_output(at: ProcessId, output: &AnyOutput) -> Mark {
                match output {
                    $(AnyOutput::$name(output) => $name::mark_of_output(at, output),)+
                }
            }

            #[inline]
            fn request(input: &AnyInput) -> Option<u64> {
                match input {
                    $(AnyInput::$name(input) => $name::request(input),)+
                }
            }

            #[inline]
            fn request_of(output: &AnyOutput) -> Option<(ProcessId, u64)> {
                match output {
                    $(AnyOutput::$name(output) => $name::request_of(output),)+
                }
            }

            #[inline]
            fn asker(input: &AnyInput) -> u32 {
                match input {
                    $(AnyInput::$name(input) => $name::asker(input),)+
                }
            }

            #[inline]
            fn asker_of(output: &AnyOutput) -> u32 {
                match output {
                    $(AnyOutput::$name(output) => $name::asker_of(output),)+
                }
            }

            fn input_in_words(input: &AnyInput) -> String {
                match input {
                    $(AnyInput::$name(input) => $name::input_in_words(input),)+
                }
            }

            fn output_in_words(output: &AnyOutput) -> String {
                match output {
                    $(AnyOutput::$name(output) => $name::output_in_words(output),)+
                }
            }

            fn input_name(input: &AnyInput) -> &'static str {
                match input {
                    $(AnyInput::$name(input) => $name::input_name(input),)+
                }
            }

            fn can_judge(_: &str, _: usize) -> bool {
                unreachable!("the properties of which family? The kit knows: see `Facts`")
            }

            fn input_from_words(_: &[&str]) -> Option<AnyInput> {
                unreachable!("the words of which family? The kit knows: see `Facts`")
            }
        }

        // A provided method that is not passed on would be lost in a box.
        #[warn(clippy::missing_trait_methods)]
        impl Application for AnyApplication {
            type Family = AnyFamily;

            fn new(me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
                Which::algorithm(setup).application(me, setup, rounds)
            }

            #[inline]
            fn offers(&self, offer: &mut dyn FnMut(AnyInput)) {
                match self {
                    $(AnyApplication::$name(inner) => {
                        inner.offers(&mut |input| offer(AnyInput::$name(input)));
                    })+
                }
            }

            #[inline]
            fn offer(&self, pick: &mut dyn FnMut(usize) -> usize) -> Option<AnyInput> {
                match self {
                    $(AnyApplication::$name(inner) => inner.offer(pick).map(AnyInput::$name),)+
                }
            }

            #[inline]
            fn may_ask(&self, input: &AnyInput) -> bool {
                both!([$($name)+] AnyApplication(inner) = self, AnyInput(input) = input,
                    inner.may_ask(input))
            }

            #[inline]
            fn on_input(&mut self, input: &AnyInput) {
                both!([$($name)+] AnyApplication(inner) = self, AnyInput(input) = input,
                    inner.on_input(input));
            }

            #[inline]
            fn on_output(&mut self, output: &AnyOutput, moment: Moment<'_>) -> Option<AnyInput> {
                match (self, output) {
                    $((AnyApplication::$name(inner), AnyOutput::$name(output)) => {
                        inner.on_output(output, moment).map(AnyInput::$name)
                    })+
                    _ => unreachable!("a world has one family"),
                }
            }

            #[inline]
            fn on_crash(&mut self) {
                match self {
                    $(AnyApplication::$name(inner) => inner.on_crash(),)+
                }
            }
        }

        // A provided method that is not passed on would be lost in a box.
        #[warn(clippy::missing_trait_methods)]
        impl Monitor for AnyMonitor {
            type Family = AnyFamily;

            fn new(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self {
                Which::algorithm(setup).monitor(setup, judged)
            }

            #[inline]
            fn on_input(
                &mut self,
                at: ProcessId,
                input: &AnyInput,
                moment: Moment<'_>,
                found: &mut Vec<Violation>,
            ) {
                both!([$($name)+] AnyMonitor(inner) = self, AnyInput(input) = input,
                    inner.on_input(at, input, moment, found));
            }

            #[inline]
            fn on_output(
                &mut self,
                at: ProcessId,
                output: &AnyOutput,
                moment: Moment<'_>,
                found: &mut Vec<Violation>,
            ) {
                both!([$($name)+] AnyMonitor(inner) = self, AnyOutput(output) = output,
                    inner.on_output(at, output, moment, found));
            }

            #[inline]
            fn on_send(&mut self, from: ProcessId) -> Tag {
                match self {
                    $(AnyMonitor::$name(inner) => inner.on_send(from),)+
                }
            }

            #[inline]
            fn on_receive(&mut self, at: ProcessId, tag: &Tag) {
                match self {
                    $(AnyMonitor::$name(inner) => inner.on_receive(at, tag),)+
                }
            }

            #[inline]
            fn on_crash(&mut self, at: ProcessId) {
                match self {
                    $(AnyMonitor::$name(inner) => inner.on_crash(at),)+
                }
            }

            #[inline]
            fn has_news(&self, from: ProcessId) -> bool {
                match self {
                    $(AnyMonitor::$name(inner) => inner.has_news(from),)+
                }
            }

            #[inline]
            fn has_stale_tags(&self) -> bool {
                match self {
                    $(AnyMonitor::$name(inner) => inner.has_stale_tags(),)+
                }
            }

            #[inline]
            fn prune(&self, tag: &mut Tag) {
                match self {
                    $(AnyMonitor::$name(inner) => inner.prune(tag),)+
                }
            }

            fn undecided(&self) -> Option<(&'static str, String)> {
                match self {
                    $(AnyMonitor::$name(inner) => inner.undecided(),)+
                }
            }

            #[inline]
            fn waiting(&self, property: &str) -> ProcessSet {
                match self {
                    $(AnyMonitor::$name(inner) => inner.waiting(property),)+
                }
            }

            fn complaint(&self, property: &str, at: ProcessId) -> String {
                match self {
                    $(AnyMonitor::$name(inner) => inner.complaint(property, at),)+
                }
            }

            fn on_restart(&mut self, at: ProcessId) {
                match self {
                    $(AnyMonitor::$name(inner) => inner.on_restart(at),)+
                }
            }

            fn on_links(&mut self, works: &dyn Fn(ProcessId, ProcessId) -> bool) {
                match self {
                    $(AnyMonitor::$name(inner) => inner.on_links(works),)+
                }
            }
        }
    };
}

any_family! {
    Allocation
    ClockSync
    Commitment
    Consensus
    Detection
    Election
    GeneralizedConsensus
    GroupMulticast
    GroupService
    Lockstep
    LogicalTime
    Mutex
    Replication
    Services
    SharedTable
}
