//! A distributed algorithm, seen from one process.

use crate::cx::Cx;
use crate::process::ProcessId;
use crate::reductions::Reductions;
use crate::variant_name::variant_name;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

/// What every value in a world can do: be copied, compared, hashed, printed and stored. Deriving
/// `Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize` is all it takes.
pub trait Data:
    Clone + Eq + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<T> Data for T where
    T: Clone + Eq + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

/// A value that the hash leaves out: an explorer compares hashes, so two states that differ only
/// here are one state to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unhashed<T>(pub T);

impl<T> Hash for Unhashed<T> {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

/// A message between processes. The provided methods fit every enum: `impl Wire for Message {}`.
pub trait Wire: Data {
    /// The name under which the message is counted and drawn: the variant's name of an enum.
    fn kind(&self) -> &'static str {
        variant_name(self)
    }

    /// A few words that name it in pictures, where there is no room for the whole. The default is
    /// its text if that is short, else its kind. Traces have the whole text.
    fn label(&self) -> String {
        crate::sight::short(&format!("{self:?}"), self.kind())
    }
}

/// For protocols that set no timers, take no input, or produce no output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Never {}

impl Wire for Never {}

/// A distributed algorithm, seen from one process.
///
/// The state of the process *is* the implementing value: an explorer copies, compares and hashes
/// it. Handlers are atomic: nothing else happens at this process while one runs.
pub trait Protocol: Data {
    /// Requests of the layer above, or of the application.
    type Input: Data;
    /// Answers to it.
    type Output: Data;
    /// Messages between two processes.
    type Message: Wire;
    /// The name of a timer; setting a timer that is already set moves it.
    type Timer: Data;

    /// Hints for explorers: by default, none.
    const REDUCTIONS: Reductions<Self> = Reductions::NONE;

    /// The process starts, or starts again after a crash.
    fn on_start(&mut self, _cx: &mut Cx<'_, Self>) {}

    /// The layer above makes a request.
    fn on_input(&mut self, input: Self::Input, cx: &mut Cx<'_, Self>);

    /// A message arrives. It may be late, duplicated or forged: it is data, never a reason to
    /// panic.
    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>);

    /// A timer that was set, and not cancelled since, runs out.
    fn on_timer(&mut self, _timer: Self::Timer, _cx: &mut Cx<'_, Self>) {}
}
