//! Allocation of a pool of identical resources, the slots: ports, addresses, channels, process
//! slots.
//!
//! Every slot has one *owner*, who may use it and stop using it without asking any other member.
//! Ownership moves between members; use never does. Properties are those of SLOTS (π1 to π15).

mod monitor;

pub use monitor::Landlord;

use super::{Application, Family, Mark, Moment, Pace, Property};
use crate::card::Rounds;
use crate::group::ViewId;
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The family of allocators.
#[derive(Clone, Copy, Debug)]
pub struct Allocation;

/// The number of a slot, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SlotId(pub u32);

impl fmt::Display for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

impl fmt::Debug for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Proof of a claim: the claims of one slot have growing tokens, even across members. So a resource
/// can refuse an earlier tenant, and a release that comes too late does no harm.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Token {
    /// The epoch of the view in which the slot was claimed.
    pub epoch: u64,
    /// The number of the claim: greater than all that its member knew.
    pub count: u64,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.count)
    }
}

/// A request of the application, or of an operator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// A claim of any slot.
    Claim,
    /// A claim of this slot.
    ClaimSlot(SlotId),
    /// The slot is no longer needed. Bears the token of its claim.
    Release(SlotId, Token),
    /// Operator: this node is dead, or shut out; its slots may be given to others.
    CertifyDead(ProcessId),
    /// Operator: the group has no other part; slots without an owner here are free.
    Bootstrap,
    /// Operator: leave the group, and give up all slots.
    Leave,
}

/// An operator's command about nodes that are not here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OperatorCommand {
    /// See [`Input::CertifyDead`].
    CertifyDead(ProcessId),
    /// See [`Input::Bootstrap`].
    Bootstrap,
}

impl From<OperatorCommand> for Input {
    fn from(command: OperatorCommand) -> Self {
        match command {
            OperatorCommand::CertifyDead(node) => Input::CertifyDead(node),
            OperatorCommand::Bootstrap => Input::Bootstrap,
        }
    }
}

/// The reason why a claim is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// No slot is free, as far as this member knows.
    Exhausted,
    /// There are free slots, but out of reach: with other members, with members that cannot be
    /// reached, or reserved.
    Starved,
    /// This member has its maximum of slots.
    Denied,
    /// The requested slot is not free here.
    Elsewhere,
    /// The member has not joined the group yet, or has left it.
    Outside,
}

/// An output to the application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// The slot is yours.
    Claimed(SlotId, Token),
    /// The claim is refused.
    Refused(Refusal),
    /// The slot is given back.
    Released(SlotId),
    /// The token is not that of the slot's last claim: no slot was released.
    Stale(SlotId),
    /// The member asks the others for this many slots: a donation cycle opens, or a take waits.
    Asks(u32),
    /// That request is over, and brought this many slots.
    Got(u32),
    /// A transaction of the membership is under way: no slot moves until it is over.
    Unsettled,
    /// The transaction is over: all members of the view agree.
    Settled {
        /// The view.
        view: ViewId,
        /// Its initialised members.
        members: ProcessSet,
        /// The number of slots that this member owns.
        owned: u32,
        /// The number of slots that no member here owns.
        absent: u32,
        /// Whether every node of the group is accounted for: here, or certified dead.
        whole: bool,
    },
    /// The view changed before every member delivered an operator's command, so this member did not
    /// carry it out.
    Void(OperatorCommand),
    /// Two parts of the group claim this slot; it is frozen. This must never happen.
    Alarm(SlotId),
    /// The membership is lost, and with it all claims.
    Lost,
}

/// No slot has two users.
pub const PI1: &str = "pi1";
/// No slot is lost.
pub const PI2: &str = "pi2";
/// Every request and every transaction ends.
pub const PI4: &str = "pi4";
/// Every part of the group goes on.
pub const PI15: &str = "pi15";
/// Tokens grow.
pub const FENCE: &str = "fence";

impl Family for Allocation {
    const NAME: &'static str = "allocation";
    const OPERATION: &'static str = "claim";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: PI1,
            name: "safe",
            statement: "no two members use the same slot, on any sides of a partition",
        },
        Property {
            id: PI2,
            name: "consistent",
            statement: "where every node is accounted for, every slot has an owner in the end",
        },
        Property {
            id: PI4,
            name: "live",
            statement: "every request and every transaction of the membership ends",
        },
        Property {
            id: PI15,
            name: "available",
            statement: "in the end every member serves claims, on every side of a partition",
        },
        Property {
            id: FENCE,
            name: "fencing",
            statement: "each claim of a slot gets a greater token than the claim before",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[PI1];
    const LIVENESS: &'static [&'static str] = &[PI2, PI4, PI15];
    const RUN_FOR_MS: u64 = 2_000;

    type Input = Input;
    type Output = Output;
    type Application = Tenant;
    type Monitor = Landlord;

    fn pace(input: &Input) -> Pace {
        match input {
            Input::Release(..) => Pace::Hold,
            _ => Pace::Think,
        }
    }

    fn is_order(input: &Input) -> bool {
        !matches!(input, Input::Claim)
    }

    fn mark_of_input(input: &Input) -> Mark {
        match input {
            Input::Claim | Input::ClaimSlot(_) => Mark::Ask,
            _ => Mark::None,
        }
    }

    fn mark_of_output(_at: ProcessId, output: &Output) -> Mark {
        match output {
            Output::Claimed(..) => Mark::Done,
            Output::Refused(_) => Mark::Refused,
            _ => Mark::None,
        }
    }

    fn input_in_words(input: &Input) -> String {
        match input {
            Input::Claim => "claims".to_owned(),
            Input::ClaimSlot(slot) => format!("claims {slot}"),
            Input::Release(slot, token) => format!("releases {slot} {token}"),
            Input::CertifyDead(node) => format!("certifies {node} dead"),
            Input::Bootstrap => "bootstraps".to_owned(),
            Input::Leave => "leaves".to_owned(),
        }
    }

    fn output_in_words(output: &Output) -> String {
        match output {
            Output::Claimed(slot, token) => format!("gets {slot} {token}"),
            Output::Refused(Refusal::Exhausted) => "gets none: all are in use".to_owned(),
            Output::Refused(Refusal::Starved) => "gets none: none is within reach".to_owned(),
            Output::Refused(Refusal::Denied) => "gets none: it has all that it may".to_owned(),
            Output::Refused(Refusal::Elsewhere) => "gets none: that one is not here".to_owned(),
            Output::Refused(Refusal::Outside) => "gets none: it is outside".to_owned(),
            Output::Released(slot) => format!("gave back {slot}"),
            Output::Stale(slot) => format!("did not have {slot} any more"),
            Output::Asks(count) => format!("asks for {count}"),
            Output::Got(count) => format!("got {count}"),
            Output::Unsettled => "is not settled".to_owned(),
            Output::Settled { view, members, owned, absent, whole } => {
                let members: Vec<_> = members.iter().map(|p| p.to_string()).collect();
                let missing = match (absent, whole) {
                    (0, _) => String::new(),
                    (absent, _) => format!(", {absent} absent"),
                };
                format!("settles in {view} with {}: owns {owned}{missing}", members.join(" "))
            }
            Output::Void(command) => {
                let command = Self::input_in_words(&Input::from(*command));
                format!("has not done '{command}': the view changed; say it again")
            }
            Output::Alarm(slot) => format!("freezes {slot}: claimed twice"),
            Output::Lost => "is out of the group".to_owned(),
        }
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        let slot = |word: &str| word.strip_prefix('s')?.parse().ok().map(SlotId);
        let token = |word: &str| {
            let (epoch, count) = word.split_once('.')?;
            Some(Token { epoch: epoch.parse().ok()?, count: count.parse().ok()? })
        };
        let node = |word: &str| word.strip_prefix('p')?.parse().ok().map(ProcessId);
        Some(match words {
            ["claims"] => Input::Claim,
            ["claims", which] => Input::ClaimSlot(slot(which)?),
            ["releases", which, proof] => Input::Release(slot(which)?, token(proof)?),
            ["certifies", who, "dead"] => Input::CertifyDead(node(who)?),
            ["bootstraps"] => Input::Bootstrap,
            ["leaves"] => Input::Leave,
            _ => return None,
        })
    }

    const PHRASES: &'static [&'static str] =
        &["claims", "claims s3", "releases s3 1.2", "certifies p2 dead", "bootstraps", "leaves"];
}

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
}

impl Application for Tenant {
    type Family = Allocation;

    fn new(_me: ProcessId, _setup: &Setup, rounds: Rounds) -> Self {
        Tenant { left: rounds, held: Vec::new(), inside: false, served: false }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if self.served && self.left.are_left() {
            offer(Input::Claim);
        }
        if let Some(&(slot, token)) = self.held.first() {
            offer(Input::Release(slot, token));
        }
    }

    fn may_ask(&self, input: &Input) -> bool {
        match input {
            Input::Claim => self.inside && self.left.are_left(),
            Input::Release(slot, token) => self.held.first() == Some(&(*slot, *token)),
            _ => false,
        }
    }

    fn on_input(&mut self, input: &Input) {
        match input {
            Input::Claim | Input::ClaimSlot(_) => self.left.use_one(),
            Input::Release(slot, token) => self.held.retain(|held| *held != (*slot, *token)),
            _ => {}
        }
    }

    fn on_output(&mut self, output: &Output, _moment: Moment<'_>) -> Option<Input> {
        match output {
            Output::Claimed(slot, token) => self.held.push((*slot, *token)),
            Output::Settled { owned, whole, .. } => {
                self.inside = true;
                // An application that will never claim need not remember.
                self.served |= self.left.are_left() && (*whole || *owned > 0);
            }
            Output::Lost => self.on_crash(),
            _ => {}
        }
        None
    }

    fn on_crash(&mut self) {
        self.held.clear();
        (self.inside, self.served) = (false, false);
    }
}
