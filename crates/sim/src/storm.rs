//! A storm: links are cut and healed piece by piece, processes crash and come back elsewhere, and
//! the next fault comes before the group has dealt with the last one. In the end all links are
//! mended, or each part is left alone.
//!
//! The faults of [`RandomFaults`](crate::faults::RandomFaults) are independent. Here each builds on
//! those before it: a part splits further, two of three parts merge, and a process that crashed in
//! one part starts again in another.

use crate::faults::Fault;
use crate::network::{Chance, below};
use crate::world::{Action, LinkChange};
use synod_core::{Data, ProcessId, ProcessSet};

/// The environment variable by which `cargo xtask soak` lets tests try more schedules.
pub const TIMES_AS_MANY: &str = "SYNOD_TIMES_AS_MANY_SCHEDULES";

/// The number of random schedules that a test tries: the usual number, or a multiple of it.
///
/// # Panics
///
/// If the environment variable [`TIMES_AS_MANY`] is set, but not to a number.
pub fn schedules(usual: u64) -> u64 {
    let times = std::env::var(TIMES_AS_MANY).map_or(1, |times| {
        times.parse().unwrap_or_else(|_| panic!("{TIMES_AS_MANY}={times} is no number"))
    });
    usual * times
}

/// The size of a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storm {
    /// Its beginning, in microseconds.
    pub from_us: u64,
    /// The number of moves: faults and repairs.
    pub moves: u32,
    /// The time until the group notices a silent member, in microseconds. Half of the moves come at
    /// once after the last one, so that they fall into the group's reaction to it; a quarter come
    /// within this time, and a quarter after it.
    pub notice_us: u64,
    /// The number of crashes and restarts among sixteen moves, half each. Above four they take the
    /// place of other moves.
    pub crashes: u32,
    /// Whether all links work in the end. Otherwise the parts stay apart as they are then.
    pub heals: bool,
}

/// The state of the storm so far.
struct Weather<'c> {
    chance: &'c mut Chance,
    /// The part that each process is in.
    part: Vec<u32>,
    down: ProcessSet,
    paused: ProcessSet,
    /// The links that work in one direction only, as they were cut together.
    one_way: Vec<Vec<(ProcessId, ProcessId)>>,
}

impl Storm {
    /// Draws the faults of one run. After the last of them no link works in one direction only, no
    /// process is paused, and two of three crashed processes are up again.
    pub fn draw<I: Data>(&self, n: usize, chance: &mut Chance) -> Vec<Fault<I>> {
        let (mut at_us, mut faults) = (self.from_us, Vec::new());
        let mut weather = Weather {
            chance,
            part: vec![0; n],
            down: ProcessSet::EMPTY,
            paused: ProcessSet::EMPTY,
            one_way: Vec::new(),
        };
        for _ in 0..self.moves {
            at_us += self.gap_us(weather.chance);
            faults.extend(
                weather.turn(self.crashes).into_iter().map(|(action, in_step_after)| Fault {
                    at_us,
                    action,
                    in_step_after,
                }),
            );
        }
        at_us += self.gap_us(weather.chance);
        faults.extend(weather.clear(self.heals).into_iter().map(|action| Fault::at(at_us, action)));
        faults
    }

    fn gap_us(&self, chance: &mut Chance) -> u64 {
        match below(chance, 4) {
            0 => self.notice_us + below(chance, 3 * self.notice_us + 1),
            1 => below(chance, self.notice_us + 1),
            _ => below(chance, self.notice_us / 16 + 1),
        }
    }
}

/// A fault; if it is a crash, perhaps in the middle of a step.
type Wrong<I> = (Action<I>, Option<u32>);

impl Weather<'_> {
    fn below(&mut self, among: usize) -> usize {
        below(self.chance, among as u64) as usize
    }

    fn someone(&mut self) -> ProcessId {
        ProcessId(self.below(self.part.len()) as u32)
    }

    /// A process of the set, if it is not empty.
    fn one_of(&mut self, among: &ProcessSet) -> Option<ProcessId> {
        let turn = self.below(among.len().max(1));
        among.iter().nth(turn)
    }

    /// The next fault or repair.
    fn turn<I: Data>(&mut self, crashes: u32) -> Vec<Wrong<I>> {
        let plain = |action: Option<Action<I>>| action.map(|a| (a, None)).into_iter().collect();
        let (turn, others) = (self.below(16), 16 - crashes as usize);
        match turn {
            _ if turn >= others && turn < others + crashes as usize / 2 => self.crash(),
            _ if turn >= others => self.restart(),
            0..4 => plain(Some(self.fall_apart())),
            4..7 => plain(Some(self.find_each_other())),
            7 => plain(Some(self.shuffle())),
            8 => self.cut(),
            9 => self.mend(),
            10 => plain(self.pause()),
            11 => plain(self.resume()),
            _ => plain(Some(self.fall_apart())),
        }
    }

    /// A part of some process's part splits off: partitions are nested.
    fn fall_apart<I>(&mut self) -> Action<I> {
        let whose = self.someone();
        let old = self.part[whose.index()];
        let new = self.part.iter().max().map_or(0, |last| last + 1);
        for index in 0..self.part.len() {
            if self.part[index] == old && (index == whose.index() || self.below(2) == 0) {
                self.part[index] = new;
            }
        }
        self.parts()
    }

    /// Two parts merge, and the others stay apart.
    fn find_each_other<I>(&mut self) -> Action<I> {
        let (one, other) = (self.someone(), self.someone());
        let (one, other) = (self.part[one.index()], self.part[other.index()]);
        self.part.iter_mut().filter(|part| **part == one).for_each(|part| *part = other);
        self.parts()
    }

    /// Every process moves to a random part.
    fn shuffle<I>(&mut self) -> Action<I> {
        let among = 1 + self.below(3);
        for index in 0..self.part.len() {
            self.part[index] = self.below(among) as u32;
        }
        self.parts()
    }

    fn parts<I>(&self) -> Action<I> {
        let last = self.part.iter().max().map_or(0, |last| last + 1);
        let members = |part: u32| {
            let all = ProcessId::all(self.part.len());
            all.filter(move |at| self.part[at.index()] == part).collect::<Vec<_>>()
        };
        let parts = (0..last).map(members).filter(|part| !part.is_empty()).collect();
        Action::Links(LinkChange::Partition(parts))
    }

    /// A process no longer hears another, but is still heard; or no other hears it, and it hears
    /// all.
    fn cut<I>(&mut self) -> Vec<Wrong<I>> {
        let (from, to, is_ghost) = (self.someone(), self.someone(), self.below(3) == 0);
        let all = ProcessId::all(self.part.len()).map(|to| (from, to));
        let links: Vec<_> = if is_ghost { all.collect() } else { vec![(from, to)] };
        self.one_way.push(links.clone());
        let cut = |(from, to)| (Action::Links(LinkChange::Cut { from, to }), None);
        links.into_iter().map(cut).collect()
    }

    fn mend<I>(&mut self) -> Vec<Wrong<I>> {
        let links = self.one_way.pop().unwrap_or_default();
        let mend = |(from, to)| (Action::Links(LinkChange::Mend { from, to }), None);
        links.into_iter().map(mend).collect()
    }

    fn pause<I>(&mut self) -> Option<Action<I>> {
        let at = self.someone();
        let stands = !self.down.contains(at) && self.paused.insert(at);
        stands.then_some(Action::Pause(at))
    }

    fn resume<I>(&mut self) -> Option<Action<I>> {
        let at = self.one_of(&self.paused.clone())?;
        self.paused.remove(at);
        Some(Action::Resume(at))
    }

    /// Every other crash comes in the middle of a step.
    fn crash<I>(&mut self) -> Vec<Wrong<I>> {
        let at = self.someone();
        if self.paused.contains(at) || !self.down.insert(at) {
            return Vec::new();
        }
        let in_step = self.below(2) == 0;
        let after = self.below(2 * self.part.len()) as u32;
        vec![(Action::Crash(at), in_step.then_some(after))]
    }

    /// Every other time a process starts again in another part.
    fn restart<I>(&mut self) -> Vec<Wrong<I>> {
        let Some(at) = self.one_of(&self.down.clone()) else { return Vec::new() };
        self.down.remove(at);
        let back = Action::Restart { at, disk: true };
        if self.below(2) == 0 {
            return vec![(back, None)];
        }
        let neighbour = self.someone();
        self.part[at.index()] = self.part[neighbour.index()];
        vec![(self.parts(), None), (back, None)]
    }

    /// The storm is over.
    fn clear<I>(&mut self, heals: bool) -> Vec<Action<I>> {
        let mut actions = vec![Action::Links(LinkChange::Heal)];
        if !heals {
            actions.push(self.parts());
        }
        actions.extend(self.paused.iter().map(Action::Resume));
        for at in self.down.clone().iter() {
            if self.below(3) > 0 {
                actions.push(Action::Restart { at, disk: true });
            }
        }
        actions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::chance;

    const STORM: Storm = Storm { from_us: 7, moves: 40, notice_us: 1_000, crashes: 4, heals: true };

    fn drawn(storm: Storm, seed: u64) -> Vec<Fault<u8>> {
        storm.draw(5, &mut chance(seed))
    }

    #[test]
    fn the_same_seed_draws_the_same_storm_and_another_seed_another() {
        assert_eq!(drawn(STORM, 1), drawn(STORM, 1));
        assert_ne!(drawn(STORM, 1), drawn(STORM, 2));
    }

    #[test]
    fn faults_are_in_order_of_time_and_begin_after_the_beginning() {
        let faults = drawn(STORM, 1);
        assert!(faults.is_sorted_by_key(|fault| fault.at_us));
        assert!(faults[0].at_us >= STORM.from_us);
    }

    #[test]
    fn after_a_storm_all_links_work_and_no_process_is_paused() {
        for seed in 0..100 {
            let faults = drawn(STORM, seed);
            let heals = |fault: &Fault<u8>| fault.action == Action::Links(LinkChange::Heal);
            let healed = faults.iter().rposition(heals).expect("links heal");
            let mut paused = ProcessSet::EMPTY;
            for (index, fault) in faults.iter().enumerate() {
                match fault.action {
                    Action::Pause(at) => assert!(paused.insert(at)),
                    Action::Resume(at) => assert!(paused.remove(at)),
                    Action::Links(_) => assert!(index <= healed),
                    _ => {}
                }
            }
            assert!(paused.is_empty(), "seed {seed}");
        }
    }

    #[test]
    fn a_storm_that_does_not_heal_leaves_clean_parts() {
        let faults = drawn(Storm { heals: false, ..STORM }, 1);
        let links = |fault: &Fault<u8>| matches!(fault.action, Action::Links(_));
        let last = faults.iter().rposition(links).expect("links fall apart");
        assert_eq!(faults[last - 1].action, Action::Links(LinkChange::Heal));
        assert!(matches!(faults[last].action, Action::Links(LinkChange::Partition(_))));
    }

    #[test]
    fn partitions_are_nested_and_heal_piece_by_piece() {
        let count = |fault: &Fault<u8>| match &fault.action {
            Action::Links(LinkChange::Partition(parts)) => Some(parts.len()),
            _ => None,
        };
        let steps: Vec<usize> = drawn(STORM, 3).iter().filter_map(count).collect();
        assert!(steps.windows(2).any(|pair| pair[0] >= 2 && pair[1] > pair[0]), "{steps:?}");
        assert!(steps.windows(2).any(|pair| pair[0] >= 3 && pair[1] == pair[0] - 1), "{steps:?}");
    }

    #[test]
    fn a_crashed_process_may_start_again_in_another_part_and_none_does_without_crashes() {
        let is_life =
            |fault: &Fault<u8>| matches!(fault.action, Action::Crash(_) | Action::Restart { .. });
        let moved = |pair: &[Fault<u8>]| {
            matches!(pair[0].action, Action::Links(LinkChange::Partition(_)))
                && matches!(pair[1].action, Action::Restart { .. })
                && pair[0].at_us == pair[1].at_us
        };
        assert!((0..10).any(|seed| drawn(STORM, seed).windows(2).any(moved)));
        let calm = Storm { crashes: 0, ..STORM };
        assert!(!drawn(calm, 1).iter().any(is_life));
    }
}
