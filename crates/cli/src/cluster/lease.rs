//! A command that uses an item, and ends before the right to the item does.
//!
//! Two processes see to it. The *keeper* is `synod pool run` itself: it keeps the session alive.
//! The *guard* is its child, and the parent of the command; it has no connection that it could wait
//! for. The keeper tells the guard until when the node cannot give the item to another user, and
//! the guard ends the command before that moment, by the clock of the machine.
//!
//! - The keeper is stopped, or its node is: the guard hears of no later moment, and ends the
//!   command in time.
//! - The keeper is killed: its pipe to the guard ends, and the guard ends the command at once.
//! - The guard is killed: the kernel kills the command (on Linux). The item then rests until the
//!   session is over, because children of the command may be left.
//!
//! A command gets SIGTERM first and SIGKILL a third of the TTL later. It runs in a process group of
//! its own, which is killed as a whole when the command ends.

use super::reach::Node;
use super::trouble::Trouble;
use crate::output;
use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use synod_client::{Claim, Request, Session, Ttl};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{sleep, timeout};

/// The shortest TTL: below it a busy machine could be too late.
pub(crate) const SHORTEST_TTL: Duration = Duration::from_secs(1);
/// The keeper looks so often in a TTL whether the session has become longer.
const LOOKS: u32 = 50;
/// The time to give an item back.
const RETURNING: Duration = Duration::from_secs(2);

/// The moments before the end of the right to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Margins {
    /// The time from SIGTERM to SIGKILL.
    pub(crate) grace: Duration,
    /// The time from SIGKILL to the end of the right.
    pub(crate) reserve: Duration,
}

impl Margins {
    /// A third of the TTL to end in order, and a twentieth for a machine that is late.
    pub(crate) fn of(ttl: Duration) -> Self {
        Margins { grace: ttl / 3, reserve: (ttl / 20).max(Duration::from_millis(50)) }
    }
}

/// The clock of the machine, in nanoseconds: all its processes have the same.
pub(crate) fn clock_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The same moment by the clock of the machine. A pause inside makes it earlier, never later.
fn on_the_clock(moment: Instant) -> u64 {
    let clock = clock_ns();
    let left = moment.saturating_duration_since(Instant::now());
    clock + left.as_nanos() as u64
}

/// What the guard is told, a line each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// No other user gets the item before this moment of the clock.
    Until(u64),
    /// Pass this signal on.
    Signal(i32),
    /// End the command.
    End,
}

impl Word {
    fn line(self) -> String {
        match self {
            Word::Until(clock_ns) => format!("until {clock_ns}\n"),
            Word::Signal(signal) => format!("signal {signal}\n"),
            Word::End => "end\n".to_owned(),
        }
    }

    /// Reads a line.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        match line.trim().split_once(' ') {
            Some(("until", clock_ns)) => clock_ns.parse().ok().map(Word::Until),
            Some(("signal", signal)) => signal.parse().ok().map(Word::Signal),
            None if line.trim() == "end" => Some(Word::End),
            _ => None,
        }
    }
}

/// A command for the time of a claim.
#[derive(Debug)]
pub(crate) struct Lease {
    /// The pool.
    pub(crate) pool: String,
    /// Silence after which the node gives the item to others.
    pub(crate) ttl: Duration,
    /// The time to wait for an item.
    pub(crate) wait: Duration,
    /// Shown to operators.
    pub(crate) label: String,
    /// The command, with `{slot}` where the item goes.
    pub(crate) words: Vec<String>,
}

/// Signals that are passed on.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.hang_up.recv() => SignalKind::hangup().as_raw_value(),
        }
    }
}

impl Lease {
    /// Claims an item at the node, runs the command, and gives the item back. The exit code is that
    /// of the command.
    pub(crate) async fn run(&self, node: &Node) -> Result<u8> {
        let mut signals = Signals::new().context("signals cannot be taken")?;
        let ttl = Ttl::from_millis(self.ttl.as_millis() as u64);
        let opened = node.client.open_session(ttl, &self.label).await;
        let session = opened.map_err(|why| node.trouble(why))?;
        let claim = tokio::select! {
            claim = session.claim_within(&self.pool, None, self.wait) => claim,
            signal = signals.next() => {
                close(node, &session).await;
                return Ok(128 + signal as u8);
            }
        };
        let claim = match claim {
            Ok(claim) => claim,
            Err(why) => {
                close(node, &session).await;
                return Err(node.trouble(why).into());
            }
        };
        let mut guard = self.guard(&claim)?;
        let to_guard = guard.stdin.take().context("the guard has a pipe")?;
        let ended = self.keep(&session, &mut guard, to_guard, &mut signals).await?;
        let item = claim.item();
        if ended.guard.code().is_some() {
            close(node, &session).await;
        } else {
            output::note("the guard was killed: the item rests until the session is over\n");
            std::mem::forget(claim);
        }
        if ended.is_lost {
            let node = node.name.clone();
            return Err(Trouble::Lost { pool: self.pool.clone(), item, node }.into());
        }
        Ok(code_of(ended.guard))
    }

    /// Starts the guard, which starts the command.
    fn guard(&self, claim: &Claim) -> Result<Child> {
        let Margins { grace, reserve } = Margins::of(self.ttl);
        let slot = claim.item().to_string();
        let program = std::env::current_exe().context("this program cannot be found")?;
        let mut command = Command::new(program);
        command.args(["guard", "--grace-ms", &grace.as_millis().to_string()]);
        command.args(["--reserve-ms", &reserve.as_millis().to_string(), "--"]);
        command.args(self.words.iter().map(|word| word.replace("{slot}", &slot)));
        command.env("SYNOD_POOL", &self.pool).env("SYNOD_SLOT", &slot);
        command.env("SYNOD_FENCE", claim.token().to_string());
        command.stdin(Stdio::piped()).process_group(0);
        command.spawn().context("the guard of the command cannot be started")
    }

    /// Tells the guard what it must know, until it ends.
    async fn keep(
        &self,
        session: &Session,
        guard: &mut Child,
        mut to_guard: ChildStdin,
        signals: &mut Signals,
    ) -> Result<Ended> {
        let margins = Margins::of(self.ttl);
        let mut until = session.valid_until();
        let mut is_over = false;
        let mut said = Word::Until(on_the_clock(until));
        loop {
            // A guard that cannot hear has ended, and is waited for below.
            let _ = to_guard.write_all(said.line().as_bytes()).await;
            said = tokio::select! {
                ended = guard.wait() => {
                    let guard = ended.context("the guard cannot be waited for")?;
                    let time_is_up = Instant::now() + margins.grace + margins.reserve >= until;
                    return Ok(Ended { guard, is_lost: is_over || time_is_up });
                }
                later = later_than(until, session, self.ttl) => {
                    until = later;
                    Word::Until(on_the_clock(until))
                }
                signal = signals.next() => Word::Signal(signal),
                _ = session.lost(), if !is_over => {
                    is_over = true;
                    Word::End
                }
            };
        }
    }
}

/// Completes when a sign of life has made the session longer.
async fn later_than(until: Instant, session: &Session, ttl: Duration) -> Instant {
    loop {
        sleep(ttl / LOOKS).await;
        let now = session.valid_until();
        if now > until {
            return now;
        }
    }
}

/// Ends the session, and waits until the node has the item back. If this fails, the item is free
/// when the time of the session is over.
async fn close(node: &Node, session: &Session) {
    let request = Request::CloseSession(session.id());
    let _ = timeout(RETURNING, node.client.call(&request)).await;
}

/// The guard has ended, and the command with it.
struct Ended {
    guard: ExitStatus,
    /// Whether the command was ended because the session was, or was about to be.
    is_lost: bool,
}

/// The exit code of a process as a shell has it.
pub(crate) fn code_of(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, signal) => 128_u8.wrapping_add(signal.unwrap_or(0) as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_dead_before_the_right_ends_and_misses_one_sign_of_life_first() {
        for seconds in [1, 3, 10, 60] {
            let ttl = Duration::from_secs(seconds);
            let Margins { grace, reserve } = Margins::of(ttl);
            assert!(reserve >= Duration::from_millis(50));
            // A sign of life is due after a third of the TTL, and may come a quarter later.
            assert!(grace + reserve < ttl - ttl / 3 - ttl / 4, "{seconds}");
        }
    }

    #[test]
    fn the_guard_reads_what_the_keeper_writes() {
        for word in [Word::Until(12_345), Word::Signal(15), Word::End] {
            assert_eq!(Word::parse(&word.line()), Some(word));
        }
        assert_eq!(Word::parse("until soon"), None);
        assert_eq!(Word::parse(""), None);
    }

    #[tokio::test]
    async fn a_moment_is_the_same_by_both_clocks() {
        let before = clock_ns();
        let moment = on_the_clock(Instant::now() + Duration::from_secs(3_600));
        assert!(moment <= clock_ns() + 3_600_000_000_000);
        assert!(moment > before + 3_590_000_000_000);
    }
}
