//! The flags of a simulation: the group, the network, the load, the faults.

use crate::about::About;
use crate::parse::{self, Link};
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use synod_core::card::{self, Rounds};
use synod_core::{Clock, ProcessId, Setup};
use synod_sim::faults::{RandomFaults, Restart};
use synod_sim::network::{Delay, Network};
use synod_sim::{Judged, Options, Plan};

/// The usual duration of one round of an application.
const ROUND_US: u64 = 30_000;
const SHORTEST_RUN_US: u64 = 50_000;

/// The parameters of the algorithm.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Parameters {
    /// A parameter of the algorithm, as 'synod show' lists them; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parse::parameter)]
    parameters: Vec<(String, String)>,
}

impl Parameters {
    /// A group of `n` with these parameters.
    pub(crate) fn setup(&self, n: usize) -> Setup {
        let parameters = self.parameters.iter().cloned().collect();
        Setup { parameters, ..Setup::new(n) }
    }
}

/// The judged properties.
#[derive(Args, Clone, Debug)]
pub(crate) struct Judging {
    /// Judge only this property, by id (ME1, …) or name of an invariant; or these: ME1,ME2
    #[arg(long = "property", value_name = "ID", value_delimiter = ',')]
    #[arg(conflicts_with = "all_properties")]
    pub(crate) properties: Vec<String>,
    /// Judge every property of the family, promised or not
    #[arg(long, conflicts_with = "promised")]
    all_properties: bool,
    /// Judge the algorithm's promises, and the properties without which a run is worthless
    #[arg(long, conflicts_with = "properties")]
    promised: bool,
}

impl Judging {
    /// The judged properties. `usually` is the command's default, if no flag overrides it.
    pub(crate) fn judged(&self, about: &About, usually: Judged) -> Result<Judged> {
        about.knows(&self.properties)?;
        Ok(match (self.properties.is_empty(), self.all_properties, self.promised) {
            (false, ..) => Judged::Only(self.properties.clone()),
            (true, true, _) => Judged::All,
            (true, false, true) => Judged::Promised,
            (true, false, false) => usually,
        })
    }
}

/// The order in which the network delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// In any order.
    Any,
    /// On each link in the order of sending.
    Fifo,
    /// Never before a message that was sent causally earlier to the same process.
    Causal,
}

impl From<Order> for card::Order {
    fn from(order: Order) -> Self {
        match order {
            Order::Any => card::Order::Any,
            Order::Fifo => card::Order::Fifo,
            Order::Causal => card::Order::Causal,
        }
    }
}

/// How busy the applications are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Load {
    /// Every application asks at random times.
    Random,
    /// One request at a time, the next only when the last is over.
    Sequential,
    /// Every application asks again at once.
    Saturated,
}

impl From<Load> for card::Load {
    fn from(load: Load) -> Self {
        match load {
            Load::Random => card::Load::Any,
            Load::Sequential => card::Load::Sequential,
            Load::Saturated => card::Load::Saturated,
        }
    }
}

/// The behaviour of the network.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkFlags {
    /// The latency of a message: 5ms, 1ms..10ms, exp:5ms (mean) or tail:5ms (median) [default:
    /// 1ms..10ms; none on a real network, beyond its own]
    #[arg(long, value_name = "DELAY", value_parser = parse::delay)]
    latency: Option<Delay>,
    /// The latency on one link; may be repeated
    #[arg(long = "link", value_name = "'p0->p1=20ms'", value_parser = parse::link)]
    links: Vec<Link>,
    /// Each link delivers in the order of sending; the same as --order fifo
    #[arg(long, conflicts_with = "order")]
    fifo: bool,
    /// The order in which messages arrive
    #[arg(long, value_enum, default_value_t = Order::Any)]
    order: Order,
    /// The network carries a multicast once for all receivers
    #[arg(long)]
    multicast: bool,
    /// The probability that a message is lost
    #[arg(long, value_name = "P", value_parser = parse::probability, default_value = "0")]
    loss: f64,
    /// The probability that a message arrives twice
    #[arg(long, value_name = "P", value_parser = parse::probability, default_value = "0")]
    duplicate: f64,
    /// The probability that a message is held up for another ten times its latency
    #[arg(long, value_name = "P", value_parser = parse::probability, default_value = "0")]
    reorder: f64,
}

/// The behaviour of the applications.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadFlags {
    /// How busy the applications are
    #[arg(long, value_enum, default_value_t = Load::Random)]
    load: Load,
    /// The time that an application waits before it asks [default: exp:20ms]
    #[arg(long, value_name = "DELAY", value_parser = parse::delay)]
    think: Option<Delay>,
    /// The time that it holds a resource [default: 1ms..5ms]
    #[arg(long, value_name = "DELAY", value_parser = parse::delay)]
    hold: Option<Delay>,
    /// The probability that an application, when it asks, tells another one about it
    #[arg(long, value_name = "P", value_parser = parse::probability, default_value = "0")]
    tells: f64,
}

/// Whether a crashed process starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RestartFlag {
    /// It does not.
    Never,
    /// It does, with its disk.
    Disk,
    /// It does, having lost its disk.
    Amnesia,
}

/// Faults, at times drawn from the seed.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Faults")]
pub(crate) struct FaultFlags {
    /// The number of crashes
    #[arg(long, value_name = "K", value_parser = parse::faults, default_value = "0")]
    crashes: u32,
    /// Whether a crashed process starts again, and with which disk
    #[arg(long, value_enum, default_value_t = RestartFlag::Never)]
    restart: RestartFlag,
    /// The number of times that a process stands still for a while
    #[arg(long, value_name = "K", value_parser = parse::faults, default_value = "0")]
    pauses: u32,
    /// The number of times that the network splits into two parts for a while
    #[arg(long, value_name = "K", value_parser = parse::faults, default_value = "0")]
    partitions: u32,
    /// The number of times that a link works in one direction only, for a while
    #[arg(long, value_name = "K", value_parser = parse::faults, default_value = "0")]
    one_way_cuts: u32,
    /// The end of the faults [default: about as long as the run takes]
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    within: Option<u64>,
    /// A clock that is wrong: its lead, and its drift; may be repeated
    #[arg(long = "clock", value_name = "'p1=+5ms,100ppm'", value_parser = parse::clock)]
    clocks: Vec<(ProcessId, Clock)>,
}

/// All flags of a run, but for the algorithm and the seed.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunFlags {
    /// The number of processes
    #[arg(short, long = "processes", value_name = "N", value_parser = parse::group)]
    #[arg(default_value = "5")]
    pub(crate) n: usize,
    /// The number of requests of all processes together
    #[arg(short, long, value_name = "R", value_parser = parse::requests, default_value = "100")]
    pub(crate) requests: u64,
    /// Run for at least this long, if the algorithm never falls silent [default: the family's]
    #[arg(long = "for", value_name = "TIME", value_parser = parse::time)]
    run_for: Option<u64>,
    /// The number of bytes in each multicast; the same as --param payload=BYTES
    #[arg(long, value_name = "BYTES", value_parser = parse::positive)]
    payload: Option<u64>,
    /// End the run after this many steps, finished or not
    #[arg(long, value_name = "STEPS", value_parser = parse::positive)]
    max_steps: Option<u64>,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    pub(crate) judging: Judging,
    #[command(flatten)]
    network: NetworkFlags,
    #[command(flatten)]
    load: LoadFlags,
    #[command(flatten)]
    faults: FaultFlags,
}

impl RunFlags {
    /// The options of a run with this seed.
    pub(crate) fn options(&self, about: &About, seed: u64) -> Result<Options> {
        let mut setup = self.parameters.setup(self.n);
        if let Some(payload) = self.payload {
            setup = setup.with("payload", &payload.to_string());
        }
        let takers = about.takers(&setup)?;
        let rounds = shares(self.requests, &takers);
        let longest = rounds.iter().map(|rounds| match rounds {
            Rounds::Times(times) => u64::from(*times),
            Rounds::Forever => 0,
        });
        // Faults are spread over the expected length of the run.
        let usual_us = (longest.max().unwrap_or(0) * ROUND_US).max(SHORTEST_RUN_US);
        let plan = Plan {
            setup,
            order: if self.network.fifo { card::Order::Fifo } else { self.network.order.into() },
            multicast: self.network.multicast || about.card.multicast,
            clocks: self.clocks()?,
            judged: self.judging.judged(about, Judged::Promised)?,
            rounds,
            ..Plan::new(self.n, Rounds::Forever)
        };
        let mut options = Options::new(plan, seed);
        options.network = self.network()?;
        options.load = self.load.load.into();
        options.think = self.load.think.unwrap_or(options.think);
        options.hold = self.load.hold.unwrap_or(options.hold);
        options.tells = self.load.tells;
        options.faults = self.faults(usual_us);
        options.run_for_us = self.run_for;
        options.steps_at_most = self.max_steps.unwrap_or(options.steps_at_most);
        Ok(options)
    }

    /// The same on a real network, which has its own latency: none is added by default.
    pub(crate) fn real_options(&self, about: &About, seed: u64) -> Result<Options> {
        let mut options = self.options(about, seed)?;
        options.network.latency = self.network.latency.unwrap_or(Delay::Constant(0));
        Ok(options)
    }

    fn network(&self) -> Result<Network> {
        let flags = &self.network;
        for ((from, to), _) in &flags.links {
            self.must_exist(*from, "--link")?;
            self.must_exist(*to, "--link")?;
        }
        Ok(Network {
            latency: flags.latency.unwrap_or(Network::default().latency),
            links: flags.links.iter().copied().collect(),
            loss: flags.loss,
            duplication: flags.duplicate,
            reordering: flags.reorder,
            buffer: None,
        })
    }

    fn clocks(&self) -> Result<Vec<Clock>> {
        if self.faults.clocks.is_empty() {
            return Ok(Vec::new());
        }
        let mut clocks = vec![Clock::default(); self.n];
        for (at, clock) in &self.faults.clocks {
            self.must_exist(*at, "--clock")?;
            clocks[at.index()] = *clock;
        }
        Ok(clocks)
    }

    fn faults(&self, usual_us: u64) -> RandomFaults {
        RandomFaults {
            crashes: self.faults.crashes,
            restart: match self.faults.restart {
                RestartFlag::Never => Restart::Never,
                RestartFlag::Disk => Restart::WithDisk,
                RestartFlag::Amnesia => Restart::WithoutDisk,
            },
            deaths: 0,
            pauses: self.faults.pauses,
            partitions: self.faults.partitions,
            one_way_cuts: self.faults.one_way_cuts,
            within_us: self.faults.within.unwrap_or(usual_us),
        }
    }

    fn must_exist(&self, at: ProcessId, flag: &str) -> Result<()> {
        let last = self.n - 1;
        ensure!(at.index() < self.n, "{flag}: there is no {at}; the processes are p0..p{last}");
        Ok(())
    }
}

/// Shares the requests among the processes that ask; the first get the remainder.
pub(crate) fn shares(requests: u64, takers: &[bool]) -> Vec<Rounds> {
    let sharing = takers.iter().filter(|takes| **takes).count().max(1) as u64;
    let (each, mut rest) = (requests / sharing, requests % sharing);
    let share = |takes: &bool| {
        let one_more = u64::from(*takes && rest > 0);
        rest -= one_more;
        let times = if *takes { each + one_more } else { 0 };
        Rounds::Times(u32::try_from(times).unwrap_or(u32::MAX))
    };
    takers.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(requests: u64, takers: &[bool]) -> Vec<u32> {
        let times = |rounds| match rounds {
            Rounds::Times(times) => times,
            Rounds::Forever => panic!("shares are finite"),
        };
        shares(requests, takers).into_iter().map(times).collect()
    }

    #[test]
    fn requests_are_shared_evenly_and_the_first_get_the_remainder() {
        assert_eq!(of(10, &[true; 3]), [4, 3, 3]);
        assert_eq!(of(2, &[true; 3]), [1, 1, 0]);
        assert_eq!(of(0, &[true; 2]), [0, 0]);
    }

    #[test]
    fn a_process_that_does_not_take_part_makes_no_requests() {
        assert_eq!(of(5, &[false, true, true]), [0, 3, 2]);
        assert_eq!(of(5, &[false]), [0]);
    }
}
