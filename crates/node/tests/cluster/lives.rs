//! Nodes that crash, come back, leave, and are certified dead.

use crate::support::{Cluster, wait_until};
use std::time::Duration;
use synod_client::api::{Claimed, Health, Holder, Reply, Request};
use synod_node::{Failure, PoolSpec, Token};

fn ports(cluster: &Cluster) {
    cluster.node(0).create_pool("ports", PoolSpec::range(100, 30)).expect("a majority is there");
    cluster.wait_for_pool("ports");
}

/// Claims for a session, as a client does.
fn claim_for_session(cluster: &Cluster, node: usize, ttl_ms: u64) -> u64 {
    let open = Request::OpenSession { ttl_ms, label: "test".into() };
    let Ok(Reply::Session(session)) = cluster.node(node).request(open) else {
        panic!("a session can be opened");
    };
    let (pool, holder) = ("ports".to_owned(), Holder::Session(session));
    let claim = Request::Claim { pool, item: None, holder, wait_ms: 5_000 };
    match cluster.node(node).request(claim) {
        Ok(Reply::Claimed(claimed)) => claimed.item,
        other => panic!("{other:?}"),
    }
}

/// Claims all that can be claimed at a node.
fn claim_all(cluster: &Cluster, node: usize) -> Vec<synod_node::Claim> {
    std::iter::from_fn(|| cluster.node(node).pool("ports").claim().ok()).collect()
}

#[test]
fn items_of_a_crashed_node_go_to_nobody_before_its_promises_are_over() {
    let mut cluster = Cluster::start("promises", 3);
    ports(&cluster);
    let item = claim_for_session(&cluster, 2, 2_000);
    cluster.crash(2);
    cluster.wait_for_view(2);
    wait_until("the items of the node are absent", || {
        (0..2).all(|node| cluster.pool(node, "ports").absent > 0)
    });
    let claims: Vec<_> = (0..2).flat_map(|node| claim_all(&cluster, node)).collect();
    assert!(claims.iter().all(|claim| claim.item() != item));
    let crashed = std::time::Instant::now();
    cluster.restart(2);
    // The node listens, and stays outside of the group as long as it has promised.
    let refused = cluster.node(2).pool("ports").claim();
    assert!(refused.is_err());
    cluster.wait_for_view(3);
    assert!(crashed.elapsed() >= Duration::from_millis(2_000));
    cluster.wait_for_pool("ports");
    assert_eq!(cluster.node(2).status().incarnation, 2);
}

#[test]
fn a_node_that_held_items_stays_outside_until_they_are_released() {
    let mut cluster = Cluster::start("held", 2);
    ports(&cluster);
    let holder = Holder::Label("container 7".into());
    let claim = Request::Claim { pool: "ports".into(), item: None, holder, wait_ms: 5_000 };
    let Ok(Reply::Claimed(held)) = cluster.node(1).request(claim) else {
        panic!("items are free");
    };
    cluster.crash(1);
    cluster.restart(1);
    std::thread::sleep(Duration::from_millis(1_000));
    assert_eq!(cluster.node(1).status().mode, synod_client::Mode::Outside);
    assert!(claim_all(&cluster, 0).iter().all(|claim| claim.item() != held.item));
    let Claimed { pool, item, token } = held;
    let wrong = Token { epoch: 9, count: 9 };
    let release = |token| Request::Release { pool: pool.clone(), item, token };
    assert!(cluster.node(1).request(release(wrong)).is_err());
    assert_eq!(cluster.node(1).request(release(token)), Ok(Reply::Done));
    cluster.wait_for_view(2);
    cluster.wait_for_pool("ports");
}

#[test]
fn a_node_whose_directory_was_removed_is_not_let_in() {
    let mut cluster = Cluster::start("removed", 3);
    ports(&cluster);
    // Its second life is known to the others.
    cluster.crash(2);
    cluster.restart(2);
    cluster.wait_for_view(3);
    cluster.crash(2);
    std::fs::remove_dir_all(cluster.config(2).data).expect("it is there");
    cluster.restart(2);
    cluster.wait_for(2, |node| node.status().node != "n3");
    std::thread::sleep(Duration::from_millis(500));
    let alone = cluster.node(2).status().mode;
    assert_eq!(alone, synod_client::Mode::Partitioned(vec!["n1".into(), "n2".into()]));
}

#[test]
fn a_pool_is_whole_again_when_all_nodes_have_started_again() {
    let mut cluster = Cluster::start("all", 3);
    ports(&cluster);
    (0..3).for_each(|node| cluster.crash(node));
    (0..3).for_each(|node| cluster.restart(node));
    cluster.wait_for_view(3);
    cluster.wait_for_pool("ports");
    drop(cluster.claim(1, "ports"));
}

#[test]
fn a_node_that_leaves_hands_its_items_over() {
    let mut cluster = Cluster::start("leave", 3);
    ports(&cluster);
    let claim = cluster.claim(2, "ports");
    let refused = cluster.node(2).request(Request::Leave).expect_err("an item is in use");
    assert!(refused.to_string().contains("1 items are in use at n3"), "{refused}");
    drop(claim);
    cluster.nodes[2].take().expect("it runs").leave();
    cluster.wait_for_view(2);
    wait_until("the others own all items", || {
        let pool = cluster.pool(0, "ports");
        pool.absent == 0 && pool.owners.len() == 2
    });
}

#[test]
fn items_of_a_dead_node_return_when_a_majority_certifies_its_death() {
    let mut cluster = Cluster::start("forget", 3);
    ports(&cluster);
    let forget =
        |cluster: &Cluster, node: &str| cluster.node(0).request(Request::Forget(node.to_owned()));
    assert!(matches!(forget(&cluster, "n3"), Err(Failure::Bad(_))), "it is alive");
    assert!(matches!(forget(&cluster, "n9"), Err(Failure::Unknown { .. })));
    // A promise longer than usual needs a majority, because it delays this certificate.
    let item = claim_for_session(&cluster, 2, 2_500);
    let promised = std::time::Instant::now();
    cluster.crash(2);
    cluster.wait_for_view(2);
    assert_eq!(forget(&cluster, "n3"), Ok(Reply::Done));
    wait_until("the item can be claimed", || {
        let claims: Vec<_> = (0..2).flat_map(|node| claim_all(&cluster, node)).collect();
        claims.iter().any(|claim| claim.item() == item)
    });
    assert!(promised.elapsed() >= Duration::from_millis(2_500));
    wait_until("nothing is absent", || (0..2).all(|node| cluster.pool(node, "ports").absent == 0));
    wait_until("the dead node votes no more", || !cluster.node(0).status().members[2].votes);
    cluster.node(1).create_pool("more", PoolSpec::range(0, 4)).expect("all voters are there");
    wait_until("all know of it", || {
        (0..2).all(|node| cluster.node(node).status().members[2].health == Health::Forgotten)
    });
}
