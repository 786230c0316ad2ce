//! The promises of the world and its simulator, shown by small protocols made for that.

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
