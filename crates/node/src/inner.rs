//! Requests carried out.

use crate::board::{Board, GroupCell, GroupDesk, PoolDesk, Said, Watcher};
use crate::clock::NodeClock;
use crate::config::wrong_name;
use crate::data::DataDirectory;
use crate::held::{Held, HeldItems};
use crate::links::Links;
use crate::registry::{NoOutcome, NodeRecord, Operation, Outcome, Registry, RegistryCell};
use crate::report::Reporter;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use synod_client::api::{
    Answer, Claimed, Failure, GroupSummary, Health, Holder, Level, MemberStatus, Mode, Owned,
    PoolSpec, PoolStatus, RegistryStatus, Reply, Request, Status, Token, Topic, Use,
};
use synod_core::ProcessId;
use synod_core::family::services::{Input, Tag};
use synod_core::family::slots::SlotId;
use synod_core::group;
use synod_core::replication::StateMachine;
use synod_groups::slots::table::Owner;
use tokio::sync::{Notify, mpsc};

/// The registry is waited for so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// Claims wait so long at most.
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);
/// A claim that waits for one item tries again after this time.
const TRY_AGAIN: Duration = Duration::from_millis(20);
/// The longest message of a group.
const LONGEST_CAST: usize = 1 << 20;
/// Events that wait for a client that watches.
const MOST_EVENTS: usize = 1_024;
/// The most items of a pool.
const LARGEST_POOL: u32 = 1 << 24;

/// A node, for all that serve its clients.
pub(crate) struct Inner {
    pub(crate) name: String,
    pub(crate) cluster: String,
    pub(crate) me: ProcessId,
    pub(crate) incarnation: u32,
    /// The nodes with which the cluster begins.
    pub(crate) initial: Vec<NodeRecord>,
    pub(crate) allow_faults: bool,
    pub(crate) promise_ms: u64,
    pub(crate) clock: NodeClock,
    pub(crate) group: Arc<GroupCell>,
    pub(crate) registry: Arc<RegistryCell>,
    pub(crate) links: Arc<Links>,
    pub(crate) data: Mutex<DataDirectory>,
    pub(crate) held: Arc<Mutex<HeldItems>>,
    /// An item that an earlier life held was released.
    pub(crate) let_go: Notify,
    pub(crate) reporter: Reporter,
}

type Result<T> = std::result::Result<T, Failure>;

impl Inner {
    /// The registry, as far as this node knows. Before it knows anything, it knows the nodes of the
    /// beginning.
    pub(crate) fn registry_now(&self) -> Registry {
        let (mut registry, _) = self.registry.state();
        if registry.nodes.is_empty() {
            registry.apply(&Operation::Begin(self.initial.clone()));
        }
        registry
    }

    /// Answers a request. `Watch` is answered by [`Inner::watch`].
    pub(crate) async fn answer(&self, request: Request) -> Answer {
        let result = self.carry_out(request).await;
        self.answer_of(result)
    }

    /// Answers a request that waits for nothing; others are given back.
    pub(crate) fn answer_at_once(&self, request: Request) -> std::result::Result<Answer, Request> {
        let result = match request {
            Request::Claim { pool, item, holder: holder @ Holder::Session(_), wait_ms: 0 } => {
                self.claim(&pool, item, holder).map(Reply::Claimed)
            }
            Request::Release { pool, item, token } => {
                // What is held must be struck from the disk first.
                if self.group.lock().above.is_held(&pool, item) {
                    return Err(Request::Release { pool, item, token });
                }
                let released = self.group.step(|stepping| stepping.release(&pool, item, token));
                released.map(|()| Reply::Done)
            }
            Request::KeepAlive(session) => {
                let now_us = self.clock.now_us();
                self.group.lock().above.keep_alive(session, now_us).map(|()| Reply::Done)
            }
            other => return Err(other),
        };
        Ok(self.answer_of(result))
    }

    /// The answer with this result.
    pub(crate) fn answer_of(&self, result: Result<Reply>) -> Answer {
        let state = self.group.lock();
        let (view, mode) = (state.above.view_name(), mode(&state.above));
        Answer { node: self.name.clone(), view, mode, result }
    }

    async fn carry_out(&self, request: Request) -> Result<Reply> {
        match request {
            Request::Status => Ok(Reply::Status(Box::new(self.status()))),
            Request::CreatePool(name, spec) => self.create_pool(name, spec).await,
            Request::DeletePool(name) => {
                self.delete("pool", name.clone(), Operation::DeletePool(name)).await
            }
            Request::ShowPool(name) => self.show_pool(&name).map(Reply::Pool),
            Request::Uses(name) => self.uses(&name).map(Reply::Uses),
            Request::OpenSession { ttl_ms, label } => self.open_session(ttl_ms, label).await,
            Request::CloseSession(session) => {
                self.group.step(|stepping| stepping.close_session(session)).map(|()| Reply::Done)
            }
            Request::Sessions => {
                let now_us = self.clock.now_us();
                Ok(Reply::Sessions(self.group.lock().above.session_list(now_us)))
            }
            Request::Claim { pool, item, holder, wait_ms } => {
                let claimed = self.claim_within(&pool, item, holder.clone(), wait_ms).await?;
                self.hold(claimed, holder).await.map(Reply::Claimed)
            }
            Request::Release { pool, item, token } => {
                self.release_held(pool, item, token).await.map(|()| Reply::Done)
            }
            Request::CreateGroup(name) => {
                self.check_name("group", &name)?;
                self.create("group", name.clone(), Operation::CreateGroup(name)).await
            }
            Request::DeleteGroup(name) => {
                self.delete("group", name.clone(), Operation::DeleteGroup(name)).await
            }
            Request::Cast { group, level, body } => self.cast(&group, level, body),
            Request::Forget(node) => self.forget(node).await,
            Request::Leave => self.leave().map(|()| Reply::Done),
            Request::Faults(faults) => self.make_faults(&faults),
            Request::Watch(_) => Err(Failure::Bad("a watch needs a stream".into())),
            Request::KeepAlive(_) => {
                self.answer_at_once(request).map_or(Err(Failure::NotReady), |answer| answer.result)
            }
        }
    }

    pub(crate) fn claim(&self, pool: &str, item: Option<u64>, holder: Holder) -> Result<Claimed> {
        let now_us = self.clock.now_us();
        self.group.step(|stepping| stepping.claim(pool, item, holder, now_us))
    }

    async fn claim_within(
        &self,
        pool: &str,
        item: Option<u64>,
        holder: Holder,
        wait_ms: u64,
    ) -> Result<Claimed> {
        let wait = Duration::from_millis(wait_ms).min(LONGEST_WAIT);
        if item.is_none() && wait_ms > 0 {
            let now_us = self.clock.now_us();
            let served = self.group.step(|stepping| {
                stepping.claim_within(pool, holder, wait.as_millis() as u64, now_us)
            })?;
            let (item, token) = served.await.unwrap_or(Err(Failure::NotReady))?;
            return Ok(Claimed { pool: pool.to_owned(), item, token });
        }
        // A pool keeps no queue for a single item.
        let deadline = tokio::time::Instant::now() + wait;
        loop {
            let refused = match self.claim(pool, item, holder.clone()) {
                Err(why) if why.is_temporary() || matches!(why, Failure::NotHere { .. }) => why,
                other => return other,
            };
            tokio::time::sleep_until(deadline.min(tokio::time::Instant::now() + TRY_AGAIN)).await;
            if tokio::time::Instant::now() >= deadline {
                return Err(refused);
            }
        }
    }

    /// Begins to leave the group, unless items are in use here: they would go to others.
    pub(crate) fn leave(&self) -> Result<()> {
        self.group.step(|stepping| {
            let pools = stepping.state.above.pools.values();
            let used: usize = pools.map(|pool| pool.uses.len()).sum();
            if used > 0 {
                return Err(Failure::Bad(format!(
                    "{used} items are in use at {}, and would go to others if it left: release \
                     them first, or stop the node without leaving",
                    self.name
                )));
            }
            stepping.input(Input::Leave);
            Ok(())
        })
    }

    /// Writes a claim for a label down before it is answered.
    async fn hold(&self, claimed: Claimed, holder: Holder) -> Result<Claimed> {
        let Holder::Label(label) = holder else { return Ok(claimed) };
        let Claimed { pool, item, token } = claimed.clone();
        let held = Held { pool: pool.clone(), item, token, label };
        let written = self.on_disk(move |items| match items.has_room() {
            true => items.hold(held),
            false => Err(io::Error::other("too many items are held")),
        });
        match written.await {
            Ok(()) => Ok(claimed),
            Err(error) => {
                let _ = self.group.step(|stepping| stepping.release(&pool, item, token));
                Err(Failure::Full(error.to_string()))
            }
        }
    }

    /// Strikes a claim for a label out, and then gives the item back.
    async fn release_held(&self, pool: String, item: u64, token: Token) -> Result<()> {
        let name = pool.clone();
        let struck = self.on_disk(move |items| items.let_go(&name, item, token)).await;
        let was_held = struck.map_err(|error| Failure::Full(error.to_string()))?;
        self.let_go.notify_one();
        let released = self.group.step(|stepping| stepping.release(&pool, item, token));
        match released {
            // An item that an earlier life held is not in use in this one.
            Err(_) if was_held => Ok(()),
            other => other,
        }
    }

    /// Works with the file of held items, on a thread that may wait for the disk.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut HeldItems) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let held = self.held.clone();
        let work = move || work(&mut held.lock().unwrap_or_else(PoisonError::into_inner));
        tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
    }

    fn check_name(&self, kind: &str, name: &str) -> Result<()> {
        match wrong_name(name) {
            Some(why) => Err(Failure::Bad(format!("'{name}' is no name of a {kind}: {why}"))),
            None => Ok(()),
        }
    }

    async fn create_pool(&self, name: String, spec: PoolSpec) -> Result<Reply> {
        self.check_name("pool", &name)?;
        if spec.size == 0 || spec.size > LARGEST_POOL {
            return Err(Failure::Bad(format!("a pool has 1 to {LARGEST_POOL} items")));
        }
        if spec.first.checked_add(u64::from(spec.size)).is_none() {
            return Err(Failure::Bad("the last item of the pool is beyond all numbers".into()));
        }
        let founder = (self.me, self.incarnation);
        self.create("pool", name.clone(), Operation::CreatePool { name, spec, founder }).await
    }

    async fn create(&self, kind: &str, name: String, operation: Operation) -> Result<Reply> {
        match self.change(operation).await? {
            Outcome::Done => Ok(Reply::Done),
            Outcome::Exists { differs } => {
                Err(Failure::Exists { kind: kind.to_owned(), name, differs })
            }
            Outcome::Unknown => Err(Failure::NotReady),
        }
    }

    async fn delete(&self, kind: &str, name: String, operation: Operation) -> Result<Reply> {
        let known = {
            let (registry, _) = self.registry.state();
            let objects = if kind == "pool" { registry.pools } else { registry.groups };
            objects.into_keys().collect()
        };
        match self.change(operation).await? {
            Outcome::Done => Ok(Reply::Done),
            _ => Err(Failure::Unknown { kind: kind.to_owned(), name, known }),
        }
    }

    async fn forget(&self, node: String) -> Result<Reply> {
        if node == self.name {
            return Err(Failure::Bad(format!(
                "{node} is the node that answers, so it is not dead: 'synod member leave' makes a \
                 living node hand its items over and leave"
            )));
        }
        let members = self.group.lock().above.view.clone();
        let registry = self.registry_now();
        let known = || registry.living().map(|(_, record)| record.name.clone()).collect();
        let Some(id) = registry.node(&node) else {
            return Err(Failure::Unknown { kind: "node".into(), name: node, known: known() });
        };
        if members.is_some_and(|(_, members)| members.iter().any(|member| member.node == id)) {
            return Err(Failure::Bad(format!(
                "{node} is alive: it is in the view of {}. Stop it first; a certificate for a node \
                 that lives would give its items to others while they are in use",
                self.name
            )));
        }
        self.change(Operation::Forget(node)).await.map(|_| Reply::Done)
    }

    async fn change(&self, operation: Operation) -> Result<Outcome> {
        self.registry.change(operation, PATIENCE).await.map_err(|why| match why {
            NoOutcome::Full => Failure::Full("many changes of the registry wait".into()),
            NoOutcome::InTime => Failure::NoMajority {
                waited_ms: PATIENCE.as_millis() as u64,
                missing: self.group.lock().above.missing(),
            },
        })
    }

    async fn open_session(&self, ttl_ms: u64, label: String) -> Result<Reply> {
        Board::check_ttl(ttl_ms)?;
        let promised = || self.registry.state().0.promises.get(&self.me).copied().unwrap_or(0);
        if ttl_ms > self.promise_ms && ttl_ms > promised() {
            // Should this node die, the others have to know how long its users may live on.
            self.change(Operation::Promise(self.me, ttl_ms)).await?;
        }
        // The promise is on the disk before a client relies on it: after a restart no other node
        // gets an item of this one before the longest promise is over.
        let promised = self.data.lock().unwrap_or_else(PoisonError::into_inner).promise_ttl(ttl_ms);
        promised.map_err(|error| Failure::Full(error.to_string()))?;
        let now_us = self.clock.now_us();
        let opened = self.group.lock().above.open_session(ttl_ms, label, now_us);
        opened.map(Reply::Session)
    }

    pub(crate) fn cast(&self, group: &str, level: Level, body: Vec<u8>) -> Result<Reply> {
        if body.len() > LONGEST_CAST {
            return Err(Failure::Bad(format!("a message has at most {LONGEST_CAST} bytes")));
        }
        let level = match level {
            Level::Agreed => group::Level::Agreed,
            Level::Safe => group::Level::Safe,
        };
        self.group.step(|stepping| {
            let tag = group_tag(&stepping.state.above, group)?;
            stepping.input(Input::Cast(tag, level, body));
            match stepping.state.above.take_said() {
                Some(Said::Full) => Err(Failure::Full("messages of the group wait".into())),
                Some(Said::Unknown) => Err(Failure::NotReady),
                _ => Ok(Reply::Done),
            }
        })
    }

    /// Streams events to a client.
    pub(crate) fn watch(&self, topic: &Topic) -> Result<mpsc::Receiver<synod_client::api::Event>> {
        let (events, receiver) = mpsc::channel(MOST_EVENTS);
        let board = &mut self.group.lock().above;
        let tag = match topic {
            Topic::Views => None,
            Topic::Pool(pool) => Some(board.pool_tag(pool)?),
            Topic::Group(group) => Some(group_tag(board, group)?),
        };
        match board.watch(Watcher { tag, events, missed: 0 }) {
            true => Ok(receiver),
            false => Err(Failure::Full("too many clients watch".into())),
        }
    }

    fn uses(&self, pool: &str) -> Result<Vec<Use>> {
        let now_us = self.clock.now_us();
        let board = &self.group.lock().above;
        let desk = board.pools.get(&board.pool_tag(pool)?).ok_or(Failure::NotReady)?;
        let list = desk.uses.iter().map(|(SlotId(slot), used)| Use {
            item: desk.spec.item(*slot),
            token: synod_client::Token { epoch: used.token.epoch, count: used.token.count },
            holder: used.holder.clone(),
            for_ms: now_us.saturating_sub(used.since_us) / 1_000,
        });
        Ok(list.collect())
    }

    fn show_pool(&self, pool: &str) -> Result<PoolStatus> {
        let state = self.group.lock();
        let tag = state.above.pool_tag(pool)?;
        let desk = state.above.pools.get(&tag).ok_or(Failure::NotReady)?;
        Ok(pool_status(&state, tag, desk))
    }

    /// Everything about the node, in short.
    pub(crate) fn status(&self) -> Status {
        let (leader, term, applied) = self.registry.progress(self.me);
        let registry = self.registry_now();
        let state = self.group.lock();
        let board = &state.above;
        let members = registry.nodes.iter().map(|(node, record)| MemberStatus {
            name: record.name.clone(),
            address: record.address.clone(),
            votes: self.registry.votes(*node),
            health: if *node == self.me {
                Health::Here
            } else if registry.forgotten.contains_key(node) {
                Health::Forgotten
            } else if is_together(board, *node) {
                Health::Together
            } else {
                Health::Unreachable
            },
        });
        let summary = |group: &GroupDesk| GroupSummary {
            name: group.name.clone(),
            delivered: group.delivered,
        };
        let leader = leader.map(|leader| board.name_of(leader));
        Status {
            cluster: self.cluster.clone(),
            node: self.name.clone(),
            incarnation: self.incarnation,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_ms: self.clock.now_ms(),
            view: board.view_name(),
            mode: mode(board),
            members: members.collect(),
            registry: RegistryStatus { leader, term, applied },
            pools: board.pools.iter().map(|(tag, desk)| pool_status(&state, *tag, desk)).collect(),
            groups: board.groups.values().map(summary).collect(),
            sessions: board.session_count(),
        }
    }
}

fn group_tag(board: &Board, group: &str) -> Result<Tag> {
    board.group_tags.get(group).copied().ok_or_else(|| {
        let mut known: Vec<String> = board.group_tags.keys().cloned().collect();
        known.sort();
        Failure::Unknown { kind: "group".into(), name: group.into(), known }
    })
}

fn is_together(board: &Board, node: ProcessId) -> bool {
    let mut members = board.view.iter().flat_map(|(_, members)| members);
    members.any(|member| member.node == node)
}

/// Which services the node can offer.
fn mode(board: &Board) -> Mode {
    if board.view.is_none() {
        return Mode::Outside;
    }
    match board.missing() {
        missing if missing.is_empty() => Mode::Whole,
        missing => Mode::Partitioned(missing),
    }
}

type GroupState = crate::cell::State<crate::board::GroupProcess, Board>;

fn pool_status(state: &GroupState, tag: Tag, desk: &PoolDesk) -> PoolStatus {
    let line = state.host.state().service.lines().get(&tag);
    let member = line.map(|line| line.pool().state());
    let count = |of: fn(&synod_groups::slots::state::MemberState) -> u32| member.map_or(0, of);
    let (mut owners, mut absent) = (Vec::new(), 0);
    for (owner, items) in member.iter().flat_map(|member| member.table.counts()) {
        match owner {
            Owner::Of(node) => owners.push(Owned { node: state.above.name_of(node), items }),
            Owner::Absent | Owner::Frozen => absent += items,
        }
    }
    PoolStatus {
        name: desk.name.clone(),
        spec: desk.spec,
        settled: member.is_some_and(|member| member.is_settled()),
        owners,
        absent,
        used: count(|member| member.pool.used()),
        free: count(|member| member.free()),
        offered: count(|member| member.pool.pledged()),
        cooling: count(|member| member.cooling()),
        claims: desk.claims,
        refusals: desk.refusals,
    }
}
