//! The memory of this program.

/// The resident memory of this program, in bytes, where the operating system reports it (Linux
/// does).
pub fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_written_to_is_resident() {
        let written = vec![1u8; 64 << 20];
        assert!(resident_bytes().is_some_and(|bytes| bytes > written.len()));
    }
}
