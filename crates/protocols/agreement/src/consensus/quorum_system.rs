//! Which acceptors are a quorum: of the first phase, to prepare, and of the second, to accept.
//!
//! Paxos needs one thing of its quorums: **each that prepares meets each that accepts**. Then a
//! later ballot hears of every value that may have been chosen. A majority does it, and so do
//! others:
//!
//! - *flexible*: any p that prepare and any a that accept, with p + a > N. Few accept, often; many
//!   prepare, seldom.
//! - *weighted*: acceptors with votes of different weight, and more than half of the weight.
//! - *grid*: acceptors in rows and columns. A full row prepares and a full column accepts: √N each.
//!
//! Two quorums that accept need not meet, because a ballot has one value.
//!
//! Sources: D. K. Gifford: Weighted voting for replicated data. SOSP 1979. S. Y. Cheung, M. H.
//! Ammar, M. Ahamad: The grid protocol. ICDE 1990. H. Howard, D. Malkhi, A. Spiegelman: Flexible
//! Paxos: quorum intersection revisited. OPODIS 2016.

use super::quorum::majority;
use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// The parameter that chooses the acceptors.
pub(super) const ACCEPTORS: Parameter = Parameter {
    name: "acceptors",
    meaning: "the processes that promise and vote, e.g. p2 p3 p4; proposers may be others (default: \
              all)",
};

/// The parameter that chooses the quorums.
pub(super) const QUORUMS: Parameter = Parameter {
    name: "quorums",
    meaning: "majority, flexible P A (any P acceptors prepare, any A accept, P + A more than all), \
              weighted W W … (more than half of the weight), or grid RxC (a row prepares, a column \
              accepts) (default: majority)",
};

/// The acceptors of a group and their quorums.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct QuorumSystem {
    acceptors: ProcessSet,
    kind: Kind,
}

/// The rule by which acceptors are a quorum.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Kind {
    /// So many prepare, and so many accept.
    Sizes { prepare: usize, accept: usize },
    /// The weight of each acceptor, in their order; more than half of the sum is a quorum.
    Weighted(Vec<u64>),
    /// Acceptors in rows of this length.
    Grid { columns: usize },
}

impl QuorumSystem {
    /// The quorums of the setup. If they `meet`, as they must, settings by which they need not are
    /// refused; otherwise the default is one acceptor short of that.
    pub(super) fn from_setup(setup: &Setup, meet: bool) -> Result<Self, SetupError> {
        let named = setup.processes(ACCEPTORS.name)?.map(|named| named.into_iter().collect());
        let acceptors: ProcessSet = named.unwrap_or_else(|| ProcessSet::all(setup.n));
        if acceptors.is_empty() {
            return Err(setup.bad(ACCEPTORS.name, "name one acceptor at least"));
        }
        let all = acceptors.len();
        let text = setup.text(QUORUMS.name).unwrap_or("majority");
        let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let kind = match (words.first().copied(), &words[1.min(words.len())..]) {
            (Some("majority"), []) => {
                let prepare = majority(all);
                let accept = if meet { prepare } else { (all - prepare).max(1) };
                Ok(Kind::Sizes { prepare, accept })
            }
            (Some("flexible"), sizes) => flexible(sizes, all, meet),
            (Some("weighted"), weights) => weighted(weights, all),
            (Some("grid"), [shape]) => grid(shape, all),
            _ => Err("it is majority, flexible 3 1, weighted 2 1 1 or grid 2x3".to_owned()),
        };
        let kind = kind.map_err(|why| setup.bad(QUORUMS.name, why))?;
        Ok(QuorumSystem { acceptors, kind })
    }

    /// The acceptors.
    pub fn acceptors(&self) -> &ProcessSet {
        &self.acceptors
    }

    /// Whether this process is an acceptor.
    pub fn has(&self, process: ProcessId) -> bool {
        self.acceptors.contains(process)
    }

    /// Whether promises of these acceptors are enough to propose a value.
    pub fn can_prepare(&self, those: &ProcessSet) -> bool {
        match &self.kind {
            Kind::Sizes { prepare, .. } => those.len() >= *prepare,
            Kind::Weighted(weights) => self.outweigh(those, weights),
            Kind::Grid { columns } => {
                let places = self.places(those);
                let rows = self.acceptors.len() / columns;
                (0..rows)
                    .any(|row| places.iter().filter(|p| *p / columns == row).count() == *columns)
            }
        }
    }

    /// Whether votes of these acceptors choose a value.
    pub fn can_accept(&self, those: &ProcessSet) -> bool {
        match &self.kind {
            Kind::Sizes { accept, .. } => those.len() >= *accept,
            Kind::Weighted(weights) => self.outweigh(those, weights),
            Kind::Grid { columns } => {
                let places = self.places(those);
                let rows = self.acceptors.len() / columns;
                (0..*columns).any(|c| places.iter().filter(|p| *p % columns == c).count() == rows)
            }
        }
    }

    /// The places of these among all acceptors, from 0.
    fn places(&self, those: &ProcessSet) -> Vec<usize> {
        let numbered = self.acceptors.iter().enumerate();
        numbered.filter(|(_, acceptor)| those.contains(*acceptor)).map(|(place, _)| place).collect()
    }

    fn outweigh(&self, those: &ProcessSet, weights: &[u64]) -> bool {
        let weight: u64 = self.places(those).into_iter().map(|place| weights[place]).sum();
        2 * weight > weights.iter().sum()
    }
}

/// The words as numbers.
fn numbers(words: &[&str]) -> Result<Vec<u64>, String> {
    let number = |word: &&str| match word.parse::<u32>() {
        Ok(number) => Ok(u64::from(number)),
        Err(_) => Err(format!("'{word}' is not a whole number")),
    };
    words.iter().map(number).collect()
}

fn flexible(sizes: &[&str], all: usize, meet: bool) -> Result<Kind, String> {
    let sizes = numbers(sizes)?;
    let &[prepare, accept] = &sizes[..] else {
        return Err("flexible quorums have two sizes, e.g. flexible 3 1".to_owned());
    };
    let (prepare, accept) = (prepare as usize, accept as usize);
    if !(1..=all).contains(&prepare) || !(1..=all).contains(&accept) {
        return Err(format!("a quorum has 1 to {all} of the {all} acceptors"));
    }
    if meet && prepare + accept <= all {
        let needed = all + 1 - prepare;
        return Err(format!(
            "{prepare} that prepare and {accept} that accept among {all} may have no acceptor in \
             common; let {needed} accept"
        ));
    }
    Ok(Kind::Sizes { prepare, accept })
}

fn weighted(weights: &[&str], all: usize) -> Result<Kind, String> {
    let weights = numbers(weights)?;
    if weights.len() != all {
        return Err(format!("{} weights for {all} acceptors", weights.len()));
    }
    match weights.iter().sum::<u64>() {
        0 => Err("give one acceptor at least a weight".to_owned()),
        _ => Ok(Kind::Weighted(weights)),
    }
}

fn grid(shape: &str, all: usize) -> Result<Kind, String> {
    let sides: Vec<&str> = shape.split('x').collect();
    match numbers(&sides)?[..] {
        [rows, columns] if rows * columns == all as u64 => {
            Ok(Kind::Grid { columns: columns as usize })
        }
        [_, _] => Err(format!("a grid has as many places as there are acceptors, {all}")),
        _ => Err("a grid has rows and columns, e.g. grid 2x3".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(n: usize, quorums: &str) -> Result<QuorumSystem, SetupError> {
        QuorumSystem::from_setup(&Setup::new(n).with("quorums", quorums), true)
    }

    fn sets(n: usize) -> impl Iterator<Item = ProcessSet> + Clone {
        let set = move |bits: u32| ProcessId::all(n).filter(|p| bits & 1 << p.0 != 0).collect();
        (0..1_u32 << n).map(set)
    }

    /// Whether each set that prepares meets each that accepts, looked at one by one.
    fn meet(n: usize, system: &QuorumSystem) -> bool {
        let preparing = sets(n).filter(|set| system.can_prepare(set));
        let mut accepting = sets(n).filter(|set| system.can_accept(set));
        let meets = |a: &ProcessSet, b: &ProcessSet| a.iter().any(|process| b.contains(process));
        let preparing: Vec<ProcessSet> = preparing.collect();
        accepting.all(|accepts| preparing.iter().all(|prepares| meets(prepares, &accepts)))
    }

    #[test]
    fn each_quorum_that_prepares_meets_each_that_accepts() {
        for (n, quorums) in [
            (4, "majority"),
            (5, "majority"),
            (4, "flexible 4 1"),
            (5, "flexible 4 2"),
            (3, "weighted 2 1 1"),
            (5, "weighted 3 2 2 1 0"),
            (4, "grid 2x2"),
            (6, "grid 2x3"),
            (6, "grid 3x2"),
        ] {
            let system = system(n, quorums).expect("it is accepted");
            assert!(meet(n, &system), "{n} {quorums}");
            assert!(sets(n).any(|set| system.can_prepare(&set) && set.len() < n) || n == 4);
        }
    }

    #[test]
    fn flexible_sizes_are_accepted_just_if_all_quorums_of_these_sizes_meet() {
        for n in 1..=5 {
            for (p, a) in (1..=n).flat_map(|p| (1..=n).map(move |a| (p, a))) {
                let quorums = format!("flexible {p} {a}");
                let setup = Setup::new(n).with("quorums", &quorums);
                let any = QuorumSystem::from_setup(&setup, false).expect("any sizes");
                assert_eq!(system(n, &quorums).is_ok(), meet(n, &any), "{n} {quorums}");
            }
        }
    }

    #[test]
    fn a_row_prepares_and_a_column_accepts() {
        let system = system(6, "grid 2x3").expect("rows p0 p1 p2 and p3 p4 p5");
        let set = |those: &[u32]| those.iter().copied().map(ProcessId).collect::<ProcessSet>();
        assert!(system.can_prepare(&set(&[3, 4, 5])) && !system.can_prepare(&set(&[0, 1, 4, 5])));
        assert!(system.can_accept(&set(&[1, 4])) && !system.can_accept(&set(&[0, 1, 2])));
    }

    #[test]
    fn a_weight_of_more_than_half_is_a_quorum() {
        let system = system(4, "weighted 3 1 1 1").expect("weights");
        let set = |those: &[u32]| those.iter().copied().map(ProcessId).collect::<ProcessSet>();
        assert!(system.can_accept(&set(&[0, 1])) && !system.can_accept(&set(&[1, 2, 3])));
    }

    #[test]
    fn acceptors_apart_from_proposers_are_counted_alone() {
        let setup = Setup::new(5).with("acceptors", "p2 p3 p4").with("quorums", "weighted 0 1 0");
        let system = QuorumSystem::from_setup(&setup, true).expect("the weight is p3's");
        assert!(system.can_accept(&[ProcessId(3)].into_iter().collect()));
        assert!(!system.can_accept(&[ProcessId(2), ProcessId(4)].into_iter().collect()));
    }

    #[test]
    fn quorums_that_make_no_sense_are_refused_with_what_would_do() {
        let why = |quorums| system(4, quorums).expect_err("it is refused").to_string();
        assert!(why("flexible 3 1").ends_with("let 2 accept"));
        assert!(why("flexible 5 1").ends_with("1 to 4 of the 4 acceptors"));
        assert!(why("flexible 5").ends_with("e.g. flexible 3 1"));
        assert!(why("weighted 1 1").ends_with("2 weights for 4 acceptors"));
        assert!(why("weighted 0 0 0 0").ends_with("at least a weight"));
        assert!(why("weighted 1 1 1 x").ends_with("'x' is not a whole number"));
        assert!(why("grid 3x2").ends_with("as there are acceptors, 4"));
        assert!(why("grid 4").ends_with("e.g. grid 2x3"));
        assert!(why("all").contains("it is majority"));
    }
}
