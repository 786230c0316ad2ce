//! Fair turns: players move at the same time, and no player moves after having seen the others'
//! moves.
//!
//! In each turn the application of every player plays an action, with a nonce that no other player
//! can guess. In the end every player learns all actions, or which players have cheated or kept
//! silent. One player may be a cheater (the parameter `cheater`): its outputs do not count, and it
//! reports when it has found out another's action before it has committed itself.

mod monitor;

pub use monitor::Referee;

use super::{Application, Family, Mark, Moment, Pace, Property};
use crate::card::{Parameter, Rounds};
use crate::process::ProcessId;
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};

/// The family of protocols for fair turns.
#[derive(Clone, Copy, Debug)]
pub struct Lockstep;

/// The number of a turn, from 1.
pub type Turn = u32;

/// An action of a player. There are few, so that explorers can try all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Action {
    /// `ATTACK:north`.
    AttackNorth,
    /// `ATTACK:south`.
    AttackSouth,
    /// `DEFEND`.
    Defend,
}

impl Action {
    /// All actions.
    pub const ALL: [Action; 3] = [Action::AttackNorth, Action::AttackSouth, Action::Defend];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Action::AttackNorth => "ATTACK:north",
            Action::AttackSouth => "ATTACK:south",
            Action::Defend => "DEFEND",
        }
    }

    /// The action that the word means.
    pub fn from_word(word: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.word() == word)
    }

    /// Another action.
    #[must_use]
    pub fn other(self) -> Action {
        match self {
            Action::AttackNorth => Action::AttackSouth,
            Action::AttackSouth => Action::Defend,
            Action::Defend => Action::AttackNorth,
        }
    }
}

/// A request of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// The player plays.
    Play {
        /// In this turn.
        turn: Turn,
        /// The action.
        action: Action,
        /// A number that no other player can guess.
        nonce: u64,
    },
}

/// The outcome of a turn for one player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// The player played this action.
    Plays(Action),
    /// It did not commit, or did not reveal, in time, and forfeits its place.
    Silent,
    /// It broke the rules, and forfeits its place.
    Cheats,
    /// The player had lost its place before.
    Out,
}

/// An output to the application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// It is committed to its action.
    Commits(Turn),
    /// Its action is revealed.
    Reveals(Turn),
    /// The turn is over, with the verdict on each player.
    Over(Turn, Vec<Verdict>),
    /// A cheater knows another's action, and has not committed itself yet.
    Peeks {
        /// In this turn.
        turn: Turn,
        /// The other.
        player: ProcessId,
        /// Its action.
        action: Action,
    },
}

/// No player commits after a reveal.
pub const LK1: &str = "LK1";
/// No player changes its action after having committed.
pub const LK2: &str = "LK2";
/// No player knows another's action before having committed.
pub const LK3: &str = "LK3";
/// All players accept the same actions.
pub const LK4: &str = "LK4";
/// Every turn ends.
pub const LK5: &str = "LK5";

impl Family for Lockstep {
    const NAME: &'static str = "fair turns";
    const OPERATION: &'static str = "turn";
    const PROPERTIES: &'static [Property] = &[
        Property {
            id: LK1,
            name: "commit first",
            statement: "nobody commits to an action in a turn in which a correct player has \
                        revealed its own",
        },
        Property {
            id: LK2,
            name: "binding",
            statement: "what a correct player accepts as another's action is what that one played \
                        when it committed, and no correct player is said to have cheated",
        },
        Property {
            id: LK3,
            name: "hiding",
            statement: "nobody knows what another plays before having committed itself",
        },
        Property {
            id: LK4,
            name: "agreement",
            statement: "of each turn, all correct players accept the same actions and name the same \
                        cheaters",
        },
        Property {
            id: LK5,
            name: "progress",
            statement: "every turn in which a correct player plays comes to an end for it",
        },
    ];
    const ESSENTIAL: &'static [&'static str] = &[LK2, LK3, LK4];
    const LIVENESS: &'static [&'static str] = &[LK5];

    type Input = Input;
    type Output = Output;
    type Application = Player;
    type Monitor = Referee;

    /// A player that thinks for too long has lost.
    fn pace(_: &Input) -> Pace {
        Pace::AtOnce
    }

    /// A scenario may name the action, and the nonce.
    fn is_order(_: &Input) -> bool {
        true
    }

    fn mark_of_input(_: &Input) -> Mark {
        Mark::Ask
    }

    fn mark_of_output(_at: ProcessId, output: &Output) -> Mark {
        match output {
            Output::Commits(_) | Output::Reveals(_) | Output::Peeks { .. } => Mark::None,
            Output::Over(..) => Mark::Done,
        }
    }

    fn input_in_words(Input::Play { turn, action, nonce }: &Input) -> String {
        format!("plays {} in turn {turn} with {nonce}", action.word())
    }

    fn output_in_words(output: &Output) -> String {
        match output {
            Output::Commits(turn) => format!("is committed in turn {turn}"),
            Output::Reveals(turn) => format!("reveals in turn {turn}"),
            Output::Over(turn, verdicts) => {
                let words: Vec<&str> = verdicts.iter().map(|verdict| verdict.word()).collect();
                format!("ends turn {turn}: {}", words.join(" "))
            }
            Output::Peeks { turn, player, action } => {
                format!("knows that {player} plays {} in turn {turn}", action.word())
            }
        }
    }

    fn input_from_words(words: &[&str]) -> Option<Input> {
        match words {
            ["plays", action, "in", "turn", turn, "with", nonce] => Some(Input::Play {
                turn: turn.parse().ok()?,
                action: Action::from_word(action)?,
                nonce: nonce.parse().ok()?,
            }),
            _ => None,
        }
    }

    const PHRASES: &'static [&'static str] =
        &["plays DEFEND in turn 1 with 17", "plays ATTACK:north in turn 1 with 23"];
}

impl Verdict {
    /// The outcome of a player in words.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Plays(action) => action.word(),
            Verdict::Silent => "silent",
            Verdict::Cheats => "cheats",
            Verdict::Out => "out",
        }
    }
}

/// The parameter that [`cheater`] reads.
pub const CHEATER: Parameter = Parameter {
    name: "cheater",
    meaning: "who cheats, and how, e.g. p1:change; or look-ahead, copy, mute-commit, mute-reveal, \
              equivocate (default: nobody)",
};

/// How a player cheats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Cheat {
    /// It decides late, after it has found out the others' actions; if it can.
    LookAhead,
    /// It reveals another action than the one it committed to.
    Change,
    /// It copies another's commitment, and later that player's reveal.
    Copy,
    /// It does not commit.
    MuteCommit,
    /// It commits, and does not reveal.
    MuteReveal,
    /// It commits to different actions towards different players.
    Equivocate,
}

impl Cheat {
    /// All ways to cheat, with their words.
    pub const ALL: [(&'static str, Cheat); 6] = [
        ("look-ahead", Cheat::LookAhead),
        ("change", Cheat::Change),
        ("copy", Cheat::Copy),
        ("mute-commit", Cheat::MuteCommit),
        ("mute-reveal", Cheat::MuteReveal),
        ("equivocate", Cheat::Equivocate),
    ];
}

/// The cheater, and its way to cheat.
pub fn cheater(setup: &Setup) -> Result<Option<(ProcessId, Cheat)>, SetupError> {
    let Some(text) = setup.text("cheater") else { return Ok(None) };
    let parts =
        text.split_once(':').ok_or_else(|| setup.bad("cheater", "p1:change, for example"))?;
    let who = setup.parse_process("cheater", parts.0)?;
    let known = Cheat::ALL.into_iter().find(|(word, _)| *word == parts.1);
    let (_, cheat) = known.ok_or_else(|| {
        let words = Cheat::ALL.map(|(word, _)| word).join(", ");
        setup.bad("cheater", format!("'{}' is none of {words}", parts.1))
    })?;
    Ok(Some((who, cheat)))
}

/// An application that plays `rounds` turns, another action in each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Player {
    me: ProcessId,
    turn: Turn,
    waits: bool,
    left: Rounds,
}

impl Application for Player {
    type Family = Lockstep;

    fn new(me: ProcessId, _setup: &Setup, rounds: Rounds) -> Self {
        Player { me, turn: 1, waits: false, left: rounds }
    }

    fn offers(&self, offer: &mut dyn FnMut(Input)) {
        if !self.waits && self.left.are_left() {
            let number = self.me.index() + self.turn as usize;
            let action = Action::ALL[number % Action::ALL.len()];
            let nonce = nonce(self.me, self.turn);
            offer(Input::Play { turn: self.turn, action, nonce });
        }
    }

    fn on_input(&mut self, Input::Play { turn, .. }: &Input) {
        self.waits = true;
        self.turn = *turn;
        self.left.use_one();
    }

    fn on_output(&mut self, output: &Output, _moment: Moment<'_>) -> Option<Input> {
        match output {
            Output::Over(turn, verdicts) => {
                self.turn = turn.saturating_add(1);
                // A player that has lost its place plays no more.
                let verdict = verdicts.get(self.me.index());
                self.waits = !matches!(verdict, Some(Verdict::Plays(_)));
            }
            Output::Commits(_) | Output::Reveals(_) | Output::Peeks { .. } => {}
        }
        None
    }

    fn on_crash(&mut self) {
        self.waits = false;
    }
}

/// A real player draws its nonces at random. These only look random: they are the same in every
/// run, so that runs can be repeated. (The mixing function is that of SplitMix64.)
fn nonce(me: ProcessId, turn: Turn) -> u64 {
    let seed = (u64::from(me.0) << 32 | u64::from(turn)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
