//! The slots in use, and the token of each.
//!
//! By the number of the slot, in pages; a page comes into being when a slot of it is first used, and
//! stays. So a change costs the same at every size, and a member pays only for the slots that it uses.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};
use synod_core::family::slots::{SlotId, Token};

/// Slots in a page.
const PAGE: usize = 256;

/// Not in use: no claim has number 0.
const NONE: Token = Token { epoch: 0, count: 0 };

/// Tokens by slot. Equal contents are equal values: empty pages do not count.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "Written", from = "Written")]
pub(super) struct Tokens {
    size: u32,
    count: u32,
    pages: Vec<Option<Box<[Token]>>>,
}

impl Tokens {
    pub(super) fn new(size: u32) -> Self {
        Tokens { size, count: 0, pages: vec![None; (size as usize).div_ceil(PAGE)] }
    }

    /// How many slots are in use.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    #[inline]
    pub(super) fn get(&self, slot: SlotId) -> Option<Token> {
        let (page, place) = (slot.0 as usize / PAGE, slot.0 as usize % PAGE);
        let token = *self.pages.get(page)?.as_ref()?.get(place)?;
        (token != NONE).then_some(token)
    }

    /// The slot, which exists and is not in use, is in use from now on.
    #[inline]
    pub(super) fn insert(&mut self, slot: SlotId, token: Token) {
        assert!(token.count > 0, "claims are numbered from 1");
        let (page, place) = (slot.0 as usize / PAGE, slot.0 as usize % PAGE);
        let length = (self.size as usize - page * PAGE).min(PAGE);
        let tokens = self.pages[page].get_or_insert_with(|| vec![NONE; length].into_boxed_slice());
        tokens[place] = token;
        self.count += 1;
    }

    /// The slot is not in use any more, if it was.
    #[inline]
    pub(super) fn remove(&mut self, slot: SlotId) {
        let (page, place) = (slot.0 as usize / PAGE, slot.0 as usize % PAGE);
        let tokens = self.pages.get_mut(page).and_then(Option::as_mut);
        if let Some(token) = tokens.and_then(|tokens| tokens.get_mut(place)) {
            self.count -= u32::from(*token != NONE);
            *token = NONE;
        }
    }

    /// The slots in use, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SlotId, Token)> + '_ {
        let pages = self.pages.iter().enumerate();
        let pages = pages.filter_map(|(page, tokens)| Some((page, tokens.as_ref()?)));
        pages.flat_map(|(page, tokens)| {
            let used = tokens.iter().enumerate().filter(|(_, token)| **token != NONE);
            used.map(move |(place, token)| (SlotId((page * PAGE + place) as u32), *token))
        })
    }
}

impl PartialEq for Tokens {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.iter().eq(other.iter())
    }
}

impl Eq for Tokens {}

impl Hash for Tokens {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.count.hash(state);
        for used in self.iter() {
            used.hash(state);
        }
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[derive(Serialize, Deserialize)]
struct Written {
    size: u32,
    used: Vec<(SlotId, Token)>,
}

impl From<Tokens> for Written {
    fn from(tokens: Tokens) -> Self {
        Written { size: tokens.size, used: tokens.iter().collect() }
    }
}

impl From<Written> for Tokens {
    fn from(written: Written) -> Self {
        let mut tokens = Tokens::new(written.size.min(super::table::SLOTS_AT_MOST));
        for (slot, token) in written.used {
            if slot.0 < tokens.size && token.count > 0 && tokens.get(slot).is_none() {
                tokens.insert(slot, token);
            }
        }
        tokens
    }
}
