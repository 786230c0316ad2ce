//! The coordinator of a run: it starts the members, detects the end of the run, and stops the
//! members. Every wait has a bound.

mod faults;
mod handle;
mod quiet;

use crate::clock::now_us;
use crate::control::{Config, Instruction, Medium, News};
use crate::error::{NetError, Trying};
use crate::{disk, log};
use faults::Faults;
pub use faults::{Fate, Kill};
use handle::MemberHandle;
use quiet::Quiet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use synod_core::card::Load;
use synod_core::{ProcessId, ProcessSet};
use synod_sim::network::{Chance, below, chance};
use synod_sim::{Ended, Options};

/// The largest group: receivers of a multicast are named in one machine word.
pub const LARGEST_GROUP: usize = 64;

/// Bound for all members to get ready.
const READY: Duration = Duration::from_secs(15);
/// Bound for all members to stop when instructed.
const STOP: Duration = Duration::from_secs(5);
/// The coordinator checks for the end of the run at least this often.
const LOOK: Duration = Duration::from_millis(20);
/// A living member that sends no status for this long gets a note in the report.
const SILENT: Duration = Duration::from_secs(3);

/// The description of a run.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program that runs a member: it calls [`serve`](crate::serve).
    pub program: PathBuf,
    /// The arguments with which it does so.
    pub arguments: Vec<String>,
    /// The algorithm, by name.
    pub algorithm: String,
    /// The group, the load, and the faults of the shim.
    pub options: Options,
    /// The transport that carries the messages.
    pub medium: Medium,
    /// The coordinator stops the run after this time, finished or not.
    pub timeout: Duration,
    /// The processes to kill during the run, and when to restart them.
    pub kills: Vec<Kill>,
    /// With `fsync`, a member syncs its disk for each batch of records: they survive a loss of
    /// power. Without, they survive only the death of their process.
    pub fsync: bool,
}

/// Facts about the algorithm that decide when its run may end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndRule {
    /// Whether its processes send messages even if no application waits, such as heartbeats.
    pub(crate) restless: bool,
    /// The shortest time for which the run goes on.
    pub(crate) run_for_us: u64,
}

/// The results of all members, before the replay.
pub(crate) struct Gathered {
    pub(crate) ended: Ended,
    /// Why a process that still waits waits for ever. None: the run was cut off.
    pub(crate) because: Option<String>,
    /// The lives of each process.
    pub(crate) lives: Vec<Vec<Life>>,
    /// The deaths in the order of time, and the restarts.
    pub(crate) crashes: Vec<(ProcessId, u64)>,
    pub(crate) restarts: Vec<(ProcessId, u64)>,
    /// Whether one datagram carried a multicast to all its receivers.
    pub(crate) share: bool,
    pub(crate) traffic: crate::control::Traffic,
    pub(crate) notes: Vec<String>,
    /// The directory of the logs, which is removed with this value.
    pub(crate) _directory: Directory,
}

/// One life of a process: its log, and the time of its death, if it died.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) log: PathBuf,
    pub(crate) died_us: Option<u64>,
}

impl Life {
    /// Whether its log has an entry. A process that was killed before its first entry has sent
    /// nothing, so the replay need not know that life.
    fn has_begun(&self) -> bool {
        log::open(&self.log).and_then(|mut log| Ok(log.peek()?.is_some())).unwrap_or(true)
    }
}

/// A directory that is removed when it is no longer needed.
pub(crate) struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        // A destructor cannot report an error; files that cannot be removed stay.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A message of a member, with the number of its earlier starts; None if the member is gone.
type FromMember = ((ProcessId, u32), Option<News>);

/// Runs the group to the end. Calls `progress` repeatedly with the number of completed operations.
pub(crate) fn gather(
    launch: &Launch,
    end_rule: EndRule,
    progress: &mut dyn FnMut(u64),
) -> Result<Gathered, NetError> {
    let run = (u64::from(std::process::id()) << 40) ^ now_us();
    let path = std::env::temp_dir().join(format!("synod-{run:x}"));
    fs::create_dir(&path).trying("a directory for the run cannot be made")?;
    let directory = Directory(path);
    let (said, heard) = channel();
    let mut coordinator = Coordinator {
        launch,
        end_rule,
        run,
        directory: &directory.0,
        members: Vec::new(),
        past: vec![Vec::new(); launch.options.plan.setup.n],
        restarts: Vec::new(),
        said,
        heard,
        epoch_us: 0,
        chance: chance(launch.options.seed),
        busy: None,
        quiet: Quiet::default(),
        notes: Vec::new(),
    };
    coordinator.start_members()?;
    let share = coordinator.get_ready()?;
    let (ended, because) = coordinator.run(progress);
    coordinator.stop();
    let Coordinator { members, past, restarts, notes, .. } = coordinator;
    let mut lives = past;
    for (lives, member) in lives.iter_mut().zip(&members) {
        lives.push(Life { log: member.log.clone(), died_us: member.died_us });
    }
    let deaths = |(at, lives): (ProcessId, &Vec<Life>)| {
        lives.iter().filter_map(|life| Some((at, life.died_us?))).collect::<Vec<_>>()
    };
    let mut crashes: Vec<_> = ProcessId::all(lives.len()).zip(&lives).flat_map(deaths).collect();
    crashes.sort_by_key(|(_, at_us)| *at_us);
    Ok(Gathered {
        ended,
        because,
        lives,
        crashes,
        restarts,
        share,
        traffic: handle::traffic(&members),
        notes: notes.into_iter().chain(handle::complaints(&members)).collect(),
        _directory: directory,
    })
}

struct Coordinator<'l> {
    launch: &'l Launch,
    end_rule: EndRule,
    run: u64,
    directory: &'l Path,
    members: Vec<MemberHandle>,
    /// The earlier lives of each restarted process.
    past: Vec<Vec<Life>>,
    restarts: Vec<(ProcessId, u64)>,
    said: Sender<FromMember>,
    heard: Receiver<FromMember>,
    epoch_us: u64,
    chance: Chance,
    /// Under a sequential load: the process that has the turn, and the number of its operations
    /// that were over before.
    busy: Option<(ProcessId, u64)>,
    quiet: Quiet,
    notes: Vec<String>,
}

impl Coordinator<'_> {
    fn start_members(&mut self) -> Result<(), NetError> {
        for me in ProcessId::all(self.past.len()) {
            let member = self.start_member(me).trying("a process cannot be started")?;
            self.members.push(member);
        }
        Ok(())
    }

    fn start_member(&self, me: ProcessId) -> io::Result<MemberHandle> {
        let Options { plan, seed, network, load, think, hold, tells, .. } = &self.launch.options;
        let past: Vec<PathBuf> =
            self.past[me.index()].iter().map(|life| life.log.clone()).collect();
        let back = |kill: &Kill| kill.who == me && kill.back_us.is_some();
        let config = Config {
            algorithm: self.launch.algorithm.clone(),
            setup: plan.setup.clone(),
            me,
            rounds: plan.rounds_of(me),
            seed: *seed,
            medium: self.launch.medium,
            run: self.run,
            load: *load,
            think: *think,
            hold: *hold,
            tells: *tells,
            clocks: plan.clocks.clone(),
            faults: network.into(),
            log: self.directory.join(format!("{me}.{}.log", past.len() + 1)),
            disk: self.disk_of(me),
            fsync: self.launch.fsync,
            comes_back: self.launch.kills.iter().any(back),
            past,
            starts: self.members.get(me.index()).map_or(0, |member| member.starts + 1),
        };
        MemberHandle::start(self.launch, config, self.said.clone())
    }

    /// Applies the fate to the disk of a dead process and starts the process again.
    fn restart(&mut self, who: ProcessId, disk: Fate) {
        let member = &self.members[who.index()];
        if member.is_alive() {
            return;
        }
        if let Err(error) = disk::spoil(&self.disk_of(who), disk) {
            self.notes.push(format!("the disk of {who} is as it was: {error}"));
        }
        let life = Life { log: member.log.clone(), died_us: member.died_us };
        let lives = self.past[who.index()].len();
        self.past[who.index()].extend(Some(life).filter(Life::has_begun));
        match self.start_member(who) {
            Ok(member) => {
                self.members[who.index()] = member;
                self.quiet.on_fault();
                self.restarts.push((who, self.run_us()));
            }
            Err(error) => {
                self.past[who.index()].truncate(lives);
                self.notes.push(format!("{who} could not be started again: {error}"));
            }
        }
    }

    fn disk_of(&self, who: ProcessId) -> PathBuf {
        self.directory.join(format!("{who}.disk"))
    }

    /// The addresses of the living members that have joined: a restarted member calls these.
    fn addresses(&self) -> Vec<Option<SocketAddr>> {
        let there =
            |member: &MemberHandle| member.address.filter(|_| member.is_alive() && member.joined);
        self.members.iter().map(there).collect()
    }

    /// Connects all members and starts the run; returns whether one datagram can carry a multicast
    /// to all its receivers.
    fn get_ready(&mut self) -> Result<bool, NetError> {
        let mut addresses = vec![None; self.members.len()];
        self.wait_for_all(|who, news| match news {
            News::Listening(address) => {
                addresses[who.index()] = Some(address);
                true
            }
            _ => false,
        })?;
        for (member, address) in self.members.iter_mut().zip(&addresses) {
            (member.address, member.joined) = (*address, true);
        }
        // The socket holds the port until all members have joined, so that the kernel gives it to
        // no other program.
        let port = (self.launch.medium == Medium::Udp).then(free_port).transpose();
        let port = port.trying("there is no port for multicasts")?;
        let everybody =
            port.as_ref().map(|(_, port)| SocketAddr::new(group_address(self.run), *port));
        self.instruct_all(&Instruction::Connect { addresses, everybody });
        let mut no_multicast = None;
        self.wait_for_all(|_, news| match news {
            News::Connected { no_multicast: why } => {
                no_multicast = no_multicast.take().or(why);
                true
            }
            _ => false,
        })?;
        let share = everybody.is_some() && no_multicast.is_none();
        if let Some(why) = no_multicast {
            self.notes.push(format!("{why}: multicasts were sent to each receiver by itself"));
        }
        self.epoch_us = now_us();
        self.instruct_all(&Instruction::Start { epoch_us: self.epoch_us, share });
        self.quiet.begin();
        Ok(share)
    }

    /// Waits until `said_it` has accepted one message of each member.
    fn wait_for_all(
        &mut self,
        mut said_it: impl FnMut(ProcessId, News) -> bool,
    ) -> Result<(), NetError> {
        let until = Instant::now() + READY;
        let mut missing = ProcessSet::all(self.members.len());
        while let Some(first) = missing.first() {
            let left = until.saturating_duration_since(Instant::now());
            let (who, why) = match self.heard.recv_timeout(left) {
                Ok(((who, _), Some(News::Failed(why)))) => {
                    (who, format!("cannot take part: {why}"))
                }
                Ok(((who, _), Some(news))) => match said_it(who, news) {
                    true => {
                        missing.remove(who);
                        continue;
                    }
                    false => (who, "said something out of turn".to_owned()),
                },
                Ok(((who, _), None)) => (who, "died before the start".to_owned()),
                Err(_) => (first, format!("was not ready after {} s", READY.as_secs())),
            };
            return Err(NetError::Member { who, why });
        }
        Ok(())
    }

    fn instruct_all(&mut self, instruction: &Instruction) {
        for member in self.members.iter_mut().filter(|member| member.is_alive()) {
            member.instruct(instruction);
        }
    }

    fn run_us(&self) -> u64 {
        now_us().saturating_sub(self.epoch_us)
    }

    /// Kills and restarts processes as planned, until the run ends or its time is over.
    fn run(&mut self, progress: &mut dyn FnMut(u64)) -> (Ended, Option<String>) {
        let until = Instant::now() + self.launch.timeout;
        let mut faults = Faults::of(&self.launch.kills);
        loop {
            while let Some((who, back)) = faults.due(self.run_us()) {
                let now_us = self.run_us();
                match back {
                    None => self.kill(who, now_us),
                    Some(disk) => self.restart(who, disk),
                }
            }
            let next = faults.next_us().map(|at_us| at_us.saturating_sub(self.run_us()));
            let look = next.map_or(LOOK, |us| LOOK.min(Duration::from_micros(us)));
            match self.heard.recv_timeout(look) {
                Ok((from, news)) => self.listen(from, news),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.note_the_silent();
            progress(self.members.iter().map(|member| member.status.operations).sum());
            if self.launch.options.load == Load::Sequential {
                self.give_turn();
            }
            let may_end = faults.next_us().is_none() && self.run_us() >= self.end_rule.run_for_us;
            if let Some((ended, because)) = self.quiet.look(&mut self.members)
                && may_end
            {
                return (ended, Some(because));
            }
            if Instant::now() > until {
                let limit = self.launch.timeout.as_secs_f64();
                self.notes.push(format!("the run was ended after {limit} s, the limit"));
                return (Ended::Cut, None);
            }
        }
    }

    fn kill(&mut self, who: ProcessId, now_us: u64) {
        self.members[who.index()].kill(now_us);
        self.quiet.on_fault();
    }

    fn listen(&mut self, (who, starts): (ProcessId, u32), news: Option<News>) {
        let (now_us, epoch_us) = (self.run_us(), self.epoch_us);
        let addresses = self.addresses();
        let member = &mut self.members[who.index()];
        if member.starts != starts {
            return;
        }
        member.heard_of = Instant::now();
        match news {
            Some(News::Status(status) | News::Ended(status)) => member.status = status,
            Some(News::Failed(why)) => member.status.broken.push(format!("could not go on: {why}")),
            // Only a restarted member sends these two here: `get_ready` waits for all others.
            Some(News::Listening(address)) => {
                // From now on, a member that restarts later calls this one.
                (member.address, member.joined) = (Some(address), true);
                member.instruct(&Instruction::Connect { addresses, everybody: None });
            }
            Some(News::Connected { .. }) => {
                member.instruct(&Instruction::Start { epoch_us, share: false })
            }
            None => {
                member.died(now_us);
                self.quiet.on_fault();
            }
        }
    }

    fn note_the_silent(&mut self) {
        for member in self.members.iter_mut().filter(|member| member.is_alive() && !member.silent) {
            if member.heard_of.elapsed() > SILENT {
                member.silent = true;
                self.notes.push(format!("{} fell silent, though it did not die", member.who));
            }
        }
    }

    /// Grants the next operation of a sequential load when the last one is over and all its
    /// messages have arrived.
    fn give_turn(&mut self) {
        if !self.end_rule.restless && !quiet::is_settled(&self.members) {
            return;
        }
        if let Some((who, over)) = self.busy {
            let member = &self.members[who.index()];
            if member.is_alive() && member.status.turns_over <= over {
                return;
            }
            self.busy = None;
        }
        let wants = |member: &&MemberHandle| member.is_alive() && member.status.wants_turn;
        let ready: Vec<ProcessId> =
            self.members.iter().filter(wants).map(|member| member.who).collect();
        if ready.is_empty() {
            return;
        }
        let who = ready[below(&mut self.chance, ready.len() as u64) as usize];
        let member = &mut self.members[who.index()];
        self.busy = Some((who, member.status.turns_over));
        member.instruct(&Instruction::Turn);
    }

    /// Stops all members, and waits for their last statuses.
    fn stop(&mut self) {
        self.instruct_all(&Instruction::Stop);
        let until = Instant::now() + STOP;
        while self.members.iter().any(|member| member.is_alive() && !member.ended) {
            let left = until.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left) {
                Ok(((who, _), Some(News::Ended(status)))) => {
                    let member = &mut self.members[who.index()];
                    member.status = status;
                    member.ended = true;
                }
                Ok((from, news)) => self.listen(from, news),
                Err(_) => break,
            }
        }
    }
}

/// A group address of IP multicast, drawn from the run so that concurrent runs rarely share it.
fn group_address(run: u64) -> IpAddr {
    let [a, b, ..] = run.to_le_bytes();
    IpAddr::V4(Ipv4Addr::new(239, 255, a, b))
}

/// A free port, and a socket that holds it.
fn free_port() -> std::io::Result<(socket2::Socket, u16)> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0).into())?;
    let port = socket.local_addr()?.as_socket().map_or(0, |address| address.port());
    Ok((socket, port))
}
