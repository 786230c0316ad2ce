//! Sessions that are kept alive, and claims that are given back when they are dropped.
//!
//! A node ends a session when it has heard nothing of it for its TTL. The client counts from the
//! moment *before* it sent the last sign of life that was answered, so it knows that the session is
//! over before the node does. [`Claim::lost`] completes then.

use crate::api::{Claimed, Holder, Reply, Request, SessionId, Token};
use crate::connection::{Client, Error};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// How long a node waits for a sign of life of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ttl(Duration);

impl Ttl {
    /// A time in seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Ttl(Duration::from_secs(seconds))
    }

    /// A time in milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Ttl(Duration::from_millis(millis))
    }

    fn as_millis(self) -> u64 {
        self.0.as_millis() as u64
    }
}

/// The session is over, and all its claims are void.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session is over: its claims are void")]
pub struct Lost;

#[derive(Debug)]
struct Shared {
    client: Client,
    id: SessionId,
    /// Whether the session is over.
    over: watch::Receiver<bool>,
    /// The node cannot end the session before this moment.
    deadline: watch::Receiver<Instant>,
    /// Items to give back, for the task that keeps the session alive.
    returns: mpsc::UnboundedSender<Claimed>,
}

/// A session at a node, which a task keeps alive. When the last handle and the last claim are
/// dropped, the session is closed.
#[derive(Clone, Debug)]
pub struct Session {
    shared: Arc<Shared>,
}

impl Client {
    /// Opens a session, and keeps it alive.
    pub async fn open_session(&self, ttl: Ttl, label: &str) -> Result<Session, Error> {
        let opened = Instant::now();
        let request = Request::OpenSession { ttl_ms: ttl.as_millis(), label: label.to_owned() };
        let Reply::Session(id) = self.call(&request).await? else { return Err(Error::Unexpected) };
        let (over_sender, over) = watch::channel(false);
        let (deadline_sender, deadline) = watch::channel(opened + ttl.0);
        let (returns, returned) = mpsc::unbounded_channel();
        let keeper = Keeper { client: self.clone(), id, ttl, deadline: deadline_sender };
        tokio::spawn(keeper.run(over_sender, returned));
        let shared = Shared { client: self.clone(), id, over, deadline, returns };
        Ok(Session { shared: Arc::new(shared) })
    }
}

impl Session {
    /// The name of the session at its node.
    pub fn id(&self) -> SessionId {
        self.shared.id
    }

    /// Claims any item of a pool.
    pub async fn claim(&self, pool: &str) -> Result<Claim, Error> {
        self.claim_within(pool, None, Duration::ZERO).await
    }

    /// Claims this item, or any; waits so long for one.
    pub async fn claim_within(
        &self,
        pool: &str,
        item: Option<u64>,
        wait: Duration,
    ) -> Result<Claim, Error> {
        let holder = Holder::Session(self.shared.id);
        let wait_ms = wait.as_millis() as u64;
        let request = Request::Claim { pool: pool.to_owned(), item, holder, wait_ms };
        match self.shared.client.call(&request).await? {
            Reply::Claimed(claimed) => Ok(Claim { claimed: Some(claimed), session: self.clone() }),
            _ => Err(Error::Unexpected),
        }
    }

    /// The moment before which the node cannot end the session by itself. A program that looks at
    /// the clock before it uses an item needs no other signal.
    pub fn valid_until(&self) -> std::time::Instant {
        self.shared.deadline.borrow().into_std()
    }

    /// Completes when the session is over.
    pub async fn lost(&self) -> Lost {
        let mut over = self.shared.over.clone();
        // A keeper that is gone has ended the session.
        let _ = over.wait_for(|over| *over).await;
        Lost
    }
}

/// A claimed item. It is given back when this value is dropped.
#[derive(Debug)]
pub struct Claim {
    /// None once it is given back.
    claimed: Option<Claimed>,
    session: Session,
}

impl Claim {
    fn claimed(&self) -> &Claimed {
        self.claimed.as_ref().expect("only `release` takes it, and consumes the claim")
    }

    /// The item.
    pub fn item(&self) -> u64 {
        self.claimed().item
    }

    /// The fencing token.
    pub fn token(&self) -> Token {
        self.claimed().token
    }

    /// Completes before the item can be given to another user without having been released.
    pub async fn lost(&self) -> Lost {
        self.session.lost().await
    }

    /// Gives the item back, and waits until the node has it.
    pub async fn release(mut self) -> Result<(), Error> {
        let Claimed { pool, item, token } = self.claimed.take().ok_or(Error::Unexpected)?;
        let request = Request::Release { pool, item, token };
        self.session.shared.client.call(&request).await.map(drop)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(claimed) = self.claimed.take() {
            // The session gives it back when it ends, if the keeper is gone.
            let _ = self.session.shared.returns.send(claimed);
        }
    }
}

/// Keeps a session alive.
struct Keeper {
    client: Client,
    id: SessionId,
    ttl: Ttl,
    deadline: watch::Sender<Instant>,
}

impl Keeper {
    async fn run(
        mut self,
        over: watch::Sender<bool>,
        mut returned: mpsc::UnboundedReceiver<Claimed>,
    ) {
        let mut next = Instant::now() + self.ttl.0 / 3;
        loop {
            tokio::select! {
                claimed = returned.recv() => match claimed {
                    Some(Claimed { pool, item, token }) => {
                        let (client, request) =
                            (self.client.clone(), Request::Release { pool, item, token });
                        // Signs of life do not wait for it. If it fails, the item is free when the
                        // session ends.
                        tokio::spawn(async move { client.call(&request).await });
                    }
                    None => {
                        let _ = self.client.call(&Request::CloseSession(self.id)).await;
                        return;
                    }
                },
                () = tokio::time::sleep_until(next.min(self.deadline())) => {
                    match self.beat().await {
                        Some(pause) => next = Instant::now() + pause,
                        None => {
                            let _ = over.send(true);
                            return;
                        }
                    }
                }
            }
        }
    }

    fn deadline(&self) -> Instant {
        *self.deadline.borrow()
    }

    /// Sends a sign of life. Returns the pause until the next one, or none if the session is over.
    async fn beat(&mut self) -> Option<Duration> {
        let sent = Instant::now();
        if sent >= self.deadline() {
            return None;
        }
        let request = Request::KeepAlive(self.id);
        match tokio::time::timeout_at(self.deadline(), self.client.call(&request)).await {
            Ok(Ok(_)) => {
                self.deadline.send_replace(sent + self.ttl.0);
                Some(self.ttl.0 / 3)
            }
            Ok(Err(Error::Refused(_))) | Err(_) => None,
            // The connection broke: try again soon, up to the deadline.
            Ok(Err(_)) => Some((self.ttl.0 / 20).max(Duration::from_millis(10))),
        }
    }
}
