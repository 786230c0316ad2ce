//! Pictures of runs.
//!
//! Each takes the events of a trace and a [`Scene`] (the number of processes and their names) and
//! returns text:
//!
//! - [`terminal`]: a space-time diagram for the terminal, time downwards
//! - [`svg`]: the same as a picture file, time to the right
//! - [`shiviz`]: a log for the ShiViz visualizer, written while the run goes on
//! - [`mermaid`]: a sequence diagram for Markdown pages
//! - [`plot`]: measured numbers against formulas
//!
//! They share [`scene`], which cuts a window out of a long trace, [`lane`], which follows the
//! activity of each process, and [`words`], which describes events.
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
