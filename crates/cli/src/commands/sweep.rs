//! `synod sweep`: measure the costs of an algorithm in groups of many sizes, against the formulas.

mod report;

use crate::about::About;
use crate::export;
use crate::options::{Load, Order, Parameters};
use crate::output::Output;
use crate::parallel::{in_order, threads};
use crate::parse;
use crate::progress::Progress;
use crate::simulate::simulate;
use anyhow::{Result, bail, ensure};
use clap::Args;
pub(super) use report::Point;
use report::Told;
use std::path::PathBuf;
use synod_core::card::{self, Rounds, Settings};
use synod_core::{Setup, SetupError, Verdict};
use synod_sim::network::Delay;
use synod_sim::{Options, Plan};

const EXAMPLES: &str = "\
Examples:
  synod sweep ricart-agrawala --n 2..64
  synod sweep maekawa --n 3,7,13,21 --load sequential
  synod sweep token-ring --n 2..32:2 --svg ring.svg --cost 'entry, in hops'
  synod sweep central-server --n 2..64 --csv central.csv

Every message takes one millisecond, so that the time counts consecutive messages (hops). Each
cost is measured under the load for which its formula is stated, or else under a random one.";

/// The latency of each message.
const HOP_US: u64 = 1_000;
/// The approximate number of operations of all processes together: enough to see every case, few
/// enough for many sizes.
const OPERATIONS: usize = 200;
const ROUNDS_AT_LEAST: usize = 2;
const ROUNDS_AT_MOST: usize = 20;
/// Larger groups take too long to be measured one after the other.
const LARGEST: usize = 1_000;

/// Measure the costs in groups of many sizes, against the formulas
#[derive(Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(crate) struct Sweep {
    /// The algorithm
    #[arg(value_name = "NAME", value_parser = parse::Name, hide_possible_values = true)]
    name: String,
    /// The group sizes: 2..64, 2..64:2 or 3,7,13
    #[arg(short = 'n', long = "n", value_name = "SIZES", value_parser = parse::sizes)]
    #[arg(default_value = "2..16")]
    sizes: parse::Sizes,
    /// Only under this load [default: each for which the card has a formula]
    #[arg(long, value_enum)]
    load: Option<Load>,
    /// The number of runs for each size and load, with different seeds
    #[arg(long, value_name = "K", value_parser = parse::positive, default_value = "3")]
    seeds: u64,
    /// The first seed
    #[arg(short, long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// The number of threads; the result does not depend on it [default: one for each core]
    #[arg(long, value_name = "T", value_parser = parse::positive)]
    threads: Option<u64>,
    /// The order in which messages arrive
    #[arg(long, value_enum, default_value_t = Order::Any)]
    order: Order,
    /// The network carries a multicast once for all receivers
    #[arg(long)]
    multicast: bool,
    #[command(flatten)]
    parameters: Parameters,
    /// Write every measured point as a line of comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Plot one cost over the group size
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The plotted cost, by name [default: the first on the card]
    #[arg(long, value_name = "NAME")]
    cost: Option<String>,
}

impl Sweep {
    /// Measures the costs.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let about = About::find(&self.name)?;
        self.must_make_sense(&about)?;
        let mut told = Told::new(&about);
        let worlds = self.worlds(&about);
        let mut progress = Progress::of(worlds.len() as u64, "points");
        let begun = |begun| progress.at(begun, String::new);
        let measured = in_order(worlds.len() as u64, threads(self.threads), begun, |index| {
            self.point(&about, &worlds[index as usize])
        });
        for (world, measured) in worlds.iter().zip(measured) {
            match measured? {
                Ok(points) => told.points.extend(points),
                Err(error) => told.skip(world.n, &error),
            }
        }
        progress.finish();
        ensure!(
            !told.points.is_empty(),
            "no cost could be measured: {}",
            told.first_skipped().unwrap_or("no cost on the card belongs to this load")
        );
        output.answer(&told, || told.in_words())?;
        if let Some(path) = &self.csv {
            export::write(path, &told.csv())?;
        }
        if let Some(path) = &self.svg {
            let first = told.points[0].cost;
            let cost = self.cost.as_deref().unwrap_or(first);
            export::write(path, &told.plot(cost).to_svg())?;
        }
        Ok(told.verdict())
    }

    fn must_make_sense(&self, about: &About) -> Result<()> {
        let others = about.card.other_costs.iter().flat_map(|other| other.costs);
        let costs: Vec<&card::Cost> = about.card.costs.iter().chain(others).collect();
        ensure!(
            !costs.is_empty(),
            "the card of {} states no costs; 'synod run {}' counts its messages",
            about.card.name,
            about.card.name
        );
        let largest = self.sizes.0.last().copied().unwrap_or(0);
        ensure!(
            largest <= LARGEST,
            "a group of {largest} takes too long to be swept; stay below {LARGEST}, or measure \
             one with 'synod run {} -n {largest}'",
            about.card.name
        );
        ensure!(self.seed.checked_add(self.seeds).is_some(), "--seed is too large");
        match &self.cost {
            Some(wanted) if !costs.iter().any(|cost| cost.name == wanted) => {
                let known: Vec<String> =
                    costs.iter().map(|cost| format!("'{}'", cost.name)).collect();
                bail!("{} has no cost '{wanted}'; it has: {}", about.card.name, known.join(", "))
            }
            _ => Ok(()),
        }
    }

    /// The points of the sweep: each setting of the card, each size, and each load for which the
    /// card has formulas there, or the one that the user names.
    fn worlds(&self, about: &About) -> Vec<World> {
        let usual = self.parameters.setup(1);
        let mut worlds = Vec::new();
        for set in about.card.cost_settings() {
            // What the user sets is measured as the usual setting is.
            if !set.is_empty() && usual.has_all(set) {
                continue;
            }
            let costs = self.costs(about, set);
            let mut loads: Vec<card::Load> = costs.iter().map(|cost| cost.load).collect();
            loads.sort_unstable();
            loads.dedup();
            match self.load.map(card::Load::from) {
                Some(load) if costs.iter().any(|c| [card::Load::Any, load].contains(&c.load)) => {
                    loads = vec![load];
                }
                Some(_) => loads.clear(),
                None => {}
            }
            let of_size = |n| loads.iter().map(move |load| World { n, load: *load, set });
            worlds.extend(self.sizes.0.iter().copied().flat_map(of_size));
        }
        worlds
    }

    /// The costs that are measured in a setting of the card: those that it adds to the usual ones,
    /// or changes.
    fn costs(&self, about: &About, set: Settings) -> Vec<card::Cost> {
        let multicast = self.multicast || about.card.multicast;
        let usual = self.parameters.setup(1);
        let of = |setup: &Setup| about.card.costs_with(setup, multicast);
        let known = if set.is_empty() { Vec::new() } else { of(&usual) };
        let is_known = |cost: &card::Cost| {
            known.iter().any(|known| (known.name, known.formula) == (cost.name, cost.formula))
        };
        of(&usual.clone().with_all(set)).into_iter().filter(|cost| !is_known(cost)).collect()
    }

    /// The measurements of one point, over all seeds. The inner error says why no group of this
    /// size is possible.
    fn point(&self, about: &About, world: &World) -> Result<Result<Vec<Point>, SetupError>> {
        let World { n, load, set } = *world;
        let wanted = self.costs(about, set);
        let mut points: Vec<Point> = Vec::new();
        let seeds = self.seed..self.seed + self.seeds;
        let runs = seeds.flat_map(|seed| rounds(about, n, load).map(move |rounds| (seed, rounds)));
        for (seed, rounds) in runs {
            let mut options = self.options(world, seed, rounds);
            options.plan.multicast |= about.card.multicast;
            let report = match simulate(about, options, None, &mut |_, _| ()) {
                Ok(report) => report,
                Err(error) => return error.downcast::<SetupError>().map(Err),
            };
            for cost in &report.costs {
                // A formula for any load is measured under the random one, unless asked otherwise.
                let other_load = self.load.is_none() && cost.cost.load != load;
                let other_run = rounds == 1 && !cost.cost.quantity.is_of_whole_run();
                let is_wanted = wanted.iter().any(|wanted| wanted.name == cost.cost.name);
                if other_load || other_run || !is_wanted {
                    continue;
                }
                let agrees = report.verdict_on_cost(cost);
                match points.iter_mut().find(|point| point.cost == cost.cost.name) {
                    Some(point) => point.add(cost, agrees),
                    None => points.push(Point::new(world, cost, agrees)),
                }
            }
        }
        Ok(Ok(points))
    }

    fn options(&self, world: &World, seed: u64, rounds: u32) -> Options {
        let World { n, load, set } = *world;
        let plan = Plan {
            setup: self.parameters.setup(n).with_all(set),
            order: self.order.into(),
            multicast: self.multicast,
            ..Plan::new(n, Rounds::Times(rounds))
        };
        let mut options = Options::new(plan, seed);
        options.network.latency = Delay::Constant(HOP_US);
        // Only messages take time: so time counts hops, also where records go to disks.
        options.disk = Delay::Constant(0);
        options.load = load;
        options
    }
}

/// What one point of a sweep measures.
#[derive(Clone, Copy)]
pub(super) struct World {
    /// The size of the group.
    pub(super) n: usize,
    /// How busy the applications are.
    pub(super) load: card::Load,
    /// The parameters by which the card states formulas, beside those of the user.
    pub(super) set: Settings,
}

/// The measurements in groups of these sizes, as far as such groups are possible; in one run each.
pub(super) fn measured(about: &About, sizes: &[usize]) -> Result<Vec<Point>> {
    let sweep = Sweep {
        name: about.card.name.to_owned(),
        sizes: parse::Sizes(sizes.to_vec()),
        load: None,
        seeds: 1,
        seed: 1,
        threads: None,
        order: Order::Any,
        multicast: false,
        parameters: Parameters::default(),
        csv: None,
        svg: None,
        cost: None,
    };
    let mut all = Vec::new();
    for world in sweep.worlds(about) {
        all.extend(sweep.point(about, &world)?.unwrap_or_default());
    }
    all.sort_by_key(|point| about.card.costs.iter().position(|cost| cost.name == point.cost));
    Ok(all)
}

/// The requests of each process: many in one run, and, for costs of a whole run, one in another.
fn rounds(about: &About, n: usize, load: card::Load) -> impl Iterator<Item = u32> + use<> {
    let many = (OPERATIONS / n).clamp(ROUNDS_AT_LEAST, ROUNDS_AT_MOST) as u32;
    let others = about.card.other_costs.iter().flat_map(|other| other.costs);
    let mut costs = about.card.costs.iter().chain(others);
    let in_all = |cost: &card::Cost| cost.quantity.is_of_whole_run();
    let once = load == card::Load::Saturated && costs.any(in_all);
    [many].into_iter().chain(once.then_some(1))
}
