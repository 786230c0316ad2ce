//! The parameters of a pool, fixed before it starts.

use super::ranges::Ranges;
use super::table::{Owner, SLOTS_AT_MOST, Table};
use super::waiting;
use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::family::slots::{CANCELS, WAIT};
use synod_core::group::Level;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// The rule set of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rules {
    /// A member with a surplus offers slots beforehand.
    Offers,
    /// The published donation scheme, with rules that hold.
    Repaired,
    /// The published rules to the letter.
    Paper,
}

/// The conclusion from the certain death of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Death {
    /// That life is over. The node's next lives may own slots.
    OfALife,
    /// The node is dead: a wrong conclusion, kept for the mutant in `mutants`.
    OfItsNode,
}

/// The free slots that a member does not need, while another has asked again in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Surplus {
    /// The member offers them.
    LetGo,
    /// It keeps them, up to its usual bound: a wrong rule, kept for the mutant in `mutants`.
    Kept,
}

/// The slots of members that cannot be reached: the two options of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unreachable {
    /// Option B. They may be in use elsewhere, so no member here uses them.
    Absent,
    /// Option A. Their owners are taken for dead, and the primary gets them: a wrong rule, kept for
    /// the mutant in `mutants`.
    Inherited,
}

/// What becomes of claims that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Waiting {
    /// They are served in order of arrival, and views do not touch them.
    InTurn,
    /// The last one is served first: a wrong rule, kept for the mutant in `mutants`.
    LastFirst,
    /// A view makes the member forget them: a wrong rule, kept for the mutant in `mutants`.
    Forgotten,
}

/// Parameters on which all members agree, but for `low`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// The rule set.
    pub rules: Rules,
    /// The number of slots (NR_SLOTS).
    pub slots: u32,
    /// This member's FREE_LOW: with fewer free slots it asks for more.
    pub low: u32,
    /// The number of slots that a new member asks for (MIN_OWNED).
    pub min: u32,
    /// The greatest number of slots that a member may use.
    pub cap: u32,
    /// The time for which a released slot rests, in milliseconds.
    pub cooldown_ms: u64,
    /// The number of claims that may wait at a member.
    pub queue: u32,
    /// The delivery level of multicasts.
    pub level: Level,
    /// All nodes of the group. An absent slot may be with any of them.
    pub configured: ProcessSet,
    /// Slots that only one member may use.
    pub reserved: Vec<(ProcessId, Ranges)>,
    /// Whether members own slots from the beginning of their first life.
    pub founded: bool,
    /// The conclusion from the certain death of a life.
    pub death: Death,
    /// Offers: the surplus of a member while another one is in need.
    pub surplus: Surplus,
    /// What becomes of claims that wait.
    pub waiting: Waiting,
    /// The slots of members that cannot be reached.
    pub unreachable: Unreachable,
}

/// The owners of slots when the group starts, if the setup names them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Beginning {
    /// The owner of each slot.
    pub table: Table,
    /// The number of slots that each member uses from the beginning.
    pub used: Vec<(ProcessId, u32)>,
}

/// Selects the rule set.
pub const RULES: Parameter = Parameter {
    name: "rules",
    meaning: "offers (default): what is to spare is offered beforehand; repaired: the published \
              donations, with rules that hold; paper: the published rules to the letter",
};
/// The size of the pool.
pub const SLOTS: Parameter =
    Parameter { name: "slots", meaning: "how many slots there are, e.g. 768 (default: 32)" };
/// The low mark.
pub const LOW: Parameter = Parameter {
    name: "low",
    meaning: "donations: a member with fewer free slots asks for more, for all members or for each, \
              e.g. 4 or 'p1:4 p2:8' (default: 2)",
};
pub(super) const LOW_BY_DEFAULT: u32 = 2;
/// The first request of a new member.
pub const MIN: Parameter =
    Parameter { name: "min", meaning: "donations: what a new member asks for (default: 2)" };
pub(super) const MIN_BY_DEFAULT: u32 = 2;
/// The cap.
pub const CAP: Parameter =
    Parameter { name: "cap", meaning: "how many slots a member may use at most (default: all)" };
/// The cool-down.
pub const COOLDOWN: Parameter = Parameter {
    name: "cooldown",
    meaning: "how long a released slot rests before it is used again, in ms (default: 0)",
};
/// Reservations.
pub const RESERVED: Parameter = Parameter {
    name: "reserved",
    meaning: "slots that only one member may use, e.g. 'p2:0-3 p4:7' (default: none)",
};
/// The level of multicasts.
pub const LEVEL: Parameter = Parameter {
    name: "level",
    meaning: "how sure multicasts must be before they are delivered: agreed (default) or safe",
};
/// The owners in the beginning.
pub const OWNED: Parameter = Parameter {
    name: "owned",
    meaning: "how many slots members own in the beginning, lowest first, e.g. 'p1:22 p2:6' (default: \
              nobody is initialised yet)",
};
/// The slots in use in the beginning.
pub const USED: Parameter = Parameter {
    name: "used",
    meaning: "how many of these are in use and stay so, e.g. 'p1:10' (default: none)",
};

impl Settings {
    /// Reads the settings from the parameters. `configured` are the nodes that may be members.
    pub fn from_setup(
        me: ProcessId,
        configured: ProcessSet,
        setup: &Setup,
    ) -> Result<Self, SetupError> {
        let rules = match setup.choice(RULES.name, &["offers", "repaired", "paper"])? {
            "offers" => Rules::Offers,
            "repaired" => Rules::Repaired,
            _ => Rules::Paper,
        };
        let level = match setup.choice(LEVEL.name, &["agreed", "safe"])? {
            "agreed" => Level::Agreed,
            _ => Level::Safe,
        };
        let slots = number(setup, SLOTS, 32)?;
        if slots == 0 || slots > SLOTS_AT_MOST {
            let why = format!("a pool has 1 to {SLOTS_AT_MOST} slots");
            return Err(setup.bad(SLOTS.name, why));
        }
        // The application reads these two, and cannot refuse them.
        setup.number(WAIT.name, 0)?;
        setup.choice(CANCELS.name, &["no", "yes"])?;
        Ok(Settings {
            rules,
            slots,
            low: low_of(me, &configured, setup)?,
            min: number(setup, MIN, MIN_BY_DEFAULT)?,
            cap: number(setup, CAP, u32::MAX)?,
            cooldown_ms: setup.number(COOLDOWN.name, 0)?,
            queue: number(setup, waiting::QUEUE, waiting::QUEUE_BY_DEFAULT)?,
            level,
            reserved: reserved(setup, &configured, slots)?,
            founded: setup.text(OWNED.name).is_some(),
            death: Death::OfALife,
            surplus: Surplus::LetGo,
            waiting: Waiting::InTurn,
            unreachable: Unreachable::Absent,
            configured,
        })
    }

    /// The slots that only `member` may use.
    pub fn reserved_for(&self, member: ProcessId) -> Option<&Ranges> {
        self.reserved.iter().find(|(who, _)| *who == member).map(|(_, slots)| slots)
    }
}

impl Beginning {
    /// Reads the owners from the parameters, if they name any.
    pub fn from_setup(settings: &Settings, setup: &Setup) -> Result<Option<Self>, SetupError> {
        let Some(owned) = each(setup, OWNED, &settings.configured)? else { return Ok(None) };
        let mut table = Table::absent(settings.slots);
        let mut first = 0u32;
        for (member, count) in owned {
            let count = whole(setup, OWNED, &count)?;
            let end = first.checked_add(count).filter(|end| *end <= settings.slots);
            let end = end.ok_or_else(|| setup.bad(OWNED.name, "more slots than there are"))?;
            table.give(&Ranges::span(first, end), Owner::Of(member));
            first = end;
        }
        let used = each(setup, USED, &settings.configured)?.unwrap_or_default();
        let used = used.into_iter().map(|(member, count)| {
            let count = whole(setup, USED, &count)?;
            if count > table.count(Owner::Of(member)) {
                return Err(setup.bad(USED.name, format!("{member} does not own so many")));
            }
            Ok((member, count))
        });
        let used = used.collect::<Result<_, _>>()?;
        Ok(Some(Beginning { table, used }))
    }
}

fn number(setup: &Setup, parameter: Parameter, default: u32) -> Result<u32, SetupError> {
    let given = setup.number(parameter.name, default.into())?;
    u32::try_from(given).map_err(|_| setup.bad(parameter.name, "not a number below 2^32"))
}

/// The low mark of a member: the same for all, or one for each that the parameter names.
fn low_of(me: ProcessId, members: &ProcessSet, setup: &Setup) -> Result<u32, SetupError> {
    if !setup.text(LOW.name).is_some_and(|text| text.contains(':')) {
        return number(setup, LOW, LOW_BY_DEFAULT);
    }
    let mut low = LOW_BY_DEFAULT;
    for (member, mark) in each(setup, LOW, members)?.unwrap_or_default() {
        let mark = whole(setup, LOW, &mark)?;
        if member == me {
            low = mark;
        }
    }
    Ok(low)
}

fn whole(setup: &Setup, parameter: Parameter, word: &str) -> Result<u32, SetupError> {
    word.parse().map_err(|_| setup.bad(parameter.name, format!("'{word}' is not a number")))
}

/// Reads `p1:this p2:that` as pairs of a member and its word.
fn each(
    setup: &Setup,
    parameter: Parameter,
    members: &ProcessSet,
) -> Result<Option<Vec<(ProcessId, String)>>, SetupError> {
    let Some(text) = setup.text(parameter.name) else { return Ok(None) };
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let said = words.map(|word| {
        let (who, what) = word.split_once(':').ok_or_else(|| {
            setup.bad(parameter.name, format!("'{word}' is not of the form p1:…"))
        })?;
        let who = setup.parse_process(parameter.name, who)?;
        if !members.contains(who) {
            return Err(setup.bad(parameter.name, format!("{who} is not a member")));
        }
        Ok((who, what.to_owned()))
    });
    said.collect::<Result<_, _>>().map(Some)
}

fn reserved(
    setup: &Setup,
    members: &ProcessSet,
    slots: u32,
) -> Result<Vec<(ProcessId, Ranges)>, SetupError> {
    let mut reserved: Vec<(ProcessId, Ranges)> = Vec::new();
    let mut taken = Ranges::EMPTY;
    for (who, which) in each(setup, RESERVED, members)?.unwrap_or_default() {
        let (first, last) = which.split_once('-').unwrap_or((&which, &which));
        let (first, last) = (whole(setup, RESERVED, first)?, whole(setup, RESERVED, last)?);
        if first > last || last >= slots {
            return Err(setup.bad(RESERVED.name, format!("'{which}' is no range of slots")));
        }
        let which = Ranges::span(first, last + 1);
        if !taken.intersection(&which).is_empty() {
            return Err(setup.bad(RESERVED.name, "a slot is reserved twice"));
        }
        taken.extend(&which);
        match reserved.iter_mut().find(|(other, _)| *other == who) {
            Some((_, more)) => more.extend(&which),
            None => reserved.push((who, which)),
        }
    }
    Ok(reserved)
}
