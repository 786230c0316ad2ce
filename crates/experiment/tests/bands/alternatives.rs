//! The alternatives that section II of the paper names: what each costs, and what each does when
//! the network splits.

use std::sync::OnceLock;
use synod_experiment::compare::{Compared, compared};
use synod_experiment::reference::Alternative::{
    AllAuthorise, CentralManager, Consensus, HOfK, Wackamole,
};
use synod_experiment::study::{Row, Wishes};
use synod_experiment::{Allocator, Summary, run};

/// One run of each case.
fn table() -> &'static [Compared] {
    static TABLE: OnceLock<Vec<Compared>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let wishes = Wishes { quick: true, seeds: 1, ..Wishes::default() };
        let row = |case: synod_experiment::study::Case| {
            let measured = run(&case.settings, case.allocator, 1, &|_| ());
            Row { summary: Summary::of(&case.settings, &[measured]), case }
        };
        compared(&wishes.comparison().into_iter().map(row).collect::<Vec<_>>())
    })
}

fn line(allocator: Allocator) -> &'static Compared {
    table().iter().find(|line| line.allocator == allocator).expect("it is in the table")
}

#[test]
fn a_central_manager_needs_three_messages_and_nobody_gets_a_slot_without_it() {
    let manager = line(Allocator::Alternative(CentralManager));
    assert_eq!((manager.multicasts_per_claim, manager.delay_rounds), (0.0, 4));
    assert!((3.0..3.2).contains(&manager.messages_per_claim), "{manager:?}");
    // One pool for all: it refuses less than a static split.
    assert!(manager.failed_per_success < line(Allocator::Static).failed_per_success / 5.0);
    assert_eq!((manager.rest_fails, manager.without_p0_fails), (1.0, 1.0));
    assert!(manager.third_fails < 0.01, "{manager:?}");
}

#[test]
fn consensus_for_each_request_costs_two_consensuses_for_each_slot_and_goes_on_in_a_majority() {
    let consensus = line(Allocator::Alternative(Consensus));
    assert_eq!(consensus.delay_rounds, 6);
    assert!((2.0..2.1).contains(&consensus.multicasts_per_claim), "{consensus:?}");
    assert!((126.0..130.0).contains(&consensus.messages_per_claim), "{consensus:?}");
    assert_eq!(consensus.third_fails, 1.0);
    assert!(consensus.rest_fails < 0.25 && consensus.without_p0_fails < 0.05, "{consensus:?}");
}

#[test]
fn what_needs_an_answer_of_every_member_stops_on_all_sides() {
    for kind in [HOfK, AllAuthorise] {
        let all = line(Allocator::Alternative(kind));
        assert_eq!([all.third_fails, all.rest_fails, all.without_p0_fails], [1.0; 3], "{all:?}");
        assert!((2.0..2.3).contains(&all.multicasts_per_claim), "{all:?}");
        assert!((31.0..40.0).contains(&all.messages_per_claim), "{all:?}");
    }
    // Two members choose the same free slot: that is how claims fail although slots are free.
    let all = line(Allocator::Alternative(AllAuthorise)).failed_per_success;
    assert!(all > 2.0 * line(Allocator::Alternative(HOfK)).failed_per_success, "{all}");
}

#[test]
fn slots_dealt_out_by_membership_are_a_static_split_and_in_a_partition_they_are_used_twice() {
    let dealt = line(Allocator::Alternative(Wackamole));
    let split = line(Allocator::Static);
    assert_eq!(dealt.failed_per_success, split.failed_per_success);
    assert!(dealt.third_fails < 0.001 && dealt.rest_fails < 0.001, "each side has all slots");
    assert!(dealt.used_twice > 100, "{dealt:?}");
}

#[test]
fn slots_go_on_on_every_side_and_no_slot_is_ever_used_twice() {
    for allocator in [Allocator::Repaired, Allocator::Offers] {
        let slots = line(allocator);
        assert_eq!((slots.delay_rounds, slots.used_twice), (0, 0), "{slots:?}");
        assert!(slots.third_fails < 0.5 && slots.rest_fails < 0.1, "{slots:?}");
        assert!(slots.without_p0_fails < 0.05, "{slots:?}");
    }
    assert_eq!(line(Allocator::Static).used_twice, 0);
    // The paper's baseline replicates the heap; without views its copies part, and slots go twice.
    assert!(line(Allocator::MutualExclusion).used_twice > 0);
}

/// The cells of a row of the document, and what they say.
fn told(row: &str) -> (&str, Vec<f64>) {
    let mut cells = row.trim_matches(['|', ' ']).split('|').map(str::trim);
    let title = cells.next().unwrap_or_default();
    let number = |cell: &str| cell.trim_end_matches(" %").parse().expect("a number");
    (title, cells.map(number).collect())
}

#[test]
fn the_table_of_the_document_is_what_is_measured() {
    let document = include_str!("../../../../docs/experiment.md");
    let (_, section) =
        document.split_once("## The alternatives of section II").expect("it is there");
    let rows: Vec<&str> =
        section.lines().skip_while(|line| !line.starts_with("|---")).skip(1).collect();
    for (line, row) in table().iter().zip(&rows) {
        let (title, told) = told(row);
        assert_eq!(title, line.allocator.title());
        let percent = [line.third_fails, line.rest_fails, line.without_p0_fails];
        let measured = [
            line.failed_per_success,
            line.multicasts_per_claim,
            line.messages_per_claim,
            line.delay_rounds as f64,
        ];
        let measured = measured.into_iter().chain(percent.map(|share| share * 100.0));
        let measured: Vec<f64> = measured.chain([f64::from(line.used_twice)]).collect();
        assert_eq!(told.len(), measured.len(), "{row}");
        // The document has the means of several longer runs, rounded.
        for (told, measured) in told.iter().zip(&measured) {
            let near = 0.25 * told.max(*measured) + 0.003;
            let near = if told.fract() == 0.0 { near.max(1.5) } else { near };
            assert!(
                (told - measured).abs() <= near,
                "{row}: {told}, but {measured:.4} is measured"
            );
        }
    }
    assert_eq!(table().len(), 9, "all are compared");
}
