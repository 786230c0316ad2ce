//! A directory of the operating system.

use crate::storage::{Storage, Stored, write_zeros};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The holder of the lock on this file owns the directory. The kernel unlocks it when the holder
/// dies.
const LOCK: &str = "lock";

/// A directory of the operating system.
#[derive(Clone, Debug)]
pub struct Files {
    directory: PathBuf,
}

impl Files {
    /// This directory, created if it does not exist.
    pub fn at(directory: &Path) -> io::Result<Self> {
        if !directory.is_dir() {
            fs::create_dir_all(directory)?;
            // The new name is safe only when its parent directory is synced.
            if let Some(parent) = directory.parent().filter(|parent| parent.is_dir()) {
                File::open(parent)?.sync_all()?;
            }
        }
        Ok(Files { directory: directory.to_owned() })
    }
}

impl Storage for Files {
    type File = File;
    type Lock = File;

    fn place(&self) -> String {
        self.directory.display().to_string()
    }

    fn lock(&self) -> io::Result<Option<File>> {
        let path = self.directory.join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            // A name that is not valid text cannot be one of a log's files.
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<File> {
        let mut how = File::options();
        how.read(true).write(true).create(true).truncate(true).open(self.directory.join(name))
    }

    fn open(&self, name: &str) -> io::Result<File> {
        File::options().read(true).write(true).open(self.directory.join(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.directory.join(from), self.directory.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.directory.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.directory)?.sync_all()
    }

    fn identity(&self) -> io::Result<u128> {
        let mut bytes = [0; 16];
        // The kernel never returns fewer bytes for a request this short.
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        Ok(u128::from_le_bytes(bytes))
    }
}

impl Stored for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, bytes, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(self, bytes, offset)
    }

    fn reserve(&self, length: u64) -> io::Result<()> {
        let before = Stored::length(self)?;
        match fallocate(self, FallocateFlags::empty(), 0, length) {
            // Not every file system can reserve blocks. The zeros below take the room, too.
            Err(Errno::OPNOTSUPP) => {}
            reserved => reserved?,
        }
        // The first write to a block that is only reserved changes the metadata of the file, and a
        // sync has to write that, too. So all blocks are written once.
        write_zeros(self, before, length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
