//! A message is data from the network: no forged message makes an algorithm or a mutant panic.

use serde_json::Value;
use synod_core::boxed::BoxedMessage;
use synod_core::card::Rounds;
use synod_core::family::Moment;
use synod_core::{
    Algorithm, Application, Boxed, Cx, Effect, EffectOf, Family, ProcessId, Protocol, Setup, Wire,
    step,
};
use synod_protocols::{Visit, entries, visit};
use synod_sim::network::{Chance, below, chance};
use synod_sim::world::{Body, Driver, Happening};
use synod_sim::{Plan, World};

/// Collects the messages of a run.
struct Eavesdropper {
    chance: Chance,
    heard: Vec<BoxedMessage>,
}

impl Driver<Boxed> for Eavesdropper {
    fn choose(&mut self, among: u32) -> u32 {
        below(&mut self.chance, among.into()) as u32
    }

    fn see(&mut self, _: u64, happening: Happening<'_, Boxed>) {
        if let Happening::Sent { envelope, .. } = happening
            && let Body::Message(message) = &envelope.body
        {
            self.heard.push(message.clone());
        }
    }
}

/// Messages of an honest run, and lies made of them.
fn forgeries<A: Algorithm>(n: usize, seed: u64) -> Vec<A::Message> {
    let setup = Setup::new(n).of::<A>();
    let heard = eavesdrop(&Plan { setup, ..Plan::new(n, Rounds::Times(2)) }, seed);
    heard.iter().flat_map(|message| variations::<A::Message>(message.open())).collect()
}

fn eavesdrop(plan: &Plan, seed: u64) -> Vec<BoxedMessage> {
    let mut driver = Eavesdropper { chance: chance(seed), heard: Vec::new() };
    let mut world = World::<Boxed>::new(plan).expect("the size fits");
    world.start(&mut driver);
    let mut actions = Vec::new();
    for _ in 0..100 {
        actions.clear();
        world.enabled(&mut actions);
        if actions.is_empty() {
            break;
        }
        let which = below(&mut driver.chance, actions.len() as u64) as usize;
        world.step(&actions[which], &mut driver);
    }
    driver.heard
}

/// The message, and the message with any one number or list in it replaced.
fn variations<M: Wire>(honest: &M) -> Vec<M> {
    let json = serde_json::to_value(honest).expect("messages are plain data");
    let numbers = [0, 1, 5, u64::from(u32::MAX), i64::MAX as u64, u64::MAX];
    let mut all = vec![honest.clone()];
    for lie in numbers.map(Value::from).into_iter().chain([Value::Array(Vec::new())]) {
        for place in 0.. {
            let mut value = json.clone();
            if !replace(&mut value, &mut { place }, &lie) {
                break;
            }
            all.extend(serde_json::from_value::<M>(value).ok());
        }
    }
    all
}

/// Replaces the value at that place by a lie of the same shape. False if the message has no such
/// place.
fn replace(value: &mut Value, place: &mut usize, lie: &Value) -> bool {
    if (value.is_number() && lie.is_number()) || (value.is_array() && lie.is_array()) {
        if *place == 0 {
            *value = lie.clone();
            return true;
        }
        *place -= 1;
    }
    match value {
        Value::Array(values) => values.iter_mut().any(|value| replace(value, place, lie)),
        Value::Object(fields) => fields.values_mut().any(|value| replace(value, place, lie)),
        _ => false,
    }
}

/// One process with its application, alone among liars.
struct Victim<A: Algorithm> {
    me: ProcessId,
    n: usize,
    state: A,
    application: <A::Family as Family>::Application,
    timers: Vec<A::Timer>,
    accusations: usize,
}

impl<A: Algorithm> Victim<A> {
    fn new(me: ProcessId, n: usize) -> Self {
        let state = A::processes(&Setup::new(n)).expect("the size fits").swap_remove(me.index());
        let rounds = if state.takes_part(me) { Rounds::Forever } else { Rounds::Times(0) };
        let application = <A::Family as Family>::Application::new(me, &Setup::new(n), rounds);
        Victim { me, n, state, application, timers: Vec::new(), accusations: 0 }
    }

    fn step(&mut self, handler: impl FnOnce(&mut A, &mut Cx<'_, A>)) {
        let effects = step(self.me, self.n, |cx| handler(&mut self.state, cx));
        for effect in effects {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: EffectOf<A>) {
        let moment = Moment { now_us: 0, clocks: &[] };
        match effect {
            Effect::Send { to, .. } => assert!(to.index() < self.n, "a message to {to}"),
            Effect::Multicast { .. } | Effect::Persist(_) | Effect::Checkpoint { .. } => {}
            Effect::SetTimer { timer, .. } => {
                self.timers.retain(|set| *set != timer);
                self.timers.push(timer);
            }
            Effect::CancelTimer(timer) => self.timers.retain(|set| *set != timer),
            Effect::Output(output) => {
                if let Some(answer) = self.application.on_output(&output, moment) {
                    self.ask(answer);
                }
            }
            Effect::Accuse { .. } => self.accusations += 1,
        }
    }

    fn ask(&mut self, input: <A as Protocol>::Input) {
        self.application.on_input(&input);
        self.step(|state, cx| state.on_input(input, cx));
    }

    /// The application makes a request, a timer fires, or a forged message arrives.
    fn live(&mut self, chance: &mut Chance, forged: &[A::Message]) {
        let mut offers = Vec::new();
        self.application.offers(&mut |offer| offers.push(offer));
        match below(chance, 5) {
            0 if !offers.is_empty() => self.ask(offers.swap_remove(0)),
            1 if !self.timers.is_empty() => {
                let timer = self.timers.remove(0);
                self.step(|state, cx| state.on_timer(timer, cx));
            }
            2 => self.state.witness(u64::MAX - below(chance, 3)),
            _ if !forged.is_empty() => {
                let from = ProcessId(below(chance, self.n as u64) as u32);
                let message = forged[below(chance, forged.len() as u64) as usize].clone();
                self.step(|state, cx| state.on_message(from, message, cx));
            }
            _ => {}
        }
    }
}

struct Lies;

impl Visit for Lies {
    type Answer = usize;

    fn visit<A: Algorithm>(self) -> usize {
        let mut accusations = 0;
        for seed in 0..60 {
            let mut chance = chance(seed);
            let n = A::CARD.smallest.max(2 + seed as usize % 4);
            let forged = forgeries::<A>(n, seed);
            for me in ProcessId::all(n) {
                let mut victim = Victim::<A>::new(me, n);
                victim.step(|state, cx| state.on_start(cx));
                for _ in 0..200 {
                    victim.live(&mut chance, &forged);
                }
                accusations += victim.accusations;
            }
        }
        accusations
    }
}

#[test]
fn forged_messages_make_nothing_panic() {
    for entry in entries() {
        let accusations = visit(entry.card.name, Lies).expect("it is in the catalogue");
        let careful = entry.family == "mutual exclusion" && entry.card.mutant.is_none();
        assert!(!careful || accusations > 1_000, "{}: {accusations}", entry.card.name);
    }
}
