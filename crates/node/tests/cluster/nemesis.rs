//! Random cuts, crashes and restarts, while clients claim and release all the time; and a judge of
//! what the clients saw.
//!
//! `SYNOD_SEED=7 cargo test -p synod-node nemesis` repeats one schedule of faults;
//! `SYNOD_SCHEDULES=200` makes more of them.

use crate::support::{Cluster, comes_true};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use synod_client::{Client, Session, Token, Ttl};
use synod_node::PoolSpec;

const NODES: usize = 5;
const ITEMS: u32 = 24;
const FAULTS: u32 = 10;
const TTL: Ttl = Ttl::from_millis(1_500);

/// The use of an item by a client.
#[derive(Clone, Copy, Debug)]
struct Used {
    /// Only for people who read a violation.
    _node: usize,
    item: u64,
    token: Token,
    from: Instant,
    until: Instant,
}

type History = Arc<Mutex<Vec<Used>>>;

struct Chance(Pcg64Mcg);

impl Chance {
    fn below(&mut self, among: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(among)) >> 32) as u32
    }

    fn millis(&mut self, from: u32, to: u32) -> Duration {
        Duration::from_millis(u64::from(from + self.below(to - from)))
    }
}

/// Claims, uses and releases, until the end of the schedule.
async fn tenant(node: usize, socket: PathBuf, history: History, over: Arc<AtomicBool>, seed: u64) {
    let mut chance = Chance(Pcg64Mcg::seed_from_u64(seed));
    while !over.load(Ordering::Relaxed) {
        // While the node is down there is no session.
        if let Ok(client) = Client::connect(&socket).await
            && let Ok(session) = client.open_session(TTL, "tenant").await
        {
            use_items(node, &session, &history, &over, &mut chance).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn use_items(
    node: usize,
    session: &Session,
    history: &History,
    over: &AtomicBool,
    chance: &mut Chance,
) {
    while !over.load(Ordering::Relaxed) && session.valid_until() > Instant::now() {
        let wait = [Duration::ZERO, chance.millis(5, 200)][chance.below(2) as usize];
        let claim = match session.claim_within("ports", None, wait).await {
            Ok(claim) => claim,
            // The node is gone, and the session with it.
            Err(why) if why.failure().is_none() => return,
            Err(_) => {
                tokio::time::sleep(chance.millis(5, 40)).await;
                continue;
            }
        };
        let (item, token, from) = (claim.item(), claim.token(), Instant::now());
        tokio::select! {
            _ = claim.lost() => {}
            () = tokio::time::sleep(chance.millis(1, 150)) => {}
        }
        // The client looks at the clock: after the session's end it uses nothing.
        let until = Instant::now().min(session.valid_until());
        history.lock().expect("no tenant panics").push(Used {
            _node: node,
            item,
            token,
            from,
            until,
        });
        if claim.release().await.is_err() {
            return;
        }
    }
}

/// Makes faults, one after the other.
fn make_faults(cluster: &mut Cluster, chance: &mut Chance) {
    for _ in 0..FAULTS {
        match chance.below(6) {
            0..3 => {
                let side = 1 + chance.below((1 << NODES) - 2);
                let is_in = |node: &usize| side >> node & 1 == 1 && cluster.nodes[*node].is_some();
                let is_out = |node: &usize| side >> node & 1 == 0 && cluster.nodes[*node].is_some();
                let one: Vec<usize> = (0..NODES).filter(is_in).collect();
                let other: Vec<usize> = (0..NODES).filter(is_out).collect();
                cluster.cut(&[&one, &other]);
            }
            3 => cluster.heal(),
            _ => {
                let node = chance.below(NODES as u32) as usize;
                match cluster.nodes[node] {
                    None => cluster.restart(node),
                    Some(_) if cluster.running().count() > 3 => cluster.crash(node),
                    Some(_) => {}
                }
            }
        }
        std::thread::sleep(chance.millis(100, 1_200));
    }
    for node in 0..NODES {
        if cluster.nodes[node].is_none() {
            cluster.restart(node);
        }
    }
    cluster.heal();
}

/// No item has two users at one time, and tokens grow from user to user.
fn judge(mut history: Vec<Used>) -> Result<usize, String> {
    history.retain(|used| used.from < used.until);
    history.sort_by_key(|used| (used.item, used.from));
    let mut last: BTreeMap<u64, Used> = BTreeMap::new();
    for used in &history {
        if let Some(before) = last.insert(used.item, *used) {
            if before.until > used.from {
                return Err(format!("two users at one time: {before:?} and {used:?}"));
            }
            if before.token >= used.token {
                return Err(format!("the token does not grow: {before:?}, then {used:?}"));
            }
        }
    }
    Ok(history.len())
}

fn run(seed: u64) -> Result<usize, String> {
    let mut cluster = Cluster::start(&format!("nemesis-{seed}"), NODES);
    cluster.node(0).create_pool("ports", PoolSpec::range(100, ITEMS)).expect("all are there");
    cluster.wait_for_pool("ports");
    let (history, over) = (History::default(), Arc::new(AtomicBool::new(false)));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("the system has threads");
    let tenants: Vec<_> = (0..NODES)
        .map(|node| {
            let socket = cluster.node(node).socket().to_owned();
            let (history, over) = (history.clone(), over.clone());
            runtime.spawn(tenant(node, socket, history, over, seed << 8 | node as u64))
        })
        .collect();
    let mut chance = Chance(Pcg64Mcg::seed_from_u64(seed));
    make_faults(&mut cluster, &mut chance);
    cluster.wait_for_view(NODES);
    over.store(true, Ordering::Relaxed);
    for tenant in tenants {
        runtime.block_on(tenant).map_err(|error| error.to_string())?;
    }
    let history = std::mem::take(&mut *history.lock().expect("no tenant panics"));
    let uses = judge(history)?;
    // After the last heal and the last session no item is lost.
    let pools = || (0..NODES).map(|node| cluster.pool(node, "ports")).collect::<Vec<_>>();
    let all_free = || {
        let pools = pools();
        pools.iter().all(|pool| pool.settled && pool.absent == 0 && pool.used == 0)
            && pools.iter().map(|pool| pool.free + pool.offered).sum::<u32>() == ITEMS
    };
    match comes_true(all_free) {
        true => Ok(uses),
        false => Err(format!("items are lost: {:#?}", pools())),
    }
}

#[test]
fn no_item_has_two_users_and_none_is_lost_whatever_fails() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("SYNOD_SEED") {
        Some(seed) => seed..=seed,
        None => 1..=number("SYNOD_SCHEDULES").unwrap_or(3),
    };
    for seed in seeds {
        match run(seed) {
            Ok(uses) => assert!(uses > 50, "the clients of seed {seed} were served {uses} times"),
            Err(why) => panic!("with SYNOD_SEED={seed}: {why}"),
        }
    }
}

#[test]
fn the_judge_finds_two_users_and_a_token_that_does_not_grow() {
    let start = Instant::now();
    let used = |count, from, until| Used {
        _node: 0,
        item: 7,
        token: Token { epoch: 1, count },
        from: start + Duration::from_millis(from),
        until: start + Duration::from_millis(until),
    };
    assert_eq!(judge(vec![used(1, 0, 10), used(2, 10, 20)]), Ok(2));
    assert!(judge(vec![used(1, 0, 11), used(2, 10, 20)]).is_err());
    assert!(judge(vec![used(2, 0, 10), used(2, 10, 20)]).is_err());
}
