//! A history written as a scenario comes out as the same events.

use super::play;
use synod_core::card::{Order, Rounds};
use synod_core::{Algorithm, Clock};
use synod_protocols::mutex::mutants::{R0, R3Split};
use synod_protocols::mutex::{RicartAgrawala, TokenRing};
use synod_protocols::time::{Cristian, LamportClock};
use synod_sim::network::{Chance, below, chance};
use synod_sim::trace::{Event, Tracer, What, Window};
use synod_sim::world::{Action, Driver, FaultsLeft, Happening, Step};
use synod_sim::{Judged, Plan, Scenario, World};

/// Decides at random, and remembers the choices.
struct Walker<'s> {
    chance: Chance,
    choices: Vec<u32>,
    tracer: Tracer<'s>,
}

impl<A: Algorithm> Driver<A> for Walker<'_> {
    fn choose(&mut self, among: u32) -> u32 {
        self.choices.push(below(&mut self.chance, among.into()) as u32);
        self.choices[self.choices.len() - 1]
    }

    fn see(&mut self, now_us: u64, happening: Happening<'_, A>) {
        self.tracer.see(now_us, &happening);
    }
}

/// Thirty random steps: the choices at the start, the steps, and the events.
fn walk<A: Algorithm>(plan: &Plan, seed: u64) -> (Vec<u32>, Vec<Step<A::Input>>, Vec<Event>) {
    let mut window = Window::new(0, usize::MAX);
    let tracer = Tracer::new(plan.setup.n, vec![&mut window]);
    let mut walker = Walker { chance: chance(seed), choices: Vec::new(), tracer };
    let mut world = World::<A>::new(plan).expect("the plan fits");
    world.faults = FaultsLeft {
        tells: 2,
        crashes: 1,
        restarts: 1,
        drops: 1,
        duplicates: 2,
        ticks: 2,
        late: 0,
    };
    world.start(&mut walker);
    let start = std::mem::take(&mut walker.choices);
    let (mut steps, mut actions) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        actions.clear();
        world.enabled(&mut actions);
        if below(&mut walker.chance, 4) == 0 {
            world.enabled_faults(&mut actions);
        }
        if actions.is_empty() {
            break;
        }
        let which = below(&mut walker.chance, actions.len() as u64) as usize;
        let mut action: Action<A::Input> = actions.swap_remove(which);
        if world.faults.crashes > 0
            && world.actor(&action).is_some()
            && below(&mut walker.chance, 10) == 0
        {
            action = Action::Cut { step: Box::new(action), after: 1 };
        }
        world.step(&action, &mut walker);
        steps.push(Step { action, choices: std::mem::take(&mut walker.choices) });
    }
    walker.tracer.finish().expect("a window never fails");
    (start, steps, window.events)
}

fn comes_out_the_same<A: Algorithm>(plan: &Plan) {
    let mut numbered = 0;
    for seed in 0..100 {
        let (start, steps, events) = walk::<A>(plan, seed);
        let text = Scenario::from_steps::<A>("A walk.", plan, &start, &steps).expect("it fits");
        numbered += text.matches(" #").count();
        let played = play(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let (same, after) = played.events.split_at(events.len());
        assert_eq!(same, events, "seed {seed}:\n{text}");
        // Properties that can be judged only at the end add their violations there.
        assert!(after.iter().all(|event| event.what == What::Violation), "seed {seed}:\n{text}");
    }
    assert!(numbered > 0, "no walk of {} needed to tell messages apart", A::CARD.name);
}

fn plan(n: usize) -> Plan {
    Plan { judged: Judged::All, ..Plan::new(n, Rounds::Forever) }
}

#[test]
fn a_history_written_as_a_scenario_gives_the_same_events() {
    comes_out_the_same::<RicartAgrawala>(&plan(3));
    comes_out_the_same::<TokenRing>(&plan(2));
    comes_out_the_same::<R0>(&plan(2));
    comes_out_the_same::<R3Split>(&plan(3));
    comes_out_the_same::<LamportClock>(&plan(2));
}

#[test]
fn the_plan_of_a_history_is_written_into_the_header() {
    let mut plan = plan(2);
    plan.setup = plan.setup.with("min_us", "10");
    plan.clocks = vec![Clock::default(), Clock { offset_us: -1_500, drift_ppm: -20 }];
    plan.order = Order::Causal;
    plan.multicast = true;
    comes_out_the_same::<Cristian>(&plan);
    let text = Scenario::from_steps::<Cristian>("One.\nTwo.", &plan, &[1, 0], &[]).expect("fits");
    let wanted = "# One.\n# Two.\nalgorithm: cristian\nprocesses: 2\nmin_us: 10\norder: causal\n\
                  multicast: yes\nclock p0: +0ms 0ppm\nclock p1: -1500us -20ppm\nchoosing: 1 0\n---\n";
    assert_eq!(text, wanted);
}
