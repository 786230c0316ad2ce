//! What is fixed before a pool starts.

use super::ranges::Ranges;
use super::table::{Owner, SLOTS_AT_MOST, Table};
use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::group::Level;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// Which rules a pool goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rules {
    /// Whoever has slots to spare offers them.
    Offers,
    /// The published donation scheme, with rules that hold.
    Repaired,
    /// The published rules to the letter.
    Paper,
}

/// What the certain death of a life says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Death {
    /// That this life is over, and nothing of the lives after it.
    OfALife,
    /// That its node is dead: so it was believed once. See `mutants`.
    OfItsNode,
}

/// Numbers and names that all members agree on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// Which rules.
    pub rules: Rules,
    /// How many slots there are (NR_SLOTS).
    pub slots: u32,
    /// Whoever has fewer free ones asks for more (FREE_LOW).
    pub low: u32,
    /// What a new member asks for (MIN_OWNED).
    pub min: u32,
    /// How many slots a member may use at most.
    pub cap: u32,
    /// How long a released slot rests, in milliseconds.
    pub cooldown_ms: u64,
    /// How sure multicasts must be.
    pub level: Level,
    /// Every node that there is.
    pub configured: ProcessSet,
    /// Slots that only one member may use.
    pub reserved: Vec<(ProcessId, Ranges)>,
    /// Whether members in their first life own something from the beginning.
    pub founded: bool,
    /// What the certain death of a life is taken for.
    pub death: Death,
}

/// Who owns what when everything begins, if that is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Beginning {
    /// Who owns what.
    pub table: Table,
    /// How many of its slots a member uses from the beginning.
    pub used: Vec<(ProcessId, u32)>,
}

/// The rules.
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
    meaning: "donations: who has fewer free slots asks for more (default: 2)",
};
/// What a new member asks for.
pub const MIN: Parameter =
    Parameter { name: "min", meaning: "donations: what a new member asks for (default: 2)" };
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
/// Who owns what in the beginning.
pub const OWNED: Parameter = Parameter {
    name: "owned",
    meaning: "how many slots members own in the beginning, lowest first, e.g. 'p1:22 p2:6' (default: \
              nobody is initialised yet)",
};
/// What is in use in the beginning.
pub const USED: Parameter = Parameter {
    name: "used",
    meaning: "how many of these are in use and stay so, e.g. 'p1:10' (default: none)",
};

impl Settings {
    /// As the parameters want it. `configured` are the nodes that may be members.
    pub fn from_setup(configured: ProcessSet, setup: &Setup) -> Result<Self, SetupError> {
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
        Ok(Settings {
            rules,
            slots,
            low: number(setup, LOW, 2)?,
            min: number(setup, MIN, 2)?,
            cap: number(setup, CAP, u32::MAX)?,
            cooldown_ms: setup.number(COOLDOWN.name, 0)?,
            level,
            reserved: reserved(setup, &configured, slots)?,
            founded: setup.text(OWNED.name).is_some(),
            death: Death::OfALife,
            configured,
        })
    }

    /// The slots that only `member` may use.
    pub fn reserved_for(&self, member: ProcessId) -> Option<&Ranges> {
        self.reserved.iter().find(|(who, _)| *who == member).map(|(_, slots)| slots)
    }
}

impl Beginning {
    /// As the parameters want it, if they say anything.
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

fn whole(setup: &Setup, parameter: Parameter, word: &str) -> Result<u32, SetupError> {
    word.parse().map_err(|_| setup.bad(parameter.name, format!("'{word}' is not a number")))
}

/// `p1:this p2:that` as members and what is said of each.
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
