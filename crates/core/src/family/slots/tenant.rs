//! The application above an allocator: it claims slots, uses each for a while, and gives it back.

use super::{Allocation, Input, Output, SlotId, Ticket, Token};
use crate::card::{Parameter, Rounds};
use crate::family::{Application, Moment};
use crate::process::ProcessId;
use crate::setup::Setup;

/// How long the claims of the application wait.
pub const WAIT: Parameter = Parameter {
    name: "wait",
    meaning: "how long the application's claims wait for a slot, in ms (default: 0: a claim is \
              answered at once)",
};
/// Whether the application cancels claims that wait.
pub const CANCELS: Parameter = Parameter {
    name: "cancels",
    meaning: "whether the application cancels some of its claims that wait: no (default) or yes",
};

/// The number of claims of an application that wait at a time.
const WAITING_AT_MOST: usize = 2;

/// An application that claims slots, uses each for a while, and gives it back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tenant {
    left: Rounds,
    /// The slots in use, oldest first.
    held: Vec<(SlotId, Token)>,
    /// Whether its member has been in a settled group since it started.
    inside: bool,
    /// Whether that group had slots to share: all nodes were there, or its member owned some. By
    /// itself the application claims only then; its user may let it claim sooner.
    served: bool,
    /// Its claims that wait, if they do.
    waits: Option<Waits>,
}

/// Claims that wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waits {
    wait_ms: u64,
    cancels: bool,
    /// The tickets of the claims that wait, oldest first.
    tickets: Vec<Ticket>,
}

impl Waits {
    fn from_setup(setup: &Setup) -> Option<Self> {
        let wait_ms = setup.number(WAIT.name, 0).ok().filter(|wait_ms| *wait_ms > 0)?;
        let cancels = setup.text(CANCELS.name) == Some("yes");
        Some(Waits { wait_ms, cancels, tickets: Vec::new() })
    }

    /// The next claim, if one more may wait. It takes the lowest ticket that is in no use.
    fn next(&self) -> Option<Input> {
        let free = |ticket: &Ticket| !self.tickets.contains(ticket);
        let ticket = (1..=WAITING_AT_MOST as u64).map(Ticket).find(free)?;
        Some(Input::ClaimWithin { ticket, wait_ms: self.wait_ms })
    }
}

impl Tenant {
    fn claim(&self) -> Option<Input> {
        match &self.waits {
            _ if !self.left.are_left() => None,
            None => Some(Input::Claim),
            Some(waits) => waits.next(),
        }
    }

    fn cancel(&self) -> Option<Input> {
        let waits = self.waits.as_ref().filter(|waits| waits.cancels)?;
        waits.tickets.last().copied().map(Input::Cancel)
    }

    fn answered(&mut self, ticket: Ticket) {
        if let Some(waits) = &mut self.waits {
            waits.tickets.retain(|other| *other != ticket);
        }
    }
}

impl Application for Tenant {
    type Family = Allocation;

    fn new(_me: ProcessId, setup: &Setup, rounds: Rounds) -> Self {
        let waits = Waits::from_setup(setup);
        Tenant { left: rounds, held: Vec::new(), inside: false, served: false, waits }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if let Some(claim) = self.claim().filter(|_| self.served) {
            offer(claim);
        }
        if let Some(&(slot, token)) = self.held.first() {
            offer(Input::Release(slot, token));
        }
        if let Some(cancel) = self.cancel() {
            offer(cancel);
        }
    }

    fn may_ask(&self, input: &Input) -> bool {
        match input {
            Input::Claim => self.inside && self.left.are_left(),
            Input::ClaimWithin { .. } => self.left.are_left(),
            Input::Release(slot, token) => self.held.first() == Some(&(*slot, *token)),
            Input::Cancel(_) => true,
            _ => false,
        }
    }

    fn on_input(&mut self, input: &Input) {
        match input {
            Input::Claim | Input::ClaimSlot(_) => self.left.use_one(),
            Input::ClaimWithin { ticket, .. } => {
                self.left.use_one();
                if let Some(waits) = &mut self.waits {
                    waits.tickets.push(*ticket);
                }
            }
            Input::Release(slot, token) => self.held.retain(|held| *held != (*slot, *token)),
            _ => {}
        }
    }

    fn on_output(&mut self, output: &Output, _moment: Moment<'_>) -> Option<Input> {
        match output {
            Output::Claimed(slot, token) => self.held.push((*slot, *token)),
            Output::Served { ticket, slot, token } => {
                self.held.push((*slot, *token));
                self.answered(*ticket);
            }
            Output::Unserved(ticket, _) => self.answered(*ticket),
            Output::Settled { owned, whole, .. } => {
                self.inside = true;
                // An application that will never claim need not remember.
                self.served |= self.left.are_left() && (*whole || *owned > 0);
            }
            // Claims that wait hold no slot, so they wait on.
            Output::Lost => self.evict(),
            _ => {}
        }
        None
    }

    fn on_crash(&mut self) {
        self.evict();
        if let Some(waits) = &mut self.waits {
            waits.tickets.clear();
        }
    }
}

impl Tenant {
    /// The membership is lost, and with it all slots.
    fn evict(&mut self) {
        self.held.clear();
        (self.inside, self.served) = (false, false);
    }
}
