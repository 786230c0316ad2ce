//! A node inside a program.

use crate::board::{Board, GroupCell, GroupProcess};
use crate::cell::{Cell, Identity};
use crate::clock::NodeClock;
use crate::config::{BadConfig, Config, MOST_NODES};
use crate::data::{BadData, DataDirectory};
use crate::feed::{Fed, Intake};
use crate::held::{Held, HeldItems};
use crate::inner::Inner;
use crate::links::{BadCertificates, Channel, ClusterId, Links, Security};
use crate::local::Pool;
use crate::registry::{self, NodeRecord, Operation, RegistryCell, RegistryDisk};
use crate::report::Reporter;
use crate::serve;
use crate::serve::tokens::Tokens;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use synod_client::api::{Failure, Level, PoolSpec, Reply, Request, Status};
use synod_core::{Host, ProcessId, ProcessSet, Setup};
use synod_groups::group::GroupEngine;
use synod_groups::group::embedded::Embedded;
use synod_groups::switchboard::Switchboard;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{Notify, watch};
use tokio::task::{LocalSet, spawn_local};
use xxhash_rust::xxh3::xxh3_64;

/// Sessions are looked at so often.
const LOOK: Duration = Duration::from_millis(20);
/// A node that leaves waits so long until its items are handed over.
const LEAVING: Duration = Duration::from_secs(3);
/// The window of the group engine, in messages.
const WINDOW: &str = "512";

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The settings make no sense.
    #[error(transparent)]
    Config(#[from] BadConfig),
    /// The certificates cannot be used.
    #[error(transparent)]
    Certificates(#[from] BadCertificates),
    /// The directory cannot be used.
    #[error(transparent)]
    Data(#[from] BadData),
    /// The items that are held cannot be read.
    #[error("the items that this node holds cannot be read: {0}. Restore the file from a copy")]
    Held(io::Error),
    /// The registry's log cannot be read.
    #[error("the registry cannot be read: {0}")]
    Registry(String),
    /// The registry's log is gone, but the node has lived before.
    #[error(
        "{0} has no log of the registry, although this node has lived before: restore it from a \
         copy, or remove the whole directory after 'synod member forget' of this node"
    )]
    RegistryLost(PathBuf),
    /// An address cannot be used.
    #[error("cannot listen at {address}: {cause}{}", hint(.cause))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        cause: io::Error,
    },
    /// The socket for clients cannot be used.
    #[error("cannot listen at {path} for clients: {cause}", path = .path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The system gives no thread.
    #[error("no thread can be started: {0}")]
    Thread(io::Error),
}

fn hint(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::AddrInUse => ". Another process has this port: is the node running already?",
        _ => "",
    }
}

/// A running node. It stops when this value is dropped.
pub struct Node {
    inner: Arc<Inner>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
    handle: Handle,
    socket: PathBuf,
}

impl Node {
    /// Starts a node: when this returns, it listens.
    pub fn start(config: Config) -> Result<Self, StartError> {
        config.check()?;
        let reporter = Reporter::new(&config.name);
        let security = Security::new(config.certificates.as_ref(), &config.name)?;
        let clock = NodeClock::new();
        let cluster = cluster_id(&config);
        let data = DataDirectory::open(&config.data, cluster, &config.name)?;
        let me = ProcessId(config.place().unwrap_or(0) as u32);
        let incarnation = data.incarnation();
        let around = (clock, reporter.clone());
        let links = Links::new(cluster, (me, incarnation), MOST_NODES, security, around);
        let links = Arc::new(links);
        for (node, peer) in config.peers.iter().enumerate() {
            links.set_address(ProcessId(node as u32), Some((&peer.name, peer.address)));
        }
        let (registry, disk) =
            open_registry(&config, &data, me, (clock, links.clone()), &reporter)?;
        let registry = Arc::new(registry);
        let group = Arc::new(group_cell(&config, me, incarnation, (clock, links.clone())));
        let quarantine = Duration::from_millis(data.promised_ttl_ms);
        let held = open_held(&config, &data)?;
        let inner = Arc::new(Inner {
            name: config.name.clone(),
            cluster: config.cluster.clone(),
            me,
            incarnation,
            initial: initial(&config),
            allow_faults: config.allow_faults,
            promise_ms: config.promise_ms,
            clock,
            group,
            registry,
            links,
            data: Mutex::new(data),
            held: Arc::new(Mutex::new(held)),
            let_go: Notify::new(),
            reporter,
        });
        let socket = config.socket();
        let peers = listen_on(config.peers[me.index()].address)?;
        let clients = serve::listen(&socket)?;
        let http = match (config.http, &config.tokens) {
            (Some(address), Some(tokens)) => {
                let tokens = Tokens::read(tokens).map_err(BadConfig)?;
                Some((listen_on(address)?, Arc::new(tokens)))
            }
            _ => None,
        };
        let listeners = Listeners { peers, clients, http };
        Node::run(inner, disk, quarantine, listeners, socket).map_err(StartError::Thread)
    }

    /// Starts the threads of a node.
    fn run(
        inner: Arc<Inner>,
        disk: RegistryDisk,
        quarantine: Duration,
        listeners: Listeners,
        socket: PathBuf,
    ) -> io::Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let writer = inner.clone();
        let disk = thread("disk").spawn(move || {
            if let Err(error) = disk.serve(&writer.registry) {
                // A voter that went on without its disk would forget what it has promised.
                writer.reporter.say(format!("the registry stops here: {error}"));
                writer.registry.stop();
            }
        })?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let core = Core { inner: inner.clone(), quarantine, stopped };
        let core = thread("core").spawn(move || core.run(&runtime, listeners))?;
        Ok(Node { inner, stop, threads: vec![disk, core], handle, socket })
    }

    /// Claims in this pool.
    pub fn pool(&self, name: &str) -> Pool {
        Pool::new(self.inner.clone(), name)
    }

    /// Creates a pool. Needs a majority of the nodes.
    pub fn create_pool(&self, name: &str, spec: PoolSpec) -> Result<(), Failure> {
        self.request(Request::CreatePool(name.to_owned(), spec)).map(drop)
    }

    /// Sends a message to all members of a group, in one order at all of them.
    pub fn cast(&self, group: &str, body: Vec<u8>) -> Result<(), Failure> {
        self.inner.cast(group, Level::Agreed, body).map(drop)
    }

    /// Everything about the node, in short.
    pub fn status(&self) -> Status {
        self.inner.status()
    }

    /// The socket on which the node listens for clients.
    pub fn socket(&self) -> &std::path::Path {
        &self.socket
    }

    /// Carries out a request, and blocks this thread meanwhile.
    pub fn request(&self, request: Request) -> Result<Reply, Failure> {
        let (sender, result) = std::sync::mpsc::channel();
        let inner = self.inner.clone();
        // The thread that keeps time carries it out, so that any thread may ask.
        self.handle.spawn(async move {
            let _ = sender.send(inner.answer(request).await.result);
        });
        result.recv().unwrap_or(Err(Failure::NotReady))
    }

    /// Stops in good order. A node at which nothing is in use leaves the cluster: it hands its
    /// items over, and tells the other nodes. Otherwise it only stops, and its items wait for it.
    pub fn leave(self) {
        if let Err(why) = self.inner.leave() {
            return self.inner.reporter.say(format!("stops without leaving: {why}"));
        }
        let until = std::time::Instant::now() + LEAVING;
        while !self.inner.group.lock().above.has_left && std::time::Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        // The goodbye is still on its way.
        std::thread::sleep(Duration::from_millis(50));
    }

    /// Whether the node has left the cluster, as a client asked it to.
    pub fn has_left(&self) -> bool {
        self.inner.group.lock().above.has_left
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Claims in this program end before any other node can get their items.
        self.inner.group.step(|stepping| stepping.state.above.end());
        self.stop.send_replace(true);
        self.inner.registry.stop();
        self.inner.group.stop();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn cluster_id(config: &Config) -> ClusterId {
    let names: Vec<&str> = config.peers.iter().map(|peer| peer.name.as_str()).collect();
    ClusterId(xxh3_64(format!("{}\n{}", config.cluster, names.join("\n")).as_bytes()))
}

fn initial(config: &Config) -> Vec<NodeRecord> {
    let record = |peer: &crate::config::Peer| NodeRecord {
        name: peer.name.clone(),
        address: peer.address.to_string(),
    };
    config.peers.iter().map(record).collect()
}

fn open_registry(
    config: &Config,
    data: &DataDirectory,
    me: ProcessId,
    around: (NodeClock, Arc<Links>),
    reporter: &Reporter,
) -> Result<(RegistryCell, RegistryDisk), StartError> {
    let directory = data.inside("registry");
    let opened = RegistryDisk::open(&directory, reporter);
    let (disk, records, is_new) =
        opened.map_err(|error| StartError::Registry(error.to_string()))?;
    if is_new && !data.is_new {
        return Err(StartError::RegistryLost(directory));
    }
    let identity =
        Identity { me, n: MOST_NODES, incarnation: data.incarnation(), has_lost_disk: false };
    let voters = ProcessSet::all(config.peers.len());
    let cell = registry::cell(identity, voters, &records, around).map_err(StartError::Registry)?;
    Ok((cell, disk))
}

fn open_held(config: &Config, data: &DataDirectory) -> Result<HeldItems, StartError> {
    let open = || {
        let mut held = HeldItems::open(data.inside("held.json"))?;
        if config.abandon_held {
            held.abandon()?;
        }
        Ok(held)
    };
    open().map_err(StartError::Held)
}

fn group_cell(
    config: &Config,
    me: ProcessId,
    incarnation: u32,
    (clock, links): (NodeClock, Arc<Links>),
) -> GroupCell {
    let setup = Setup::new(MOST_NODES)
        .with("period", &config.period_ms.to_string())
        .with("timeout", &config.timeout_ms.to_string())
        .with("window", WINDOW);
    let engine = Embedded::from_setup(me, &setup).expect("the settings were checked");
    let service = Switchboard::new(ProcessSet::all(config.peers.len()));
    let host = Host::new(GroupProcess { service, engine: GroupEngine::Embedded(Box::new(engine)) });
    let identity = Identity { me, n: MOST_NODES, incarnation, has_lost_disk: false };
    let names = (0..).map(ProcessId).zip(config.peers.iter().map(|peer| peer.name.clone()));
    let board = Board::new(names.collect(), clock);
    Cell::new(host, board, identity, (clock, links, Channel::Group))
}

fn listen_on(address: SocketAddr) -> Result<std::net::TcpListener, StartError> {
    let listen = || {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    listen().map_err(|cause| StartError::Listen { address, cause })
}

/// The sockets of a node.
struct Listeners {
    peers: std::net::TcpListener,
    clients: std::os::unix::net::UnixListener,
    http: Option<(std::net::TcpListener, Arc<Tokens>)>,
}

/// The thread that keeps time and serves sockets.
struct Core {
    inner: Arc<Inner>,
    /// The group is joined after this time: until then, tenants of an earlier life may be alive.
    quarantine: Duration,
    stopped: watch::Receiver<bool>,
}

impl Core {
    fn run(self, runtime: &Runtime, listeners: Listeners) {
        let tasks = LocalSet::new();
        let mut stopped = self.stopped.clone();
        tasks.block_on(runtime, async move {
            self.spawn_all(listeners);
            let _ = stopped.wait_for(|stopped| *stopped).await;
        });
    }

    fn spawn_all(&self, Listeners { peers, clients, http }: Listeners) {
        let group_runs = Arc::new(AtomicBool::new(false));
        let intake = Intake { inner: self.inner.clone(), group_runs: group_runs.clone() };
        let peers = tokio::net::TcpListener::from_std(peers).expect("the listener is non-blocking");
        let inner = &self.inner;
        spawn_local(inner.links.clone().run(peers, Arc::new(intake)));
        let registry = inner.registry.clone();
        spawn_local(async move {
            registry.step(|stepping| stepping.start());
            registry.keep_time().await;
        });
        spawn_local(begin(inner.clone()));
        spawn_local(join(inner.clone(), self.quarantine, group_runs));
        spawn_local(end_sessions(inner.clone()));
        let clients = tokio::net::UnixListener::from_std(clients);
        let clients = clients.expect("the listener is non-blocking");
        spawn_local(serve::clients(inner.clone(), clients));
        if let Some((http, tokens)) = http {
            let http = tokio::net::TcpListener::from_std(http);
            let http = http.expect("the listener is non-blocking");
            spawn_local(serve::http(inner.clone(), http, tokens));
        }
    }
}

/// Asks for the beginning of the cluster until it has begun.
async fn begin(inner: Arc<Inner>) {
    // The leader of a group that has just begun is elected within a second.
    while inner.registry.state().0.nodes.is_empty() {
        let operation = Operation::Begin(inner.initial.clone());
        let _ = inner.registry.change(operation, Duration::from_secs(2)).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the items are released that an earlier life held.
async fn wait_for_release(inner: &Inner) {
    let held = || {
        let held = inner.held.lock().unwrap_or_else(PoisonError::into_inner);
        let items = held.items().map(|held| {
            let Held { pool, item, token, label } = held;
            format!("{pool} {item} --token {token} ({label})")
        });
        items.collect::<Vec<String>>()
    };
    let items = held();
    if let [first, ..] = &items[..] {
        inner.reporter.say(format!(
            "{} items are held since an earlier life of this node, and their users may be alive. \
             The node joins the group when they are released ('synod pool release {first}'), or \
             when it is started with --abandon-held",
            items.len()
        ));
    }
    while !held().is_empty() {
        inner.let_go.notified().await;
    }
}

/// Joins the group, then passes on what the registry says, for ever.
async fn join(inner: Arc<Inner>, quarantine: Duration, group_runs: Arc<AtomicBool>) {
    if !quarantine.is_zero() {
        let secs = quarantine.as_secs_f64();
        inner.reporter.say(format!(
            "joins the group in {secs:.1} s: users of an earlier life of this node may be alive \
             until then"
        ));
        tokio::time::sleep(quarantine).await;
    }
    wait_for_release(&inner).await;
    inner.group.step(|stepping| stepping.start());
    group_runs.store(true, Ordering::Release);
    let group = inner.group.clone();
    spawn_local(async move { group.keep_time().await });
    let news = inner.registry.lock().above.news.clone();
    let mut fed = Fed::default();
    loop {
        inner.feed(&mut fed);
        let _ = tokio::time::timeout(Duration::from_millis(200), news.notified()).await;
    }
}

/// Ends the sessions whose time is over.
async fn end_sessions(inner: Arc<Inner>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let now_us = inner.clock.now_us();
        inner.group.step(|stepping| stepping.end_sessions(now_us));
    }
}
