//! One run of any algorithm on real sockets.

use crate::about::{About, unknown};
use crate::catalogue::which;
use crate::parse;
use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use std::time::Duration;
use synod_net::{Kill, LARGEST_GROUP, Launch, Medium, Real};
use synod_sim::Options;
use synod_sim::trace::Tracer;

/// The medium that carries the messages of a real run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// TCP: reliable links that keep their order.
    Tcp,
    /// UDP, with IP multicast: datagrams that may be lost.
    Udp,
}

impl On {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            On::Tcp => "tcp",
            On::Udp => "udp",
        }
    }
}

/// The flags of a real run.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Real network")]
pub(crate) struct RealFlags {
    /// Run on real sockets: one operating-system process each, on this machine
    #[arg(long, value_name = "MEDIUM", value_enum)]
    #[arg(conflicts_with_all = [
        "seeds", "max_steps", "order", "fifo", "multicast", "crashes", "restart", "pauses",
        "partitions", "one_way_cuts", "within",
    ])]
    pub(crate) on: Option<On>,
    /// End a real run after this time, finished or not [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse::time, requires = "on")]
    timeout: Option<u64>,
    /// Kill a process (SIGKILL) in the middle of a real run, and start it again at the second time,
    /// if given, with its disk; after ',torn', ',flipped' or ',lost' with a disk on which the last
    /// record is torn, a bit is flipped, or no record is left; may be repeated
    #[arg(long = "kill", value_name = "p2@300ms..1s", value_parser = parse::kill, requires = "on")]
    kills: Vec<Kill>,
    /// Do not sync the disk: records survive the death of the process, but no loss of power
    #[arg(long, requires = "on")]
    no_fsync: bool,
}

const USUAL_TIMEOUT: Duration = Duration::from_secs(30);

impl RealFlags {
    /// Makes the run on that medium.
    pub(crate) fn run(
        &self,
        on: On,
        about: &About,
        options: Options,
        tracer: Option<Tracer<'_>>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Real> {
        let n = options.plan.setup.n;
        ensure!(
            n <= LARGEST_GROUP,
            "on a real network a group has at most {LARGEST_GROUP} processes, because each is one \
             of the operating system; simulate larger ones, without --on"
        );
        for Kill { who, back_us, .. } in &self.kills {
            ensure!(
                back_us.is_none() || on == On::Tcp,
                "--kill: on udp a process that was killed cannot be started again; use --on tcp"
            );
            ensure!(who.index() < n, "--kill: there is no {who}; the processes are p0..p{}", n - 1);
        }
        let mut launch = launch(on, about, options)?;
        launch.kills.clone_from(&self.kills);
        launch.fsync = !self.no_fsync;
        if let Some(us) = self.timeout {
            launch.timeout = Duration::from_micros(us);
        }
        perform(&launch, tracer, progress)
    }
}

/// A run on that medium, with default settings.
pub(crate) fn launch(on: On, about: &About, options: Options) -> Result<Launch> {
    Ok(Launch {
        program: std::env::current_exe().context("this program cannot be found")?,
        arguments: vec!["run-member".to_owned()],
        algorithm: about.card.name.to_owned(),
        options,
        medium: match on {
            On::Tcp => Medium::Tcp,
            On::Udp => Medium::Udp,
        },
        timeout: USUAL_TIMEOUT,
        kills: Vec::new(),
        fsync: true,
    })
}

/// Makes the run.
pub(crate) fn perform(
    launch: &Launch,
    tracer: Option<Tracer<'_>>,
    progress: &mut dyn FnMut(u64),
) -> Result<Real> {
    let which = which(&launch.algorithm).ok_or_else(|| unknown(&launch.algorithm))?;
    Ok(launch.run_named(which, tracer, progress)?)
}
