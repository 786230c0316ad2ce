//! The judge of several pools and groups.

use super::{Input, OWN, Output, Services, Tag};
use crate::family::slots::Landlord;
use crate::family::{Moment, Monitor, Violation};
use crate::group::Member;
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use std::collections::BTreeMap;

/// The judge of several pools and groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Landlords {
    /// The judge of a pool in which nothing has happened yet.
    fresh: Landlord,
    pools: BTreeMap<Tag, Landlord>,
    /// What was cast in each group, by node.
    casts: BTreeMap<(Tag, ProcessId, Vec<u8>), Casts>,
}

/// The casts of the same bytes by the same node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Casts {
    times: u32,
    /// How often each node has heard them.
    heard: BTreeMap<ProcessId, u32>,
}

impl Landlords {
    fn of(&mut self, tag: Tag) -> &mut Landlord {
        self.pools.entry(tag).or_insert_with(|| self.fresh.clone())
    }

    fn hear(
        &mut self,
        at: ProcessId,
        tag: Tag,
        from: Member,
        bytes: &[u8],
        found: &mut Vec<Violation>,
    ) {
        let casts = self.casts.get_mut(&(tag, from.node, bytes.to_vec()));
        let often = casts.map(|casts| {
            let heard = casts.heard.entry(at).or_default();
            *heard += 1;
            *heard > casts.times
        });
        let because = match often {
            None => format!("{at} hears in {tag} what {from} never cast there"),
            Some(true) => format!("{at} hears in {tag} more often than {from} cast it"),
            Some(false) => return,
        };
        found.push(Violation { property: OWN, at, because });
    }
}

impl Monitor for Landlords {
    type Family = Services;

    fn new(setup: &Setup, judged: &dyn Fn(&str) -> bool) -> Self {
        let (pools, casts) = Default::default();
        Landlords { fresh: Landlord::new(setup, judged), pools, casts }
    }

    fn on_input(
        &mut self,
        at: ProcessId,
        input: &Input,
        moment: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        match input {
            Input::Pool(tag, input) => self.of(*tag).on_input(at, input, moment, found),
            Input::Cast(tag, _, bytes) => {
                self.casts.entry((*tag, at, bytes.clone())).or_default().times += 1;
            }
            _ => {}
        }
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        moment: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        match output {
            Output::Pool(tag, output) => {
                let before = found.len();
                self.of(*tag).on_output(at, output, moment, found);
                for violation in &mut found[before..] {
                    violation.because = format!("in {tag}, {}", violation.because);
                }
            }
            Output::Closed(tag) => self.of(*tag).on_crash(at),
            Output::Heard(tag, from, bytes) => self.hear(at, *tag, *from, bytes, found),
            Output::Lost => self.on_crash(at),
            Output::View(..) | Output::Opened(_) | Output::Unknown(_) | Output::Full(_) => {}
        }
    }

    fn on_crash(&mut self, at: ProcessId) {
        self.pools.values_mut().for_each(|pool| pool.on_crash(at));
    }

    /// Messages between applications never change the use of a slot.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        let waiting = self.pools.values().map(|pool| pool.waiting(property));
        waiting.fold(ProcessSet::EMPTY, |mut all, some| {
            all.extend(some.iter());
            all
        })
    }

    fn complaint(&self, property: &str, at: ProcessId) -> String {
        let waits = |(_, pool): &(&Tag, &Landlord)| pool.waiting(property).contains(at);
        match self.pools.iter().find(waits) {
            Some((tag, pool)) => format!("in {tag} {}", pool.complaint(property, at)),
            None => "waits for nothing".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::slots::{self, PI1};
    use crate::group::Level;

    const P1: ProcessId = ProcessId(1);
    const P2: ProcessId = ProcessId(2);

    /// The properties that these outputs violate, one after the other.
    fn violated(inputs: &[(ProcessId, Input)], told: &[(ProcessId, Output)]) -> Vec<&'static str> {
        let mut monitor = Landlords::new(&Setup::new(3), &|_| true);
        let mut found = Vec::new();
        let moment = Moment { now_us: 0, clocks: &[] };
        for (at, input) in inputs {
            monitor.on_input(*at, input, moment, &mut found);
        }
        for (at, output) in told {
            monitor.on_output(*at, output, moment, &mut found);
        }
        found.into_iter().map(|violation| violation.property).collect()
    }

    #[test]
    fn a_slot_of_one_pool_is_another_than_the_slot_of_another_pool() {
        let claimed = |at, tag, count| {
            let token = slots::Token { epoch: 1, count };
            (at, Output::Pool(Tag(tag), slots::Output::Claimed(slots::SlotId(0), token)))
        };
        assert_eq!(violated(&[], &[claimed(P1, 0, 1), claimed(P2, 1, 2)]), [""; 0]);
        assert_eq!(violated(&[], &[claimed(P1, 0, 1), claimed(P2, 0, 2)]), [PI1]);
        let closed = (P1, Output::Closed(Tag(0)));
        assert_eq!(violated(&[], &[claimed(P1, 0, 1), closed, claimed(P2, 0, 2)]), [""; 0]);
    }

    #[test]
    fn a_group_hears_each_cast_once_and_nothing_else() {
        let cast = [(P1, Input::Cast(Tag(2), Level::Agreed, vec![7]))];
        let from = Member { node: P1, incarnation: 1 };
        let heard = |tag, byte| (P2, Output::Heard(Tag(tag), from, vec![byte]));
        assert_eq!(violated(&cast, &[heard(2, 7)]), [""; 0]);
        assert_eq!(violated(&cast, &[heard(3, 7)]), [OWN]);
        assert_eq!(violated(&cast, &[heard(2, 8)]), [OWN]);
        assert_eq!(violated(&cast, &[heard(2, 7), heard(2, 7)]), [OWN]);
    }
}
