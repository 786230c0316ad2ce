//! A service with a card, which makes it an algorithm on whichever engine.

use super::{Engine, Served, ServedTimer, Service};
use crate::algorithm::{Algorithm, Invariant};
use crate::card::Card;
use crate::family::Family;
use crate::process::ProcessId;
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

    /// Whether a timer stands for something that goes wrong.
    fn is_fault(_timer: &ServedTimer<Self::Timer, E::Timer>) -> bool {
        false
    }

    /// What must always be true inside.
    fn invariants() -> &'static [Invariant<Served<Self, E>>] {
        &[]
    }
}

impl<S: Catalogued<E>, E: Engine<S::Message>> Algorithm for Served<S, E> {
    type Family = S::Family;

    const CARD: Card = S::CARD;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        S::assemble(setup)
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        S::takes_part(self, me)
    }

    fn is_restless(processes: &[Self]) -> bool {
        S::is_restless(processes)
    }

    fn is_fault(timer: &Self::Timer) -> bool {
        S::is_fault(timer)
    }

    fn invariants() -> &'static [Invariant<Self>] {
        S::invariants()
    }
}
