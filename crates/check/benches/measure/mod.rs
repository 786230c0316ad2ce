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

/// The least CPU time of several runs of each, all their threads included, and the result of that
/// run. They take turns, so that other load of the machine is no advantage to either.
#[allow(dead_code, reason = "the same")]
pub(crate) fn in_turn<T, const N: usize>(runs: [&dyn Fn() -> T; N]) -> [(f64, T); N] {
    let timed = |run: &dyn Fn() -> T| {
        let before = process_cpu_seconds();
        let result = run();
        (process_cpu_seconds() - before, result)
    };
    let mut best = runs.map(timed);
    for _ in 1..RUNS {
        for (best, run) in best.iter_mut().zip(runs) {
            let again = timed(run);
            if again.0 < best.0 {
                *best = again;
            }
        }
    }
    best
}

/// CPU time of all threads of this process so far, in steps of ten milliseconds. (Linux only;
/// elsewhere wall time.)
fn process_cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program is in parentheses, and may contain anything.
    let numbers = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Vec<f64> = numbers.skip(11).take(2).filter_map(|n| n.parse().ok()).collect();
    match ticks[..] {
        [user, system] => (user + system) / 100.0,
        _ => wall_seconds(),
    }
}

fn wall_seconds() -> f64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64())
}

/// CPU time of this thread so far. (Linux only; elsewhere wall time.)
fn cpu_seconds() -> f64 {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match nanoseconds {
        Some(nanoseconds) => nanoseconds / 1e9,
        None => wall_seconds(),
    }
}

/// The memory of this process in mebibytes: `VmRSS:` is what it has, `VmHWM:` the most that it ever
/// had.
#[allow(dead_code, reason = "the same")]
pub(crate) fn memory_mib(which: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(which));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or(0)
        >> 10
}
