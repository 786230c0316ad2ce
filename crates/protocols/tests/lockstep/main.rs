//! Turn-lock: the sheet's vectors, its cost, and every cheat in every schedule of a small world.

mod cheats;
mod costs;
mod vectors;
