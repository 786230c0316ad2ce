//! Clients on the socket: sessions, claims, messages, refusals.

use crate::support::{Cluster, wait_until};
use std::time::Duration;
use synod_client::api::{Event, Failure, Level, Reply, Request, Topic};
use synod_client::{Client, Ttl};
use synod_node::PoolSpec;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("the system has threads")
        .block_on(future)
}

fn cluster_with_ports(name: &str) -> Cluster {
    let cluster = Cluster::start(name, 2);
    cluster.node(0).create_pool("ports", PoolSpec::range(100, 8)).expect("a majority is there");
    cluster.wait_for_pool("ports");
    cluster
}

#[test]
fn a_claim_is_given_back_when_it_is_dropped_and_a_session_when_it_is_silent() {
    let cluster = cluster_with_ports("sessions");
    let used = || cluster.pool(0, "ports").used;
    block_on(async {
        let client = Client::connect(cluster.node(0).socket()).await.expect("the node listens");
        let session = client.open_session(Ttl::from_secs(5), "a").await.expect("there is room");
        let claim = session.claim("ports").await.expect("items are free");
        assert_eq!(used(), 1);
        drop(claim);
        drop(session);
        // A session without signs of life ends by itself.
        let open = Request::OpenSession { ttl_ms: 300, label: "b".into() };
        let Reply::Session(session) = client.call(&open).await.expect("there is room") else {
            panic!("a session is opened");
        };
        let holder = synod_client::api::Holder::Session(session);
        let claim = Request::Claim { pool: "ports".into(), item: None, holder, wait_ms: 0 };
        client.call(&claim).await.expect("items are free");
        tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(400))).await.ok();
        let late = client.call(&Request::KeepAlive(session)).await.expect_err("it is over");
        assert_eq!(late.failure(), Some(&Failure::NoSession));
    });
    wait_until("all items are free", || used() == 0);
}

#[test]
fn a_session_is_over_when_a_pool_is_deleted_of_which_it_uses_an_item() {
    let cluster = cluster_with_ports("deleted");
    block_on(async {
        let client = Client::connect(cluster.node(0).socket()).await.expect("the node listens");
        let session = client.open_session(Ttl::from_millis(900), "a").await.expect("there is room");
        let other = client.open_session(Ttl::from_millis(900), "b").await.expect("there is room");
        let claim = session.claim("ports").await.expect("items are free");
        let delete = Request::DeletePool("ports".into());
        client.call(&delete).await.expect("a majority is there");
        claim.lost().await;
        assert!(
            other
                .claim("ports")
                .await
                .is_err_and(|why| { matches!(why.failure(), Some(Failure::Unknown { .. })) })
        );
    });
}

#[test]
fn a_claim_that_waits_gets_the_item_that_is_released() {
    let cluster = cluster_with_ports("waits");
    let mut claims: Vec<_> = Vec::new();
    wait_until("all items are in use", || {
        claims.extend((0..2).filter_map(|node| cluster.node(node).pool("ports").claim().ok()));
        claims.len() == 8
    });
    let refused = cluster.node(0).pool("ports").claim().err().expect("none is free");
    assert!(matches!(refused, Failure::Exhausted(_) | Failure::Starved { .. }), "{refused}");
    block_on(async {
        let client = Client::connect(cluster.node(0).socket()).await.expect("the node listens");
        let session = client.open_session(Ttl::from_secs(5), "a").await.expect("there is room");
        assert!(session.claim("ports").await.is_err(), "it does not wait");
        let waits = session.claim_within("ports", None, Duration::from_secs(20));
        let release = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            // An item of the other node comes to this one when it is free.
            drop(claims);
        };
        tokio::join!(waits, release).0.expect("an item is free again");
    });
}

#[test]
fn a_group_hears_what_is_cast_in_one_order_at_all_nodes() {
    let cluster = Cluster::start("groups", 2);
    let create = Request::CreateGroup("chat".into());
    cluster.node(0).request(create).expect("a majority is there");
    let cast = |node: usize, body: &str| {
        let (group, body) = ("chat".to_owned(), body.as_bytes().to_vec());
        cluster.node(node).request(Request::Cast { group, level: Level::Safe, body })
    };
    wait_until("both nodes have the group", || {
        (0..2).all(|node| !cluster.node(node).status().groups.is_empty())
    });
    let heard = block_on(async {
        let mut streams = Vec::new();
        for node in 0..2 {
            let client = Client::connect(cluster.node(node).socket()).await.expect("it listens");
            streams.push(client.watch(Topic::Group("chat".into())).await.expect("it exists"));
        }
        for number in 0..20 {
            cast(number % 2, &format!("message {number}")).expect("there is room");
        }
        let mut heard = Vec::new();
        for stream in &mut streams {
            let mut bodies = Vec::new();
            while bodies.len() < 20 {
                if let Some(Event::Message { body, .. }) = stream.next().await {
                    bodies.push(body);
                }
            }
            heard.push(bodies);
        }
        heard
    });
    assert_eq!(heard[0], heard[1]);
}
