//! The event loop of one member: take in, step, log, and only then send.

use crate::actor::{Actor, AnyActor};
use crate::clock::Alarm;
use crate::control::{Config, Control, Instruction, Medium, News, Status, Traffic};
use crate::digest::Digest;
use crate::disk::Disk;
use crate::environment::{Environment, first_number};
use crate::links::{ALARM, Addresses, CONTROL, Links, Tcp, Udp};
use crate::log;
use crate::outbox::{Outbox, ToMyself};
use crate::shim::Shim;
use crate::wire::{Parcel, head};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};
use synod_core::boxed::Which;
use synod_core::card::Load;
use synod_core::{Algorithm, Boxed, ProcessId, Setup};
use synod_sim::network::{Network, chance};

/// Bound for the coordinator's next message before the start; after it the coordinator must be
/// gone.
const UNTIL_START: Duration = Duration::from_secs(60);
/// Bound for all connections to be made.
const UNTIL_CONNECTED: Duration = Duration::from_secs(10);
/// The application submits no request while this many bytes are unsent: the algorithm cannot make
/// progress faster than the sockets carry it.
const HIGH_WATER: usize = 256 << 10;
/// Requests that the application submits before the loop serves its sockets again.
const ASK_AT_ONCE: u32 = 64;
/// Shortest interval between two statuses. An idle member reports its changes at once, a busy one
/// at this rate.
const REPORT_US: u64 = 10_000;
/// The same under a sequential load, where the coordinator waits for the status to grant a turn.
const REPORT_IN_TURN_US: u64 = 1_000;
/// Longest interval between two statuses: the coordinator notes a member that falls silent.
const SIGN_OF_LIFE_US: u64 = 100_000;
/// The poll counts in whole milliseconds. The alarm ends a shorter wait.
const EXACT: Duration = Duration::from_millis(1);

/// Runs one member with this algorithm until the coordinator stops it. Errors are also reported to
/// the coordinator.
pub fn serve<A: Algorithm>(config: &Config, control: Control) -> io::Result<()> {
    serve_named(config, Which::of::<A>(), control)
}

/// The same for an algorithm that is known only at run time.
pub fn serve_named(config: &Config, which: Which, mut control: Control) -> io::Result<()> {
    let ended = restore(config, config.setup.clone().running(which))
        .and_then(|(mut actor, disk)| join_and_run(&mut actor, disk, config, &mut control));
    if let Err(error) = &ended {
        // The coordinator is gone, as after Ctrl-C: the run is over, and that is no failure.
        if control.send(&News::Failed(error.to_string())).is_err() {
            remove_the_run(config);
            return Ok(());
        }
    }
    ended
}

/// Removes the directory of a run whose coordinator is gone. Each member tries: the last to end
/// succeeds.
fn remove_the_run(config: &Config) {
    if let Some(directory) = config.log.parent() {
        // Another member may have removed it, or may still write into it.
        let _ = std::fs::remove_dir_all(directory);
    }
}

/// The disk of a member, and a note in words if a crash left a torn record on it.
type Found = (Disk, Option<String>);

/// The process with its state restored from its disk, if its algorithm is durable.
fn restore(config: &Config, setup: Setup) -> io::Result<(Actor, Found)> {
    let mut records = Vec::new();
    let found = match Boxed::kit(&setup).replay {
        Some(_) => {
            Disk::open(&config.disk, config.fsync, &mut |record| records.push(record.clone()))?
        }
        None => (Disk::default(), None),
    };
    Ok((Actor::new(config, setup, &records)?, found))
}

fn join_and_run(
    actor: &mut dyn AnyActor,
    found: Found,
    config: &Config,
    control: &mut Control,
) -> io::Result<()> {
    let poll = Poll::new()?;
    let (n, me) = (config.setup.n, config.me);
    let mut links: Box<dyn Links> = match config.medium {
        Medium::Tcp => Box::new(Tcp::new(me, n, (config.run, config.starts + 1), poll.registry())?),
        Medium::Udp => Box::new(Udp::new(me, config.run, poll.registry())?),
    };
    control.send(&News::Listening(links.address()?))?;
    let Instruction::Connect { addresses, everybody } = control.expect(UNTIL_START)? else {
        return Err(io::Error::other("an instruction came out of turn"));
    };
    let addresses = Addresses { each: addresses, everybody };
    let no_multicast = links.connect(&addresses, Instant::now() + UNTIL_CONNECTED)?;
    control.send(&News::Connected { no_multicast })?;
    let Instruction::Start { epoch_us, share } = control.expect(UNTIL_START)? else {
        return Err(io::Error::other("an instruction came out of turn"));
    };
    control.stream.set_nonblocking(true)?;
    poll.registry().register(
        &mut SourceFd(&control.stream.as_raw_fd()),
        CONTROL,
        Interest::READABLE,
    )?;
    let share = share && links.can_share();
    let alarm = Alarm::new(poll.registry(), ALARM)?;
    let mut member = Member {
        actor,
        links: &mut *links,
        environment: environment(config, epoch_us, share, found)?,
        control,
        poll,
        alarm,
        report_us: match config.load {
            Load::Sequential => REPORT_IN_TURN_US,
            Load::Any | Load::Saturated => REPORT_US,
        },
        received: vec![0; n],
        reported_us: 0,
        last: Status::default(),
        said: [0; 3],
        wave: 0,
        has_instructions: true,
    };
    member.run()
}

fn environment(
    config: &Config,
    epoch_us: u64,
    share: bool,
    (disk, note): Found,
) -> io::Result<Environment> {
    let (n, me, life) = (config.setup.n, config.me, config.life());
    // Each life of each process has its own seed, and so has its shim: a restarted process must not
    // repeat the choices of its earlier life.
    let own = 2 * (u64::from(me.0) + u64::from(life - 1) * n as u64);
    let seed = |what: u64| config.seed.wrapping_mul(0x1_0001).wrapping_add(own + what);
    let datagrams = config.medium == Medium::Udp;
    let network = Network::from(&config.faults);
    let reorders = network.reordering > 0.0;
    Ok(Environment {
        me,
        n,
        life,
        epoch_us,
        now_us: 0,
        chance: chance(seed(0)),
        log: log::Writer::create(&config.log)?,
        outbox: Outbox::new(me, n, datagrams.then(|| head(config.run, me)), share),
        shim: Shim::new(network, n, !datagrams && !reorders, seed(1)),
        disk,
        digest: Digest::default(),
        numbered: first_number(life),
        remembers: config.comes_back,
        progress: 0,
        operations: 0,
        turns_over: 0,
        unreadable: 0,
        broken: note.into_iter().collect(),
    })
}

struct Member<'a> {
    actor: &'a mut dyn AnyActor,
    links: &'a mut dyn Links,
    environment: Environment,
    control: &'a mut Control,
    poll: Poll,
    alarm: Alarm,
    /// The shortest interval between two statuses.
    report_us: u64,
    received: Vec<u64>,
    reported_us: u64,
    /// The last periodic status, and the counts at the last status of any kind.
    last: Status,
    said: [u64; 3],
    /// The wave of the coordinator's last [`Instruction::Report`].
    wave: u64,
    /// Whether a message of the coordinator may have arrived.
    has_instructions: bool,
}

impl Member<'_> {
    fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(128);
        self.environment.look_at_the_clock();
        self.actor.start(&mut self.environment);
        loop {
            let more = self.take_in();
            let links = &mut *self.links;
            self.actor.sync(&mut self.environment, &mut |outbox| links.flush(outbox))?;
            self.environment.log.commit(self.environment.digest)?;
            self.links.flush(&mut self.environment.outbox);
            if self.has_instructions && self.follow_instructions()? {
                return self.control.send(&News::Ended(self.status()));
            }
            let more = more || !self.environment.outbox.to_myself.is_empty();
            let wait = self.report(more)?;
            self.wait(wait, &mut events)?;
        }
    }

    /// Fires timers, delivers messages and submits requests, a bounded number of each; returns
    /// whether there may be more.
    fn take_in(&mut self) -> bool {
        for at in self.links.accept() {
            self.environment.outbox.renew(at);
            self.received[at.index()] = 0;
        }
        let Member { actor, links, environment, received, .. } = self;
        // The operating system may have stopped this process for a while. Timers fire before
        // messages are delivered, so that a Raft leader learns that its lease is over before it
        // answers a read.
        environment.look_at_the_clock();
        actor.fire(environment);
        let mut deliver = |from: ProcessId, parcel: Parcel<'_>| {
            environment.look_at_the_clock();
            received[from.index()] += 1;
            let readable = actor.receive(from, parcel, environment);
            if !readable {
                environment.unreadable += 1;
                environment.log.message(environment.now_us, from, parcel.number, false);
            }
            readable
        };
        let more = links.receive(&mut deliver);
        for _ in 0..self.environment.outbox.to_myself.len() {
            let Some(mine) = self.environment.outbox.to_myself.pop_front() else { break };
            let ToMyself { number, tell, body } = mine;
            let parcel = Parcel { number, tell, body: &body };
            self.actor.receive(self.environment.me, parcel, &mut self.environment);
        }
        let environment = &mut self.environment;
        environment.look_at_the_clock();
        environment.shim.let_go(environment.now_us, &mut environment.outbox);
        self.actor.fire(environment);
        let mut asked = 0;
        if environment.outbox.backlog() < HIGH_WATER {
            asked = self.actor.ask(ASK_AT_ONCE, environment);
        }
        for complaint in self.links.complaints() {
            self.environment.complain(complaint);
        }
        more || asked == ASK_AT_ONCE
    }

    /// Carries out the coordinator's messages; returns whether the run is over.
    fn follow_instructions(&mut self) -> io::Result<bool> {
        loop {
            match self.control.read_some() {
                Ok(0) => {
                    return Err(io::Error::new(
                        ErrorKind::UnexpectedEof,
                        "the coordinator is gone",
                    ));
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.has_instructions = false;
        while let Some(instruction) = self.control.next_line()? {
            match instruction {
                Instruction::Stop => return Ok(true),
                Instruction::Turn => self.actor.turn(&mut self.environment),
                Instruction::Report { wave } => {
                    self.wave = wave;
                    let status = self.status();
                    self.send_status(status)?;
                }
                Instruction::Configure(_)
                | Instruction::Connect { .. }
                | Instruction::Start { .. } => {
                    return Err(io::Error::other("an instruction came out of turn"));
                }
            }
        }
        Ok(false)
    }

    fn status(&self) -> Status {
        let activity = self.actor.activity();
        let Environment { outbox, shim, .. } = &self.environment;
        Status {
            wave: self.wave,
            content: activity.content,
            waits: activity.waits,
            wants_turn: activity.wants_turn,
            timers: activity.timers,
            longest_timer_ms: activity.longest_timer_ms,
            held: shim.holds() || !outbox.to_myself.is_empty() || outbox.backlog() > 0,
            progress: self.environment.progress,
            operations: self.environment.operations,
            turns_over: self.environment.turns_over,
            sent: outbox.sent.clone(),
            received: self.received.clone(),
            traffic: Traffic {
                parcels: outbox.parcels,
                bytes: outbox.bytes,
                strangers: self.links.strangers(),
                unreadable: self.environment.unreadable,
            },
            broken: self.environment.broken.clone(),
        }
    }

    /// Sends a status if it has changed or the last one is old; returns how long the loop may wait.
    fn report(&mut self, more: bool) -> io::Result<Duration> {
        let now_us = self.environment.now_us;
        let since_us = now_us.saturating_sub(self.reported_us);
        if !more && since_us >= self.report_us || since_us >= SIGN_OF_LIFE_US {
            let status = self.status();
            if status != self.last || since_us >= SIGN_OF_LIFE_US {
                self.last = status.clone();
                self.send_status(status)?;
            }
        }
        if more {
            return Ok(Duration::ZERO);
        }
        let unsaid = self.counts() != self.said;
        let report_us = self.reported_us + if unsaid { self.report_us } else { SIGN_OF_LIFE_US };
        let full = self.environment.outbox.backlog() >= HIGH_WATER;
        let due_us = self.actor.next_us(full).into_iter().chain(self.environment.shim.next_us());
        let next_us = due_us.fold(report_us, u64::min);
        Ok(Duration::from_micros(next_us.saturating_sub(now_us)))
    }

    /// Counts that change whenever the status does, but cheaper to compare.
    fn counts(&self) -> [u64; 3] {
        let received = self.received.iter().sum();
        [self.environment.progress, self.environment.outbox.parcels, received]
    }

    fn send_status(&mut self, status: Status) -> io::Result<()> {
        self.reported_us = self.environment.now_us;
        self.said = self.counts();
        self.control.stream.set_nonblocking(false)?;
        self.control.send(&News::Status(status))?;
        self.control.stream.set_nonblocking(true)
    }

    /// Waits for a socket, the coordinator or the alarm, but no longer than `at_most`.
    fn wait(&mut self, at_most: Duration, events: &mut Events) -> io::Result<()> {
        let mut at_most = Duration::from_micros(at_most.as_micros() as u64);
        if at_most >= EXACT {
            at_most = Duration::from_millis(at_most.as_millis() as u64);
        } else if !at_most.is_zero() {
            self.alarm.set(at_most)?;
            at_most = EXACT;
        }
        match self.poll.poll(events, Some(at_most)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            other => other?,
        }
        for event in events.iter() {
            match event.token() {
                CONTROL => self.has_instructions = true,
                ALARM => {}
                _ => self.links.on_ready(event),
            }
        }
        Ok(())
    }
}
