//! The slots in use, and the token of each.
//!
//! Tokens lie in pages, by the number of the slot. The first use of a slot allocates its page,
//! which stays. So a change costs the same at every size, and a member pays only for the slots that
//! it uses. In a large pool most time goes into fetching memory, so a token is one word. The few
//! larger tokens lie in a map.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use synod_core::family::slots::{SlotId, Token};

/// Slots in a page.
const PAGE: usize = 512;

/// A token in a word: 16 bits for the epoch, 48 for the count.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word(u64);

const COUNT_BITS: u32 = 48;

impl Word {
    /// The slot is not in use: no claim has number 0.
    const NONE: Word = Word(0);
    /// The token lies in the map. No token has this word itself, because its count would be 0.
    const LARGE: Word = Word(1 << COUNT_BITS);

    #[inline]
    fn of(token: Token) -> Self {
        if token.epoch >> (u64::BITS - COUNT_BITS) != 0 || token.count >> COUNT_BITS != 0 {
            return Word::LARGE;
        }
        Word(token.epoch << COUNT_BITS | token.count)
    }

    fn token(self) -> Token {
        Token { epoch: self.0 >> COUNT_BITS, count: self.0 & ((1 << COUNT_BITS) - 1) }
    }
}

/// Tokens by slot. Equal contents are equal values: empty pages do not count.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "Written", from = "Written")]
pub(super) struct Tokens {
    size: u32,
    count: u32,
    pages: Vec<Option<Box<[Word]>>>,
    /// Tokens that do not fit into a word.
    large: BTreeMap<SlotId, Token>,
}

impl Tokens {
    pub(super) fn new(size: u32) -> Self {
        let pages = vec![None; (size as usize).div_ceil(PAGE)];
        Tokens { size, count: 0, pages, large: BTreeMap::new() }
    }

    /// The number of slots in use.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn get(&self, slot: SlotId) -> Option<Token> {
        let (page, place) = (slot.0 as usize / PAGE, slot.0 as usize % PAGE);
        self.token(slot, *self.pages.get(page)?.as_ref()?.get(place)?)
    }

    /// The token of a word.
    fn token(&self, slot: SlotId, word: Word) -> Option<Token> {
        match word {
            Word::NONE => None,
            Word::LARGE => self.large.get(&slot).copied(),
            word => Some(word.token()),
        }
    }

    /// Takes a slot into use. It exists and is not in use.
    #[inline]
    pub(super) fn insert(&mut self, slot: SlotId, token: Token) {
        assert!(token.count > 0, "claims are numbered from 1");
        let (page, place) = (slot.0 as usize / PAGE, slot.0 as usize % PAGE);
        let words = match &mut self.pages[page] {
            Some(words) => words,
            empty => empty.insert(new_page(self.size, page)),
        };
        words[place] = Word::of(token);
        if words[place] == Word::LARGE {
            self.large.insert(slot, token);
        }
        self.count += 1;
    }

    /// Frees the slot if it is in use with this token. Returns whether it was.
    #[inline]
    pub(super) fn remove_if(&mut self, slot: SlotId, token: Token) -> bool {
        let (page, place) = (slot.0 as usize / PAGE, slot.0 as usize % PAGE);
        let words = self.pages.get_mut(page).and_then(Option::as_mut);
        let Some(word) = words.and_then(|words| words.get_mut(place)) else { return false };
        if *word != Word::of(token) || token.count == 0 {
            return false;
        }
        if *word == Word::LARGE {
            if self.large.get(&slot) != Some(&token) {
                return false;
            }
            self.large.remove(&slot);
        }
        *word = Word::NONE;
        self.count -= 1;
        true
    }

    /// Frees the slot if it is in use.
    pub(super) fn remove(&mut self, slot: SlotId) {
        if let Some(token) = self.get(slot) {
            self.remove_if(slot, token);
        }
    }

    /// The slots in use, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SlotId, Token)> + '_ {
        let pages = self.pages.iter().enumerate();
        let pages = pages.filter_map(|(page, words)| Some((page, words.as_ref()?)));
        pages.flat_map(move |(page, words)| {
            let words = words.iter().enumerate();
            words.filter_map(move |(place, word)| {
                let slot = SlotId((page * PAGE + place) as u32);
                Some((slot, self.token(slot, *word)?))
            })
        })
    }
}

/// A page in which no slot is in use. The last one is shorter.
#[cold]
fn new_page(size: u32, page: usize) -> Box<[Word]> {
    vec![Word::NONE; (size as usize - page * PAGE).min(PAGE)].into_boxed_slice()
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
