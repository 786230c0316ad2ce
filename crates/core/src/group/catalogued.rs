//! A service with a card: it becomes an algorithm of the catalogue, on any engine.

use super::{Engine, Served, Service};
use crate::algorithm::{Algorithm, Invariant, Kit, Snapshot};
use crate::card::{Card, Parameter, Rule};
use crate::family::Known;
use crate::process::{ProcessId, ProcessSet};
use crate::setup::{Setup, SetupError};
use crate::sight::Sight;
use std::marker::PhantomData;

/// A service of the catalogue, on engines of the type `E`. It states only its own facts; [`Engine`]
/// states those of the engine below, so that no service has to repeat them.
pub trait Catalogued<E: Engine<Self::Message>>: Service {
    /// The problem that the service solves.
    type Family: Known<Input = Self::Command, Output = Self::Notice>;

    /// Its card, with the rules and parameters of the service alone.
    const CARD: Card;

    /// The service at `me`, before it starts. Members are among `nodes`; a process outside `nodes`
    /// sees no event. `setup` already fits the card.
    fn service(me: ProcessId, nodes: &ProcessSet, setup: &Setup) -> Result<Self, SetupError>;

    /// What this member has, in a few words for pictures: by default, nothing.
    fn has(&self) -> String {
        String::new()
    }

    /// Invariants of the service's state.
    fn invariants() -> &'static [Invariant<Served<Self, E>>] {
        &[]
    }

    /// What breaks one of them in this snapshot, in words.
    fn culprit(_invariant: &str, _snapshot: &Snapshot<'_, Served<Self, E>>) -> Option<String> {
        None
    }

    /// Whether this invariant applies to a group with this setup.
    fn is_judged(_invariant: &Invariant<Served<Self, E>>, _setup: &Setup) -> bool {
        true
    }
}

impl<S: Catalogued<E>, E: Engine<S::Message>> Algorithm for Served<S, E> {
    type Family = S::Family;

    const CARD: Card = Card {
        rules: Together::<S, E>::RULES,
        parameters: Together::<S, E>::PARAMETERS,
        own_faults: E::OWN_FAULTS,
        ..S::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let (nodes, engines) = (E::nodes(setup)?, E::engines(setup)?);
        let process = |(me, engine)| Ok(Served { service: S::service(me, &nodes, setup)?, engine });
        ProcessId::all(setup.n).zip(engines).map(process).collect()
    }

    fn kit(setup: &Setup) -> Kit<Self> {
        let invariants = S::invariants().iter().filter(|invariant| S::is_judged(invariant, setup));
        Kit { invariants: invariants.copied().collect(), ..Kit::whole() }
    }

    fn takes_part(&self, _me: ProcessId) -> bool {
        self.engine.takes_part()
    }

    fn sight(&self) -> Sight {
        Sight { has: self.service.has(), parts: self.engine.parts() }
    }

    fn is_restless(processes: &[Self]) -> bool {
        processes.iter().any(|process| process.engine.is_restless())
    }

    fn invariants() -> &'static [Invariant<Self>] {
        S::invariants()
    }

    fn culprit(invariant: &str, snapshot: &Snapshot<'_, Self>) -> Option<String> {
        S::culprit(invariant, snapshot)
    }
}

/// The rules and parameters of a service and of its engine, in this order.
struct Together<S, E>(PhantomData<(S, E)>);

/// Limit for the parameters of a service and its engine together; far above the number of any card.
const MOST_PARAMETERS: usize = 64;
/// The same for the rules.
const MOST_RULES: usize = 64;

impl<S: Catalogued<E>, E: Engine<S::Message>> Together<S, E> {
    // The length of an array cannot depend on a type parameter, so the array is longer than
    // necessary.
    const ALL: [Parameter; MOST_PARAMETERS] = {
        let mut all = [Parameter { name: "", meaning: "" }; MOST_PARAMETERS];
        let (own, below) = (S::CARD.parameters, E::PARAMETERS);
        let mut at = 0;
        while at < own.len() + below.len() {
            all[at] = if at < own.len() { own[at] } else { below[at - own.len()] };
            at += 1;
        }
        all
    };

    const PARAMETERS: &'static [Parameter] =
        Self::ALL.split_at(S::CARD.parameters.len() + E::PARAMETERS.len()).0;

    const ALL_RULES: [Rule; MOST_RULES] = Rule::both(S::CARD.rules, E::RULES);

    /// The card of a mutant may tell its change alone, and no rules.
    const RULES: &'static [Rule] = match S::CARD.rules.len() {
        0 => &[],
        own => Self::ALL_RULES.split_at(own + E::RULES.len()).0,
    };
}
