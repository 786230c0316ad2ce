//! How fast a cluster of three nodes in one process serves: `cargo bench -p synod-node`.
//!
//! Load generators and nodes share the machine, so rates are lower bounds; the floor of the machine
//! stands beside each.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use synod_client::api::{Event, Faults, Holder, Mode, Reply, Request, SessionId, Topic};
use synod_client::wire::{self, CLIENT_GREETING, NODE_GREETING};
use synod_client::{Answer, Client};
use synod_node::{Config, Node, Peer, PoolSpec};

/// The parts of a second that this share of measurements does not exceed.
fn percentile(times: &mut [u64], share: f64) -> f64 {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * share) as usize] as f64
}

/// A cluster, with what is needed to start one of its nodes again.
struct Started {
    nodes: Vec<Option<Node>>,
    peers: Vec<Peer>,
    directory: PathBuf,
}

impl Started {
    fn boot(&self, node: usize) -> Node {
        let name = &self.peers[node].name;
        let mut config = Config::new(name, self.peers.clone(), self.directory.join(name));
        config.allow_faults = true;
        Node::start(config).expect("the node starts")
    }

    fn node(&self, node: usize) -> &Node {
        self.nodes[node].as_ref().expect("it runs")
    }

    /// The number of nodes in the view of a node.
    fn seen_by(&self, node: usize) -> usize {
        match self.node(node).status().mode {
            Mode::Whole => self.peers.len(),
            Mode::Partitioned(missing) => self.peers.len() - missing.len(),
            Mode::Outside => 0,
        }
    }

    /// The time until these nodes have this many members in their views, in milliseconds.
    fn until(&self, nodes: &[usize], members: usize) -> u64 {
        let begin = Instant::now();
        while nodes.iter().any(|node| self.seen_by(*node) != members) {
            std::thread::sleep(Duration::from_micros(200));
        }
        begin.elapsed().as_millis() as u64
    }

    /// Cuts the last node off, or heals the network.
    fn set_cut(&self, is_cut: bool) {
        let last = self.peers.len() - 1;
        for node in 0..=last {
            let others = if node == last { 0..last } else { last..last + 1 };
            let names = others.filter(|_| is_cut).map(|other| self.peers[other].name.clone());
            let names: Vec<String> = names.collect();
            let faults = Faults { deaf: names.clone(), mute: names, ..Faults::default() };
            self.node(node).request(Request::Faults(faults)).expect("faults are allowed");
        }
    }
}

/// How long views take: after a death, a cut, a heal.
fn views() {
    let (nodes, peers, directory) = start("views", 3);
    let mut cluster = Started { nodes: nodes.into_iter().map(Some).collect(), peers, directory };
    let (mut deaths, mut cuts, mut merges) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..10 {
        drop(cluster.nodes[2].take());
        deaths.push(cluster.until(&[0, 1], 2));
        cluster.nodes[2] = Some(cluster.boot(2));
        cluster.until(&[0, 1, 2], 3);
        std::thread::sleep(Duration::from_millis(300));
        cluster.set_cut(true);
        cuts.push(cluster.until(&[0, 1], 2).max(cluster.until(&[2], 1)));
        std::thread::sleep(Duration::from_millis(500));
        cluster.set_cut(false);
        merges.push(cluster.until(&[0, 1, 2], 3));
        std::thread::sleep(Duration::from_millis(300));
    }
    for (what, times) in [("death", &mut deaths), ("cut", &mut cuts), ("heal", &mut merges)] {
        let (p50, most) = (percentile(times, 0.5), percentile(times, 1.0));
        println!("  view after a {what:<8} p50 {p50:>5.0} ms   most {most:>5.0} ms");
    }
    cluster.set_cut(true);
    std::thread::sleep(Duration::from_secs(30));
    cluster.set_cut(false);
    println!("  view after the heal of a cut of 30 s {:>5} ms", cluster.until(&[0, 1, 2], 3));
    cluster.nodes.clear();
    let _ = std::fs::remove_dir_all(cluster.directory);
}

fn start(name: &str, size: usize) -> (Vec<Node>, Vec<Peer>, PathBuf) {
    let directory = std::env::temp_dir().join(format!("synod-bench-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let free = || -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port is free")
    };
    let peer = |number| Peer { name: format!("n{number}"), address: free() };
    let peers: Vec<Peer> = (1..=size).map(peer).collect();
    let boot = |peer: &Peer| {
        let mut config = Config::new(&peer.name, peers.clone(), directory.join(&peer.name));
        config.allow_faults = true;
        Node::start(config).expect("the node starts")
    };
    let nodes: Vec<Node> = peers.iter().map(boot).collect();
    while nodes.iter().any(|node| node.status().mode != Mode::Whole) {
        std::thread::sleep(Duration::from_millis(5));
    }
    (nodes, peers, directory)
}

fn claims_in_process(node: &Node) {
    let pool = node.pool("ports");
    for _ in 0..10_000 {
        drop(pool.claim());
    }
    let mut times: Vec<u64> = (0..200_000)
        .map(|_| {
            let begin = Instant::now();
            let claim = pool.claim().expect("items are free");
            let took = begin.elapsed().as_nanos() as u64;
            drop(claim);
            took
        })
        .collect();
    let (p50, p99) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
    println!("  claim in process                 p50 {p50:>7.0} ns   p99 {p99:>7.0} ns");
}

fn claim_request(session: SessionId) -> Request {
    let holder = Holder::Session(session);
    Request::Claim { pool: "ports".into(), item: None, holder, wait_ms: 0 }
}

/// Claims and releases on a socket, `window` at a time.
fn claims_on_a_socket(node: &Node, window: usize, rounds: usize) {
    use std::io::{Read, Write};
    let open = Request::OpenSession { ttl_ms: 600_000, label: "bench".into() };
    let Ok(Reply::Session(session)) = node.request(open) else { panic!("there is room") };
    let mut stream = std::os::unix::net::UnixStream::connect(node.socket()).expect("it listens");
    stream.write_all(&CLIENT_GREETING).expect("it reads");
    let mut greeting = [0; NODE_GREETING.len()];
    stream.read_exact(&mut greeting).expect("it greets");
    let mut input = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    let mut exchange = |requests: &[Request]| -> Vec<Answer> {
        let mut output = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            wire::write_frame(&mut output, number as u64, request).expect("it is short");
        }
        stream.write_all(&output).expect("it reads");
        let mut answers = Vec::new();
        while answers.len() < requests.len() {
            let count = stream.read(&mut chunk).expect("it answers");
            input.extend_from_slice(&chunk[..count]);
            let mut gone = 0;
            while let Some((_, answer, length)) =
                wire::read_frame::<Answer>(&input[gone..]).expect("it is well-formed")
            {
                gone += length;
                answers.push(answer);
            }
            input.drain(..gone);
        }
        answers
    };
    let mut times = Vec::new();
    let begin = Instant::now();
    for _ in 0..rounds {
        let once = Instant::now();
        let claimed = exchange(&vec![claim_request(session); window]);
        times.push(once.elapsed().as_nanos() as u64);
        let releases: Vec<Request> = claimed
            .into_iter()
            .map(|answer| match answer.result {
                Ok(Reply::Claimed(claimed)) => Request::Release {
                    pool: claimed.pool,
                    item: claimed.item,
                    token: claimed.token,
                },
                other => panic!("{other:?}"),
            })
            .collect();
        exchange(&releases);
    }
    let rate = (2 * rounds * window) as f64 / begin.elapsed().as_secs_f64();
    let p50 = percentile(&mut times, 0.5) / 1_000.0;
    println!(
        "  on the socket, {window:>3} at a time      p50 {p50:>7.1} µs   {rate:>9.0} requests/s"
    );
}

/// Casts of 64 bytes by one node, heard at another.
fn casts(nodes: &[Node]) {
    nodes[0].request(Request::CreateGroup("bench".into())).expect("a majority is there");
    while nodes.iter().any(|node| node.status().groups.is_empty()) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let heard = Arc::new(AtomicU64::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let (socket, counter, over) = (nodes[1].socket().to_owned(), heard.clone(), stop.clone());
    let listener = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("there are threads").block_on(async {
            let client = Client::connect(socket).await.expect("it listens");
            let mut events = client.watch(Topic::Group("bench".into())).await.expect("it exists");
            while !over.load(Ordering::Relaxed) {
                match tokio::time::timeout(Duration::from_millis(100), events.next()).await {
                    Ok(Some(Event::Message { .. })) => counter.fetch_add(1, Ordering::Relaxed),
                    Ok(Some(Event::Missed(count))) => counter.fetch_add(count, Ordering::Relaxed),
                    _ => 0,
                };
            }
        });
    });
    std::thread::sleep(Duration::from_millis(200));
    let mut times = Vec::new();
    for _ in 0..2_000 {
        let before = heard.load(Ordering::Relaxed);
        let begin = Instant::now();
        nodes[0].cast("bench", vec![7; 64]).expect("there is room");
        while heard.load(Ordering::Relaxed) == before {
            std::hint::spin_loop();
        }
        times.push(begin.elapsed().as_nanos() as u64);
    }
    let p50 = percentile(&mut times, 0.5) / 1_000.0;
    let delivered = |node: &Node| node.status().groups[0].delivered;
    let (before, begin) = (delivered(&nodes[2]), Instant::now());
    let mut refused = 0_u64;
    while begin.elapsed() < Duration::from_secs(3) {
        for _ in 0..64 {
            if nodes[0].cast("bench", vec![7; 64]).is_err() {
                refused += 1;
                std::thread::yield_now();
            }
        }
    }
    let rate = (delivered(&nodes[2]) - before) as f64 / begin.elapsed().as_secs_f64();
    println!("  cast of 64 bytes, heard by a client of another node  p50 {p50:.0} µs");
    println!(
        "  casts by one node, delivered at another  {rate:>9.0} /s   ({refused} times no room)"
    );
    stop.store(true, Ordering::Relaxed);
    listener.join().expect("it ends");
}

/// The memory of a node with a large pool and many sessions.
fn memory() {
    let (nodes, _, directory) = start("memory", 1);
    nodes[0].create_pool("ports", PoolSpec::range(0, 1_000_000)).expect("the node decides alone");
    while nodes[0].pool("ports").claim().is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }
    for number in 0..10_000 {
        let open = Request::OpenSession { ttl_ms: 600_000, label: format!("session {number}") };
        let Ok(Reply::Session(session)) = nodes[0].request(open) else { panic!("there is room") };
        let holder = Holder::Session(session);
        let claim = Request::Claim { pool: "ports".into(), item: None, holder, wait_ms: 0 };
        nodes[0].request(claim).expect("items are free");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.map_or("unknown", str::trim);
    println!("  a pool of 1,000,000 items, and 10,000 sessions with one each: {resident}");
    drop(nodes);
    let _ = std::fs::remove_dir_all(directory);
}

fn main() {
    memory();
    let (nodes, _, directory) = start("claims", 3);
    nodes[0].create_pool("ports", PoolSpec::range(0, 100_000)).expect("a majority is there");
    while nodes.iter().any(|node| node.pool("ports").claim().is_err()) {
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("Three nodes in one process");
    claims_in_process(&nodes[0]);
    claims_on_a_socket(&nodes[0], 1, 20_000);
    claims_on_a_socket(&nodes[0], 32, 5_000);
    claims_on_a_socket(&nodes[0], 256, 1_000);
    casts(&nodes);
    drop(nodes);
    let _ = std::fs::remove_dir_all(directory);
    views();
}
