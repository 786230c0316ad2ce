//! The binary protocol of `synod-client`: requests are read as they come, answered at once if they
//! wait for nothing, and all answers that are ready leave in one write.

use crate::inner::Inner;
use std::io;
use std::sync::Arc;
use synod_client::api::{Answer, Reply, Request};
use synod_client::wire::{self, NODE_GREETING};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::spawn_local;

/// Requests of one connection that wait, at most. Beyond it the connection is not read.
const MOST_WAITING: usize = 1_024;
/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// Serves a client that has greeted, until it goes.
pub(super) async fn serve(inner: &Arc<Inner>, mut stream: UnixStream) -> io::Result<()> {
    stream.write_all(&NODE_GREETING).await?;
    let (mut read, mut write) = stream.into_split();
    // As many answers find room as requests may wait, so no answer waits for a slow client.
    let (late, mut ready) = mpsc::channel::<(u64, Answer)>(MOST_WAITING);
    let room = Arc::new(Semaphore::new(MOST_WAITING));
    let mut input = Vec::with_capacity(CHUNK);
    let mut output = Vec::with_capacity(CHUNK);
    loop {
        input.reserve(CHUNK / 2);
        tokio::select! {
            got = read.read_buf(&mut input) => if got? == 0 {
                return Ok(());
            },
            Some((number, answer)) = ready.recv() => put(&mut output, number, &answer),
        }
        let mut gone = 0;
        while let Some((number, request, length)) =
            wire::read_frame::<Request>(&input[gone..]).map_err(|_| io::ErrorKind::InvalidData)?
        {
            gone += length;
            match inner.answer_at_once(request) {
                Ok(answer) => put(&mut output, number, &answer),
                Err(request) => {
                    let Ok(permit) = room.clone().acquire_owned().await else { return Ok(()) };
                    let (inner, late) = (inner.clone(), late.clone());
                    spawn_local(async move {
                        answer(inner, number, request, late).await;
                        drop(permit);
                    });
                }
            }
        }
        input.drain(..gone);
        while let Ok((number, answer)) = ready.try_recv() {
            put(&mut output, number, &answer);
        }
        write.write_all(&output).await?;
        output.clear();
    }
}

fn put(output: &mut Vec<u8>, number: u64, answer: &Answer) {
    wire::write_frame(output, number, answer).expect("answers are plain data, and not too long");
}

/// Answers a request that has to wait.
async fn answer(
    inner: Arc<Inner>,
    number: u64,
    request: Request,
    late: mpsc::Sender<(u64, Answer)>,
) {
    let Request::Watch(topic) = request else {
        let answer = inner.answer(request).await;
        // A client that is gone needs no answer.
        let _ = late.send((number, answer)).await;
        return;
    };
    match inner.watch(&topic) {
        Err(why) => {
            let _ = late.send((number, inner.answer_of(Err(why)))).await;
        }
        Ok(mut events) => {
            let mut result = Ok(Reply::Done);
            while late.send((number, inner.answer_of(result))).await.is_ok() {
                let Some(event) = events.recv().await else { return };
                result = Ok(Reply::Event(event));
            }
        }
    }
}
