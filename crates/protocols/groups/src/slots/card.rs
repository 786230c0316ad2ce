//! SLOTS in the catalogue: a service on a group engine is an algorithm.

use super::message::Message;
use super::settings::{CAP, COOLDOWN, LEVEL, LOW, MIN, OWNED, RESERVED, RULES, SLOTS, USED};
use super::{Slots, donation, published, waiting, watermarks};
use crate::group::GroupEngine;
use synod_core::card::{Crashes, Parameter, Tolerance, Variant};
use synod_core::family::Allocation;
use synod_core::family::slots::{CANCELS, FENCE, PI1, PI2, PI4, PI15, WAIT};
use synod_core::group::{Catalogued, Served};
use synod_core::{
    Card, Invariant, ProcessId, ProcessSet, Rule, Setup, SetupError, Snapshot, Source, Trigger,
};

/// SLOTS on any engine.
pub type SlotsAlgorithm = Served<Slots, GroupEngine<Message>>;

/// The parameters of the pool; the engine adds its own.
const PARAMETERS: [Parameter; 19] = [
    RULES,
    SLOTS,
    LOW,
    MIN,
    CAP,
    COOLDOWN,
    RESERVED,
    LEVEL,
    OWNED,
    USED,
    donation::O1,
    donation::O2,
    donation::O3,
    donation::ASKS,
    published::O2O3,
    watermarks::STOCK,
    waiting::QUEUE,
    WAIT,
    CANCELS,
];

impl Catalogued<GroupEngine<Message>> for Slots {
    type Family = Allocation;

    fn has(&self) -> String {
        self.state.has()
    }

    const CARD: Card = Card {
        name: "slots",
        aliases: &["pool"],
        title: "SLOTS, a pool that stays usable on every side of a partition",
        source: Source {
            author: "P. Pessolani, O. Jara, S. Gonnet, T. Cortes, F. Tinetti",
            year: 2017,
            work: "A fault-tolerant algorithm for distributed resource allocation, IEEE Latin America \
                   Transactions 15(11)",
        },
        idea: "Every slot has an owner, who uses it without asking. Ownership moves by multicasts in one \
               order with the views of the group, so all members agree on who owns what.",
        // A member hears of views and deliveries by messages of the abstract engine that are named
        // after them, and by `Ready`, `Commit`, `Data` and `Grant` of the embedded one.
        rules: &[
            Rule::on(
                &[Trigger::Input("Claim"), Trigger::Input("ClaimSlot"), Trigger::Input("Release")],
                "claim, release: at once, without a message",
            ),
            Rule::on(
                &[
                    Trigger::Input("ClaimWithin"),
                    Trigger::Input("Cancel"),
                    Trigger::Input("Release"),
                    Trigger::Timer("TimeIsUp"),
                    Trigger::Timer("Again"),
                    Trigger::Message("Beg"),
                ],
                "a claim that may wait: first come, first served, as soon as a slot is free here; \
                 refused when its time is up; while it waits, the member asks the others for slots, and then begs for \
                 those that they keep for themselves",
            ),
            Rule::on(
                &[
                    Trigger::Input("Claim"),
                    Trigger::Input("Release"),
                    Trigger::Message("Offer"),
                    Trigger::Message("Take"),
                    Trigger::Message("Data"),
                    Trigger::Message("Grant"),
                ],
                "offers: with slots to spare, multicast an offer; short of free slots, multicast a \
                 take; at its delivery all members give the taker slots on offer",
            ),
            Rule::on(
                &[
                    Trigger::Input("Claim"),
                    Trigger::Message("Request"),
                    Trigger::Message("Donate"),
                    Trigger::Message("Data"),
                    Trigger::Message("Grant"),
                ],
                "repaired, paper: short of free slots, multicast a request; every other member \
                 answers with a donation, perhaps empty; its slots change their owner when it is \
                 delivered",
            ),
            Rule::always("a message of another view than the present one is void"),
            Rule::on(
                &[
                    Trigger::Message("View"),
                    Trigger::Message("Transitional"),
                    Trigger::Message("Ready"),
                    Trigger::Message("Commit"),
                ],
                "on a view: all cycles, offers and takes end; the slots of members that did not \
                 come along are absent, or the primary's if their lives ended in the old view and \
                 no member parted",
            ),
            Rule::on(
                &[
                    Trigger::Message("View"),
                    Trigger::Message("PutStatus"),
                    Trigger::Message("Ready"),
                    Trigger::Message("Commit"),
                    Trigger::Message("Data"),
                    Trigger::Message("Grant"),
                ],
                "a member is new: the primary multicasts a status for it; no slot moves before \
                 that",
            ),
            Rule::on(
                &[
                    Trigger::Message("View"),
                    Trigger::Message("MergeStatus"),
                    Trigger::Message("Ready"),
                    Trigger::Message("Commit"),
                    Trigger::Message("Data"),
                    Trigger::Message("Grant"),
                ],
                "parts come together: one member of each part multicasts what the part owns; a \
                 slot that no part claims is absent",
            ),
            Rule::on(
                &[
                    Trigger::Message("View"),
                    Trigger::Message("PutStatus"),
                    Trigger::Message("MergeStatus"),
                    Trigger::Message("Certify"),
                    Trigger::Message("Ready"),
                    Trigger::Message("Commit"),
                    Trigger::Message("Data"),
                    Trigger::Message("Grant"),
                ],
                "every node is here or accounted for: absent slots are given out again",
            ),
            Rule::on(
                &[
                    Trigger::Input("CertifyDead"),
                    Trigger::Input("Bootstrap"),
                    Trigger::Message("Certify"),
                    Trigger::Message("Bootstrap"),
                ],
                "an operator certifies that a node is dead, or wants the absent slots: multicast \
                 it; at its delivery all members believe it, or give out these slots",
            ),
            Rule::on(
                &[Trigger::Input("Leave"), Trigger::Message("Hand")],
                "leave: hand the own slots to another member first",
            ),
            Rule::on_message(
                "Hand",
                "reserved slots are handed to the member that they are reserved for",
            ),
            Rule::on_message("Lost", "out of the group: forget everything, and begin anew"),
            Rule::on_timer("Cool", "a released slot is free again after a while"),
        ],
        assumes: &[
            "a group engine that keeps the contract of extended virtual synchrony; agreed delivery \
             suffices",
            "all members know the same list of nodes",
            "a node that an operator certifies dead is dead, or shut out until all others are together",
        ],
        tolerates: Tolerance {
            crashes: Crashes::AllButOne,
            loss: true,
            duplication: true,
            ..Tolerance::NOTHING
        },
        promises: &[PI1, PI2, PI4, PI15, FENCE],
        variants: &[Variant {
            set: &[("rules", "paper")],
            tolerates: Tolerance::NOTHING,
            promises: &[],
        }],
        usual: Some(11),
        proved: super::proved::PROVED,
        larger: super::proved::LARGER,
        counterexamples: super::refuted::COUNTEREXAMPLES,
        other_costs: super::costs::OTHER_COSTS,
        parameters: &PARAMETERS,
        layers: &["slots", "group"],
        smallest: 2,
        restless: true,
        ..Card::BLANK
    };

    fn service(me: ProcessId, nodes: &ProcessSet, setup: &Setup) -> Result<Slots, SetupError> {
        let service = Slots::from_setup(me, nodes, setup)?;
        Ok(if nodes.contains(me) { service } else { service.without_a_pool() })
    }

    fn invariants() -> &'static [Invariant<SlotsAlgorithm>] {
        <SlotsAlgorithm as super::invariants::Pooled>::INVARIANTS
    }

    fn is_judged(invariant: &Invariant<SlotsAlgorithm>, setup: &Setup) -> bool {
        super::invariants::is_judged(invariant.name, setup)
    }

    fn culprit(invariant: &str, snapshot: &Snapshot<'_, SlotsAlgorithm>) -> Option<String> {
        super::invariants::culprit(invariant, snapshot)
    }
}
