//! The leader: starts the members, notices when all is quiet, and ends them. It never waits without
//! a bound.

mod quiet;
mod seat;

use crate::clock::now_us;
use crate::control::{Config, Medium, News, Order};
use crate::error::{NetError, Trying};
use quiet::Quiet;
use seat::Seat;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use synod_core::card::Load;
use synod_core::{ProcessId, ProcessSet};
use synod_sim::network::{Chance, below, chance};
use synod_sim::{Ended, Options};

/// The largest group: receivers of a multicast are named in one machine word.
pub const LARGEST_GROUP: usize = 64;

/// So long the members may take to get ready.
const READY: Duration = Duration::from_secs(15);
/// So long they may take to stop when told.
const STOP: Duration = Duration::from_secs(5);
/// So often the leader looks around.
const LOOK: Duration = Duration::from_millis(20);
/// Who says nothing for so long is worth a note.
const SILENT: Duration = Duration::from_secs(3);

/// A process to be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// Which.
    pub who: ProcessId,
    /// When, in microseconds after the start.
    pub at_us: u64,
}

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program that runs a member: it calls [`serve`](crate::serve).
    pub program: PathBuf,
    /// The words that make it do so.
    pub arguments: Vec<String>,
    /// The algorithm, by name.
    pub algorithm: String,
    /// The group, the load, and what the fault shim does.
    pub options: Options,
    /// What carries the messages.
    pub medium: Medium,
    /// The run ends after so long, finished or not.
    pub timeout: Duration,
    /// Who is killed in the middle.
    pub kills: Vec<Kill>,
}

/// What the algorithm is like, as far as the leader cares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Whether it goes on sending although nobody wants anything.
    pub(crate) restless: bool,
    /// The run goes on for so long at least.
    pub(crate) run_for_us: u64,
}

/// What the members left behind.
pub(crate) struct Gathered {
    pub(crate) ended: Ended,
    pub(crate) logs: Vec<PathBuf>,
    /// Who died, and when.
    pub(crate) crashes: Vec<(ProcessId, u64)>,
    /// Whether a multicast was sent once for all.
    pub(crate) share: bool,
    pub(crate) traffic: crate::control::Traffic,
    pub(crate) notes: Vec<String>,
    /// The directory of the logs, which goes with this.
    pub(crate) _directory: Directory,
}

/// A directory that is removed when it is no longer needed.
pub(crate) struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        // What cannot be removed stays: there is nobody to tell.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a member says, or that it is gone.
type Heard = (ProcessId, Option<News>);

/// Runs the group to the end. Calls `progress` now and then with the operations done.
pub(crate) fn gather(
    launch: &Launch,
    manner: Manner,
    progress: &mut dyn FnMut(u64),
) -> Result<Gathered, NetError> {
    let run = (u64::from(std::process::id()) << 40) ^ now_us();
    let path = std::env::temp_dir().join(format!("synod-{run:x}"));
    fs::create_dir(&path).trying("a directory for the run cannot be made")?;
    let directory = Directory(path);
    let (said, heard) = channel();
    let mut leader = Leader {
        launch,
        manner,
        seats: Vec::new(),
        heard,
        epoch_us: 0,
        chance: chance(launch.options.seed),
        busy: None,
        quiet: Quiet::default(),
        notes: Vec::new(),
    };
    leader.start_members(run, &directory.0, &said)?;
    let share = leader.get_ready(run)?;
    let ended = leader.run(progress);
    leader.stop();
    let Leader { seats, notes, .. } = leader;
    Ok(Gathered {
        ended,
        logs: seats.iter().map(|seat| seat.log.clone()).collect(),
        crashes: seats.iter().filter_map(|seat| Some((seat.who, seat.died_us?))).collect(),
        share,
        traffic: seat::traffic(&seats),
        notes: notes.into_iter().chain(seat::complaints(&seats)).collect(),
        _directory: directory,
    })
}

struct Leader<'l> {
    launch: &'l Launch,
    manner: Manner,
    seats: Vec<Seat>,
    heard: Receiver<Heard>,
    epoch_us: u64,
    chance: Chance,
    /// Under a sequential load: whose turn it is, and how many of its operations were over before.
    busy: Option<(ProcessId, u64)>,
    quiet: Quiet,
    notes: Vec<String>,
}

impl Leader<'_> {
    fn start_members(
        &mut self,
        run: u64,
        directory: &std::path::Path,
        said: &Sender<Heard>,
    ) -> Result<(), NetError> {
        let Options { plan, seed, network, load, think, hold, tells, .. } = &self.launch.options;
        for me in ProcessId::all(plan.setup.n) {
            let log = directory.join(format!("{me}.log"));
            let config = Config {
                algorithm: self.launch.algorithm.clone(),
                setup: plan.setup.clone(),
                me,
                rounds: plan.rounds_of(me),
                seed: *seed,
                medium: self.launch.medium,
                run,
                load: *load,
                think: *think,
                hold: *hold,
                tells: *tells,
                clocks: plan.clocks.clone(),
                faults: network.into(),
                log: log.clone(),
            };
            let seat = Seat::start(self.launch, config, said.clone());
            self.seats.push(seat.trying("a process cannot be started")?);
        }
        Ok(())
    }

    /// Until everybody can hear everybody; whether a multicast can be sent once for all.
    fn get_ready(&mut self, run: u64) -> Result<bool, NetError> {
        let mut addresses = vec![None; self.seats.len()];
        self.wait_for_all(|who, news| match news {
            News::Listening(address) => {
                addresses[who.index()] = Some(address);
                true
            }
            _ => false,
        })?;
        let addresses: Vec<SocketAddr> = addresses.into_iter().flatten().collect();
        // Held until everybody has joined, so that nobody else is given the same port.
        let port = (self.launch.medium == Medium::Udp).then(free_port).transpose();
        let port = port.trying("there is no port for multicasts")?;
        let everybody = port.as_ref().map(|(_, port)| SocketAddr::new(group_address(run), *port));
        self.tell_all(&Order::Connect { addresses, everybody });
        let mut but = None;
        self.wait_for_all(|_, news| match news {
            News::Connected { but: why } => {
                but = but.take().or(why);
                true
            }
            _ => false,
        })?;
        let share = everybody.is_some() && but.is_none();
        if let Some(why) = but {
            self.notes.push(format!("{why}: multicasts were sent to each receiver by itself"));
        }
        self.epoch_us = now_us();
        self.tell_all(&Order::Start { epoch_us: self.epoch_us, share });
        self.quiet.begin();
        Ok(share)
    }

    /// Waits until each member has said what it must.
    fn wait_for_all(
        &mut self,
        mut said_it: impl FnMut(ProcessId, News) -> bool,
    ) -> Result<(), NetError> {
        let until = Instant::now() + READY;
        let mut missing = ProcessSet::all(self.seats.len());
        while let Some(first) = missing.first() {
            let left = until.saturating_duration_since(Instant::now());
            let (who, why) = match self.heard.recv_timeout(left) {
                Ok((who, Some(News::Failed(why)))) => (who, format!("cannot take part: {why}")),
                Ok((who, Some(news))) => match said_it(who, news) {
                    true => {
                        missing.remove(who);
                        continue;
                    }
                    false => (who, "said something out of turn".to_owned()),
                },
                Ok((who, None)) => (who, "died before the start".to_owned()),
                Err(_) => (first, format!("was not ready after {} s", READY.as_secs())),
            };
            return Err(NetError::Member { who, why });
        }
        Ok(())
    }

    fn tell_all(&mut self, order: &Order) {
        for seat in self.seats.iter_mut().filter(|seat| seat.is_alive()) {
            seat.tell(order);
        }
    }

    fn run_us(&self) -> u64 {
        now_us().saturating_sub(self.epoch_us)
    }

    /// Until all is quiet, or the time is over.
    fn run(&mut self, progress: &mut dyn FnMut(u64)) -> Ended {
        let until = Instant::now() + self.launch.timeout;
        let mut kills = self.launch.kills.clone();
        kills.sort_by_key(|kill| std::cmp::Reverse(kill.at_us));
        loop {
            while kills.last().is_some_and(|kill| kill.at_us <= self.run_us()) {
                let Some(kill) = kills.pop() else { break };
                let now_us = self.run_us();
                self.seats[kill.who.index()].kill(now_us);
            }
            let next_kill = kills.last().map(|kill| kill.at_us.saturating_sub(self.run_us()));
            let look = next_kill.map_or(LOOK, |us| LOOK.min(Duration::from_micros(us)));
            match self.heard.recv_timeout(look) {
                Ok((who, news)) => self.listen(who, news),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.note_the_silent();
            progress(self.seats.iter().map(|seat| seat.status.operations).sum());
            if self.launch.options.load == Load::Sequential {
                self.give_turn();
            }
            let may_end = kills.is_empty() && self.run_us() >= self.manner.run_for_us;
            if let Some(ended) = self.quiet.look(&mut self.seats)
                && may_end
            {
                return ended;
            }
            if Instant::now() > until {
                let limit = self.launch.timeout.as_secs_f64();
                self.notes.push(format!("the run was ended after {limit} s, the limit"));
                return Ended::Cut;
            }
        }
    }

    fn listen(&mut self, who: ProcessId, news: Option<News>) {
        let now_us = self.run_us();
        let seat = &mut self.seats[who.index()];
        seat.heard_of = Instant::now();
        match news {
            Some(News::Status(status) | News::Ended(status)) => seat.status = status,
            Some(News::Failed(why)) => seat.status.broken.push(format!("could not go on: {why}")),
            Some(News::Listening(_) | News::Connected { .. }) => {}
            None => seat.died(now_us),
        }
    }

    fn note_the_silent(&mut self) {
        for seat in self.seats.iter_mut().filter(|seat| seat.is_alive() && !seat.silent) {
            if seat.heard_of.elapsed() > SILENT {
                seat.silent = true;
                self.notes.push(format!("{} fell silent, though it did not die", seat.who));
            }
        }
    }

    /// The next operation begins when the last is over, and all is quiet.
    fn give_turn(&mut self) {
        if !self.manner.restless && !quiet::is_settled(&self.seats) {
            return;
        }
        if let Some((who, over)) = self.busy {
            let seat = &self.seats[who.index()];
            if seat.is_alive() && seat.status.turns_over <= over {
                return;
            }
            self.busy = None;
        }
        let wants = |seat: &&Seat| seat.is_alive() && seat.status.wants_turn;
        let ready: Vec<ProcessId> = self.seats.iter().filter(wants).map(|seat| seat.who).collect();
        if ready.is_empty() {
            return;
        }
        let who = ready[below(&mut self.chance, ready.len() as u64) as usize];
        let seat = &mut self.seats[who.index()];
        self.busy = Some((who, seat.status.turns_over));
        seat.tell(&Order::Turn);
    }

    /// Ends everybody, and waits for their last words.
    fn stop(&mut self) {
        self.tell_all(&Order::Stop);
        let until = Instant::now() + STOP;
        while self.seats.iter().any(|seat| seat.is_alive() && !seat.ended) {
            let left = until.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left) {
                Ok((who, Some(News::Ended(status)))) => {
                    let seat = &mut self.seats[who.index()];
                    seat.status = status;
                    seat.ended = true;
                }
                Ok((who, news)) => self.listen(who, news),
                Err(_) => break,
            }
        }
    }
}

/// An address of IP multicast that other runs hardly use at the same time.
fn group_address(run: u64) -> IpAddr {
    let [a, b, ..] = run.to_le_bytes();
    IpAddr::V4(Ipv4Addr::new(239, 255, a, b))
}

/// A port that nobody uses, and a socket that holds it.
fn free_port() -> std::io::Result<(socket2::Socket, u16)> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0).into())?;
    let port = socket.local_addr()?.as_socket().map_or(0, |address| address.port());
    Ok((socket, port))
}
