//! The disk that a log needs. [`Files`](crate::Files) is a directory; tests have disks that fail.

use std::fmt::Debug;
use std::io;

/// A place with files.
pub trait Storage: Debug {
    /// An open file.
    type File: Stored;
    /// Its holder alone owns the place while this lives.
    type Lock: Debug;

    /// The place, in words.
    fn place(&self) -> String;
    /// Takes the place for this process; none if another process has it.
    fn lock(&self) -> io::Result<Option<Self::Lock>>;
    /// The names of all files.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Creates an empty file, and replaces an existing one.
    fn create(&self, name: &str) -> io::Result<Self::File>;
    /// Opens a file to read and write.
    fn open(&self, name: &str) -> io::Result<Self::File>;
    /// Gives a file another name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes names safe: after a crash, files that were created, renamed and removed stay so.
    fn sync_names(&self) -> io::Result<()>;
    /// A number that no other log has.
    fn identity(&self) -> io::Result<u128>;
}

/// An open file.
pub trait Stored: Debug {
    /// Its length.
    fn length(&self) -> io::Result<u64>;
    /// Reads bytes from this place; returns their number, 0 at the end.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes a part of these bytes to this place; returns its length.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Reserves room up to this length. Bytes never written read as zeros.
    fn reserve(&self, length: u64) -> io::Result<()>;
    /// Makes all written bytes safe.
    fn sync(&self) -> io::Result<()>;
}

/// Writes all bytes.
pub(crate) fn write_all(file: &impl Stored, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads until the buffer is full or the file ends; returns the number of bytes.
pub(crate) fn read_full(file: &impl Stored, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(&mut bytes[read..], offset + read as u64) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Writes zeros from one place to another.
pub(crate) fn write_zeros(file: &impl Stored, from: u64, to: u64) -> io::Result<()> {
    static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
    let mut at = from;
    while at < to {
        let count = (to - at).min(ZEROS.len() as u64);
        write_all(file, &ZEROS[..count as usize], at)?;
        at += count;
    }
    Ok(())
}
