//! `synod guard`: the parent of a command that `synod pool run` runs; it ends the command before
//! the right to its item ends. [`crate::cluster::lease`] says why it is a process of its own.

use crate::cluster::lease::{Word, clock_ns, code_of};
use crate::cluster::wait_for;
use anyhow::{Context, Result, bail};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::BufRead;
use std::os::unix::process::CommandExt;
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// The exit code of a shell for a command that does not exist.
const NOT_FOUND: u8 = 127;
/// Words of the keeper that wait.
const MOST_WORDS: usize = 64;

/// Be the parent of a command; 'synod pool run' starts it
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct Guard {
    /// The time from SIGTERM to SIGKILL.
    #[arg(long, default_value_t = 0)]
    grace_ms: u64,
    /// The time from SIGKILL to the end of the right.
    #[arg(long, default_value_t = 0)]
    reserve_ms: u64,
    /// Become the command, and die with this parent.
    #[arg(long)]
    of: Option<u32>,
    /// The command.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Guard {
    /// Runs the command. The exit code is that of the command.
    pub(crate) fn perform(self) -> Result<ExitCode> {
        match self.of {
            Some(parent) => self.become_command(parent),
            None => wait_for(self.watch()),
        }
    }

    /// Replaces this process by the command. The kernel remembers whose death ends it.
    fn become_command(self, parent: u32) -> Result<ExitCode> {
        die_with(parent)?;
        let [program, words @ ..] = self.words.as_slice() else { bail!("there is no command") };
        let error = std::process::Command::new(program).args(words).exec();
        crate::output::note(&format!("cannot run '{program}': {error}\n"));
        Ok(ExitCode::from(NOT_FOUND))
    }

    async fn watch(self) -> Result<ExitCode> {
        let program = std::env::current_exe().context("this program cannot be found")?;
        let mut command = Command::new(program);
        command.args(["guard", "--of", &std::process::id().to_string(), "--"]).args(&self.words);
        command.stdin(Stdio::null()).process_group(0);
        let child = command.spawn().context("the command cannot be started")?;
        let id = child.id().and_then(|id| Pid::from_raw(id as i32));
        let watch = Watch {
            child,
            group: id.context("the command has a process")?,
            grace: Duration::from_millis(self.grace_ms),
            reserve: Duration::from_millis(self.reserve_ms),
            kill_at: None,
            ends: false,
        };
        watch.run(words_of_the_keeper()).await
    }
}

/// What the keeper says, read by a thread: a runtime would wait for the end of its reads.
fn words_of_the_keeper() -> mpsc::Receiver<Word> {
    let (sender, words) = mpsc::channel(MOST_WORDS);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if let Some(word) = Word::parse(&line)
                && sender.blocking_send(word).is_err()
            {
                return;
            }
        }
    });
    words
}

#[cfg(target_os = "linux")]
fn die_with(parent: u32) -> Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .context("the system does not end a command with its parent")?;
    let is_there =
        rustix::process::getppid().is_some_and(|now| now.as_raw_nonzero().get() == parent as i32);
    if !is_there {
        bail!("the guard of the command is gone");
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn die_with(_parent: u32) -> Result<()> {
    Ok(())
}

/// A command that runs.
struct Watch {
    child: Child,
    group: Pid,
    grace: Duration,
    reserve: Duration,
    /// The command is dead by then.
    kill_at: Option<Instant>,
    /// Whether the command has been told to end.
    ends: bool,
}

impl Watch {
    async fn run(mut self, mut words: mpsc::Receiver<Word>) -> Result<ExitCode> {
        let mut is_kept = true;
        loop {
            let far = Instant::now() + Duration::from_secs(3_600);
            let kill_at = self.kill_at.unwrap_or(far);
            let end_at = kill_at.checked_sub(self.grace).unwrap_or(kill_at);
            tokio::select! {
                // What the time demands comes before news of a later moment.
                biased;
                status = self.child.wait() => {
                    let status = status.context("the command cannot be waited for")?;
                    // Children that the command has left would go on with the item.
                    self.signal(Signal::KILL);
                    return Ok(ExitCode::from(code_of(status)));
                }
                () = sleep_until(kill_at), if self.kill_at.is_some() => {
                    self.signal(Signal::KILL);
                    self.kill_at = None;
                }
                () = sleep_until(end_at), if self.kill_at.is_some() && !self.ends => self.end(),
                word = words.recv(), if is_kept => match word {
                    Some(word) => self.hear(word),
                    // The keeper is gone, and the session will end.
                    None => {
                        is_kept = false;
                        self.end();
                    }
                }
            }
        }
    }

    fn hear(&mut self, word: Word) {
        match word {
            Word::Until(until_ns) if !self.ends => {
                // A pause between the two clocks makes the moment earlier.
                let now = Instant::now();
                let left = Duration::from_nanos(until_ns.saturating_sub(clock_ns()));
                self.kill_at = Some(now + left.saturating_sub(self.reserve));
            }
            Word::Signal(number) => {
                if let Some(signal) = Signal::from_named_raw(number) {
                    self.signal(signal);
                }
            }
            Word::End => self.end(),
            Word::Until(_) => {}
        }
    }

    /// Asks the command to end. It is killed after the grace, or before the right ends.
    fn end(&mut self) {
        if !self.ends {
            self.ends = true;
            self.signal(Signal::TERM);
            let soon = Instant::now() + self.grace;
            self.kill_at = Some(self.kill_at.map_or(soon, |kill_at| kill_at.min(soon)));
        }
    }

    fn signal(&self, signal: Signal) {
        // The group is gone if all its processes are.
        let _ = kill_process_group(self.group, signal);
    }
}
