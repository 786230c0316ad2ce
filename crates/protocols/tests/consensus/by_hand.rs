//! Processes, and messages that are put into their hands.

use synod_core::byzantine::Byzantine;
use synod_core::family::consensus::Output;
use synod_core::{Algorithm, Cx, Effect, ProcessId, Protocol, Setup, step};
use synod_protocols::consensus::rounds::{InRound, RoundOver, Rounds, Synchronous};

/// A process of a group in the first round.
pub(crate) struct Hand<S: Synchronous> {
    me: ProcessId,
    n: usize,
    pub(crate) process: Byzantine<Rounds<S>>,
}

/// The effects of a step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Did<S: Synchronous> {
    Said(Vec<ProcessId>, InRound<S::Message>),
    Decided(String),
    Accused(ProcessId, &'static str),
}

impl<S: Synchronous> Hand<S> {
    pub(crate) fn new(me: u32, setup: &Setup) -> Self {
        let group = Byzantine::<Rounds<S>>::processes(setup).expect("the setup is valid");
        let process = group[me as usize].clone();
        let mut hand = Hand { me: ProcessId(me), n: setup.n, process };
        assert_eq!(hand.step(|process, cx| process.on_start(cx)).len(), 0);
        hand
    }

    pub(crate) fn step(
        &mut self,
        run: impl FnOnce(&mut Byzantine<Rounds<S>>, &mut Cx<'_, Byzantine<Rounds<S>>>),
    ) -> Vec<Did<S>> {
        let process = &mut self.process;
        let effects = step(self.me, self.n, |cx| run(process, cx));
        let did = |effect| match effect {
            Effect::Send { to, message } => Some(Did::Said(vec![to], message)),
            Effect::Multicast { to, message } => Some(Did::Said(to.iter().collect(), message)),
            Effect::Output(Output::Decided(decision)) => Some(Did::Decided(decision.to_string())),
            Effect::Accuse { who, why } => Some(Did::Accused(who, why)),
            _ => None,
        };
        effects.into_iter().filter_map(did).collect()
    }

    /// A message arrives. Returns the accusation of its sender, if the process makes one at once.
    pub(crate) fn hears(&mut self, from: u32, round: u32, it: S::Message) -> Option<&'static str> {
        let message = InRound { round, it };
        accused(self.step(|process, cx| process.on_message(ProcessId(from), message, cx)))
    }

    pub(crate) fn round_over(&mut self, round: u32) -> Vec<Did<S>> {
        self.step(|process, cx| process.on_timer(RoundOver(round), cx))
    }
}

/// The first accusation among the effects.
pub(crate) fn accused<S: Synchronous>(did: Vec<Did<S>>) -> Option<&'static str> {
    did.into_iter().find_map(|did| match did {
        Did::Accused(_, why) => Some(why),
        _ => None,
    })
}

/// The decision among the effects.
pub(crate) fn decided<S: Synchronous>(did: Vec<Did<S>>) -> Option<String> {
    did.into_iter().find_map(|did| match did {
        Did::Decided(decision) => Some(decision),
        _ => None,
    })
}
