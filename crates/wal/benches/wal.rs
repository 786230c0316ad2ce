//! The speed of a log, beside the best that this disk can do.
//!
//! `cargo bench -p synod-wal` prints a table: records of 128 bytes, each synced, 64 for each sync,
//! and without syncs; beside each the *floor*, a bare loop of `pwrite` and `fdatasync` into an
//! existing file, with as many bytes. Both take turns of a tenth of a second, because a disk is
//! shared and its speed changes: compare the two of one row. The log lies in the directory of the
//! first argument that is no flag, or in that for temporary files.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use synod_wal::{Durability, Error, Files, Log, Settings, open};

const RECORD: [u8; 128] = [7; 128];
/// The size of a record in the log.
const FRAME: usize = 152;
const TURN: Duration = Duration::from_millis(100);
const TURNS: u32 = 20;
const FLOOR_BYTES: u64 = 16 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let place = given.map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = place.join(format!("synod-wal-bench-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    println!("\nRecords of 128 bytes, in {}\n", place.display());
    println!(
        "| | records/s | p50 of a sync | p99 | floor: records/s | p50 | p99 | floor ÷ log, p50 |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for (what, batch, durability) in [
        ("each synced", 1, Durability::Sync),
        ("64 for each sync", 64, Durability::Sync),
        ("1024 for each sync", 1024, Durability::Sync),
        ("handed over one by one, not synced", 1, Durability::None),
        ("handed over by 64, not synced", 64, Durability::None),
    ] {
        row(what, batch, durability, &directory)?;
    }
    Ok(fs::remove_dir_all(directory)?)
}

fn row(what: &str, batch: usize, durability: Durability, at: &Path) -> Result<(), Error> {
    let files = at.join(format!("{batch}-{durability:?}"));
    let disk =
        |error| Error::Disk { what: "the benchmark", file: files.display().to_string(), error };
    let storage = Files::at(&files).map_err(disk)?;
    let settings = Settings { durability, ..Settings::default() };
    let mut log = open(storage, settings, |_| {})?.log;
    let mut floor = Floor::new(&files.join("floor"), batch, durability).map_err(disk)?;
    let (mut of_log, mut of_floor) = (Measured::default(), Measured::default());
    for _ in 0..TURNS {
        of_floor.turn(|| floor.sync().map_err(disk))?;
        of_log.turn(|| append(&mut log, batch))?;
    }
    let [rate, p50, p99] = of_log.result(batch);
    let [floor_rate, floor_p50, floor_p99] = of_floor.result(batch);
    let ratio = floor_p50 / p50;
    println!(
        "| {what} | {rate:.0} | {p50:.1} µs | {p99:.0} µs | {floor_rate:.0} | {floor_p50:.1} µs | \
         {floor_p99:.0} µs | {ratio:.2} |"
    );
    Ok(())
}

fn append(log: &mut Log<Files>, batch: usize) -> Result<(), Error> {
    for _ in 0..batch {
        log.append(&RECORD)?;
    }
    log.sync()?;
    // Synced records have no reader here, so the checkpoint may be empty.
    if log.segments() > 4 {
        log.checkpoint(b"")?;
    }
    Ok(())
}

/// The least work that makes the same bytes durable.
struct Floor {
    file: File,
    bytes: Vec<u8>,
    at: u64,
    durability: Durability,
}

impl Floor {
    fn new(path: &Path, batch: usize, durability: Durability) -> io::Result<Self> {
        let file = File::create(path)?;
        file.write_all_at(&vec![0; FLOOR_BYTES as usize], 0)?;
        file.sync_all()?;
        Ok(Floor { file, bytes: vec![7; batch * FRAME], at: 0, durability })
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.at + self.bytes.len() as u64 > FLOOR_BYTES {
            self.at = 0;
        }
        self.file.write_all_at(&self.bytes, self.at)?;
        self.at += self.bytes.len() as u64;
        match self.durability {
            Durability::Sync => self.file.sync_data(),
            Durability::None => Ok(()),
        }
    }
}

/// The duration of each deed.
#[derive(Default)]
struct Measured(Vec<Duration>);

impl Measured {
    fn turn(&mut self, mut deed: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
        let until = Instant::now() + TURN;
        while Instant::now() < until {
            let before = Instant::now();
            deed()?;
            self.0.push(before.elapsed());
        }
        Ok(())
    }

    /// Records a second, and the durations that half and 99 % of the deeds do not exceed, in
    /// microseconds.
    fn result(&mut self, batch: usize) -> [f64; 3] {
        self.0.sort_unstable();
        let all: Duration = self.0.iter().sum();
        let rate = (self.0.len() * batch) as f64 / all.as_secs_f64();
        let rank = |percent: usize| self.0[(self.0.len() - 1) * percent / 100].as_secs_f64() * 1e6;
        [rate, rank(50), rank(99)]
    }
}
