//! The application of a restarted process. A crash does not reach applications: they stand for
//! clients, and clients remember their requests. So a restarted member rebuilds its application
//! from the logs of its earlier lives.

use crate::log::{ApplicationEvent, open};
use std::io;
use std::path::Path;
use synod_core::family::any::AnyApplication;
use synod_core::{Application, Clock, Moment};

/// Repeats to the application the inputs and outputs of one earlier life, and the crash that ended
/// it.
pub(crate) fn live_again(
    application: &mut AnyApplication,
    log: &Path,
    clocks: &[Clock],
) -> io::Result<()> {
    let unreadable =
        || io::Error::other("what the process wrote down before it died is unreadable");
    let mut log = open(log)?;
    while log.peek()?.is_some() {
        let Some(entry) = log.take() else { break };
        let moment = Moment { now_us: entry.time_us, clocks };
        for event in &entry.application {
            match event {
                ApplicationEvent::Input(bytes) => {
                    let input = postcard::from_bytes(bytes).map_err(|_| unreadable())?;
                    application.on_input(&input);
                }
                ApplicationEvent::Output(bytes) => {
                    let output = postcard::from_bytes(bytes).map_err(|_| unreadable())?;
                    // The log has its answers as inputs of their own, which follow.
                    let _ = application.on_output(&output, moment);
                }
            }
        }
    }
    application.on_crash();
    Ok(())
}
