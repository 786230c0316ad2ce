//! Voting sets: the conditions, the sizes, and the errors.

use synod_core::{Algorithm, ProcessId, ProcessSet, Setup};
use synod_protocols::mutex::voting_sets::{BadSets, SEARCHED_UP_TO};
use synod_protocols::mutex::{Maekawa, VotingSets};

fn set(members: &[u32]) -> ProcessSet {
    members.iter().copied().map(ProcessId).collect()
}

fn explicit(sets: &[&[u32]]) -> Result<VotingSets, BadSets> {
    VotingSets::explicit(sets.iter().map(|members| set(members)).collect(), sets.len())
}

/// The sets one by one, so that every pair is compared, independently of the constructor's proof.
fn compared_one_by_one(sets: &VotingSets) -> Result<VotingSets, BadSets> {
    let listed = ProcessId::all(sets.n()).map(|process| sets.of(process)).collect();
    VotingSets::explicit(listed, sets.n())
}

#[test]
fn optimal_sets_fulfil_the_four_conditions_for_every_number_of_processes() {
    for n in (1..=60).chain([64, 100, 257, 1_000]) {
        let sets = VotingSets::optimal(n);
        let compared = compared_one_by_one(&sets).unwrap_or_else(|why| panic!("N = {n}: {why}"));
        assert_eq!((compared.n(), compared.k()), (n, sets.k()));
    }
}

#[test]
fn a_grid_fulfils_the_four_conditions_with_two_rows_less_one() {
    for side in 1..=12 {
        let sets = VotingSets::grid(side * side).expect("a square");
        assert_eq!(sets.k(), 2 * side - 1);
        compared_one_by_one(&sets).unwrap_or_else(|why| panic!("side {side}: {why}"));
    }
}

#[test]
fn a_grid_is_refused_unless_the_number_is_a_square() {
    assert_eq!(VotingSets::grid(8), Err(BadSets::NotSquare(8)));
    let why = Maekawa::processes(&Setup::new(8).with("sets", "grid")).expect_err("8 is no square");
    assert!(why.to_string().contains("use 'optimal'"), "{why}");
}

#[test]
fn the_smallest_sets_are_those_of_the_exhaustive_search() {
    let smallest = [(2, 2), (3, 2), (4, 3), (5, 3), (6, 3), (7, 3), (8, 4), (9, 4)];
    for (n, k) in smallest {
        assert_eq!(VotingSets::optimal(n).k(), k, "N = {n}");
    }
}

/// "N = K(K − 1) + 1": no two members of a voting set are together in another.
#[test]
fn projective_planes_reach_the_lower_bound() {
    for (n, k) in [(3, 2), (7, 3), (13, 4), (21, 5), (31, 6), (57, 8)] {
        let sets = VotingSets::optimal(n);
        assert_eq!((sets.k(), k * (k - 1) + 1), (k, n));
        for other in ProcessId::all(n).skip(1) {
            let first = sets.of(ProcessId(0));
            let common = sets.of(other).iter().filter(|member| first.contains(*member)).count();
            assert_eq!(common, 1, "N = {n}: the sets of p0 and {other}");
        }
    }
}

#[test]
fn large_groups_have_sets_well_below_those_of_a_grid() {
    for n in (SEARCHED_UP_TO + 1..400).chain([1_000, 4_096, 10_000, 99_999]) {
        let k = VotingSets::optimal(n).k();
        assert!(k * (k - 1) + 1 >= n, "N = {n}: two sets of {k} cannot meet");
        assert!((k as f64) < 1.25 * (n as f64).sqrt() + 1.5, "N = {n}: K = {k}");
    }
    assert_eq!(VotingSets::optimal(10_000).k(), 122);
}

#[test]
fn sets_that_break_a_condition_are_refused_with_the_culprit() {
    let [p1, p2] = [1, 2].map(ProcessId);
    assert_eq!(explicit(&[&[0, 1], &[0, 2], &[2, 0]]), Err(BadSets::WithoutOneself(p1)));
    assert_eq!(
        explicit(&[&[0, 1], &[1, 0], &[2, 3], &[3, 0]]),
        Err(BadSets::Disjoint(ProcessId(0), p2))
    );
    assert_eq!(
        explicit(&[&[0, 1], &[0, 1, 2], &[2, 0]]),
        Err(BadSets::UnequalSize { process: p1, size: 3, first: 2 })
    );
    assert_eq!(
        explicit(&[&[0, 1], &[1, 0], &[2, 0]]),
        Err(BadSets::UnequalLoad { process: ProcessId(0), sets: 3, k: 2 })
    );
    let two = VotingSets::explicit(vec![set(&[0, 1]), set(&[1, 2])], 3);
    assert_eq!(two, Err(BadSets::Count { sets: 2, n: 3 }));
}

#[test]
fn voting_sets_can_be_written_down() {
    let setup = Setup::new(3).with("sets", "p0 p1 | p1 p2 | p2,p0");
    let sets = VotingSets::from_setup(&setup).expect("the sets of the textbook");
    assert_eq!(sets, explicit(&[&[0, 1], &[1, 2], &[2, 0]]).expect("the same"));
    let why = VotingSets::from_setup(&Setup::new(3).with("sets", "p0 | p1 | p7"));
    assert!(why.expect_err("there is no p7").to_string().contains("'p7' is no process"));
    let why = VotingSets::from_setup(&Setup::new(3).with("sets", "p0 p1 | p1 p2 | p2"));
    let why = why.expect_err("p2 alone meets nobody else").to_string();
    assert!(why.contains("the sets of p0 and p2 have no member in common"), "{why}");
}

/// All ways to give each of four processes a set of two with itself in it: 3⁴.
#[test]
fn four_processes_cannot_have_sets_of_two() {
    let other = |me: u32, choice: u32| (0..4).filter(|p| *p != me).nth(choice as usize);
    let mut stars = 0;
    for choices in 0..81u32 {
        let sets = (0..4).map(|me| {
            let choice = choices / 3u32.pow(me) % 3;
            set(&[me, other(me, choice).expect("there are three others")])
        });
        match VotingSets::explicit(sets.collect(), 4) {
            Ok(sets) => panic!("{sets:?}"),
            // All processes ask the same one: that is a central server, and its load is unequal.
            Err(BadSets::UnequalLoad { .. }) => stars += 1,
            Err(why) => assert!(matches!(why, BadSets::Disjoint(..)), "{why}"),
        }
    }
    assert_eq!(stars, 4 * 3, "four possible centres, and the centre itself may ask any other");
    let answer = explicit(&[&[0, 1, 2], &[0, 1, 3], &[0, 2, 3], &[1, 2, 3]]);
    assert_eq!(answer.map(|sets| sets.k()), Ok(3));
}
