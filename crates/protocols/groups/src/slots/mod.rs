//! SLOTS: a pool of identical resources, shared by a group, that stays usable on every side of a
//! partition.
//!
//! Every slot has one owner among the members, which uses it and stops using it without a message.
//! Every member has a copy of the table of owners, which changes only when a message or a view is
//! delivered; the group's total order keeps the copies equal. A member that runs short gets slots
//! from other members, by the *scheme* of the pool. The *membership* handles views: new members,
//! members that are gone, and parts of the group that come together.
//!
//! # Layout
//! - A claim, from top to bottom: [`Slots`] (this file), `claims`, [`pool`] with `bits` and
//!   `tokens`; claims that wait: [`waiting`]
//! - [`state`]: the state of a member that all rule sets share; [`table`], [`ranges`]: owners of
//!   slots, sets of slots; [`settings`], [`message`]: parameters, multicasts
//! - `view_change`, `membership`, `merge`: from view to view, new members, parts that come together
//! - [`scheme`]: how slots move: [`offers`] with [`exchange`], [`watermarks`], [`patience`] and
//!   [`reports`], or [`donation`] with [`heuristics`]
//! - [`published`]: all that exists only for the published rules; [`mutants`]: wrong rules
//! - `defined`: pools that a registry defines
//! - `card`, `costs`, `proved`, `refuted`, `invariants`, `view_by_view`: claims about SLOTS, and
//!   their proofs
//!
//! # A member's stages
//! ```text
//!              first view                 all tables are equal
//!   Outside ──────────────▶ Unsettled ───────────────────────────▶ Settled
//!      ▲                     ▲     │                                 │
//!      │ the membership      │     │ the view ends                   │ the view ends
//!      │ is lost, in      next view│                                 │
//!      │ any stage           │     ▼                                 │
//!      └──────────────────  Between  ◀───────────────────────────────┘
//! ```
//! Members ask for, offer and take slots in a settled view only. A gift that is delivered between
//! two views still counts. An initialised member serves claims in every stage.
//!
//! # Why no slot has two owners
//! `docs/slots.md` has the argument in full, with the code and the invariant of each step. Code and
//! invariants refer to the steps by number:
//! 1. Only the owner uses a slot.
//! 2. A slot moves only inside a view.
//! 3. In a settled view all tables are equal.
//! 4. When a view ends, each part keeps only what its own members own.
//! 5. The primary inherits only if no member parted.
//! 6. A new life owns no slot, and a merge moves none.
//! 7. Absent slots return only when every configured node is accounted for.
//!
//! So a node that is not accounted for costs the availability of some slots, and never safety.
//!
//! - Assumes: the contract of [`synod_core::group`], with agreed delivery.
//! - Guarantees: no slot has two owners, on any sides of a partition (π1); members of a settled
//!   view agree on the table (π2); transactions end (π4); every side goes on (π15).
//! - Cost: no message for a claim or a release; one multicast for a join, one for each part in a
//!   merge.
//! - State: the table as runs, a bit and a token for each slot, messages that wait for room.

mod bits;
mod card;
mod claims;
mod costs;
mod defined;
pub mod donation;
pub mod exchange;
pub mod heuristics;
mod invariants;
mod membership;
mod merge;
pub mod message;
pub mod mutants;
pub mod offers;
pub mod patience;
pub mod pool;
mod proved;
pub mod published;
pub mod ranges;
mod refuted;
pub mod reports;
pub mod scheme;
pub mod settings;
pub mod state;
pub mod table;
mod tokens;
mod view_by_view;
mod view_change;
pub mod waiting;
pub mod watermarks;
#[cfg(test)]
mod xorshift;

pub use card::SlotsAlgorithm;
pub(crate) use invariants::{kept_slots, own_slots};

use merge::Merging;
use message::{Body, Message};
use scheme::Scheme;
use serde::{Deserialize, Serialize};
use settings::{Beginning, Settings};
use state::{MemberState, ViewStage};
use synod_core::family::slots::{Input, OperatorCommand, Output, Refusal, SlotId, Ticket, Token};
use synod_core::group::{Delivery, Service, Session, View};
use synod_core::reductions::Fleeting;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

synod_core::catalogue! {
    SlotsAlgorithm,
    mutants::DeathOfALife,
    mutants::Hoarding,
    mutants::Forgetful,
    mutants::LastComeFirst,
    mutants::Optimistic,
}

/// One member of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slots {
    /// The state that all rule sets share.
    state: MemberState,
    /// How slots move.
    scheme: Scheme,
    /// The statuses of the other parts, while parts come together.
    merging: Option<Merging>,
    /// The members that were initialised since the group was last settled.
    new: ProcessSet,
    /// The operator's commands of this view that are not delivered yet, at most one of each kind
    /// and node.
    operator_commands: Vec<Body>,
    /// Whether this member has begun to leave.
    leaving: bool,
    /// The owners of slots when the group starts. Void after the first view.
    beginning: Option<Box<Beginning>>,
}

/// The timers of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Released slots cool down.
    Cool,
    /// The time of a claim that waits is over.
    TimeIsUp(Ticket),
    /// Claims have waited for a while.
    Again,
}

impl Service for Slots {
    type Message = Message;
    type Command = Input;
    type Notice = Output;
    type Timer = Timer;

    fn on_command(&mut self, command: Input, session: &mut Session<'_, Self>) {
        match command {
            Input::Claim => self.claim(None, session),
            Input::ClaimSlot(slot) => self.claim(Some(slot), session),
            Input::ClaimWithin { ticket, wait_ms } => self.claim_within(ticket, wait_ms, session),
            Input::Cancel(ticket) => self.cancel(ticket, session),
            Input::Release(slot, token) => self.release(slot, token, session),
            Input::CertifyDead(node) => self.on_operator_command(Body::Certify(node), session),
            Input::Bootstrap => self.on_operator_command(Body::Bootstrap, session),
            Input::Leave => self.leave(session),
        }
    }

    fn on_view(&mut self, view: &View, session: &mut Session<'_, Self>) {
        if self.state.view == Some(view.id) || !view.contains(session.me()) {
            return;
        }
        if self.leaving {
            return session.leave();
        }
        self.void_operator_commands(session);
        match self.state.settings.rules.make_slots_of_others_absent() {
            true => self.change_view(view, session),
            false => self.change_view_as_published(view, session),
        }
        self.serve_queue(session);
    }

    fn on_transitional(&mut self, _with: &ProcessSet, _session: &mut Session<'_, Self>) {
        if self.state.stage != ViewStage::Outside && self.state.settings.rules.end_views() {
            self.state.stage = ViewStage::Between;
            self.state.drop_unsent();
            self.merging = None;
            self.scheme.pause();
        }
    }

    fn on_deliver(&mut self, delivery: Delivery<Message>, session: &mut Session<'_, Self>) {
        let Delivery { sender, sent_in, message, .. } = delivery;
        let from = sender.node;
        self.state.hear(from, &message);
        // Step 2: a message of another view is void.
        let is_old = self.state.view != Some(sent_in);
        if is_old && self.state.settings.rules.void_messages_of_other_views() {
            return;
        }
        self.state.delivered.0 += u64::from(!message.ends_with_its_view());
        let body = message.body;
        match body {
            // Between two views, a gift still counts: its sender delivers it, too (step 4).
            Body::Request(_)
            | Body::Donate { .. }
            | Body::Offer(_)
            | Body::Take { .. }
            | Body::Beg => {
                self.scheme.on_deliver(from, body, &mut self.state, session);
            }
            Body::Hand { to, slots } => self.on_hand(from, to, &slots, session),
            // The others belong to a view that lasts.
            _ if self.state.stage == ViewStage::Between => {}
            Body::PutStatus { to, status } => self.on_put_status(from, to, *status, session),
            Body::MergeStatus(status) => self.on_merge_status(from, *status, session),
            Body::Certify(_) | Body::Bootstrap => self.carry_out(from, &body, session),
        }
        self.serve_queue(session);
        self.state.flush(session);
    }

    fn on_room(&mut self, session: &mut Session<'_, Self>) {
        self.state.flush(session);
    }

    fn on_lost(&mut self, session: &mut Session<'_, Self>) {
        self.begin_anew();
        session.cancel_timer(Timer::Cool);
        session.notify(Output::Lost);
    }

    fn on_timer(&mut self, timer: Timer, session: &mut Session<'_, Self>) {
        match timer {
            Timer::Cool => self.cool(session),
            Timer::TimeIsUp(ticket) => self.give_up(ticket, session),
            Timer::Again => self.ask_again(session),
        }
    }
}

impl Slots {
    /// The member at `me`, as the parameters say. `configured` are all nodes that may be members.
    pub fn from_setup(
        me: ProcessId,
        configured: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self, SetupError> {
        let settings = Settings::from_setup(me, configured.clone(), setup)?;
        let scheme = Scheme::from_setup(&settings, setup)?;
        let beginning = Beginning::from_setup(&settings, setup)?.map(Box::new);
        Ok(Slots {
            state: MemberState::new(me, settings),
            scheme,
            merging: None,
            new: ProcessSet::EMPTY,
            operator_commands: Vec::new(),
            leaving: false,
            beginning,
        })
    }

    /// A process that is never a member. Explorers copy it all the time, so it has no pool.
    fn without_a_pool(self) -> Self {
        let MemberState { me, settings, .. } = self.state;
        let settings = Settings { slots: 0, reserved: Vec::new(), ..settings };
        Slots { state: MemberState::new(me, settings), beginning: None, ..self }
    }

    /// The state that all rule sets share.
    pub fn state(&self) -> &MemberState {
        &self.state
    }

    /// How slots move.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    fn claim(&mut self, which: Option<SlotId>, session: &mut Session<'_, Self>) {
        if self.leaving {
            return session.notify(Output::Refused(Refusal::Outside));
        }
        self.scheme.before_claim(&mut self.state, session);
        match self.state.claim(which) {
            Ok((slot, token)) => {
                session.notify(Output::Claimed(slot, token));
                self.scheme.on_need(&mut self.state, session);
            }
            Err(why) => self.refuse(why, Output::Refused, session),
        }
    }

    fn release(&mut self, slot: SlotId, token: Token, session: &mut Session<'_, Self>) {
        if !self.state.release(slot, token) {
            return session.notify(Output::Stale(slot));
        }
        session.notify(Output::Released(slot));
        let cools = self.state.settings.cooldown_ms;
        if cools > 0 && self.state.cooling() == 1 {
            session.set_timer(Timer::Cool, cools);
        }
        self.serve_queue(session);
        self.scheme.on_release(&mut self.state, session);
    }

    fn cool(&mut self, session: &mut Session<'_, Self>) {
        if self.state.warm() {
            session.set_timer(Timer::Cool, self.state.settings.cooldown_ms);
        }
        self.serve_queue(session);
        self.scheme.on_release(&mut self.state, session);
    }

    /// An operator gives a command. This member multicasts it when the group is settled. The
    /// command counts in this view only.
    fn on_operator_command(&mut self, command: Body, session: &mut Session<'_, Self>) {
        if let Body::Certify(node) = command
            && !self.state.settings.configured.contains(node)
        {
            return;
        }
        if !self.operator_commands.contains(&command) {
            self.operator_commands.push(command.clone());
            match self.state.stage {
                ViewStage::Settled => self.state.multicast(command, session),
                ViewStage::Unsettled => {}
                ViewStage::Outside | ViewStage::Between => self.void_operator_commands(session),
            }
        }
    }

    /// An operator's command is about the nodes that are elsewhere when it is given. A new view
    /// means that other nodes are elsewhere. So the command may be wrong by now, and the operator
    /// has to give it again.
    fn void_operator_commands(&mut self, session: &mut Session<'_, Self>) {
        for command in std::mem::take(&mut self.operator_commands) {
            session.notify(match command {
                Body::Certify(node) => Output::Void(OperatorCommand::CertifyDead(node)),
                _ => Output::Void(OperatorCommand::Bootstrap),
            });
        }
    }

    /// Drops all ownership and all knowledge.
    fn begin_anew(&mut self) {
        self.state.forget();
        self.scheme.reset();
        self.merging = None;
        self.new.clear();
        self.operator_commands.clear();
        self.leaving = false;
        self.beginning = None;
    }
}
