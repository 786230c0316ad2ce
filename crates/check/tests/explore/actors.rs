//! An algorithm of mutual exclusion as actors of Stateright, another checker with a network and a
//! search of its own.

use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Network, Out};
use std::borrow::Cow;
use std::time::Duration;
use synod_core::card::Rounds;
use synod_core::family::mutex::{Input, ME1, ME2, Mutex, Visitor};
use synod_core::{Algorithm, Application, Effect, EffectOf, Moment, Never, ProcessId, Setup, step};

/// A process with its application, as an actor.
pub(crate) struct Node<A> {
    initial: A,
    n: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State<A> {
    protocol: A,
    application: Visitor,
    inside: bool,
    waiting: bool,
}

fn process(id: Id) -> ProcessId {
    ProcessId(usize::from(id) as u32)
}

impl<A> Actor for Node<A>
where
    A: Algorithm<Family = Mutex, Timer = Never>,
    A::Message: Ord,
{
    type Msg = A::Message;
    type State = State<A>;
    /// What the application may ask is a timer that may run out at any time.
    type Timer = Input;
    type Random = ();
    type Storage = ();

    fn on_start(&self, id: Id, _: &Option<()>, out: &mut Out<Self>) -> State<A> {
        let me = process(id);
        let rounds = Rounds::Times(u32::from(self.initial.takes_part(me)));
        let mut state = State {
            protocol: self.initial.clone(),
            application: Visitor::new(me, &Setup::new(self.n), rounds),
            inside: false,
            waiting: false,
        };
        let effects = step(me, self.n, |cx| state.protocol.on_start(cx));
        Self::carry_out(effects, &mut state, out);
        state
    }

    fn on_msg(
        &self,
        id: Id,
        state: &mut Cow<'_, State<A>>,
        from: Id,
        message: A::Message,
        out: &mut Out<Self>,
    ) {
        let state = state.to_mut();
        let effects =
            step(process(id), self.n, |cx| state.protocol.on_message(process(from), message, cx));
        Self::carry_out(effects, state, out);
    }

    fn on_timeout(
        &self,
        id: Id,
        state: &mut Cow<'_, State<A>>,
        input: &Input,
        out: &mut Out<Self>,
    ) {
        let state = state.to_mut();
        state.application.on_input(input);
        (state.waiting, state.inside) = (*input == Input::Enter, false);
        let effects = step(process(id), self.n, |cx| state.protocol.on_input(*input, cx));
        Self::carry_out(effects, state, out);
    }
}

impl<A> Node<A>
where
    A: Algorithm<Family = Mutex, Timer = Never>,
    A::Message: Ord,
{
    fn carry_out(effects: Vec<EffectOf<A>>, state: &mut State<A>, out: &mut Out<Self>) {
        for effect in effects {
            match effect {
                Effect::Send { to, message } => out.send(Id::from(to.index()), message),
                Effect::Multicast { to, message } => {
                    for to in to.iter() {
                        out.send(Id::from(to.index()), message.clone());
                    }
                }
                Effect::Output(output) => {
                    state.application.on_output(&output, Moment { now_us: 0, clocks: &[] });
                    (state.waiting, state.inside) = (false, true);
                }
                Effect::Accuse { .. } => {}
                Effect::SetTimer { .. }
                | Effect::CancelTimer(_)
                | Effect::Persist(_)
                | Effect::Checkpoint { .. } => {
                    unreachable!("no algorithm here does this")
                }
            }
        }
        let offer = &mut |input| out.set_timer(input, Duration::ZERO..Duration::ZERO);
        state.application.offers(offer);
    }
}

/// A group of `n` processes that ask once each, over a network that reorders; ME1 and ME2 are
/// judged.
pub(crate) fn model<A>(n: usize) -> ActorModel<Node<A>, (), ()>
where
    A: Algorithm<Family = Mutex, Timer = Never>,
    A::Message: Ord,
{
    let mut model = ActorModel::<Node<A>, (), ()>::new((), ());
    for initial in A::processes(&Setup::new(n)).expect("the size fits") {
        model = model.actor(Node { initial, n });
    }
    model
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, ME1, |_, state| {
            state.actor_states.iter().filter(|process| process.inside).count() <= 1
        })
        .property(Expectation::Always, ME2, |_, state| {
            let silent = state.network.len() == 0
                && state.timers_set.iter().all(|timers| timers.iter().next().is_none());
            !silent || state.actor_states.iter().all(|process| !process.waiting)
        })
}
