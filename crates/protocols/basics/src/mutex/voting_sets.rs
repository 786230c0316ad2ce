//! Voting sets: the few processes that a candidate asks instead of all (Maekawa, 1985).
//!
//! The set `V_i` of process `p_i` must fulfil four conditions:
//!
//! 1. `p_i` is in `V_i`;
//! 2. any two sets have a member in common, which then cannot vote for both owners;
//! 3. all sets have the same size `K`: every process does the same work;
//! 4. every process is in the same number `M` of sets: every process bears the same load. Counting
//!    memberships in two ways gives `N·K = N·M`, so `M = K`.
//!
//! Each constructor of [`VotingSets`] proves them, so every value fulfils them. For sets that the
//! user lists one by one, it compares every pair. All other sets are made from one *pattern*:
//! processes are numbered as the places of a torus of `rows × columns`, and `V_i` is the pattern
//! moved to place `i`. Two moved patterns meet if and only if the way from `i` to `j` is the way
//! between two places of the pattern. So it is enough that the ways inside the pattern reach every
//! place, which takes `K²` looks instead of `N²` intersections.
//!
//! Two sets meet only if `K(K − 1) + 1 ≥ N`, so `K` is about `√N` at best. Equality is reached by
//! the finite projective planes: N = 3, 7, 13, 21, 31 have K = 2, 3, 4, 5, 6.

mod ring;

use ring::{smallest_cover, wichmann_cover};
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// The name of the parameter that chooses the voting sets.
pub const PARAMETER: &str = "sets";

/// Up to this size the smallest pattern is searched for; above it one is constructed.
pub const SEARCHED_UP_TO: usize = 57;

/// Voting sets that fulfil all four conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VotingSets(Shape);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Pattern(Pattern),
    Explicit(Vec<ProcessSet>),
}

/// The condition that some given sets break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSets {
    /// There is not one set for each process.
    #[error("{sets} sets for {n} processes; give one for each, separated by |")]
    Count {
        /// The number of sets that were given.
        sets: usize,
        /// The number of processes.
        n: usize,
    },
    /// The first condition fails.
    #[error("{0} is not in its own set; every process votes for itself too")]
    WithoutOneself(ProcessId),
    /// The second condition fails.
    #[error("the sets of {0} and {1} have no member in common, so both could enter at once")]
    Disjoint(ProcessId, ProcessId),
    /// The third condition fails.
    #[error("the set of {process} has {size} members, that of p0 has {first}; all must be equal")]
    UnequalSize {
        /// The owner of the set.
        process: ProcessId,
        /// Its size.
        size: usize,
        /// The size of the first set.
        first: usize,
    },
    /// The fourth condition fails.
    #[error("{process} is in {sets} sets, but must be in {k}, as many as each set has members")]
    UnequalLoad {
        /// The process that bears more or less than the others.
        process: ProcessId,
        /// The number of sets that it is in.
        sets: usize,
        /// The number of sets that it must be in.
        k: usize,
    },
    /// A grid needs a square.
    #[error("{0} processes do not fill a square grid; use 'optimal', which fits every number")]
    NotSquare(usize),
}

impl VotingSets {
    /// Sets of the smallest size that one pattern on a ring can have, up to [`SEARCHED_UP_TO`]
    /// processes; above, of size about `1.23 √N`.
    pub fn optimal(n: usize) -> VotingSets {
        let marks = if n <= SEARCHED_UP_TO { smallest_cover(n) } else { wichmann_cover(n) };
        let places = marks.into_iter().map(|column| Place { row: 0, column }).collect();
        VotingSets::translated(Pattern { rows: 1, columns: n, places })
            .expect("the ways between the marks of a difference cover reach every place")
    }

    /// The processes in the same row or column of a square grid: size `2√N − 1`.
    pub fn grid(n: usize) -> Result<VotingSets, BadSets> {
        let side = n.isqrt();
        if side * side != n {
            return Err(BadSets::NotSquare(n));
        }
        let row = (0..side).map(|column| Place { row: 0, column });
        let column = (1..side).map(|row| Place { row, column: 0 });
        let places = row.chain(column).collect();
        VotingSets::translated(Pattern { rows: side, columns: side, places })
    }

    /// The sets given, if they are voting sets.
    pub fn explicit(sets: Vec<ProcessSet>, n: usize) -> Result<VotingSets, BadSets> {
        if sets.len() != n {
            return Err(BadSets::Count { sets: sets.len(), n });
        }
        each_has_its_own_process(&sets)?;
        each_two_meet(&sets)?;
        all_have_one_size(&sets)?;
        all_bear_one_load(&sets)?;
        Ok(VotingSets(Shape::Explicit(sets)))
    }

    fn translated(pattern: Pattern) -> Result<VotingSets, BadSets> {
        pattern.prove()?;
        Ok(VotingSets(Shape::Pattern(pattern)))
    }

    /// The sets that the parameter [`PARAMETER`] asks for: `optimal` (the default), `grid`, or one
    /// set for each process, as in `p0 p1 | p1 p2 | p2 p0`.
    pub fn from_setup(setup: &Setup) -> Result<VotingSets, SetupError> {
        let made = match setup.text(PARAMETER).map(str::trim) {
            None | Some("optimal") => Ok(VotingSets::optimal(setup.n)),
            Some("grid") => VotingSets::grid(setup.n),
            Some(listed) => {
                let sets = listed.split('|').map(|words| parse_set(setup, words));
                VotingSets::explicit(sets.collect::<Result<_, _>>()?, setup.n)
            }
        };
        made.map_err(|why| setup.bad(PARAMETER, why.to_string()))
    }

    /// The set of one process.
    pub fn of(&self, process: ProcessId) -> ProcessSet {
        match &self.0 {
            Shape::Pattern(pattern) => pattern.moved_to(process),
            Shape::Explicit(sets) => sets[process.index()].clone(),
        }
    }

    /// The size `K` of each set, which is also how many sets each process is in.
    pub fn k(&self) -> usize {
        match &self.0 {
            Shape::Pattern(pattern) => pattern.places.len(),
            Shape::Explicit(sets) => sets.first().map_or(0, ProcessSet::len),
        }
    }

    /// How many sets there are.
    pub fn n(&self) -> usize {
        match &self.0 {
            Shape::Pattern(pattern) => pattern.rows * pattern.columns,
            Shape::Explicit(sets) => sets.len(),
        }
    }
}

fn parse_set(setup: &Setup, words: &str) -> Result<ProcessSet, SetupError> {
    let names = words.split([' ', ',']).filter(|word| !word.is_empty());
    names.map(|word| setup.parse_process(PARAMETER, word)).collect()
}

fn each_has_its_own_process(sets: &[ProcessSet]) -> Result<(), BadSets> {
    let mut all = ProcessId::all(sets.len()).zip(sets);
    all.find(|(process, set)| !set.contains(*process))
        .map_or(Ok(()), |(process, _)| Err(BadSets::WithoutOneself(process)))
}

fn each_two_meet(sets: &[ProcessSet]) -> Result<(), BadSets> {
    for (i, first) in ProcessId::all(sets.len()).zip(sets) {
        for (j, second) in ProcessId::all(i.index()).zip(sets) {
            if !first.intersects(second) {
                return Err(BadSets::Disjoint(j, i));
            }
        }
    }
    Ok(())
}

fn all_have_one_size(sets: &[ProcessSet]) -> Result<(), BadSets> {
    let first = sets.first().map_or(0, ProcessSet::len);
    let mut sizes = ProcessId::all(sets.len()).zip(sets.iter().map(ProcessSet::len));
    sizes
        .find(|&(_, size)| size != first)
        .map_or(Ok(()), |(process, size)| Err(BadSets::UnequalSize { process, size, first }))
}

fn all_bear_one_load(sets: &[ProcessSet]) -> Result<(), BadSets> {
    let k = sets.first().map_or(0, ProcessSet::len);
    let mut loads = vec![0; sets.len()];
    for member in sets.iter().flat_map(ProcessSet::iter) {
        loads[member.index()] += 1;
    }
    ProcessId::all(sets.len())
        .zip(loads)
        .find(|&(_, load)| load != k)
        .map_or(Ok(()), |(process, sets)| Err(BadSets::UnequalLoad { process, sets, k }))
}

/// Some places of a torus. Process `p_i` lives in row `i / columns` and column `i % columns`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    rows: usize,
    columns: usize,
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    row: usize,
    column: usize,
}

impl Pattern {
    fn number(&self, place: Place) -> usize {
        place.row % self.rows * self.columns + place.column % self.columns
    }

    fn moved_to(&self, process: ProcessId) -> ProcessSet {
        let (row, column) = (process.index() / self.columns, process.index() % self.columns);
        let moved = |place: &Place| Place { row: place.row + row, column: place.column + column };
        self.places.iter().map(|place| ProcessId(self.number(moved(place)) as u32)).collect()
    }

    /// Proves the four conditions. Moved copies of one pattern have one size and one load as long
    /// as no place is named twice. It remains to prove that each has its own process, and that the
    /// ways between its places reach every place.
    fn prove(&self) -> Result<(), BadSets> {
        let first = ProcessId(0);
        let set = self.moved_to(first);
        assert_eq!(set.len(), self.places.len(), "a pattern names no place twice");
        if !set.contains(first) {
            return Err(BadSets::WithoutOneself(first));
        }
        let mut reached = vec![false; self.rows * self.columns];
        for from in &self.places {
            for to in &self.places {
                let row = to.row + self.rows - from.row;
                let column = to.column + self.columns - from.column;
                reached[self.number(Place { row, column })] = true;
            }
        }
        match reached.iter().position(|reached| !reached) {
            None => Ok(()),
            Some(apart) => Err(BadSets::Disjoint(first, ProcessId(apart as u32))),
        }
    }
}
