//! How fast recorded histories are judged: events per CPU second, which is to be about the same
//! however long the history is.
//!
//! `cargo bench --bench linear` prints a table.

mod measure;

use measure::{best_from, memory_mib};
use synod_core::linear::{Event, Finding, History, KeyValue, USUAL_LIMIT, What};
use synod_core::replication::{Action, Answer, Operation, Store};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Kv = KeyValue<u64, u64>;

/// A history to be judged.
#[derive(Clone, Copy)]
struct Load {
    operations: u64,
    clients: u64,
    keys: u64,
    /// One operation in this number is abandoned; none, if zero.
    abandons: u64,
    /// Whether all clients wait for each other, as if the disk was written for all of them at once.
    batches: bool,
}

const USUAL: Load = Load { operations: 100_000, clients: 8, keys: 16, abandons: 0, batches: false };

const LOADS: &[Load] = &[
    Load { operations: 10_000, ..USUAL },
    USUAL,
    Load { operations: 400_000, ..USUAL },
    Load { clients: 64, ..USUAL },
    Load { clients: 64, batches: true, ..USUAL },
    Load { abandons: 1_000, ..USUAL },
    Load { clients: 64, abandons: 1_000, operations: 20_000, ..USUAL },
    Load { clients: 64, abandons: 1_000, operations: 20_000, batches: true, ..USUAL },
    Load { keys: 1, operations: 20_000, ..USUAL },
    Load { clients: 16, keys: 1, operations: 10_000, ..USUAL },
];

fn main() {
    println!("operations clients keys abandoned batches | verdict       events/s  MiB");
    for load in LOADS {
        let history = load.history();
        let events = history.events().len();
        let judged = |()| history.check(USUAL_LIMIT, &mut |_| {});
        let (seconds, verdict) = best_from(&|| (), &judged);
        let verdict = match verdict {
            Finding::Linearizable => "linearizable",
            Finding::Broken(_) => "broken",
            Finding::Unknown => "unknown",
        };
        let Load { operations, clients, keys, abandons, batches } = load;
        println!(
            "{operations:>10} {clients:>7} {keys:>4} {abandons:>9} {batches:>7} | {verdict:<12} {:>9.0} {:>4}",
            events as f64 / seconds,
            memory_mib("VmHWM:"),
        );
    }
}

/// What a client is doing.
#[derive(Clone)]
enum Client {
    Idle,
    Called(Operation),
    Done(Answer),
}

impl Load {
    /// A real store serves its clients, each operation at some moment between call and answer.
    fn history(&self) -> History<Kv> {
        let mut dice = 42_u64;
        let mut below = |limit: u64| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % limit
        };
        let mut clients = vec![Client::Idle; self.clients as usize];
        let (mut store, mut events, mut called) = (Store::default(), Vec::new(), 0);
        let mut turn = Vec::new();
        while called < self.operations {
            if turn.is_empty() {
                turn = if self.batches {
                    (0..self.clients).collect()
                } else {
                    vec![below(self.clients)]
                };
            }
            let client = turn.swap_remove(below(turn.len() as u64) as usize);
            let event = |what| Event { client, time_us: None, what };
            let state = &mut clients[client as usize];
            *state = match state.clone() {
                Client::Idle => {
                    called += 1;
                    let action = match below(10) {
                        0..5 => Action::Get,
                        5..9 => Action::Put(called),
                        _ => Action::CompareAndSwap { expect: Some(called - 1), new: called },
                    };
                    let operation = Operation { key: below(self.keys), action };
                    events.push(event(What::Invoke(operation.clone())));
                    Client::Called(operation)
                }
                _ if self.abandons > 0 && below(self.abandons) == 0 => {
                    events.push(event(What::Abandon));
                    Client::Idle
                }
                Client::Called(operation) => Client::Done(store.apply(&operation)),
                Client::Done(answer) => {
                    events.push(event(What::Answer(answer)));
                    Client::Idle
                }
            };
        }
        History::new(events).expect("clients wait for their answers")
    }
}
