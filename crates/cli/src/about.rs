//! The facts about an algorithm that commands need, and the errors for unknown names.

use crate::catalogue::{entries, which};
use crate::words::nearest;
use anyhow::{Result, anyhow, bail};
use synod_core::boxed::Which;
use synod_core::card::{Counterexample, Size};
use synod_core::{Algorithm, Boxed, Card, ProcessId, Setup};
use synod_sim::Judged;

/// An algorithm, with all facts that do not depend on its type.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// The algorithm itself, for drivers.
    which: Which,
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

impl Claim {
    /// `ME1 safety`; the name alone, if the id is one of its words: `agreement`, `total order`.
    pub(crate) fn title(&self) -> String {
        match self.name.split(' ').any(|word| word.eq_ignore_ascii_case(self.id)) {
            true => self.name.to_owned(),
            false => format!("{} {}", self.id, self.name),
        }
    }

    /// `ME1 safety: at most one process is in the critical section at any time`.
    pub(crate) fn sentence(&self) -> String {
        format!("{}: {}", self.title(), self.statement)
    }
}

impl About {
    /// The algorithm of that name or alias.
    pub(crate) fn find(name: &str) -> Result<About> {
        let which = which(name).ok_or_else(|| unknown(name))?;
        Ok(About::of(which))
    }

    fn of(which: Which) -> About {
        let card = *which.card();
        let setup = Setup::new(card.smallest).running(which);
        let family = Boxed::kit(&setup).family;
        let properties = family.properties.iter().map(|property| Claim {
            id: property.id,
            name: property.name,
            statement: property.statement,
            promised: card.promises.contains(&property.id),
        });
        let invariants = Boxed::all_invariants(&setup);
        let invariants = invariants.iter().map(|invariant| Claim {
            id: invariant.name,
            name: "invariant",
            statement: invariant.statement,
            promised: true,
        });
        About {
            which,
            card,
            family: family.name,
            operation: family.operation,
            properties: family.properties.iter().map(|property| property.id).collect(),
            claims: properties.chain(invariants).collect(),
        }
    }

    /// One of its claims.
    pub(crate) fn claim(&self, id: &str) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.id.eq_ignore_ascii_case(id))
    }

    /// The claims with a counterexample on the card that neither its promises nor its change tell.
    pub(crate) fn unexplained(&self) -> impl Iterator<Item = &Claim> {
        let told = |claim: &Claim| {
            claim.promised || self.card.mutant.is_some_and(|mutant| mutant.breaks == claim.id)
        };
        self.claims.iter().filter(move |claim| {
            let shown = |known: &Counterexample| known.property == claim.id;
            !told(claim) && self.card.counterexamples.iter().any(shown)
        })
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
    pub(crate) fn judged(&self, judged: &Judged, setup: &Setup) -> (Vec<Claim>, Vec<Claim>) {
        let setup = setup.clone().running(self.which);
        let can_judge = Boxed::kit(&setup).family.can_judge;
        let ids = judged.ids::<Boxed>(&setup);
        let (ids, too_large) = ids.into_iter().partition(|id| can_judge(id, setup.n));
        let find = |ids: Vec<&str>| ids.iter().filter_map(|id| self.claim(id)).copied().collect();
        (find(ids), find(too_large))
    }

    /// The processes of a group whose applications ask.
    pub(crate) fn takers(&self, setup: &Setup) -> Result<Vec<bool>> {
        let processes = Boxed::processes(&setup.clone().running(self.which))?;
        let all = ProcessId::all(setup.n);
        Ok(all.zip(&processes).map(|(at, process)| process.takes_part(at)).collect())
    }

    /// The sizes in its formulas, for each of these group sizes that it allows.
    pub(crate) fn sizes(&self, groups: &'static [usize]) -> Vec<Size> {
        let group = |n: &usize| {
            let processes = Boxed::processes(&Setup::new(*n).running(self.which)).ok()?;
            Some(Boxed::size(&processes))
        };
        groups.iter().filter_map(group).collect()
    }
}

/// The error for an unknown name, with similar names.
pub(crate) fn unknown(name: &str) -> anyhow::Error {
    let entries = entries();
    let names =
        entries.iter().flat_map(|entry| entry.card.aliases.iter().chain([&entry.card.name]));
    match nearest(&name.to_lowercase(), names.copied()).as_slice() {
        [] => anyhow!("there is no algorithm '{name}'; 'synod list' shows all of them"),
        near => anyhow!(
            "there is no algorithm '{name}'; did you mean {}? ('synod list' shows all of them)",
            near.join(" or ")
        ),
    }
}
