//! Claims and releases.

use super::{Board, GroupProcess, Said};
use crate::cell::Stepping;
use std::collections::BTreeMap;
use synod_client::api::{Claimed, Event, Failure, Holder, PoolSpec, Token};
use synod_core::family::services::{Input, Tag};
use synod_core::family::slots::{self, Refusal, SlotId};
use tokio::sync::watch;

/// An item in use.
#[derive(Debug)]
pub(crate) struct Used {
    pub(crate) token: slots::Token,
    pub(crate) holder: Holder,
    pub(crate) since_us: u64,
}

/// A pool, as this node sees it.
#[derive(Debug)]
pub(crate) struct PoolDesk {
    pub(crate) name: String,
    pub(crate) spec: PoolSpec,
    pub(crate) uses: BTreeMap<SlotId, Used>,
    pub(crate) claims: u64,
    pub(crate) refusals: u64,
    /// Whether this membership in the pool is over, and all claims void.
    over: watch::Sender<bool>,
}

impl PoolDesk {
    pub(crate) fn new(name: String, spec: PoolSpec) -> Self {
        PoolDesk {
            name,
            spec,
            uses: BTreeMap::new(),
            claims: 0,
            refusals: 0,
            over: watch::Sender::new(false),
        }
    }

    /// All claims are void. Their users learn it before anything else happens here.
    pub(super) fn end(&mut self) {
        self.uses.clear();
        self.over.send_replace(true);
        self.over = watch::Sender::new(false);
    }

    /// Turns true when the claims made until then are void.
    pub(crate) fn over(&self) -> watch::Receiver<bool> {
        self.over.subscribe()
    }
}

impl Board {
    /// The tag of a pool.
    pub(crate) fn pool_tag(&self, pool: &str) -> Result<Tag, Failure> {
        self.pool_tags.get(pool).copied().ok_or_else(|| {
            let mut known: Vec<String> = self.pool_tags.keys().cloned().collect();
            known.sort();
            Failure::Unknown { kind: "pool".into(), name: pool.into(), known }
        })
    }

    /// Whether an item may be held for a label, at present or since an earlier life.
    pub(crate) fn is_held(&self, pool: &str, item: u64) -> bool {
        let used = || {
            let desk = self.pools.get(self.pool_tags.get(pool)?)?;
            desk.uses.get(&SlotId(desk.spec.slot(item)?))
        };
        used().is_none_or(|used| matches!(used.holder, Holder::Label(_)))
    }

    /// The nodes that are out of reach.
    pub(crate) fn missing(&self) -> Vec<String> {
        let members = self.view.iter().flat_map(|(_, members)| members);
        let here: Vec<_> = members.map(|member| member.node).collect();
        let missing = self.names.iter().filter(|(node, _)| !here.contains(node));
        missing.map(|(_, name)| name.clone()).collect()
    }

    /// A slot is in use from now on.
    pub(super) fn grant(
        &mut self,
        tag: Tag,
        (slot, token): (SlotId, slots::Token),
        holder: Holder,
        since_us: u64,
    ) -> Option<(u64, Token)> {
        if let Holder::Session(session) = &holder {
            self.session_uses(*session, tag, slot);
        }
        let desk = self.pools.get_mut(&tag)?;
        desk.claims += 1;
        desk.uses.insert(slot, Used { token, holder, since_us });
        let item = desk.spec.item(slot.0);
        let token = Token { epoch: token.epoch, count: token.count };
        self.tell_of(tag, |pool| Event::Claimed(Claimed { pool, item, token }));
        Some((item, token))
    }

    pub(super) fn refused(&mut self, tag: Tag, item: Option<u64>, why: Refusal) -> Failure {
        let missing = self.missing();
        let Some(desk) = self.pools.get_mut(&tag) else { return Failure::NotReady };
        desk.refusals += 1;
        let pool = desk.name.clone();
        match (why, item) {
            (Refusal::Exhausted, _) => Failure::Exhausted(pool),
            (Refusal::Denied, _) => {
                Failure::Denied { pool, cap: desk.spec.cap.unwrap_or(desk.spec.size) }
            }
            (Refusal::Elsewhere, Some(item)) => Failure::NotHere { pool, item },
            (Refusal::Starved | Refusal::Elsewhere, _) => Failure::Starved { pool, missing },
            (Refusal::Full, _) => Failure::Full(format!("many claims of pool '{pool}' wait")),
            (Refusal::Outside | Refusal::Cancelled, _) => Failure::NotReady,
        }
    }
}

/// The slot of an item.
fn slot_of(desk: &PoolDesk, item: u64) -> Result<SlotId, Failure> {
    let PoolSpec { first, size, .. } = desk.spec;
    desk.spec.slot(item).map(SlotId).ok_or_else(|| Failure::NoSuchItem {
        pool: desk.name.clone(),
        item,
        first,
        last: first + u64::from(size) - 1,
    })
}

impl Stepping<'_, GroupProcess, Board> {
    /// Claims an item for a holder.
    pub(crate) fn claim(
        &mut self,
        pool: &str,
        item: Option<u64>,
        holder: Holder,
        now_us: u64,
    ) -> Result<Claimed, Failure> {
        let tag = self.state.above.pool_tag(pool)?;
        let (item, token) = self.claim_in(tag, item, holder, now_us)?;
        Ok(Claimed { pool: pool.to_owned(), item, token })
    }

    /// Claims an item of the pool with this tag.
    pub(crate) fn claim_in(
        &mut self,
        tag: Tag,
        item: Option<u64>,
        holder: Holder,
        now_us: u64,
    ) -> Result<(u64, Token), Failure> {
        if self.state.is_stopped {
            return Err(Failure::NotReady);
        }
        let board = &mut self.state.above;
        if let Holder::Session(session) = &holder {
            board.check_session(*session, now_us)?;
        }
        let desk = board.pools.get(&tag).ok_or(Failure::NotReady)?;
        let claim = match item {
            None => slots::Input::Claim,
            Some(item) => slots::Input::ClaimSlot(slot_of(desk, item)?),
        };
        self.input(Input::Pool(tag, claim));
        let board = &mut self.state.above;
        match board.take_said() {
            Some(Said::Pool(slot, Some(token))) => {
                board.grant(tag, (slot, token), holder, now_us).ok_or(Failure::NotReady)
            }
            Some(Said::Refused(why)) => Err(board.refused(tag, item, why)),
            _ => Err(Failure::NotReady),
        }
    }

    /// Gives an item back.
    pub(crate) fn release(&mut self, pool: &str, item: u64, token: Token) -> Result<(), Failure> {
        let tag = self.state.above.pool_tag(pool)?;
        self.release_in(tag, item, token)
    }

    /// Gives an item of the pool with this tag back.
    pub(crate) fn release_in(&mut self, tag: Tag, item: u64, token: Token) -> Result<(), Failure> {
        let board = &mut self.state.above;
        let desk = board.pools.get_mut(&tag).ok_or(Failure::NotReady)?;
        let slot = slot_of(desk, item)?;
        let token = slots::Token { epoch: token.epoch, count: token.count };
        let Some(used) = desk.uses.get(&slot).filter(|used| used.token == token) else {
            return Err(Failure::Stale { item });
        };
        if let Holder::Session(session) = used.holder {
            board.session_returns(session, tag, slot);
        }
        let desk = board.pools.get_mut(&tag).ok_or(Failure::NotReady)?;
        desk.uses.remove(&slot);
        self.input(Input::Pool(tag, slots::Input::Release(slot, token)));
        let board = &mut self.state.above;
        match board.take_said() {
            Some(Said::Pool(..)) => {
                board.tell_of(tag, |pool| Event::Released { pool, item });
                Ok(())
            }
            _ => Err(Failure::Stale { item }),
        }
    }
}
