//! Requests under way on one socket.

use crate::api::{Answer, Event, Failure, Reply, Request};
use crate::wire::{self, CLIENT_GREETING, Garbage, NODE_GREETING};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

/// The time for which a client waits for an answer, beyond the time that the request itself asks
/// for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Events that wait for the program that watches. The node counts the ones that find no room.
const MOST_EVENTS: usize = 1_024;

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The node cannot be reached.
    #[error("no synod node listens at {path}: {cause}")]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The connection broke. The request may have taken effect.
    #[error(
        "the connection to the node broke before it answered; the request may have taken effect"
    )]
    Broken,
    /// No answer in time. The request may have taken effect.
    #[error("the node did not answer within {} s; the request may have taken effect", .0.as_secs())]
    Silent(Duration),
    /// The other side speaks another protocol.
    #[error(transparent)]
    Garbage(#[from] Garbage),
    /// The node refused.
    #[error("{}", .0.result.as_ref().err().map(Failure::to_string).unwrap_or_default())]
    Refused(Box<Answer>),
    /// The node answered what does not belong to the request.
    #[error("the node gave an answer that does not belong to the request")]
    Unexpected,
}

impl Error {
    /// Why the node refused, if it did.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Error::Refused(answer) => answer.result.as_ref().err(),
            _ => None,
        }
    }
}

/// The receivers of answers, by the numbers of requests.
#[derive(Debug)]
enum Waiting {
    Once(oneshot::Sender<Answer>),
    Stream(mpsc::Sender<Answer>),
}

type Pending = Arc<Mutex<Option<HashMap<u64, Waiting>>>>;

#[derive(Debug)]
struct Connection {
    write: tokio::sync::Mutex<OwnedWriteHalf>,
    /// None when the connection is broken.
    pending: Pending,
}

/// A client of one node. Clones share the connection; a broken one is made anew with the next
/// request.
#[derive(Clone, Debug)]
pub struct Client {
    path: Arc<Path>,
    connection: Arc<tokio::sync::Mutex<Arc<Connection>>>,
    next: Arc<AtomicU64>,
}

fn locked(pending: &Pending) -> std::sync::MutexGuard<'_, Option<HashMap<u64, Waiting>>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    async fn open(path: &Path) -> Result<Arc<Self>, Error> {
        let unreachable = |cause| Error::Unreachable { path: path.to_owned(), cause };
        let stream = UnixStream::connect(path).await.map_err(unreachable)?;
        let (mut read, mut write) = stream.into_split();
        write.write_all(&CLIENT_GREETING).await.map_err(unreachable)?;
        let mut greeting = [0; NODE_GREETING.len()];
        read.read_exact(&mut greeting).await.map_err(unreachable)?;
        if greeting != NODE_GREETING {
            return Err(Garbage::Greeting.into());
        }
        let pending = Arc::new(Mutex::new(Some(HashMap::new())));
        tokio::spawn(receive(read, pending.clone()));
        Ok(Arc::new(Connection { write: write.into(), pending }))
    }

    fn is_broken(&self) -> bool {
        locked(&self.pending).is_none()
    }

    async fn send(&self, number: u64, request: &Request, waiting: Waiting) -> Result<(), Error> {
        let mut bytes = Vec::with_capacity(64);
        wire::write_frame(&mut bytes, number, request)?;
        locked(&self.pending).as_mut().ok_or(Error::Broken)?.insert(number, waiting);
        let sent = self.write.lock().await.write_all(&bytes).await;
        sent.map_err(|_| Error::Broken)
    }

    fn forget(&self, number: u64) {
        if let Some(pending) = &mut *locked(&self.pending) {
            pending.remove(&number);
        }
    }
}

/// Hands each answer to the request that waits for it, until the connection ends.
async fn receive(mut read: OwnedReadHalf, pending: Pending) {
    let mut bytes = Vec::with_capacity(1 << 16);
    let mut gone = 0;
    while matches!(read.read_buf(&mut bytes).await, Ok(1..)) {
        loop {
            match wire::read_frame::<Answer>(&bytes[gone..]) {
                Ok(Some((number, answer, length))) => {
                    gone += length;
                    hand_over(number, answer, &pending);
                }
                Ok(None) => break,
                Err(_) => {
                    locked(&pending).take();
                    return;
                }
            }
        }
        bytes.drain(..gone);
        gone = 0;
    }
    locked(&pending).take();
}

fn hand_over(number: u64, answer: Answer, pending: &Pending) {
    let mut pending = locked(pending);
    let Some(waiting) = pending.as_mut() else { return };
    match waiting.remove(&number) {
        // A client that has stopped waiting needs no answer.
        Some(Waiting::Once(once)) => drop(once.send(answer)),
        Some(Waiting::Stream(stream)) => {
            let sent = stream.try_send(answer);
            if !matches!(sent, Err(mpsc::error::TrySendError::Closed(_))) {
                waiting.insert(number, Waiting::Stream(stream));
            }
        }
        None => {}
    }
}

impl Client {
    /// Connects to the node that listens at this socket.
    pub async fn connect(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path: Arc<Path> = path.as_ref().into();
        let connection = Connection::open(&path).await?;
        let connection = Arc::new(tokio::sync::Mutex::new(connection));
        Ok(Client { path, connection, next: Arc::default() })
    }

    /// The present connection, or a new one if it is broken.
    async fn connection(&self) -> Result<Arc<Connection>, Error> {
        let mut connection = self.connection.lock().await;
        if connection.is_broken() {
            *connection = Connection::open(&self.path).await?;
        }
        Ok(connection.clone())
    }

    /// Sends a request and waits for its answer, refusals included.
    pub async fn ask(&self, request: &Request) -> Result<Answer, Error> {
        let connection = self.connection().await?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (once, answer) = oneshot::channel();
        connection.send(number, request, Waiting::Once(once)).await?;
        let patience = match request {
            Request::Claim { wait_ms, .. } => PATIENCE + Duration::from_millis(*wait_ms),
            _ => PATIENCE,
        };
        match tokio::time::timeout(patience, answer).await {
            Ok(answer) => answer.map_err(|_| Error::Broken),
            Err(_) => {
                connection.forget(number);
                Err(Error::Silent(patience))
            }
        }
    }

    /// Sends a request and waits for its reply; a refusal is an error.
    pub async fn call(&self, request: &Request) -> Result<Reply, Error> {
        let answer = self.ask(request).await?;
        match answer.result {
            Ok(reply) => Ok(reply),
            Err(_) => Err(Error::Refused(Box::new(answer))),
        }
    }

    /// Events from now on.
    pub async fn watch(&self, topic: crate::api::Topic) -> Result<Events, Error> {
        let connection = self.connection().await?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (stream, mut answers) = mpsc::channel(MOST_EVENTS);
        connection.send(number, &Request::Watch(topic), Waiting::Stream(stream)).await?;
        let first = tokio::time::timeout(PATIENCE, answers.recv()).await;
        let first = first.map_err(|_| Error::Silent(PATIENCE))?.ok_or(Error::Broken)?;
        match first.result {
            Ok(_) => Ok(Events { answers, _connection: connection }),
            Err(_) => Err(Error::Refused(Box::new(first))),
        }
    }
}

/// A stream of events.
#[derive(Debug)]
pub struct Events {
    answers: mpsc::Receiver<Answer>,
    _connection: Arc<Connection>,
}

impl Events {
    /// The next event; none when the connection is gone.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Ok(Reply::Event(event)) = self.answers.recv().await?.result {
                return Some(event);
            }
        }
    }
}
