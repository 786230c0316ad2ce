//! A clock that jumps back, a client that takes the mean of its servers, and a group that forgets
//! how long answers travel.

use crate::time::berkeley;
use crate::time::median::{self, ManyServers};
use crate::time::slewed::{self, KeptClock};
use synod_core::card::{Card, Counterexample, Mutant, Scope};
use synod_core::family::clock_sync::{T5, T6, T7, T8};

/// A client whose clock is set back.
pub type CristianStepped = KeptClock<false>;
/// A client that takes the mean.
pub type TimeServersMean = ManyServers<false>;

/// A group that takes answers for as old as their arrival.
pub type BerkeleyUntravelled = berkeley::Group<false>;

/// The card of [`CristianStepped`].
pub(in crate::time) const STEPPED: Card = Card {
    name: "cristian-stepped",
    title: "a clock that is set by Cristian's method, and jumps back",
    promises: &[T5, T6],
    proved: &[],
    costs: &[],
    counterexamples: &[Counterexample {
        property: T7,
        scope: Scope { ticks: 1, ..Scope::of(2) },
        steps: 4,
        story: "the answer is slow and the request was not, so p1 takes the server's clock for \
                earlier than it is, and sets its own back",
    }],
    mutant: Some(Mutant {
        of: "cristian-slewed",
        change: "a clock that is ahead jumps back to the server's time",
        breaks: T7,
    }),
    ..slewed::CARD
};

/// The card of [`TimeServersMean`].
pub(in crate::time) const MEAN: Card = Card {
    name: "time-servers-mean",
    aliases: &[],
    title: "clock synchronisation with several servers, by the mean",
    promises: &[T6],
    variants: &[],
    proved: &[],
    costs: &[],
    counterexamples: &[Counterexample {
        property: T5,
        scope: Scope { set: &[("liars", "p1")], ..Scope::of(4) },
        steps: 7,
        story: "one of three servers is an hour ahead, and the mean is 20 minutes ahead",
    }],
    mutant: Some(Mutant {
        of: "time-servers",
        change: "the client takes the mean of all servers in place of the median",
        breaks: T5,
    }),
    fails_with: "-n 4 --param liars=p1",
    ..median::CARD
};

/// The card of [`BerkeleyUntravelled`].
pub(in crate::time) const UNTRAVELLED: Card = Card {
    name: "berkeley-untravelled",
    title: "internal clock synchronisation that forgets how long answers travel",
    promises: &[T6, T7],
    proved: &[],
    costs: &[],
    counterexamples: &[Counterexample {
        property: T8,
        scope: Scope { ticks: 1, ..Scope::of(2) },
        steps: 5,
        story: "p1 answers at once, and its answer takes a millisecond: p0 believes that the clock \
                of p1 is a millisecond behind",
    }],
    mutant: Some(Mutant {
        of: "berkeley",
        change: "the time that an answer shows is compared with that of its arrival, and half a \
                 round is not added",
        breaks: T8,
    }),
    ..berkeley::CARD
};
