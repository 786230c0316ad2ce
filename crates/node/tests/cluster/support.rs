//! A cluster of nodes in one process, with real sockets and disks.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use synod_client::api::{Faults, Mode, PoolStatus, Request};
use synod_node::{Claim, Config, Failure, Node, Peer};

/// A cluster, and the directory of its nodes.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Option<Node>>,
    peers: Vec<Peer>,
    directory: PathBuf,
}

/// No wait takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// An address that nothing listens at. The system gives outgoing connections ports above 32,768, so
/// one below stays free until the node takes it.
pub(crate) fn free_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() * 211 + NEXT.fetch_add(1, Ordering::Relaxed);
        let address = SocketAddr::from(([127, 0, 0, 1], 10_000 + (number % 20_000) as u16));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

pub(crate) fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    assert!(comes_true(holds), "it never came true that {what}");
}

/// Waits, and returns whether it came true.
pub(crate) fn comes_true(mut holds: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !holds() {
        if begin.elapsed() >= PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

impl Cluster {
    pub(crate) fn start(name: &str, size: usize) -> Self {
        let cluster = Cluster::configured(name, size, |_| {});
        cluster.wait_for_view(size);
        cluster
    }

    /// A cluster whose nodes have settings of their own; not waited for.
    pub(crate) fn configured(name: &str, size: usize, configure: impl Fn(&mut Config)) -> Self {
        let directory =
            std::env::temp_dir().join(format!("synod-node-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        let peer = |number| Peer { name: format!("n{number}"), address: free_address() };
        let peers: Vec<Peer> = (1..=size).map(peer).collect();
        let mut cluster = Cluster { nodes: Vec::new(), peers, directory };
        let boot = |node| {
            let mut config = cluster.config(node);
            configure(&mut config);
            Some(Node::start(config).expect("the node starts"))
        };
        cluster.nodes = (0..size).map(boot).collect();
        cluster
    }

    /// The usual settings of a node.
    pub(crate) fn config(&self, node: usize) -> Config {
        let name = &self.peers[node].name;
        let mut config = Config::new(name, self.peers.clone(), self.directory.join(name));
        config.allow_faults = true;
        config.promise_ms = 1_500;
        config
    }

    pub(crate) fn node(&self, node: usize) -> &Node {
        self.nodes[node].as_ref().expect("it runs")
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().flatten()
    }

    pub(crate) fn wait_for_view(&self, members: usize) {
        self.wait_for(members, |_| true);
    }

    /// Waits until these of the nodes are in one view with this number of members.
    pub(crate) fn wait_for(&self, members: usize, which: impl Fn(&Node) -> bool) {
        wait_until("the nodes are in one view", || {
            let nodes = || self.running().filter(|node| which(node));
            let views: Vec<String> = nodes().map(|node| node.status().view).collect();
            let mode = |node: &Node| match node.status().mode {
                Mode::Whole => self.peers.len(),
                Mode::Partitioned(missing) => self.peers.len() - missing.len(),
                Mode::Outside => 0,
            };
            let together = views.iter().all(|view| *view == views[0]);
            together && nodes().all(|node| mode(node) == members)
        });
    }

    pub(crate) fn wait_for_pool(&self, pool: &str) {
        let statuses = || self.running().map(|node| node.status().pools).collect::<Vec<_>>();
        wait_until("the pool is settled with all its items", || {
            let has_all = |pools: &Vec<PoolStatus>| {
                pools.iter().any(|p| p.name == pool && p.settled && p.absent == 0)
            };
            statuses().iter().all(has_all)
        });
    }

    pub(crate) fn cut(&self, sides: &[&[usize]]) {
        for side in sides {
            for node in *side {
                let others = (0..self.peers.len()).filter(|other| !side.contains(other));
                let others: Vec<String> =
                    others.map(|other| self.peers[other].name.clone()).collect();
                let faults = Faults { deaf: others.clone(), mute: others, ..Faults::default() };
                self.node(*node).request(Request::Faults(faults)).expect("faults are allowed");
            }
        }
    }

    pub(crate) fn heal(&self) {
        for node in self.running() {
            node.request(Request::Faults(Faults::default())).expect("faults are allowed");
        }
    }
}

impl Cluster {
    /// Claims an item at a node, as soon as the node has one.
    pub(crate) fn claim(&self, node: usize, pool: &str) -> Claim {
        let mut claimed = None;
        wait_until("the node serves", || match self.node(node).pool(pool).claim() {
            Ok(claim) => {
                claimed = Some(claim);
                true
            }
            Err(Failure::Starved { .. } | Failure::NotReady) => false,
            Err(why) => panic!("{why}"),
        });
        claimed.expect("it has come true")
    }

    /// Stops a node without a word, as a crash does.
    pub(crate) fn crash(&mut self, node: usize) {
        drop(self.nodes[node].take());
    }

    /// Starts a node that has crashed.
    pub(crate) fn restart(&mut self, node: usize) {
        let node_again = Node::start(self.config(node)).expect("the node starts");
        self.nodes[node] = Some(node_again);
    }

    /// How many items of a pool each running node uses, and how many no node owns, as they say.
    pub(crate) fn pool(&self, node: usize, pool: &str) -> PoolStatus {
        let pools = self.node(node).status().pools;
        pools.into_iter().find(|status| status.name == pool).expect("the pool exists")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.nodes.clear();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
