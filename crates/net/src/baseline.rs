//! The cost of a disk sync and of a round trip on this machine: no run can answer faster.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::time::Instant;

/// The size of each write and of each message.
const BYTES: usize = 64;
/// The number of measurements of each kind.
const TIMES: u64 = 300;

/// Median costs on this machine now, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// One `pwrite` and one `fdatasync` of a file whose blocks are all allocated.
    pub sync_us: u64,
    /// A message over TCP on loopback, and its answer.
    pub round_trip_us: u64,
}

impl Baseline {
    /// Measures both, the sync in the directory where runs have their disks.
    pub fn measure() -> io::Result<Self> {
        Ok(Baseline { sync_us: sync()?, round_trip_us: round_trip()? })
    }
}

fn median_us(mut once: impl FnMut(u64) -> io::Result<()>) -> io::Result<u64> {
    let mut all = Vec::with_capacity(TIMES as usize);
    for time in 0..TIMES {
        let began = Instant::now();
        once(time)?;
        all.push(began.elapsed().as_micros() as u64);
    }
    all.sort_unstable();
    Ok(all[all.len() / 2])
}

fn sync() -> io::Result<u64> {
    let path = std::env::temp_dir().join(format!("synod-baseline-{}", crate::clock::now_us()));
    let mut file = File::create_new(&path)?;
    let measured = file
        .write_all(&vec![0; BYTES * TIMES as usize])
        .and_then(|()| file.sync_all())
        .and_then(|()| {
            median_us(|time| {
                file.write_all_at(&[1; BYTES], time * BYTES as u64)?;
                file.sync_data()
            })
        });
    std::fs::remove_file(path)?;
    measured
}

fn round_trip() -> io::Result<u64> {
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut near = TcpStream::connect(door.local_addr()?)?;
    let (mut far, _) = door.accept()?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    // Ends when the near end is closed.
    let echo = std::thread::spawn(move || {
        let mut bytes = [0; BYTES];
        while far.read_exact(&mut bytes).and_then(|()| far.write_all(&bytes)).is_ok() {}
    });
    let mut bytes = [1; BYTES];
    let measured = median_us(|_| {
        near.write_all(&bytes)?;
        near.read_exact(&mut bytes)
    });
    drop(near);
    let _ = echo.join();
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_measured_and_leaves_nothing_behind() {
        let baseline = Baseline::measure().expect("there are a disk and a network");
        assert!(baseline.sync_us > 0 || baseline.round_trip_us > 0, "{baseline:?}");
    }
}
