//! Allocation of a pool of identical resources, the slots: ports, addresses, channels, process
//! slots.
//!
//! Every slot has one *owner*, who may use it and stop using it without asking any other member.
//! Ownership moves between members; use never does. Properties are those of SLOTS (π1 to π15).

mod monitor;
mod tenant;

pub use monitor::Landlord;
pub use tenant::{CANCELS, Tenant, WAIT};

use super::{Family, Mark, Pace, Property};
use crate::group::ViewId;
use crate::process::{ProcessId, ProcessSet};
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

/// The name of a claim that may wait. The application chooses it, and the answer bears it. A ticket
/// may be used again after its answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket(pub u64);

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A request of the application, or of an operator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// A claim of any slot.
    Claim,
    /// A claim of this slot.
    ClaimSlot(SlotId),
    /// A claim of any slot, which waits for one if none is free here. Claims that wait are served
    /// in order of arrival. Each ticket gets one answer, [`Output::Served`] or
    /// [`Output::Unserved`]; a ticket that waits already waits on.
    ClaimWithin {
        /// The name of the claim.
        ticket: Ticket,
        /// The time after which the claim is refused, in milliseconds; 0 for an answer at once.
        wait_ms: u64,
    },
    /// The claim with this ticket waits no longer. Without effect if it has its answer already.
    Cancel(Ticket),
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
    /// As many claims wait at this member as may.
    Full,
    /// The application has cancelled the claim.
    Cancelled,
}

impl Refusal {
    /// The reason in words.
    fn in_words(self) -> &'static str {
        match self {
            Refusal::Exhausted => "all are in use",
            Refusal::Starved => "none is within reach",
            Refusal::Denied => "it has all that it may",
            Refusal::Elsewhere => "that one is not here",
            Refusal::Outside => "it is outside",
            Refusal::Full => "too many wait",
            Refusal::Cancelled => "it was cancelled",
        }
    }
}

/// An output to the application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// The slot is yours.
    Claimed(SlotId, Token),
    /// The claim is refused.
    Refused(Refusal),
    /// The slot is yours: the answer to a claim that might wait.
    Served {
        /// The claim.
        ticket: Ticket,
        /// Its slot.
        slot: SlotId,
        /// The proof of the claim.
        token: Token,
    },
    /// The claim with this ticket is refused. At the end of its time, the reason is the one for
    /// which a claim would be refused now.
    Unserved(Ticket, Refusal),
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
/// Claims that wait are served in order of arrival.
pub const TURN: &str = "turn";
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
        Property {
            id: TURN,
            name: "in turn",
            statement: "the claims that wait at a member get slots in the order in which they were made",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[PI1];
    const LIVENESS: &'static [&'static str] = &[PI2, PI4, PI15];
    const SPECIAL: &'static [&'static str] = &[TURN];
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
        !matches!(input, Input::Claim | Input::ClaimWithin { .. } | Input::Cancel(_))
    }

    fn mark_of_input(input: &Input) -> Mark {
        match input {
            Input::Claim | Input::ClaimSlot(_) | Input::ClaimWithin { .. } => Mark::Ask,
            _ => Mark::None,
        }
    }

    fn mark_of_output(_at: ProcessId, output: &Output) -> Mark {
        match output {
            Output::Claimed(..) | Output::Served { .. } => Mark::Done,
            Output::Refused(_) | Output::Unserved(..) => Mark::Refused,
            _ => Mark::None,
        }
    }

    fn input_in_words(input: &Input) -> String {
        match input {
            Input::Claim => "claims".to_owned(),
            Input::ClaimSlot(slot) => format!("claims {slot}"),
            Input::ClaimWithin { ticket, wait_ms } => format!("claims {ticket} within {wait_ms}"),
            Input::Cancel(ticket) => format!("cancels {ticket}"),
            Input::Release(slot, token) => format!("releases {slot} {token}"),
            Input::CertifyDead(node) => format!("certifies {node} dead"),
            Input::Bootstrap => "bootstraps".to_owned(),
            Input::Leave => "leaves".to_owned(),
        }
    }

    fn output_in_words(output: &Output) -> String {
        match output {
            Output::Claimed(slot, token) => format!("gets {slot} {token}"),
            Output::Refused(why) => format!("gets none: {}", why.in_words()),
            Output::Served { ticket, slot, token } => format!("gets {slot} {token} for {ticket}"),
            Output::Unserved(ticket, why) => format!("gets none for {ticket}: {}", why.in_words()),
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
        let ticket = |word: &str| word.strip_prefix('t')?.parse().ok().map(Ticket);
        let node = |word: &str| word.strip_prefix('p')?.parse().ok().map(ProcessId);
        Some(match words {
            ["claims"] => Input::Claim,
            ["claims", name, "within", wait_ms] => {
                Input::ClaimWithin { ticket: ticket(name)?, wait_ms: wait_ms.parse().ok()? }
            }
            ["cancels", name] => Input::Cancel(ticket(name)?),
            ["claims", which] => Input::ClaimSlot(slot(which)?),
            ["releases", which, proof] => Input::Release(slot(which)?, token(proof)?),
            ["certifies", who, "dead"] => Input::CertifyDead(node(who)?),
            ["bootstraps"] => Input::Bootstrap,
            ["leaves"] => Input::Leave,
            _ => return None,
        })
    }

    const PHRASES: &'static [&'static str] = &[
        "claims",
        "claims s3",
        "claims t1 within 500",
        "cancels t1",
        "releases s3 1.2",
        "certifies p2 dead",
        "bootstraps",
        "leaves",
    ];
}
