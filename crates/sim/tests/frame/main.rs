//! What the world and its simulator promise, shown by small protocols of their own.

mod boxed;
mod causality;
mod chance;
mod deadlines;
mod durable;
mod faults;
mod layers;
mod multicast;
mod sinks;
mod timers;
mod toys;
mod violations;
mod waiting;
