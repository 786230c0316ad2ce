//! The application of a process that lived before. Applications are not part of what crashes: they
//! stand for clients, who remember what they asked. A member that comes back makes its own once
//! more, from what it wrote down.

use crate::log::{Heard, open};
use std::io;
use std::path::Path;
use synod_core::{Application, Clock, Family, Moment};

/// Lets the application go through a life that is over, with its end.
pub(crate) fn live_again<F: Family>(
    application: &mut F::Application,
    log: &Path,
    clocks: &[Clock],
) -> io::Result<()> {
    let unreadable =
        || io::Error::other("what the process wrote down before it died is unreadable");
    let mut log = open(log)?;
    while log.peek()?.is_some() {
        let Some(entry) = log.take() else { break };
        let moment = Moment { now_us: entry.time_us, clocks };
        for heard in &entry.heard {
            match heard {
                Heard::Asked(bytes) => {
                    let input = postcard::from_bytes(bytes).map_err(|_| unreadable())?;
                    application.on_input(&input);
                }
                Heard::Told(bytes) => {
                    let output = postcard::from_bytes(bytes).map_err(|_| unreadable())?;
                    // What it answered follows.
                    let _ = application.on_output(&output, moment);
                }
            }
        }
    }
    application.on_crash();
    Ok(())
}
