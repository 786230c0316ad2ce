//! SLOTS under measurement: the service itself, with its numbers shown.

use crate::policy::{Holding, Policy, Program};
use crate::settings::{Settings, Start};
use synod_core::{ProcessId, ProcessSet, Setup};
use synod_protocols::slots::Slots;
use synod_protocols::slots::message::{Body, Message};
use synod_protocols::slots::scheme::Scheme;

/// MIN_OWNED of the authors' simulation: the number of slots that a new member asks for.
const MIN: &str = "8";

/// No claim that waits is refused because others wait, too.
const QUEUE: &str = "1000000";

/// A group that goes by these rules.
pub(crate) fn group(settings: &Settings, rules: &str) -> Vec<Slots> {
    members(settings, Setup::new(settings.nodes).with("rules", rules))
}

/// A group that goes by the published rules, as the authors' public simulation reads them.
pub(crate) fn as_programmed(settings: &Settings) -> Vec<Slots> {
    members(settings, Setup::new(settings.nodes).with("rules", "paper").with("o2o3", "code"))
}

fn members(settings: &Settings, setup: Setup) -> Vec<Slots> {
    let (slots, low) = (settings.slots.to_string(), settings.low.to_string());
    let setup = setup.with("slots", &slots).with("low", &low).with("min", MIN);
    // As in the authors' program; `offers` has no such switch.
    let setup = setup.with("queue", QUEUE).with("asks", "claims");
    let setup = match settings.start {
        Start::Join { .. } => setup,
        Start::Together => setup.with("owned", &even(settings)),
    };
    let configured = ProcessSet::all(settings.nodes);
    let member = |me| Slots::from_setup(me, &configured, &setup).expect("the parameters are ours");
    ProcessId::all(settings.nodes).map(member).collect()
}

/// An even share for all members, in words.
fn even(settings: &Settings) -> String {
    let (share, left) =
        (settings.slots as usize / settings.nodes, settings.slots as usize % settings.nodes);
    let owned = |node| format!("p{node}:{}", share + usize::from(node < left));
    (0..settings.nodes).map(owned).collect::<Vec<_>>().join(" ")
}

impl Policy for Slots {
    fn program(&self) -> Program {
        Program { ends_first: false, counts_passes: !matches!(self.scheme(), Scheme::Offers(_)) }
    }

    fn requests(&self) -> u32 {
        match self.scheme() {
            Scheme::Donation(_) | Scheme::Published(_) => 1,
            Scheme::Offers(_) => 0,
        }
    }

    fn keeps(&self) -> u32 {
        match self.scheme() {
            Scheme::Donation(_) | Scheme::Published(_) => self.state().settings.low,
            Scheme::Offers(_) => 0,
        }
    }

    #[inline]
    fn holding(&self) -> Holding {
        let pool = &self.state().pool;
        Holding { used: pool.used(), free: pool.free(), pledged: pool.pledged() }
    }

    fn agrees(&self, other: &Self) -> bool {
        self.state().table == other.state().table
    }

    #[inline]
    fn answers(message: &Message, sender: ProcessId, me: ProcessId) -> bool {
        match &message.body {
            Body::Donate { to, .. } => *to == me,
            Body::Take { .. } => sender == me,
            _ => false,
        }
    }
}
