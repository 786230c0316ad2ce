//! What the explorer finds. One program, because every algorithm is compiled into it.

mod actors;
mod catalogue;
mod frame;
mod full;
mod livelock;
mod mutual_exclusion;
mod prefix;
mod quorum;
mod replay;
mod stateright;
