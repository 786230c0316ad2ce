//! A service with a card, which makes it an algorithm on whichever engine.

use super::{Engine, Served, Service};
use crate::algorithm::{Algorithm, Invariant, Kit};
use crate::card::Card;
use crate::family::Family;
use crate::process::ProcessId;
use crate::protocol::Protocol;
use crate::setup::{Setup, SetupError};

/// A service that is in the catalogue, on engines of the type `E`. What its methods mean is said at
/// [`Algorithm`].
pub trait Catalogued<E: Engine<Self::Message>>: Service {
    /// What it is for.
    type Family: Family<Input = Self::Command, Output = Self::Notice>;

    /// Its card.
    const CARD: Card;

    /// The processes of a group, before they start. `setup` already fits the card.
    fn assemble(setup: &Setup) -> Result<Vec<Served<Self, E>>, SetupError>;

    /// Whether the application at this process makes requests.
    fn takes_part(_process: &Served<Self, E>, _me: ProcessId) -> bool {
        true
    }

    /// Whether such a group goes on sending although nobody wants anything.
    fn is_restless(_processes: &[Served<Self, E>]) -> bool {
        Self::CARD.restless
    }

    /// What must always be true inside.
    fn invariants() -> &'static [Invariant<Served<Self, E>>] {
        &[]
    }

    /// Whether this invariant says anything about a group that is set up so.
    fn is_judged(_invariant: &Invariant<Served<Self, E>>, _setup: &Setup) -> bool {
        true
    }
}

impl<S: Catalogued<E>, E: Engine<S::Message>> Algorithm for Served<S, E> {
    type Family = S::Family;

    const CARD: Card = S::CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        S::assemble(setup)
    }

    fn kit(setup: &Setup) -> Kit<Self> {
        let invariants = S::invariants().iter().filter(|invariant| S::is_judged(invariant, setup));
        let (invariants, reductions) = (invariants.copied().collect(), Self::REDUCTIONS);
        Kit { card: S::CARD, replay: None, invariants, reductions }
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        S::takes_part(self, me)
    }

    fn is_restless(processes: &[Self]) -> bool {
        S::is_restless(processes)
    }

    fn invariants() -> &'static [Invariant<Self>] {
        S::invariants()
    }
}
