//! Many independent pieces of work on all cores, with results in the order of the work.

use std::sync::atomic::{AtomicU64, Ordering};

/// The largest number of threads, even if the user asks for more.
const MOST_THREADS: usize = 256;

/// The number of threads: as asked, or one for each core.
pub(crate) fn threads(asked: Option<u64>) -> usize {
    match asked {
        Some(asked) => asked.min(MOST_THREADS as u64) as usize,
        None => std::thread::available_parallelism().map_or(1, Into::into),
    }
}

/// Does the pieces `0..count`. The results do not depend on the number of threads. Calls `progress`
/// now and then with the number of pieces that were begun.
pub(crate) fn in_order<T: Send>(
    count: u64,
    threads: usize,
    mut progress: impl FnMut(u64),
    piece: impl Fn(u64) -> T + Sync,
) -> Vec<T> {
    let next = AtomicU64::new(0);
    let take_turns = |progress: &mut dyn FnMut(u64)| {
        let mut done = Vec::new();
        loop {
            let taken = next.fetch_add(1, Ordering::Relaxed);
            if taken >= count {
                return done;
            }
            done.push((taken, piece(taken)));
            progress(taken + 1);
        }
    };
    let mut results = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (1..threads).map(|_| scope.spawn(|| take_turns(&mut |_| ()))).collect();
        let mut results = take_turns(&mut progress);
        for worker in workers {
            let found = worker.join();
            results.extend(found.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_work() {
        let squares: Vec<u64> = (0..1_000).map(|number| number * number).collect();
        for threads in [1, 2, 7] {
            assert_eq!(in_order(1_000, threads, |_| (), |number| number * number), squares);
        }
        assert!(in_order(0, 3, |_| (), |number| number).is_empty());
    }
}
