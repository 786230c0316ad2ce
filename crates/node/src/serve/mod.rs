//! Connections of clients on the Unix socket. Its first bytes say which protocol a client speaks:
//! that of `synod-client`, or HTTP.
//!
//! # Layout
//! - `binary`: the protocol of `synod-client`
//! - `http`: HTTP with JSON, and streams of events
//! - `routes`: what each path and method does
//! - `tokens`: who may do what on TCP
//! - `metrics`: numbers for Prometheus

mod binary;
mod http;
mod metrics;
mod routes;
pub(crate) mod tokens;

use crate::inner::Inner;
use crate::node::StartError;
use http::Access;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use synod_client::wire::CLIENT_GREETING;
use tokens::Tokens;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::spawn_local;

/// Connections, at most.
const MOST_CONNECTIONS: usize = 4_096;
/// A client that says nothing for this time when it connects is closed.
const GREETING: Duration = Duration::from_secs(5);

/// Listens at a socket, for the owner and the group of the process.
pub(crate) fn listen(path: &Path) -> Result<std::os::unix::net::UnixListener, StartError> {
    let listen = || {
        // The directory of the node is locked, so a socket in it is left from a life that is over.
        match std::os::unix::net::UnixStream::connect(path) {
            Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
            Err(_) => match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            },
        }
        let listener = std::os::unix::net::UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    listen().map_err(|cause| StartError::Socket { path: path.to_owned(), cause })
}

/// Serves all clients.
pub(crate) async fn clients(inner: Arc<Inner>, listener: UnixListener) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let inner = inner.clone();
                spawn_local(async move {
                    // A client that is gone, or sends garbage, is not missed.
                    let _ = serve(&inner, stream).await;
                    drop(permit);
                });
            }
            Err(error) => {
                inner.reporter.once(format!("no client can be accepted: {error}"));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Serves one client, until it goes.
async fn serve(inner: &Arc<Inner>, mut stream: UnixStream) -> io::Result<()> {
    let mut first = [0; CLIENT_GREETING.len()];
    tokio::time::timeout(GREETING, stream.read_exact(&mut first)).await??;
    if first == CLIENT_GREETING {
        binary::serve(inner, stream).await
    } else if first[..6] == CLIENT_GREETING[..6] {
        // Another version: our greeting tells it so.
        use tokio::io::AsyncWriteExt;
        stream.write_all(&synod_client::wire::NODE_GREETING).await
    } else {
        http::serve(inner, &first, stream, &Access::Socket).await
    }
}

/// Serves HTTP on TCP, for clients with tokens.
pub(crate) async fn http(inner: Arc<Inner>, listener: TcpListener, tokens: Arc<Tokens>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (inner, access) = (inner.clone(), Access::Token(tokens.clone()));
                spawn_local(async move {
                    // A client that is gone, or sends garbage, is not missed.
                    let _ = http::serve(&inner, &[], stream, &access).await;
                    drop(permit);
                });
            }
            Err(error) => {
                inner.reporter.once(format!("no client can be accepted: {error}"));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}
