//! A log beside a list, through every fault that can happen to it.

use crate::disk::{self, Disk};
use crate::open_all;
use proptest::prelude::*;
use std::io::ErrorKind;
use synod_wal::{Durability, Log, Settings, TornTail};

/// The next operation or fault.
#[derive(Clone, Debug)]
enum Deed {
    Append(Vec<u8>),
    Sync,
    /// A checkpoint that needs this many records before it.
    Checkpoint(Vec<u8>, usize),
    /// The process is killed: what it gave to the kernel is there.
    Kill,
    /// The machine loses power while these records are synced, after `after` syncs, or while the
    /// first is made a checkpoint. Any unsynced bytes may survive; the numbers decide.
    LosePower {
        records: Vec<Vec<u8>>,
        checkpoint: Option<usize>,
        after: u32,
        numbers: Vec<usize>,
    },
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let keep = || prop_oneof![Just(0), 0..40_usize];
    let content = || prop::collection::vec(any::<u8>(), 0..200);
    let lose_power = (
        prop::collection::vec(content(), 1..6),
        prop::option::weighted(0.3, keep()),
        0..4_u32,
        prop::collection::vec(any::<usize>(), 1..16),
    );
    let deed = prop_oneof![
        6 => content().prop_map(Deed::Append),
        3 => Just(Deed::Sync),
        1 => (content(), keep()).prop_map(|(content, keep)| Deed::Checkpoint(content, keep)),
        1 => Just(Deed::Kill),
        2 => lose_power.prop_map(|(records, checkpoint, after, numbers)| {
            Deed::LosePower { records, checkpoint, after, numbers }
        }),
    ];
    prop::collection::vec(deed, 1..40)
}

/// All records since the last checkpoint, and the number that must survive.
#[derive(Debug, Default)]
struct Model {
    records: Vec<(u64, Vec<u8>)>,
    from_checkpoint: bool,
    safe: usize,
    /// A checkpoint that may or may not have been made.
    instead: Option<Box<Model>>,
}

impl Model {
    /// After a checkpoint that needs the last `keep` records, or all there are.
    fn with_checkpoint(&self, sequence: u64, content: Vec<u8>, keep: usize) -> Self {
        let mut records = self.records[self.records.len().saturating_sub(keep)..].to_vec();
        records.push((sequence, content));
        Model { safe: records.len(), records, from_checkpoint: true, instead: None }
    }

    /// The log has found all safe records, and then a part of the rest, in order.
    fn agrees(&mut self, found: &[(u64, Vec<u8>)], from_checkpoint: bool) {
        assert_eq!(from_checkpoint, self.from_checkpoint);
        assert!(found.len() >= self.safe, "{} of {} are there", found.len(), self.safe);
        assert_eq!(Some(found), self.records.get(..found.len()));
        self.records.truncate(found.len());
        self.safe = found.len();
    }
}

/// A log beside its model.
struct Play {
    disk: Disk,
    settings: Settings,
    log: Option<Log<Disk>>,
    model: Model,
}

impl Play {
    fn new(settings: Settings) -> Self {
        let disk = Disk::default();
        let log = open_all(disk.clone(), settings).expect("it is made").log;
        Play { disk, settings, log: Some(log), model: Model::default() }
    }

    fn log(&mut self) -> &mut Log<Disk> {
        self.log.as_mut().expect("it is open")
    }

    fn take(&mut self, deed: Deed) {
        match deed {
            Deed::Append(content) => assert!(self.append(content), "the disk works"),
            Deed::Sync => {
                self.log().sync().expect("the disk works");
                self.model.safe = self.model.records.len();
            }
            Deed::Checkpoint(content, keep) => {
                let keep = keep.min(self.model.records.len());
                let made = self.log().checkpoint_keeping(&content, keep as u64);
                let sequence = made.expect("there is room");
                self.model = self.model.with_checkpoint(sequence, content, keep);
                let segments = self.log().segments();
                assert_eq!(segments, self.disk.segments().len() as u64);
                assert!(keep > 0 || segments == 1, "{segments} segments");
            }
            Deed::Kill => {
                let repaired = self.open_again();
                assert_eq!(repaired, None, "the kernel has all of it");
            }
            Deed::LosePower { records, checkpoint, after, numbers } => {
                self.disk.fail(disk::Deed::LastSync, after, ErrorKind::Other);
                match checkpoint {
                    Some(keep) => self.checkpoint_in_the_dark(records, keep),
                    None => self.append_in_the_dark(records),
                }
                let mut numbers = numbers.into_iter().cycle();
                self.disk.lose_power(&mut |below| numbers.next().unwrap_or(0) % below);
                self.open_again();
            }
        }
    }

    /// Whether it was appended.
    fn append(&mut self, content: Vec<u8>) -> bool {
        let Ok(sequence) = self.log().append(&content) else { return false };
        self.model.records.push((sequence, content));
        let synced = self.log().synced();
        self.model.safe = self.model.records.iter().filter(|(at, _)| *at <= synced).count();
        true
    }

    fn append_in_the_dark(&mut self, records: Vec<Vec<u8>>) {
        if records.into_iter().all(|record| self.append(record)) && self.log().sync().is_ok() {
            self.model.safe = self.model.records.len();
        }
    }

    fn checkpoint_in_the_dark(&mut self, mut records: Vec<Vec<u8>>, keep: usize) {
        let (sequence, content) = (self.log().next(), records.swap_remove(0));
        let keep = keep.min(self.model.records.len());
        let made = self.log().checkpoint_keeping(&content, keep as u64);
        let model = self.model.with_checkpoint(sequence, content, keep);
        match made {
            Ok(_) => self.model = model,
            Err(_) => self.model.instead = Some(Box::new(model)),
        }
    }

    fn open_again(&mut self) -> Option<TornTail> {
        self.log = None;
        let found = open_all(self.disk.clone(), self.settings).expect("it is whole, or torn");
        if let Some(instead) = self.model.instead.take()
            && found.from_checkpoint
            && found.records == instead.records
        {
            self.model = *instead;
        }
        self.model.agrees(&found.records, found.from_checkpoint);
        self.log = Some(found.log);
        found.repaired
    }
}

fn play(deeds: Vec<Deed>, settings: Settings) {
    let mut play = Play::new(settings);
    deeds.into_iter().for_each(|deed| play.take(deed));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_log_has_all_that_is_safe_and_nothing_that_was_not_appended(deeds in deeds()) {
        play(deeds, Settings { segment_bytes: 2_048, durability: Durability::Sync });
    }

    #[test]
    fn the_same_with_segments_that_hold_one_record(deeds in deeds()) {
        play(deeds, Settings { segment_bytes: 112, durability: Durability::Sync });
    }

    #[test]
    fn without_syncs_a_log_survives_what_a_process_can_suffer(deeds in deeds()) {
        let suffer = |deed| if let Deed::LosePower { .. } = deed { Deed::Kill } else { deed };
        let deeds = deeds.into_iter().map(suffer).collect();
        play(deeds, Settings { segment_bytes: 2_048, durability: Durability::None });
    }
}
