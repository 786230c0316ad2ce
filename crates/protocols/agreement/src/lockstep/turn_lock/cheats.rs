//! The ways to cheat. A cheater keeps all rules but one.

use super::opening::{COMMITMENT, LeftOut, Opening, guess};
use super::{Message, TurnLockPlayer};
use synod_core::family::lockstep::{Action, Cheat, Output};
use synod_core::{Cx, ProcessId};

impl<const LEFT_OUT: LeftOut> TurnLockPlayer<LEFT_OUT> {
    /// The cheater's turn to commit.
    pub(super) fn cheat_at_commitment(
        &mut self,
        cheat: Cheat,
        secret: Opening,
        cx: &mut Cx<'_, Self>,
    ) {
        match cheat {
            Cheat::MuteCommit => {}
            Cheat::LookAhead | Cheat::Copy => self.cheat_on_news(cx),
            Cheat::Equivocate if LEFT_OUT != COMMITMENT => self.commit_to_both(secret, cx),
            Cheat::Change | Cheat::MuteReveal | Cheat::Equivocate => {
                self.commit_late(secret, cx);
            }
        }
    }

    /// The cheater's turn to reveal.
    pub(super) fn cheat_at_reveal(&mut self, cheat: Cheat, secret: Opening, cx: &mut Cx<'_, Self>) {
        match cheat {
            Cheat::MuteCommit | Cheat::MuteReveal => {}
            Cheat::Change => {
                self.reveal(Opening { action: secret.action.other(), ..secret }, cx);
            }
            Cheat::Copy => self.copy_reveal(cx),
            Cheat::LookAhead => self.reveal(secret, cx),
            Cheat::Equivocate => self.reveal_both(secret, cx),
        }
    }

    /// A message arrived that the cheater may use.
    pub(super) fn cheat_on_news(&mut self, cx: &mut Cx<'_, Self>) {
        let has_moved =
            self.now.commitment(cx.me()).is_some() || self.now.revealed(cx.me()).is_some();
        match (self.cheat, self.secret) {
            (Some(Cheat::LookAhead), Some(secret)) if !has_moved => self.look_ahead(secret, cx),
            (Some(Cheat::Copy), Some(_)) if !has_moved => self.copy_commitment(cx),
            (Some(Cheat::Copy), Some(_)) => self.copy_reveal(cx),
            _ => {}
        }
    }

    /// Commits, or, where there are no commitments, reveals.
    fn commit_late(&mut self, secret: Opening, cx: &mut Cx<'_, Self>) {
        match LEFT_OUT {
            COMMITMENT => self.make_reveal(cx),
            _ => self.commit(secret.commitment(cx.me(), self.turn, LEFT_OUT), cx),
        }
    }

    /// Waits until all others have moved, reads their actions as far as it can, and decides then.
    fn look_ahead(&mut self, secret: Opening, cx: &mut Cx<'_, Self>) {
        let others: Vec<ProcessId> = self.players.iter().filter(|p| *p != cx.me()).collect();
        let has_moved = |player: &ProcessId| match LEFT_OUT {
            COMMITMENT => self.now.revealed(*player).is_some(),
            _ => self.now.commitment(*player).is_some(),
        };
        if !others.iter().all(has_moved) {
            return;
        }
        let seen: Vec<_> =
            others.iter().filter_map(|player| Some((*player, self.peek(*player)?))).collect();
        for (player, action) in &seen {
            let (turn, player, action) = (self.turn, *player, *action);
            cx.output(Output::Peeks { turn, player, action });
        }
        // The next action beats the one that it has seen.
        let action = seen.first().map_or(secret.action, |(_, action)| action.other());
        let secret = Opening { action, ..secret };
        self.secret = Some(secret);
        self.commit_late(secret, cx);
    }

    /// The action of another player, if the cheater can find it out.
    fn peek(&self, player: ProcessId) -> Option<Action> {
        match LEFT_OUT {
            COMMITMENT => self.now.revealed(player).map(|opening| opening.action),
            _ => guess(self.now.commitment(player)?, player, self.turn, LEFT_OUT),
        }
    }

    /// Sends the commitment of another player, the first that is there, as its own.
    fn copy_commitment(&mut self, cx: &mut Cx<'_, Self>) {
        let others = self.players.iter().filter(|player| *player != cx.me());
        let first = others.into_iter().find_map(|player| self.now.commitment(player));
        if let Some(digest) = first {
            self.commit(digest, cx);
        }
    }

    /// Reveals the opening of the player whose commitment it copied.
    fn copy_reveal(&mut self, cx: &mut Cx<'_, Self>) {
        let me = cx.me();
        let mine = self.now.commitment(me);
        let is_model = |player: &ProcessId| *player != me && self.now.commitment(*player) == mine;
        let model = self.players.iter().find(is_model);
        let opening = model.and_then(|player| self.now.revealed(player));
        if let (Some(opening), None) = (opening, self.now.revealed(me)) {
            self.reveal(opening, cx);
        }
    }

    /// The opening for the player of this number: the first of the others gets the truth, the rest
    /// another action.
    fn story(secret: Opening, number: usize) -> Opening {
        match number {
            0 => secret,
            _ => Opening { action: secret.action.other(), ..secret },
        }
    }

    fn commit_to_both(&mut self, secret: Opening, cx: &mut Cx<'_, Self>) {
        let (me, turn) = (cx.me(), self.turn);
        self.now.commit(me, secret.commitment(me, turn, LEFT_OUT));
        cx.output(Output::Commits(turn));
        for (number, to) in cx.others().enumerate() {
            let digest = Self::story(secret, number).commitment(me, turn, LEFT_OUT);
            cx.send(to, Message::Commit(turn, digest));
        }
    }

    fn reveal_both(&mut self, secret: Opening, cx: &mut Cx<'_, Self>) {
        self.now.reveal(cx.me(), secret);
        cx.output(Output::Reveals(self.turn));
        for (number, to) in cx.others().enumerate() {
            cx.send(to, Message::Reveal(self.turn, Self::story(secret, number)));
        }
    }
}
