//! Pictures of runs.
//!
//! Each takes the events of a trace and a [`Scene`] (how many processes there are, and what they
//! are called) and gives back text:
//!
//! - [`terminal`]: a space-time diagram for the terminal, time downwards
//! - [`svg`]: the same as a picture file, time to the right
//! - [`shiviz`]: a log for the ShiViz visualizer, written while the run goes on
//! - [`mermaid`]: a sequence diagram for Markdown pages
//! - [`plot`]: measured numbers against formulas
//!
//! What they share: [`scene`] cuts a window out of a long trace, [`lane`] follows what each
//! process is doing, [`words`] says what happened.
#![forbid(unsafe_code)]

mod canvas;
pub mod lane;
pub mod mermaid;
mod paper;
pub mod plot;
pub mod scene;
pub mod shiviz;
pub mod svg;
pub mod terminal;
pub mod words;

pub use scene::Scene;

#[cfg(test)]
mod sample;
