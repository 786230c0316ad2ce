//! The connections that this node sends on.

use super::frame::{self, Broken, Hello, Welcome};
use super::secure::Stream;
use super::{Links, Receiver, SILENCE, locked};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use synod_core::ProcessId;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// A dial that takes longer is given up: the kernel would repeat it after a second, and then ever
/// more rarely.
const PATIENCE: Duration = Duration::from_millis(200);
/// The pause before the next dial, at least; up to twice as long, different for each pair of nodes.
const PAUSE: Duration = Duration::from_millis(40);

/// Keeps a connection to a node, for as long as this node lives.
pub(super) async fn keep(links: Arc<Links>, node: ProcessId, receiver: Arc<dyn Receiver>) {
    let peer = &links.peers[node.index()];
    let spread = PAUSE * (1 + (links.hello.from.0 * 7 + node.0 * 3) % 8) / 8;
    loop {
        let address = locked(&peer.address).clone();
        let Some((name, address)) = address.filter(|_| !links.fault(node).is_cut()) else {
            // The address or the fault changes with a wake-up.
            let _ = timeout(PATIENCE, peer.wake.notified()).await;
            continue;
        };
        match dial(&links, node, &name, address).await {
            Ok(stream) => {
                locked(&peer.queue).reset(true);
                let reset = send(&links, node, stream).await;
                locked(&peer.queue).reset(false);
                if reset && !links.fault(node).is_cut() {
                    receiver.on_reset(node);
                }
            }
            Err(Broken::Io(_) | Broken::Silent) => {}
            Err(why) => links.reporter.once(format!("{node} at {address}: {why}")),
        }
        sleep(PAUSE + spread).await;
    }
}

async fn dial(
    links: &Links,
    node: ProcessId,
    name: &str,
    address: SocketAddr,
) -> Result<Stream, Broken> {
    let stream = timeout(PATIENCE, TcpStream::connect(address)).await;
    let stream = stream.map_err(|_| Broken::Silent)??;
    stream.set_nodelay(true)?;
    let handshake = async {
        let mut stream = links.security.connect(stream, name).await?;
        frame::greet(&mut stream, &links.hello).await?;
        let welcome = frame::greeting::<Welcome>(&mut stream).await?;
        Ok::<_, Broken>((stream, welcome))
    };
    let (stream, welcome) =
        timeout(2 * PATIENCE, handshake).await.map_err(|_| Broken::Silent)??;
    match welcome {
        Welcome::Yes(Hello { cluster, from, .. }) if cluster == links.hello.cluster => {
            if from == node { Ok(stream) } else { Err(Broken::Stranger) }
        }
        Welcome::Yes(_) => Err(Broken::Stranger),
        Welcome::No(why) => Err(Broken::Refused(why)),
    }
}

/// Sends what waits, until the connection ends. Returns whether the other side ended it.
async fn send(links: &Links, node: ProcessId, stream: Stream) -> bool {
    let peer = &links.peers[node.index()];
    let (mut read, mut write) = tokio::io::split(stream);
    let mut heard = Instant::now();
    let mut pulses = [0; 64];
    let mut bytes = Vec::new();
    loop {
        let next = {
            let mut queue = locked(&peer.queue);
            let next = queue.release(links.clock.now_us());
            queue.take(&mut bytes);
            next
        };
        if !bytes.is_empty() {
            // A write that does not end is a peer that does not read.
            let written = async {
                write.write_all(&bytes).await?;
                write.flush().await
            };
            match timeout(SILENCE, written).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return true,
                Err(_) => return false,
            }
            continue;
        }
        let silent = heard + SILENCE;
        let until = next.map_or(silent, |due_us| silent.min(links.clock.at_us(due_us).into()));
        tokio::select! {
            () = peer.wake.notified() => {}
            got = read.read(&mut pulses) => match got {
                Ok(0) | Err(_) => return true,
                Ok(_) if links.fault(node).mute => {}
                Ok(_) => heard = Instant::now(),
            },
            () = tokio::time::sleep_until(until) => {
                if Instant::now() >= heard + SILENCE {
                    return false;
                }
            }
        }
    }
}
