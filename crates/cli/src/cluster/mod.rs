//! Clusters of real nodes: what the commands that talk to them have in common.
//!
//! # Layout
//! - `directory`: the directory of a cluster of `synod up`, and who is in it
//! - `reach`: which node a command asks, and how long it waits
//! - `trouble`: why a command had no answer, and its exit code
//! - `children`: nodes as child processes
//! - `faults`: the faults that `synod chaos` made, remembered beside the cluster
//! - `sides`: all nodes asked, and which of them are together
//! - `picture`: nodes, sides and pools, drawn
//! - `events`: the events of several nodes as one stream
//! - `lease`: a command that ends before the right to its item does

pub(crate) mod children;
pub(crate) mod directory;
pub(crate) mod events;
pub(crate) mod faults;
pub(crate) mod lease;
pub(crate) mod picture;
pub(crate) mod reach;
pub(crate) mod sides;
pub(crate) mod trouble;

use anyhow::{Context, Result};

/// Runs a future on this thread, and nothing else.
pub(crate) fn wait_for<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the system gives no room for a runtime")?.block_on(future)
}
