//! Election: the sentences, the counts and the examples of the sources.

mod bully;
mod chang_roberts;
mod explored;
mod hirschberg_sinclair;
mod rings;
