//! Turn-lock: the sheet's vectors, what it costs, and every cheat in every schedule of a small
//! world.

mod cheats;
mod costs;
mod vectors;
