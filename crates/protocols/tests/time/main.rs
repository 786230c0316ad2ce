//! Time: the sentences and examples of the textbooks, and many runs.

mod cristian;
mod explored;
mod logical;
mod runs;
