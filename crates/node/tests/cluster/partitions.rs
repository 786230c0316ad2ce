//! Cuts.

use crate::support::{Cluster, wait_until};
use synod_client::api::Mode;
use synod_node::{Failure, PoolSpec};

#[test]
fn both_sides_of_a_cut_go_on_claiming_and_no_item_has_two_users() {
    let cluster = Cluster::start("cut", 5);
    cluster
        .node(0)
        .create_pool("ports", PoolSpec::range(20_000, 100))
        .expect("a majority is there");
    cluster.wait_for_pool("ports");
    let mut claims: Vec<_> = (0..5).map(|node| cluster.claim(node, "ports")).collect();
    cluster.cut(&[&[0, 1], &[2, 3, 4]]);
    wait_until("each side has a view of its own", || {
        let missing = |node: usize| match cluster.node(node).status().mode {
            Mode::Partitioned(missing) => missing.len(),
            _ => 0,
        };
        missing(0) == 3 && missing(1) == 3 && (2..5).all(|node| missing(node) == 2)
    });
    claims.extend((0..5).map(|node| cluster.claim(node, "ports")));
    // What exists can only be changed by a majority.
    let created = cluster.node(0).create_pool("more", PoolSpec::range(0, 8));
    assert!(matches!(created, Err(Failure::NoMajority { .. })), "{created:?}");
    cluster.node(2).create_pool("late", PoolSpec::range(0, 8)).expect("three of five are there");
    cluster.heal();
    cluster.wait_for_view(5);
    cluster.wait_for_pool("ports");
    let mut items: Vec<u64> = claims.iter().map(|claim| claim.item()).collect();
    items.sort_unstable();
    items.dedup();
    assert_eq!(items.len(), 10, "no item has two users");
    drop(claims);
    let used = |node: usize| cluster.node(node).status().pools[0].used;
    assert_eq!((0..5).map(used).sum::<u32>(), 0);
}
