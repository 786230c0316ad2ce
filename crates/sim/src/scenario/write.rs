//! A history as a scenario, so that the reader of a counterexample can play it again.

use super::Scenario;
use super::parse::{BEGIN, plain};
use super::play::{in_flight, message_text};
use crate::network::in_words;
use crate::world::{Action, Driver, Plan, Slot, Step, World};
use std::fmt::Write;
use synod_core::card::Order;
use synod_core::{Algorithm, Family, SetupError};

impl Scenario {
    /// The scenario of exactly these steps, without a trace. `name` is its comment, `start` the
    /// choices while the processes started. Playing it gives the events of the history.
    pub fn from_steps<A: Algorithm>(
        name: &str,
        plan: &Plan,
        start: &[u32],
        steps: &[Step<A::Input>],
    ) -> Result<String, SetupError> {
        let mut world = World::<A>::new(plan)?;
        world.start(&mut Again(start.iter()));
        let mut text = header::<A>(name, plan);
        if !start.is_empty() {
            let _ = writeln!(text, "choosing:{}", numbers(start));
        }
        text.push_str(BEGIN);
        text.push('\n');
        for step in steps {
            text.push_str(&line(&world, &step.action));
            if !step.choices.is_empty() {
                let _ = write!(text, " choosing{}", numbers(&step.choices));
            }
            text.push('\n');
            if world.can(&step.action).is_err() {
                // The steps are no history of this algorithm: the player reports the reason.
                break;
            }
            world.step(&step.action, &mut Again(step.choices.iter()));
        }
        Ok(text)
    }
}

fn numbers(choices: &[u32]) -> String {
    choices.iter().map(|choice| format!(" {choice}")).collect()
}

/// Makes the choices of a history again.
struct Again<'c>(std::slice::Iter<'c, u32>);

impl<A: Algorithm> Driver<A> for Again<'_> {
    fn choose(&mut self, among: u32) -> u32 {
        self.0.next().copied().unwrap_or(0).min(among - 1)
    }
}

fn header<A: Algorithm>(name: &str, plan: &Plan) -> String {
    let mut text = String::new();
    for line in name.lines() {
        let _ = writeln!(text, "# {line}");
    }
    let _ =
        writeln!(text, "algorithm: {}\nprocesses: {}", A::kit(&plan.setup).card.name, plan.setup.n);
    for (name, value) in &plan.setup.parameters {
        let _ = writeln!(text, "{name}: {value}");
    }
    match plan.order {
        Order::Any => {}
        Order::Fifo => text.push_str("order: fifo\n"),
        Order::Causal => text.push_str("order: causal\n"),
    }
    if plan.multicast {
        text.push_str("multicast: yes\n");
    }
    for (index, clock) in plan.clocks.iter().enumerate() {
        let sign = if clock.offset_us < 0 { '-' } else { '+' };
        let offset = in_words(clock.offset_us.unsigned_abs());
        let _ = writeln!(text, "clock p{index}: {sign}{offset} {}ppm", clock.drift_ppm);
    }
    text
}

/// The line of a script that takes this action.
pub(super) fn line<A: Algorithm>(world: &World<A>, action: &Action<A::Input>) -> String {
    match action {
        Action::Input { at, input } => format!("{at} {}", A::Family::input_in_words(input)),
        Action::Tell { from, to } => format!("{from} tells {to}"),
        Action::Deliver(slot) => format!("deliver {}", pick(world, *slot)),
        Action::Drop(slot) => format!("drop {}", pick(world, *slot)),
        Action::Duplicate(slot) => format!("duplicate {}", pick(world, *slot)),
        Action::Fire { at, timer } => {
            let timers = world.process(*at).timers();
            let set = timers.iter().find(|set| set.number == *timer);
            let name = set.map(|set| plain(&format!("{:?}", set.timer))).unwrap_or_default();
            format!("fire {at} {name}")
        }
        Action::Sync(at) => format!("sync {at}"),
        Action::Crash(at) => format!("crash {at}"),
        Action::Restart { at, disk: true } => format!("restart {at}"),
        Action::Restart { at, disk: false } => format!("restart {at} without disk"),
        Action::Pause(at) => format!("pause {at}"),
        Action::Resume(at) => format!("resume {at}"),
        Action::Links(change) => change.to_string(),
        Action::Tick => "tick".to_owned(),
        Action::Late(slot) => format!("# late: {}", pick(world, *slot)),
        Action::Cut { step, after } => format!("{} crashing after {after}", line(world, step)),
    }
}

/// The name of a message: its link and kind, and which it is of several.
fn pick<A: Algorithm>(world: &World<A>, slot: Slot) -> String {
    let Some(wanted) = world.flight().get(slot) else { return "p0 -> p0".to_owned() };
    let alike = in_flight(world).into_iter().filter(|(_, other)| {
        (other.from, other.to) == (wanted.from, wanted.to)
            && [other.body.kind().to_owned(), message_text(other)]
                .contains(&wanted.body.kind().to_owned())
    });
    let place = alike.map(|(slot, _)| slot).position(|other| other == slot).unwrap_or(0);
    let number = if place > 0 { format!(" #{}", place + 1) } else { String::new() };
    format!("{} -> {} {}{number}", wanted.from, wanted.to, wanted.body.kind())
}
