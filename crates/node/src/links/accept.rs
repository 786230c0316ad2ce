//! The connections that this node receives on.

use super::frame::{self, Broken, Hello, Welcome};
use super::secure::Stream;
use super::{Links, PULSE, Receiver, locked};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use synod_core::ProcessId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout};

/// A connection that has not said who it is after this time is closed.
const PATIENCE: Duration = Duration::from_secs(1);
/// Connections that have not said who they are, at most.
const MOST_STRANGERS: usize = 64;
/// Bytes read at once.
const CHUNK: usize = 256 << 10;

/// Receives from all nodes that dial.
pub(super) async fn all(links: Arc<Links>, listener: TcpListener, receiver: Arc<dyn Receiver>) {
    let strangers = Arc::new(AtomicUsize::new(0));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                links.reporter.once(format!("no connection can be accepted: {error}"));
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        if strangers.load(Ordering::Relaxed) >= MOST_STRANGERS {
            continue;
        }
        strangers.fetch_add(1, Ordering::Relaxed);
        let (links, receiver, strangers) = (links.clone(), receiver.clone(), strangers.clone());
        tokio::task::spawn_local(async move {
            let welcomed = timeout(PATIENCE, welcome(&links, stream)).await;
            strangers.fetch_sub(1, Ordering::Relaxed);
            match welcomed {
                Ok(Ok((stream, from))) => receive(&links, stream, from, &*receiver).await,
                Ok(Err(Broken::Io(_))) | Err(_) => {}
                Ok(Err(why)) => links.reporter.once(format!("a connection was refused: {why}")),
            }
        });
    }
}

/// Learns who dialled.
async fn welcome(links: &Links, stream: TcpStream) -> Result<(Stream, ProcessId), Broken> {
    stream.set_nodelay(true)?;
    let mut stream = links.security.accept(stream).await?;
    let hello: Hello = frame::greeting(&mut stream).await?;
    let name = links.name_of(hello.from);
    let refusal = if hello.cluster != links.hello.cluster {
        Some(format!("this is cluster {}, not {}", links.hello.cluster, hello.cluster))
    } else if hello.from == links.hello.from {
        Some("this node has the same name: is it started twice?".to_owned())
    } else if let Some(name) = name {
        if !stream.is_from(&name) {
            Some(format!("its certificate is not for '{name}'"))
        } else if !links.is_latest_life(hello.from, hello.incarnation) {
            Some(format!(
                "this is life {} of '{name}', and a later one was here: its directory was removed, \
                 or replaced by an older copy",
                hello.incarnation
            ))
        } else {
            None
        }
    } else {
        Some(format!("{} is no node of this cluster", hello.from))
    };
    if let Some(why) = refusal {
        frame::greet(&mut stream, &Welcome::No(why.clone())).await?;
        return Err(Broken::Refused(why));
    }
    // A cut network answers nothing, as long as it is cut.
    let cut_until = Instant::now() + PATIENCE;
    while links.fault(hello.from).is_cut() {
        if Instant::now() >= cut_until {
            return Err(Broken::Io(std::io::ErrorKind::TimedOut.into()));
        }
        sleep(Duration::from_millis(10)).await;
    }
    frame::greet(&mut stream, &Welcome::Yes(links.hello)).await?;
    Ok((stream, hello.from))
}

/// Hands every message on, and sends pulses back, until the connection ends or a newer one of the
/// same node takes its place.
async fn receive(links: &Links, stream: Stream, from: ProcessId, receiver: &dyn Receiver) {
    let peer = &links.peers[from.index()];
    let number = {
        let mut newest = locked(&peer.accepted);
        *newest += 1;
        *newest
    };
    let (mut read, mut write) = tokio::io::split(stream);
    let mut bytes = Vec::with_capacity(CHUNK);
    let mut pulse = Instant::now();
    while *locked(&peer.accepted) == number {
        bytes.reserve(CHUNK / 4);
        tokio::select! {
            got = read.read_buf(&mut bytes) => match got {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            },
            () = tokio::time::sleep_until(pulse) => {
                pulse = Instant::now() + PULSE;
                let beat = async {
                    write.write_all(&[1]).await?;
                    write.flush().await
                };
                if !links.fault(from).deaf && !matches!(timeout(PULSE, beat).await, Ok(Ok(()))) {
                    return;
                }
            }
        }
        let is_mute = links.fault(from).mute;
        let mut gone = 0;
        loop {
            match frame::read(&bytes[gone..]) {
                Ok(Some((channel, body, length))) => {
                    if !is_mute && !receiver.receive(from, channel, body) {
                        return links.accuse(from, "sends what cannot be read");
                    }
                    gone += length;
                }
                Ok(None) => break,
                Err(_) => return links.accuse(from, "sends what is no message"),
            }
        }
        bytes.drain(..gone);
    }
}
