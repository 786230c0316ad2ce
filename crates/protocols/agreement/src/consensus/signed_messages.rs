//! The Byzantine generals with signed messages, SM(f) (Lamport, Shostak, Pease, 1982).
//!
//! A signed order cannot be changed: a traitor may keep a message for itself, but not alter it. So
//! each general signs an order and passes it on, and accepts in round r only an order that r
//! different generals have signed, the commander first. If at most f are traitors, then one of f +
//! 1 signers is loyal, and has told all others; so all loyal generals know the same orders in the
//! end. If there is just one, they obey it; if there are more, the commander is a traitor.
//!
//! - Assumes: synchronous rounds, reliable links; signatures that no process can forge; at most f
//!   traitors among N >= f + 2 (with fewer there are no two loyal generals to agree).
//! - Guarantees: termination, agreement, obedience; for N = 3 with one traitor, too, where oral
//!   messages fail.
//! - Cost: f + 1 rounds; (N − 1)² messages if all are loyal, N − 1 for f = 0; and fewer than twice
//!   as many if the commander is not, because the second order already shows that the commander is
//!   a traitor, and no third is passed on. A message has at most f + 1 signatures.
//! - State: at most two orders.
//!
//! `7:p0:p1` reads "7, signed by p0, and that signed by p1".
//!
//! Sources: L. Lamport, R. Shostak, M. Pease: The Byzantine generals problem. ACM TOPLAS 4(3),
//! 1982. That two orders suffice: D. Dolev, H. R. Strong: Authenticated algorithms for Byzantine
//! agreement. SIAM Journal on Computing 12(4), 1983.

mod card;

use super::rounds::{RoundBased, RoundOver};
use super::vote::all_differ;
use crate::seal::{Sealer, Signature};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use synod_core::byzantine::Corruptible;
use synod_core::family::consensus::{Input, Output, Value};
use synod_core::{Cx, ProcessId, ProcessSet, Protocol, Setup, SetupError, Wire};

pub use card::SignedGenerals;

/// An order, with the signatures of all generals that passed it on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Order {
    /// The ordered value.
    pub value: Value,
    /// The signatures, that of the commander first. Each covers the order and the names up to its
    /// own.
    pub signatures: Vec<(ProcessId, Signature)>,
}

impl Wire for Order {
    fn kind(&self) -> &'static str {
        if self.signatures.len() < 2 { "Order" } else { "Countersigned" }
    }
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value)?;
        self.signatures.iter().try_for_each(|(signer, _)| write!(f, ":{signer}"))
    }
}

impl Order {
    /// An order without signatures.
    fn new(value: Value) -> Order {
        Order { value, signatures: Vec::new() }
    }

    fn signers(&self) -> impl Iterator<Item = ProcessId> {
        self.signatures.iter().map(|(signer, _)| *signer)
    }

    /// The order with one more signature.
    fn signed(mut self, sealer: &Sealer) -> Order {
        let signers: Vec<ProcessId> = self.signers().chain([sealer.me()]).collect();
        let signature = sealer.sign(&(self.value, &signers));
        self.signatures.push((sealer.me(), signature));
        self
    }

    /// Whether all signatures are genuine.
    fn is_genuine(&self, sealer: &Sealer) -> bool {
        let signers: Vec<ProcessId> = self.signers().collect();
        self.signatures.iter().enumerate().all(|(place, (signer, signature))| {
            sealer.is_signed(*signer, &(self.value, &signers[..=place]), signature)
        })
    }
}

/// One general.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SignedMessages {
    sealer: Sealer,
    f: usize,
    commander: ProcessId,
    round: u32,
    /// The orders that the commander has certainly signed, at most two.
    orders: BTreeSet<Value>,
}

/// The largest number of orders to keep: two prove that the commander is a traitor.
const ENOUGH: usize = 2;

impl Protocol for SignedMessages {
    type Input = Input;
    type Output = Output;
    type Message = Order;
    type Timer = RoundOver;

    /// The commander gives its order, in the first round. The proposals of others do not matter.
    fn on_input(&mut self, Input::Propose(value): Input, cx: &mut Cx<'_, Self>) {
        if cx.me() == self.commander && self.round == 1 && self.orders.is_empty() {
            self.orders.insert(value);
            cx.multicast(Order::new(value).signed(&self.sealer));
        }
    }

    fn on_message(&mut self, from: ProcessId, order: Order, cx: &mut Cx<'_, Self>) {
        if let Err(why) = self.fits(from, &order, cx) {
            return cx.accuse(from, why);
        }
        if self.orders.len() == ENOUGH || self.orders.contains(&order.value) {
            return;
        }
        if !order.is_genuine(&self.sealer) {
            return cx.accuse(from, "forged a signature");
        }
        self.orders.insert(order.value);
        // The messages of a round come when it is over, so the one sent now belongs to the next.
        if self.round < self.rounds() {
            let signers: ProcessSet = order.signers().collect();
            let to = cx.others().filter(|other| !signers.contains(*other)).collect();
            cx.multicast_to(to, order.signed(&self.sealer));
        }
    }

    fn on_timer(&mut self, RoundOver(round): RoundOver, cx: &mut Cx<'_, Self>) {
        self.round = round + 1;
        if round == self.rounds() {
            let only = self.orders.first().filter(|_| self.orders.len() == 1);
            cx.output(Output::Decided(only.copied().into()));
        }
    }
}

impl SignedMessages {
    /// The generals of a group in which this one commands.
    pub fn generals(
        setup: &Setup,
        f: usize,
        commander: ProcessId,
    ) -> Result<Vec<Self>, SetupError> {
        let general =
            |sealer| SignedMessages { sealer, f, commander, round: 1, orders: BTreeSet::new() };
        Ok(Sealer::group(setup)?.into_iter().map(general).collect())
    }

    /// Checks that an honest process `from` can have sent this order in this round, if its
    /// signatures are genuine.
    fn fits(&self, from: ProcessId, order: &Order, cx: &Cx<'_, Self>) -> Result<(), &'static str> {
        let signers = &order.signatures;
        if signers.len() != self.round as usize {
            return Err("passes on an order with too many or too few signatures");
        }
        let (first, last) = (signers.first(), signers.last());
        if first.is_none_or(|(signer, _)| *signer != self.commander)
            || last.is_none_or(|(signer, _)| *signer != from)
        {
            return Err("passes on an order that is not signed by the commander and itself");
        }
        let signers: Vec<ProcessId> = order.signers().collect();
        let is_other = |signer: &ProcessId| cx.is_member(*signer) && *signer != cx.me();
        if !signers.iter().all(is_other) || !all_differ(&signers) {
            return Err("passes on an order that cannot have come this way");
        }
        Ok(())
    }
}

impl RoundBased for SignedMessages {
    fn rounds(&self) -> u32 {
        self.f as u32 + 1
    }

    fn at_most(&self) -> usize {
        ENOUGH
    }

    fn faults(&self) -> usize {
        self.f
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me == self.commander
    }
}

/// A commander may sign any order. A lieutenant's lie is found out: the signatures before its own
/// are under another order.
impl Corruptible for SignedMessages {
    fn lie(&self, order: &Order, value: Value) -> Option<Order> {
        let before = order.signatures.len().saturating_sub(1);
        let signatures = order.signatures[..before].to_vec();
        Some(Order { value, signatures }.signed(&self.sealer))
    }
}
