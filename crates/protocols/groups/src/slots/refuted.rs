//! The hazards of the published rules, each with a scope in which the explorer finds it.
//!
//! In most scopes the published rules have several hazards, and the shortest history rarely shows
//! the intended one. So each scope excludes the others: it uses safe delivery, as the source
//! demands, unless the hazard is about agreed delivery, and as few faults as possible. Scenarios
//! quote the stories, so they stay as they are.

use synod_core::card::{Counterexample, Order, Rounds, Scope, Settings};
use synod_core::family::slots::{PI1, PI4};

/// Members that act only on views and low stocks.
pub(super) const fn quiet(n: usize, set: Settings) -> Scope {
    Scope { rounds: Rounds::Times(0), order: Order::Fifo, set, ..Scope::of(n) }
}

/// Members that claim a slot once, at any time, and release it.
pub(super) const fn busy(n: usize, set: Settings) -> Scope {
    Scope { rounds: Rounds::Times(1), ..quiet(n, set) }
}

/// Hazards of the published rules, named as in the tests and scenarios.
pub(super) const COUNTEREXAMPLES: &[Counterexample] = &[
    Counterexample {
        property: PI4,
        scope: quiet(
            4,
            &[
                ("engine", "abstract"),
                ("rules", "paper"),
                ("slots", "3"),
                ("low", "1"),
                ("owned", "p1:1 p2:1 p3:1"),
                ("used", "p1:1 p2:1"),
            ],
        ),
        steps: 12,
        story: "H3, two savings that do not fit, history A. p1 and p2 ask at the same time, and p3 \
                has nothing to give. p2 is next after p1, but has asked itself and says nothing \
                (O2). p3 puts off its empty answer to p1 until somebody else answers (O3). Nobody \
                does: p1 waits for ever.",
    },
    Counterexample {
        property: PI4,
        scope: busy(
            4,
            &[
                ("engine", "abstract"),
                ("rules", "paper"),
                ("slots", "5"),
                ("low", "1"),
                ("owned", "p2:4 p3:1"),
                ("late", "no"),
                ("lag", "0"),
            ],
        ),
        steps: 20,
        story: "H3, the same two, history B. p3 has put off its empty answer to p1, and then runs \
                short and asks itself. p1 takes that request as the answer and says nothing; p3 \
                does not know, and waits for p1 for ever.",
    },
    Counterexample {
        property: "pi1-owned",
        scope: quiet(
            3,
            &[
                ("engine", "abstract"),
                ("rules", "paper"),
                ("level", "safe"),
                ("slots", "2"),
                ("low", "1"),
                ("owned", "p1:2"),
                ("faults", "partition merge"),
            ],
        ),
        steps: 11,
        story: "H1, the late donation. p1 gives p2 a slot, but the network falls apart before the \
                donation has its place in the order. p1 takes the slot back. When p2 is reached again \
                the donation is delivered after all, and both own the slot.",
    },
    Counterexample {
        property: "pi1-owned",
        scope: quiet(
            4,
            &[
                ("engine", "abstract"),
                ("rules", "paper"),
                ("level", "agreed"),
                ("slots", "3"),
                ("low", "1"),
                ("owned", "p2:1 p3:2"),
                ("faults", "partition die"),
            ],
        ),
        steps: 10,
        story: "H2, agreed instead of safe. p1 delivers a donation of p3 and owns the slot; then the \
                network falls apart. p2 has not delivered it. p3 dies, and p2 takes over all that p3 \
                had as far as p2 knows: the slot, too.",
    },
    Counterexample {
        property: "pi1-owned",
        scope: quiet(
            4,
            &[
                ("engine", "abstract"),
                ("rules", "paper"),
                ("level", "safe"),
                ("slots", "6"),
                ("low", "2"),
                ("owned", "p1:2 p2:4"),
                ("faults", "partition crash rejoin"),
                ("late", "no"),
                ("calm", "yes"),
            ],
        ),
        steps: 28,
        story: "H4, back in another part. p1 is on one side of a partition, p2 and p3 on the other; \
                there p2 gives p3 a slot. Then the node of p2 crashes and starts again, now on the side \
                of p1. Whatever p1 believes to be p2's goes to p1, and that slot is used by p3.",
    },
    Counterexample {
        property: PI1,
        scope: busy(
            3,
            &[("engine", "abstract"), ("rules", "paper"), ("slots", "1"), ("start", "alone")],
        ),
        steps: 2,
        story: "H5, the lone first member. Two members start on two sides of a partition. Each sees \
                nobody else, takes itself for the first, and owns everything.",
    },
    Counterexample {
        property: "pi2-equal",
        scope: quiet(
            4,
            &[
                ("engine", "abstract"),
                ("rules", "paper"),
                ("level", "safe"),
                ("slots", "6"),
                ("low", "2"),
                ("owned", "p1:2 p2:4"),
                ("faults", "partition partition merge"),
                ("late", "no"),
                ("calm", "yes"),
            ],
        ),
        steps: 36,
        story: "H6, the stale owner. p2 gives p3 a slot while p1 is on the other side of a partition; \
                then these two part, and p2 meets p1 again. Nobody claims the slot: p1 still takes it \
                for p2's, and p2 knows that it is p3's. Their tables differ.",
    },
    Counterexample {
        property: "pi1-owned",
        scope: quiet(
            4,
            &[
                ("engine", "abstract"),
                ("rules", "paper"),
                ("level", "safe"),
                ("slots", "6"),
                ("low", "2"),
                ("owned", "p1:2 p2:4"),
                ("faults", "partition partition merge die"),
                ("late", "no"),
                ("calm", "yes"),
            ],
        ),
        steps: 40,
        story: "H6 goes on: p2 dies, and p1 takes over what it believes to be p2's. That slot is p3's, \
                who uses it.",
    },
    Counterexample {
        property: "pi1-owned",
        scope: quiet(
            4,
            &[
                ("engine", "abstract"),
                ("rules", "paper"),
                ("level", "safe"),
                ("slots", "1"),
                ("low", "0"),
                ("owned", "p2:1"),
                ("faults", "die partition"),
            ],
        ),
        steps: 7,
        story: "Not in the list of known hazards, found by the explorer: p2 dies, and before the \
                others have a new view the network falls apart. Both sides know that p2 is dead for \
                certain, and both take over what it had.",
    },
];
