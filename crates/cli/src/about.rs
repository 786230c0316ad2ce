//! The facts about an algorithm that commands need, and the errors for unknown names.

use crate::catalogue::{entries, which};
use crate::words::nearest;
use anyhow::{Result, anyhow, bail};
use synod_core::boxed::{VisitFamily, Which};
use synod_core::card::Size;
use synod_core::{Algorithm, Boxed, Card, Family, ProcessId, Setup, SetupError};
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

impl About {
    /// The algorithm of that name or alias.
    pub(crate) fn find(name: &str) -> Result<About> {
        let which = which(name).ok_or_else(|| unknown(name))?;
        which.visit_family(Describe(which)).ok_or_else(|| {
            anyhow!("'{name}' belongs to no family of synod_core::family; choose one for it")
        })
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
        let query = Query { judged, setup: setup.clone().running(self.which) };
        let ids = self.which.visit_family(query).ok_or_else(|| unknown(self.card.name))?;
        let find = |ids: &[&str]| ids.iter().filter_map(|id| self.claim(id)).copied().collect();
        Ok((find(&ids.0), find(&ids.1)))
    }

    /// The processes of a group whose applications ask.
    pub(crate) fn takers(&self, setup: &Setup) -> Result<Vec<bool>> {
        let answer = self.which.visit_family(Takers(setup.clone().running(self.which)));
        Ok(answer.ok_or_else(|| unknown(self.card.name))??)
    }

    /// The sizes in its formulas, for each of these group sizes that it allows.
    pub(crate) fn sizes(&self, groups: &'static [usize]) -> Vec<Size> {
        self.which.visit_family(SizesOf(self.which, groups)).unwrap_or_default()
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

struct Describe(Which);

impl VisitFamily for Describe {
    type Answer = About;

    fn visit<F: Family>(self) -> About {
        let card = *self.0.card();
        let properties = F::PROPERTIES.iter().map(|property| Claim {
            id: property.id,
            name: property.name,
            statement: property.statement,
            promised: card.promises.contains(&property.id),
        });
        let invariants = Boxed::<F>::all_invariants(&Setup::new(card.smallest).running(self.0));
        let invariants = invariants.iter().map(|invariant| Claim {
            id: invariant.name,
            name: "invariant",
            statement: invariant.statement,
            promised: true,
        });
        About {
            which: self.0,
            card,
            family: F::NAME,
            operation: F::OPERATION,
            properties: F::PROPERTIES.iter().map(|property| property.id).collect(),
            claims: properties.chain(invariants).collect(),
        }
    }
}

struct Query<'q> {
    judged: &'q Judged,
    setup: Setup,
}

impl VisitFamily for Query<'_> {
    type Answer = (Vec<&'static str>, Vec<&'static str>);

    fn visit<F: Family>(self) -> Self::Answer {
        let can = |id: &&'static str| F::can_judge(id, self.setup.n);
        self.judged.ids::<Boxed<F>>(&self.setup).into_iter().partition(can)
    }
}

struct Takers(Setup);

impl VisitFamily for Takers {
    type Answer = Result<Vec<bool>, SetupError>;

    fn visit<F: Family>(self) -> Self::Answer {
        let processes = Boxed::<F>::processes(&self.0)?;
        let all = ProcessId::all(self.0.n);
        Ok(all.zip(&processes).map(|(at, process)| process.takes_part(at)).collect())
    }
}

struct SizesOf(Which, &'static [usize]);

impl VisitFamily for SizesOf {
    type Answer = Vec<Size>;

    fn visit<F: Family>(self) -> Vec<Size> {
        let group = |n: &usize| {
            let processes = Boxed::<F>::processes(&Setup::new(*n).running(self.0)).ok()?;
            Some(Boxed::<F>::size(&processes))
        };
        self.1.iter().filter_map(group).collect()
    }
}
