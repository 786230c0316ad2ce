//! Compact storage for the worlds in an explorer's frontier.
//!
//! A step changes one process and a few messages, so successive worlds of the frontier share nearly
//! all their parts. Each part is kept once, and a world is a list of part numbers. That takes a
//! fifth of the memory of full worlds, contiguously and in the order of reading.

use super::causal::CausalOrder;
use super::flight::Envelope;
use super::links::Links;
use super::process::Process;
use super::progress::{Counts, Progress};
use super::{FaultsLeft, MonitorOf, World};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use synod_core::{Algorithm, ProcessSet, copy_list};

/// The waiting worlds of a frontier. See the module.
pub struct Waiting<A: Algorithm> {
    processes: Pool<Process<A>>,
    envelopes: Pool<Envelope<A>>,
    monitors: Pool<MonitorOf<A>>,
    networks: Vec<Network>,
    /// For each world: its processes; then its message slots, each with the number of its message;
    /// then the free slots, in the order in which they were freed.
    parts: Vec<u32>,
    worlds: Vec<Kept>,
}

/// The fields of a world that are not shared parts.
#[derive(Clone, Copy)]
struct Kept {
    /// The end of its parts.
    end: usize,
    /// The number of its message slots, and of the free ones among them.
    places: u32,
    free: u32,
    monitor: u32,
    /// Its network, if it differs from the initial one.
    network: u32,
    faults: FaultsLeft,
    counts: Counts,
    now_us: u64,
    print: u64,
    monitor_print: u64,
    messages_print: Option<u64>,
}

/// A network on which links are cut, receivers are gone for good, or messages arrive in causal
/// order.
#[derive(Clone)]
struct Network {
    links: Links,
    gone: ProcessSet,
    causal: Option<Box<CausalOrder>>,
}

/// No message in this slot, or no network of its own.
const NONE: u32 = u32::MAX;

/// The places of parts among other waiting worlds, as far as they are known.
#[derive(Debug, Default)]
pub struct Translation {
    processes: Places,
    envelopes: Places,
    monitors: Places,
}

/// The new place of each old one, or [`NONE`].
#[derive(Debug, Default)]
struct Places(Vec<u32>);

impl Places {
    fn get(&mut self, place: u32, find: impl FnOnce(u32) -> u32) -> u32 {
        if place == NONE {
            return NONE;
        }
        let index = place as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, NONE);
        }
        if self.0[index] == NONE {
            self.0[index] = find(place);
        }
        self.0[index]
    }
}

/// A set of distinct values, found by a hash that may collide.
struct Pool<T> {
    values: Vec<T>,
    /// The last value with each hash.
    places: HashMap<u64, u32, FixedState>,
}

impl<T: Clone> Pool<T> {
    fn new() -> Self {
        Pool { values: Vec::new(), places: HashMap::default() }
    }

    /// The place of a value, which is added if it is new. `guess` is tried first.
    fn place_of(&mut self, guess: u32, print: u64, value: &T, is: impl Fn(&T, &T) -> bool) -> u32 {
        let is_here = |place: u32| self.values.get(place as usize).is_some_and(|v| is(v, value));
        if is_here(guess) {
            return guess;
        }
        let place = self.values.len() as u32;
        let last = self.places.entry(print).or_insert(place);
        if *last != place && is_here(*last) {
            return *last;
        }
        *last = place;
        self.values.push(value.clone());
        place
    }

    fn clear(&mut self) {
        self.values.clear();
        self.places.clear();
    }

    fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>() + self.places.capacity() * size_of::<(u64, u64)>()
    }
}

impl<A: Algorithm> Default for Waiting<A> {
    fn default() -> Self {
        Waiting {
            processes: Pool::new(),
            envelopes: Pool::new(),
            monitors: Pool::new(),
            networks: Vec::new(),
            parts: Vec::new(),
            worlds: Vec::new(),
        }
    }
}

impl<A: Algorithm> Waiting<A> {
    /// The number of waiting worlds.
    pub fn len(&self) -> usize {
        self.worlds.len()
    }

    /// Whether no world waits.
    pub fn is_empty(&self) -> bool {
        self.worlds.is_empty()
    }

    /// Forgets all worlds, and keeps the memory for others.
    pub fn clear(&mut self) {
        self.processes.clear();
        self.envelopes.clear();
        self.monitors.clear();
        self.networks.clear();
        self.parts.clear();
        self.worlds.clear();
    }

    /// The memory of all of them in bytes, without the allocations of states and messages.
    pub fn bytes(&self) -> usize {
        self.processes.bytes()
            + self.envelopes.bytes()
            + self.monitors.bytes()
            + self.networks.capacity() * size_of::<Network>()
            + self.parts.capacity() * size_of::<u32>()
            + self.worlds.capacity() * size_of::<Kept>()
    }

    /// Adds a world, which must have a fingerprint.
    pub fn push(&mut self, world: &World<A>) {
        assert_ne!(world.print, 0, "parts are known by their hashes");
        let n = world.processes.len();
        let slots = &world.medium.flight.slots;
        // Most parts equal those of the world before, so these are the guesses.
        let before = self.len().checked_sub(1).map_or(0, |last| self.begin(last));
        let places = self.worlds.last().map_or(0, |last| last.places as usize);
        let guess = |parts: &[u32], at: usize| parts.get(before + at).copied().unwrap_or(NONE);
        for (at, process) in world.processes.iter().enumerate() {
            let guess = guess(&self.parts, at);
            let place = self.processes.place_of(guess, process.print, process, Process::is_same);
            self.parts.push(place);
        }
        for (at, slot) in slots.iter().enumerate() {
            let (place, number) = match slot {
                None => (NONE, 0),
                Some(envelope) => {
                    let guess = if at < places { guess(&self.parts, n + 2 * at) } else { NONE };
                    let is = Envelope::says_the_same;
                    let place = self.envelopes.place_of(guess, envelope.print, envelope, is);
                    (place, u32::try_from(envelope.number).expect("histories are short"))
                }
            };
            self.parts.extend([place, number]);
        }
        self.parts.extend_from_slice(&world.medium.flight.free);
        let monitor = self.place_of_monitor(world);
        let network = self.place_of_network(world);
        self.worlds.push(Kept {
            end: self.parts.len(),
            places: slots.len() as u32,
            free: world.medium.flight.free.len() as u32,
            monitor,
            network,
            faults: world.faults,
            counts: world.progress.counts,
            now_us: world.now_us,
            print: world.print,
            monitor_print: world.monitor_print,
            messages_print: world.medium.print,
        });
    }

    /// Adds world `number` of `other`. The caller passes the same translation for all worlds that
    /// it moves from `other`.
    pub fn push_from(&mut self, other: &Self, number: usize, translation: &mut Translation) {
        let kept = &other.worlds[number];
        let parts = &other.parts[other.begin(number)..kept.end];
        let n = parts.len() - 2 * kept.places as usize - kept.free as usize;
        let (processes, parts) = parts.split_at(n);
        for place in processes {
            let place = translation.processes.get(*place, |place| {
                let process = &other.processes.values[place as usize];
                self.processes.place_of(NONE, process.print, process, Process::is_same)
            });
            self.parts.push(place);
        }
        let (slots, free) = parts.split_at(2 * kept.places as usize);
        for slot in slots.chunks_exact(2) {
            let place = translation.envelopes.get(slot[0], |place| {
                let envelope = &other.envelopes.values[place as usize];
                let is = Envelope::says_the_same;
                self.envelopes.place_of(NONE, envelope.print, envelope, is)
            });
            self.parts.extend([place, slot[1]]);
        }
        self.parts.extend_from_slice(free);
        let monitor = translation.monitors.get(kept.monitor, |place| {
            let monitor = &other.monitors.values[place as usize];
            self.monitors.place_of(NONE, kept.monitor_print, monitor, MonitorOf::<A>::eq)
        });
        let network = match other.networks.get(kept.network as usize) {
            None => NONE,
            Some(network) => {
                self.networks.push(network.clone());
                (self.networks.len() - 1) as u32
            }
        };
        self.worlds.push(Kept { end: self.parts.len(), monitor, network, ..*kept });
    }

    /// The beginning of the parts of a world.
    fn begin(&self, number: usize) -> usize {
        number.checked_sub(1).map_or(0, |before| self.worlds[before].end)
    }

    fn place_of_monitor(&mut self, world: &World<A>) -> u32 {
        let guess = match self.worlds.last() {
            Some(last) if last.monitor_print == world.monitor_print => last.monitor,
            _ => NONE,
        };
        self.monitors.place_of(guess, world.monitor_print, &world.monitor, MonitorOf::<A>::eq)
    }

    fn place_of_network(&mut self, world: &World<A>) -> u32 {
        let medium = &world.medium;
        if medium.links.work() && medium.gone.is_empty() && medium.causal.is_none() {
            return NONE;
        }
        let (links, gone) = (medium.links.clone(), medium.gone.clone());
        self.networks.push(Network { links, gone, causal: medium.causal.clone() });
        (self.networks.len() - 1) as u32
    }

    /// Writes the world with this number over another of the same plan.
    pub fn restore(&self, number: usize, world: &mut World<A>) {
        let kept = &self.worlds[number];
        let parts = &self.parts[self.begin(number)..kept.end];
        let (processes, parts) = parts.split_at(world.processes.len());
        for (process, place) in world.processes.iter_mut().zip(processes) {
            process.clone_from(&self.processes.values[*place as usize]);
        }
        let (slots, free) = parts.split_at(2 * kept.places as usize);
        let flight = &mut world.medium.flight;
        flight.slots.resize_with(kept.places as usize, || None);
        for (slot, part) in flight.slots.iter_mut().zip(slots.chunks_exact(2)) {
            match (part[0], slot) {
                (NONE, slot) => *slot = None,
                (place, Some(envelope)) => {
                    envelope.clone_from(&self.envelopes.values[place as usize]);
                    envelope.number = part[1].into();
                }
                (place, slot) => {
                    let envelope = self.envelopes.values[place as usize].clone();
                    *slot = Some(Envelope { number: part[1].into(), ..envelope });
                }
            }
        }
        copy_list(&mut flight.free, free);
        world.monitor.clone_from(&self.monitors.values[kept.monitor as usize]);
        self.restore_network(kept, world);
        world.progress.clone_from(&Progress { counts: kept.counts, ..Progress::default() });
        (world.faults, world.now_us, world.print) = (kept.faults, kept.now_us, kept.print);
        world.monitor_print = kept.monitor_print;
        world.medium.print = kept.messages_print;
    }

    fn restore_network(&self, kept: &Kept, world: &mut World<A>) {
        let medium = &mut world.medium;
        match self.networks.get(kept.network as usize) {
            Some(Network { links, gone, causal }) => {
                medium.links.clone_from(links);
                medium.gone.clone_from(gone);
                medium.causal.clone_from(causal);
            }
            None => {
                medium.links.clone_from(&Links::default());
                medium.gone.clear();
                medium.causal = None;
            }
        }
    }
}
