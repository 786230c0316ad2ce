//! Time and memory, as benchmarks need them.

const RUNS: usize = 5;

/// The least CPU time of several runs, and what came of that one.
#[allow(dead_code, reason = "not every benchmark needs it")]
pub(crate) fn best<T>(run: &dyn Fn() -> T) -> (f64, T) {
    best_from(&|| (), &|()| run())
}

/// The same; what each run begins with is made before the clock starts.
pub(crate) fn best_from<S, T>(begin: &dyn Fn() -> S, run: &dyn Fn(S) -> T) -> (f64, T) {
    let timed = || {
        let state = begin();
        let before = cpu_seconds();
        let result = run(state);
        (cpu_seconds() - before, result)
    };
    let runs = (0..RUNS).map(|_| timed());
    runs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are several")
}

/// CPU time of this thread so far. (Linux only; elsewhere wall time.)
fn cpu_seconds() -> f64 {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match nanoseconds {
        Some(nanoseconds) => nanoseconds / 1e9,
        None => std::time::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64()),
    }
}

/// The memory of this process in mebibytes: `VmRSS:` is what it has, `VmHWM:` the most that it ever had.
#[allow(dead_code, reason = "the same")]
pub(crate) fn memory_mib(which: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(which));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or(0)
        >> 10
}
