//! Turn-lock: all players commit to their actions before the first reveals one (Baughman and
//! Levine, 2001).
//!
//! The player that moves last, and sees the moves of the others, has an advantage: the *late
//! decision* cheat. So in the first phase each player sends only a commitment, H(player | turn |
//! nonce | action). In the second phase, when all commitments are there, it sends the action and
//! the nonce. The hash binds: a player that reveals another action is found out. The nonce hides:
//! there are few actions, and without it a cheater could try them all. The hash covers player and
//! turn so that no player can pass off the commitment of another as its own.
//!
//! After each phase the players tell each other which messages they received. So all of them name a
//! player that committed to two actions; and a message that reached only some players reaches all.
//! A player that does not commit or reveal in time forfeits its place, and so does a cheater.
//!
//! - Assumes: reliable links in any order; no message takes longer than `delay`, D; players decide
//!   at once; at most one player cheats, in one of the ways that `cheater` names, and no player
//!   lies about the messages of others (sign commitments if you cannot trust that).
//! - Guarantees: LK1, LK2, LK3, LK4, LK5.
//! - Cost: 4N(N − 1) messages and 4 hops per turn; half of them are the comparison. If a player is
//!   silent, a turn takes 12D at most.
//! - State: the messages of this turn and the next; no player can be further ahead.
//!
//! The turn of a player begins when it plays, or when it hears of the turn; so all begin within D
//! of each other. A message of a phase arrives at the latest 2D after that phase ended for its
//! receiver, and a phase takes 3D at most.
//!
//! Source: N. E. Baughman, B. N. Levine: Cheat-proof playout for centralized and distributed online
//! games. IEEE INFOCOM 2001. (There the hash covers the action alone, and the players do not
//! compare.)

mod card;
mod cheats;
mod opening;
mod table;

pub(crate) use card::{PARAMETERS, PROMPT, SOURCE};
pub use opening::{
    BINDING, COMMITMENT, Digest, ECHO, LeftOut, NONCE, NOTHING, Opening, commitment, guess,
};
pub use table::Table;

use serde::{Deserialize, Serialize};
use synod_core::family::lockstep::{Cheat, Input, Output, Turn, Verdict, cheater};
use synod_core::{Cx, ProcessId, ProcessSet, Protocol, Setup, SetupError, Wire};

/// The messages between players.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// My commitment in this turn.
    Commit(Turn, Digest),
    /// The commitments that I received, one for each player.
    Echo(Turn, Vec<Option<Digest>>),
    /// The action that I was committed to, and its nonce.
    Reveal(Turn, Opening),
    /// The openings that I received, one for each player.
    Compare(Turn, Vec<Option<Opening>>),
}

impl Wire for Message {
    fn label(&self) -> String {
        match self {
            Message::Commit(turn, digest) => format!("Commit {turn}: {digest:?}"),
            Message::Echo(turn, _) => format!("Echo {turn}"),
            Message::Reveal(turn, opening) => format!("Reveal {turn}: {:?}", opening.action),
            Message::Compare(turn, _) => format!("Compare {turn}"),
        }
    }
}

impl Message {
    fn turn(&self) -> Turn {
        match self {
            Message::Commit(turn, _)
            | Message::Echo(turn, _)
            | Message::Reveal(turn, _)
            | Message::Compare(turn, _) => *turn,
        }
    }
}

/// The only timer: the time of a phase is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Deadline;

/// The phases of a turn, by the messages that the player waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// `Commit`.
    Committing,
    /// `Echo`.
    Echoing,
    /// `Reveal`.
    Revealing,
    /// `Compare`.
    Comparing,
}

/// One player. `LEFT_OUT` names the ingredient that a mutant omits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnLockPlayer<const LEFT_OUT: LeftOut> {
    delay_ms: u64,
    cheat: Option<Cheat>,
    /// The players that have not forfeited their place.
    players: ProcessSet,
    turn: Turn,
    /// Whether the turn has begun: this player has played, or heard from another in this turn.
    begun: bool,
    phase: Phase,
    /// The number of phases whose time is over.
    passed: u8,
    /// The action and the nonce of this player in this turn.
    secret: Option<Opening>,
    now: Table,
    next: Table,
}

/// The protocol as it should be.
pub type TurnLock = TurnLockPlayer<NOTHING>;

impl<const LEFT_OUT: LeftOut> Protocol for TurnLockPlayer<LEFT_OUT> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Deadline;

    fn on_input(&mut self, Input::Play { turn, action, nonce }: Input, cx: &mut Cx<'_, Self>) {
        if turn == self.turn && self.secret.is_none() && self.players.contains(cx.me()) {
            self.secret = Some(Opening { action, nonce });
            self.begin(cx);
            self.make_commitment(cx);
            self.advance(cx);
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        // The messages of a player without a place do not count, and it needs none itself.
        if !self.players.contains(from) || !self.players.contains(cx.me()) || from == cx.me() {
            return;
        }
        // A player ends a turn only after it heard from all others or their time was over, so no
        // honest one is further ahead. The bound keeps the tables at two.
        if message.turn() > self.turn.saturating_add(1) {
            return cx.accuse(from, "is turns ahead");
        }
        if message.turn() < self.turn {
            return;
        }
        let is_now = message.turn() == self.turn;
        self.note(from, message, is_now, cx);
        if is_now {
            self.begin(cx);
            self.cheat_on_news(cx);
            self.advance(cx);
        }
    }

    fn on_timer(&mut self, Deadline: Deadline, cx: &mut Cx<'_, Self>) {
        self.passed = self.passed.saturating_add(1);
        cx.set_timer(Deadline, 3 * self.delay_ms);
        self.advance(cx);
    }
}

impl<const LEFT_OUT: LeftOut> TurnLockPlayer<LEFT_OUT> {
    const FIRST: Phase = if LEFT_OUT == COMMITMENT { Phase::Revealing } else { Phase::Committing };

    fn begin(&mut self, cx: &mut Cx<'_, Self>) {
        if !self.begun {
            self.begun = true;
            cx.set_timer(Deadline, 3 * self.delay_ms);
        }
    }

    /// Puts a message on the table of its turn.
    fn note(&mut self, from: ProcessId, message: Message, is_now: bool, cx: &mut Cx<'_, Self>) {
        let n = cx.group_size();
        let in_time = !is_now || self.phase == Phase::Committing;
        let table = if is_now { &mut self.now } else { &mut self.next };
        match message {
            Message::Commit(_, digest) if in_time => {
                if !table.commit(from, digest) {
                    cx.accuse(from, "committed twice");
                }
            }
            // The commitment is too late here. It still counts if an `Echo` says that others
            // received it in time.
            Message::Commit(..) => {}
            Message::Echo(_, commitments) if commitments.len() == n => {
                table.echo(from, &commitments);
            }
            Message::Reveal(_, opening) => table.reveal(from, opening),
            Message::Compare(_, openings) if openings.len() == n => table.compare(from, &openings),
            Message::Echo(..) | Message::Compare(..) => {
                cx.accuse(from, "does not tell of each player");
            }
        }
    }

    /// Enters the next phase, as long as the current one is over.
    fn advance(&mut self, cx: &mut Cx<'_, Self>) {
        while self.begun && self.is_over() {
            match self.phase {
                Phase::Committing if LEFT_OUT == ECHO => self.make_reveal(cx),
                Phase::Committing => {
                    self.phase = Phase::Echoing;
                    self.now.echoed.insert(cx.me());
                    cx.multicast(Message::Echo(self.turn, self.now.commitments()));
                }
                Phase::Echoing => self.make_reveal(cx),
                Phase::Revealing if LEFT_OUT == ECHO => self.finish(cx),
                Phase::Revealing => {
                    self.phase = Phase::Comparing;
                    self.now.compared.insert(cx.me());
                    cx.multicast(Message::Compare(self.turn, self.now.reveals()));
                }
                Phase::Comparing => self.finish(cx),
            }
        }
    }

    /// Whether all messages of this phase are there, or its time is over.
    fn is_over(&self) -> bool {
        let (table, passed) = (&self.now, self.passed);
        let all = |is: &dyn Fn(ProcessId) -> bool| self.players.iter().all(is);
        match self.phase {
            Phase::Committing => passed >= 1 || all(&|p| table.commitment(p).is_some()),
            Phase::Echoing => passed >= 2 || all(&|p| table.echoed.contains(p)),
            Phase::Revealing => passed >= 3 || all(&|p| !self.awaits_reveal(p)),
            Phase::Comparing => passed >= 4 || all(&|p| table.compared.contains(p)),
        }
    }

    fn awaits_reveal(&self, player: ProcessId) -> bool {
        let counts = LEFT_OUT == COMMITMENT || self.now.is_bound(player);
        counts && self.now.revealed(player).is_none()
    }

    fn make_commitment(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(secret) = self.secret else { return };
        match self.cheat {
            Some(cheat) => self.cheat_at_commitment(cheat, secret, cx),
            None if LEFT_OUT == COMMITMENT => self.make_reveal(cx),
            None => self.commit(secret.commitment(cx.me(), self.turn, LEFT_OUT), cx),
        }
    }

    fn commit(&mut self, digest: Digest, cx: &mut Cx<'_, Self>) {
        self.now.commit(cx.me(), digest);
        cx.output(Output::Commits(self.turn));
        cx.multicast(Message::Commit(self.turn, digest));
    }

    fn make_reveal(&mut self, cx: &mut Cx<'_, Self>) {
        self.phase = Phase::Revealing;
        let Some(secret) = self.secret else { return };
        match self.cheat {
            Some(cheat) => self.cheat_at_reveal(cheat, secret, cx),
            None => self.reveal(secret, cx),
        }
    }

    fn reveal(&mut self, opening: Opening, cx: &mut Cx<'_, Self>) {
        self.now.reveal(cx.me(), opening);
        cx.output(Output::Reveals(self.turn));
        cx.multicast(Message::Reveal(self.turn, opening));
    }

    /// Announces the verdicts of the turn. Messages of the next turn may be here already, and begin
    /// it.
    fn finish(&mut self, cx: &mut Cx<'_, Self>) {
        let verdicts: Vec<Verdict> = cx.group().map(|player| self.verdict(player)).collect();
        let stays = |(_, verdict): &(ProcessId, &Verdict)| matches!(verdict, Verdict::Plays(_));
        // All honest players reach the same verdicts, so they agree on the remaining players.
        self.players = cx.group().zip(&verdicts).filter(stays).map(|(player, _)| player).collect();
        cx.output(Output::Over(self.turn, verdicts));
        cx.cancel_timer(Deadline);
        self.now = std::mem::replace(&mut self.next, Table::new(cx.group_size()));
        self.turn = self.turn.saturating_add(1);
        (self.begun, self.phase, self.passed, self.secret) = (false, Self::FIRST, 0, None);
        if !self.now.is_empty() {
            self.begin(cx);
        }
    }

    fn verdict(&self, player: ProcessId) -> Verdict {
        match self.players.contains(player) {
            false => Verdict::Out,
            true if LEFT_OUT == COMMITMENT => self.now.unbound_verdict(player),
            true => self.now.verdict(player, self.turn, LEFT_OUT),
        }
    }

    pub(crate) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let cheater = cheater(setup)?;
        let delay_ms = setup.number("delay", 1)?;
        if delay_ms == 0 {
            return Err(setup.bad("delay", "at least a millisecond"));
        }
        let player = |me: ProcessId| TurnLockPlayer {
            delay_ms,
            cheat: cheater.filter(|(who, _)| *who == me).map(|(_, cheat)| cheat),
            players: ProcessSet::all(setup.n),
            turn: 1,
            begun: false,
            phase: Self::FIRST,
            passed: 0,
            secret: None,
            now: Table::new(setup.n),
            next: Table::new(setup.n),
        };
        Ok(ProcessId::all(setup.n).map(player).collect())
    }
}
