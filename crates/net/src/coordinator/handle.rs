//! The coordinator's view of one member.

use super::{FromMember, Launch};
use crate::control::{Config, Control, Instruction, Status, Traffic};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use synod_core::ProcessId;

/// Longer than any run: the listening thread waits without a bound of its own and ends with the
/// member.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

/// A member's operating-system process, its control connection and its last status.
pub(super) struct MemberHandle {
    pub(super) who: ProcessId,
    /// The number of earlier starts of the process.
    pub(super) starts: u32,
    pub(super) log: PathBuf,
    /// The address where it listens, and whether restarted members may call it there.
    pub(super) address: Option<SocketAddr>,
    pub(super) joined: bool,
    child: Child,
    control: Control,
    pub(super) status: Status,
    pub(super) heard_of: Instant,
    /// The time of its death, in microseconds since the start.
    pub(super) died_us: Option<u64>,
    /// Whether it stopped as instructed.
    pub(super) ended: bool,
    pub(super) silent: bool,
}

impl MemberHandle {
    /// Starts a member. A thread forwards its messages to `said`.
    pub(super) fn start(
        launch: &Launch,
        config: Config,
        said: Sender<FromMember>,
    ) -> io::Result<Self> {
        let (mine, theirs) = UnixStream::pair()?;
        let child = Command::new(&launch.program)
            .args(&launch.arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            // Ctrl-C at the terminal ends the coordinator alone; members notice, and clean up.
            .process_group(0)
            .spawn()?;
        let (who, starts, log) = (config.me, config.starts, config.log.clone());
        let listening = Control::new(mine.try_clone()?);
        let mut member = MemberHandle {
            who,
            starts,
            log,
            address: None,
            joined: false,
            child,
            control: Control::new(mine),
            status: Status::default(),
            heard_of: Instant::now(),
            died_us: None,
            ended: false,
            silent: false,
        };
        std::thread::spawn(move || listen((who, starts), listening, &said));
        member.instruct(&Instruction::Configure(Box::new(config)));
        Ok(member)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.died_us.is_none()
    }

    /// Sends a message to the member. If the member is gone, the thread that listens to it notices.
    pub(super) fn instruct(&mut self, instruction: &Instruction) {
        let _ = self.control.stream.set_write_timeout(Some(Duration::from_millis(100)));
        let _ = self.control.send(instruction);
    }

    pub(super) fn kill(&mut self, now_us: u64) {
        let _ = self.child.kill();
        // The process may still write its log until `wait` returns.
        let _ = self.child.wait();
        self.died(now_us);
    }

    pub(super) fn died(&mut self, now_us: u64) {
        if !self.ended {
            self.died_us.get_or_insert(now_us);
        }
    }
}

impl Drop for MemberHandle {
    fn drop(&mut self) {
        // A coordinator that fails must not leave members behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Forwards the messages of a member until it is gone.
fn listen(who: (ProcessId, u32), mut control: Control, said: &Sender<FromMember>) {
    while let Ok(news) = control.expect(FOREVER) {
        if said.send((who, Some(news))).is_err() {
            return;
        }
    }
    // The send fails only if the coordinator is gone, too.
    let _ = said.send((who, None));
}

/// The traffic of all members together.
pub(super) fn traffic(members: &[MemberHandle]) -> Traffic {
    let mut all = Traffic::default();
    for Traffic { parcels, bytes, strangers, unreadable } in
        members.iter().map(|s| s.status.traffic)
    {
        all.parcels += parcels;
        all.bytes += bytes;
        all.strangers += strangers;
        all.unreadable += unreadable;
    }
    all
}

/// The failures that the members noticed, each with its process.
pub(super) fn complaints(members: &[MemberHandle]) -> Vec<String> {
    let of = |member: &MemberHandle| {
        let who = member.who;
        member.status.broken.iter().map(move |what| format!("at {who}: {what}")).collect::<Vec<_>>()
    };
    members.iter().flat_map(of).collect()
}
