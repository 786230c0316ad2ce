//! The facts about an algorithm that commands need, and the errors for unknown names.

use crate::words::nearest;
use anyhow::{Result, anyhow, bail};
use synod_core::{Algorithm, Card, Family, ProcessId, Setup, SetupError};
use synod_protocols::{Visit, entries, visit};
use synod_sim::Judged;

/// An algorithm, with all facts that do not depend on its type.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// Its card.
    pub(crate) card: Card,
    /// The name of its family.
    pub(crate) family: &'static str,
    /// The word for one fulfilled request.
    pub(crate) operation: &'static str,
    /// The properties of its family, by id.
    properties: Vec<&'static str>,
    /// The claims that can be judged: the properties of its family, then its own invariants.
    pub(crate) claims: Vec<Claim>,
}

/// A property of the family, or an invariant of the algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// `ME1`, or the name of an invariant.
    pub(crate) id: &'static str,
    /// One or two words.
    pub(crate) name: &'static str,
    /// The whole sentence.
    pub(crate) statement: &'static str,
    /// Whether the card promises it. Invariants always are.
    pub(crate) promised: bool,
}

impl About {
    /// The algorithm of that name or alias.
    pub(crate) fn find(name: &str) -> Result<About> {
        visit(name, Describe).ok_or_else(|| unknown(name))
    }

    /// One of its claims.
    pub(crate) fn claim(&self, id: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.id.eq_ignore_ascii_case(id))
    }

    /// Whether a group with this setup guarantees the claim. Invariants are always guaranteed.
    pub(crate) fn is_promised(&self, id: &str, setup: &Setup) -> bool {
        let of_family = self.properties.contains(&id);
        !of_family || self.card.promises_with(setup).contains(&id)
    }

    /// Fails if one of the ids is not known.
    pub(crate) fn knows(&self, ids: &[String]) -> Result<()> {
        match ids.iter().find(|id| self.claim(id).is_none()) {
            None => Ok(()),
            Some(id) => {
                let known: Vec<&str> = self.claims.iter().map(|claim| claim.id).collect();
                bail!("{} has no property '{id}'; it has: {}", self.card.name, known.join(", "))
            }
        }
    }

    /// The claims that are judged in such a group, and those that only a smaller group allows.
    pub(crate) fn judged(
        &self,
        judged: &Judged,
        setup: &Setup,
    ) -> Result<(Vec<Claim>, Vec<Claim>)> {
        let query = Query { judged, setup };
        let ids = visit(self.card.name, query).ok_or_else(|| unknown(self.card.name))?;
        let find = |ids: &[&str]| ids.iter().filter_map(|id| self.claim(id)).copied().collect();
        Ok((find(&ids.0), find(&ids.1)))
    }

    /// The processes of a group whose applications ask.
    pub(crate) fn takers(&self, setup: &Setup) -> Result<Vec<bool>> {
        let answer = visit(self.card.name, Takers(setup));
        Ok(answer.ok_or_else(|| unknown(self.card.name))??)
    }
}

/// The error for an unknown name, with similar names.
pub(crate) fn unknown(name: &str) -> anyhow::Error {
    let entries = entries();
    let names =
        entries.iter().flat_map(|entry| entry.card.aliases.iter().chain([&entry.card.name]));
    match nearest(name, names.copied()).as_slice() {
        [] => anyhow!("there is no algorithm '{name}'; 'synod list' shows all of them"),
        near => anyhow!(
            "there is no algorithm '{name}'; did you mean {}? ('synod list' shows all of them)",
            near.join(" or ")
        ),
    }
}

struct Describe;

impl Visit for Describe {
    type Answer = About;

    fn visit<A: Algorithm>(self) -> About {
        let properties = A::Family::PROPERTIES.iter().map(|property| Claim {
            id: property.id,
            name: property.name,
            statement: property.statement,
            promised: A::CARD.promises.contains(&property.id),
        });
        let invariants = A::invariants().iter().map(|invariant| Claim {
            id: invariant.name,
            name: "invariant",
            statement: invariant.statement,
            promised: true,
        });
        About {
            card: A::CARD,
            family: A::Family::NAME,
            operation: A::Family::OPERATION,
            properties: A::Family::PROPERTIES.iter().map(|property| property.id).collect(),
            claims: properties.chain(invariants).collect(),
        }
    }
}

struct Query<'q> {
    judged: &'q Judged,
    setup: &'q Setup,
}

impl Visit for Query<'_> {
    type Answer = (Vec<&'static str>, Vec<&'static str>);

    fn visit<A: Algorithm>(self) -> Self::Answer {
        let can = |id: &&'static str| A::Family::can_judge(id, self.setup.n);
        self.judged.ids::<A>(self.setup).into_iter().partition(can)
    }
}

struct Takers<'s>(&'s Setup);

impl Visit for Takers<'_> {
    type Answer = Result<Vec<bool>, SetupError>;

    fn visit<A: Algorithm>(self) -> Self::Answer {
        let processes = A::processes(self.0)?;
        let all = ProcessId::all(self.0.n);
        Ok(all.zip(&processes).map(|(at, process)| process.takes_part(at)).collect())
    }
}
