//! What the explorer finds. One program, because every algorithm is compiled into it.

mod catalogue;
mod frame;
mod full;
mod livelock;
mod mutual_exclusion;
mod quorum;
mod replay;
mod stateright;
