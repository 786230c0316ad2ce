//! Claims in process: a function call on the member's own items, with a lock and no queue.

use crate::inner::Inner;
use std::sync::{Arc, OnceLock};
use synod_client::api::{Failure, Holder, Token};
use synod_core::family::services::Tag;
use tokio::sync::watch;

/// A pool, for the program that the node is in.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
    name: Arc<str>,
    /// The tag, once it is known. A pool that is deleted and created again has another one, so this
    /// value claims in the pool that it found first.
    tag: OnceLock<Tag>,
}

impl Pool {
    pub(crate) fn new(inner: Arc<Inner>, name: &str) -> Self {
        Pool { inner, name: name.into(), tag: OnceLock::new() }
    }

    /// Claims any item.
    pub fn claim(&self) -> Result<Claim, Failure> {
        self.claim_this(None)
    }

    /// Claims this item, or any.
    pub fn claim_this(&self, item: Option<u64>) -> Result<Claim, Failure> {
        let now_us = self.inner.clock.now_us();
        self.inner.group.step(|stepping| {
            let tag = match self.tag.get() {
                Some(tag) => *tag,
                None => {
                    let tag = stepping.state.above.pool_tag(&self.name)?;
                    *self.tag.get_or_init(|| tag)
                }
            };
            let holder = Holder::Label(String::new());
            let (item, token) = stepping.claim_in(tag, item, holder, now_us)?;
            let over = stepping.state.above.pools.get(&tag).ok_or(Failure::NotReady)?.over();
            Ok(Claim { tag, item, token, over, inner: self.inner.clone() })
        })
    }
}

/// A claimed item. It is given back when this value is dropped.
pub struct Claim {
    tag: Tag,
    item: u64,
    token: Token,
    over: watch::Receiver<bool>,
    inner: Arc<Inner>,
}

impl Claim {
    /// The item.
    pub fn item(&self) -> u64 {
        self.item
    }

    /// The fencing token.
    pub fn token(&self) -> Token {
        self.token
    }

    /// Completes when the claim is void although it was not given back: before any other user can
    /// get the item.
    pub async fn lost(&mut self) {
        // A pool that is gone has ended its claims.
        let _ = self.over.wait_for(|over| *over).await;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // A claim that is void needs no release.
        let released = |stepping: &mut crate::cell::Stepping<'_, _, _>| {
            stepping.release_in(self.tag, self.item, self.token)
        };
        let _ = self.inner.group.step(released);
    }
}
