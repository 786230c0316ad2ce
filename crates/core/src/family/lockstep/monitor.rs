//! The judge of [fair turns](super).

use super::{
    Action, Input, LK1, LK2, LK3, LK4, LK5, Lockstep, Output, Turn, Verdict, cheater as who_cheats,
};
use crate::family::{Moment, Monitor, Violation};
use crate::process::{ProcessId, ProcessSet};
use crate::setup::Setup;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// The number of turns remembered. No player is two turns behind another, so it suffices.
const REMEMBERED: usize = 4;

/// Knows the action of every player, and the outputs of every player.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Referee {
    n: usize,
    cheater: Option<ProcessId>,
    turns: BTreeMap<Turn, Sheet>,
}

/// The facts about one turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sheet {
    played: SmallVec<[Option<Action>; 4]>,
    committed: ProcessSet,
    /// The first correct player that has revealed its action.
    revealed: Option<ProcessId>,
    /// The first correct player for which the turn is over, and its verdicts.
    over: Option<(ProcessId, Vec<Verdict>)>,
    /// The correct players for which the turn is not over.
    wait: ProcessSet,
}

impl Monitor for Referee {
    type Family = Lockstep;

    fn new(setup: &Setup, _judged: &dyn Fn(&str) -> bool) -> Self {
        let cheater = who_cheats(setup).expect("the algorithm has accepted the cheater");
        Referee { n: setup.n, cheater: cheater.map(|(who, _)| who), turns: BTreeMap::new() }
    }

    fn on_input(&mut self, at: ProcessId, input: &Input, _: Moment<'_>, _: &mut Vec<Violation>) {
        let Input::Play { turn, action, .. } = input;
        let correct = self.is_correct(at);
        let sheet = self.sheet(*turn);
        sheet.played[at.index()] = Some(*action);
        if correct {
            sheet.wait.insert(at);
        }
    }

    fn on_output(
        &mut self,
        at: ProcessId,
        output: &Output,
        _: Moment<'_>,
        found: &mut Vec<Violation>,
    ) {
        match output {
            Output::Commits(turn) => self.on_commits(at, *turn, found),
            Output::Reveals(turn) if self.is_correct(at) => {
                self.sheet(*turn).revealed.get_or_insert(at);
            }
            Output::Over(turn, verdicts) if self.is_correct(at) => {
                self.on_over(at, *turn, verdicts, found);
            }
            Output::Peeks { turn, player, action } => {
                self.on_peeks(at, *turn, (*player, *action), found);
            }
            Output::Reveals(_) | Output::Over(..) => {}
        }
    }

    /// Messages between applications never change a turn.
    fn has_news(&self, _from: ProcessId) -> bool {
        false
    }

    fn waiting(&self, property: &str) -> ProcessSet {
        let waits = |at: &ProcessId| self.turns.values().any(|sheet| sheet.wait.contains(*at));
        match property {
            LK5 => ProcessId::all(self.n).filter(waits).collect(),
            _ => ProcessSet::EMPTY,
        }
    }

    fn complaint(&self, _property: &str, at: ProcessId) -> String {
        let open = self.turns.iter().find(|(_, sheet)| sheet.wait.contains(at));
        format!("does not come to the end of turn {}", open.map_or(0, |(turn, _)| *turn))
    }
}

impl Referee {
    fn is_correct(&self, at: ProcessId) -> bool {
        self.cheater != Some(at)
    }

    fn sheet(&mut self, turn: Turn) -> &mut Sheet {
        let n = self.n;
        self.turns.entry(turn).or_insert_with(|| Sheet {
            played: smallvec![None; n],
            committed: ProcessSet::EMPTY,
            revealed: None,
            over: None,
            wait: ProcessSet::EMPTY,
        })
    }

    fn on_commits(&mut self, at: ProcessId, turn: Turn, found: &mut Vec<Violation>) {
        let sheet = self.sheet(turn);
        sheet.committed.insert(at);
        if let Some(other) = sheet.revealed {
            let because = format!("{at} commits in turn {turn}, and {other} has revealed already");
            found.push(Violation { property: LK1, at, because });
        }
    }

    /// A player that claims to know an action must be right: a wrong guess is no knowledge.
    fn on_peeks(
        &mut self,
        at: ProcessId,
        turn: Turn,
        (player, action): (ProcessId, Action),
        found: &mut Vec<Violation>,
    ) {
        let sheet = self.sheet(turn);
        let played = sheet.played.get(player.index()).copied().flatten();
        if player != at && played == Some(action) && !sheet.committed.contains(at) {
            let because = format!("{at} knows what {player} plays, and can still choose");
            found.push(Violation { property: LK3, at, because });
        }
    }

    fn on_over(
        &mut self,
        at: ProcessId,
        turn: Turn,
        verdicts: &[Verdict],
        found: &mut Vec<Violation>,
    ) {
        let cheater = self.cheater;
        let sheet = self.sheet(turn);
        let mut violated = |property, because| found.push(Violation { property, at, because });
        for (player, verdict) in ProcessId::all(verdicts.len()).zip(verdicts) {
            let played = sheet.played.get(player.index()).copied().flatten();
            match verdict {
                Verdict::Plays(action) if played != Some(*action) => {
                    let word = action.word();
                    let because = format!("{at} accepts {word} of {player}, who did not play it");
                    violated(LK2, because);
                }
                Verdict::Cheats if cheater != Some(player) => {
                    violated(LK2, format!("{at} takes {player} for a cheater"));
                }
                _ => {}
            }
        }
        match &sheet.over {
            Some((other, theirs)) if theirs != verdicts => {
                let because = format!("{at} and {other} do not accept the same in turn {turn}");
                violated(LK4, because);
            }
            Some(_) => {}
            None => sheet.over = Some((at, verdicts.to_vec())),
        }
        sheet.wait.remove(at);
        while self.turns.len() > REMEMBERED
            && self.turns.first_key_value().is_some_and(|(_, sheet)| sheet.wait.is_empty())
        {
            self.turns.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Cheats, Plays};

    const MOMENT: Moment<'static> = Moment { now_us: 0, clocks: &[] };
    const NORTH: Action = Action::AttackNorth;
    const DEFEND: Action = Action::Defend;

    /// Three players, of which p1 cheats: p0 and p1 have played in turn 1.
    struct Watched(Referee, Vec<&'static str>);

    impl Watched {
        fn new() -> Self {
            let setup = Setup::new(3).with("cheater", "p1:change");
            let mut referee = Referee::new(&setup, &|_| true);
            for (at, action) in [(0, NORTH), (1, DEFEND)] {
                let input = Input::Play { turn: 1, action, nonce: 7 };
                referee.on_input(ProcessId(at), &input, MOMENT, &mut Vec::new());
            }
            Watched(referee, Vec::new())
        }

        fn outputs(mut self, at: u32, output: Output) -> Self {
            let mut found = Vec::new();
            self.0.on_output(ProcessId(at), &output, MOMENT, &mut found);
            self.1.extend(found.into_iter().map(|violation| violation.property));
            self
        }

        fn over(self, at: u32, verdicts: &[Verdict]) -> Self {
            self.outputs(at, Output::Over(1, verdicts.to_vec()))
        }

        fn peeks(self, action: Action) -> Self {
            self.outputs(1, Output::Peeks { turn: 1, player: ProcessId(0), action })
        }
    }

    #[test]
    fn a_commitment_after_a_reveal_comes_too_late_unless_a_cheater_revealed() {
        let first = Watched::new().outputs(0, Output::Reveals(1));
        assert_eq!(first.outputs(2, Output::Commits(1)).1, [LK1]);
        let first = Watched::new().outputs(1, Output::Reveals(1));
        assert!(first.outputs(2, Output::Commits(1)).1.is_empty());
    }

    #[test]
    fn an_action_that_was_not_played_is_not_to_be_accepted() {
        let wrong = Watched::new().over(0, &[Plays(NORTH), Plays(NORTH), Verdict::Silent]);
        assert_eq!(wrong.1, [LK2]);
        let right = Watched::new().over(0, &[Plays(NORTH), Plays(DEFEND), Verdict::Silent]);
        assert!(right.1.is_empty());
    }

    #[test]
    fn only_a_cheater_is_to_be_named_as_one() {
        assert_eq!(Watched::new().over(2, &[Cheats, Verdict::Out, Verdict::Out]).1, [LK2]);
        assert!(Watched::new().over(2, &[Verdict::Out, Cheats, Verdict::Out]).1.is_empty());
    }

    #[test]
    fn who_knows_too_much_is_found_unless_it_has_committed_or_only_guesses() {
        assert_eq!(Watched::new().peeks(NORTH).1, [LK3]);
        assert!(Watched::new().peeks(DEFEND).1.is_empty());
        assert!(Watched::new().outputs(1, Output::Commits(1)).peeks(NORTH).1.is_empty());
    }

    #[test]
    fn correct_players_must_accept_the_same_and_a_cheater_may_believe_what_it_likes() {
        let vector = [Plays(NORTH), Plays(DEFEND), Verdict::Silent];
        let other = [Plays(NORTH), Cheats, Verdict::Silent];
        assert_eq!(Watched::new().over(0, &vector).over(2, &other).1, [LK4]);
        assert!(Watched::new().over(0, &vector).over(1, &other).1.is_empty());
    }

    #[test]
    fn a_turn_is_open_for_a_correct_player_that_plays_until_it_is_over() {
        let watched = Watched::new();
        assert_eq!(watched.0.waiting(LK5).iter().collect::<Vec<_>>(), [ProcessId(0)]);
        let complaint = watched.0.complaint(LK5, ProcessId(0));
        assert_eq!(complaint, "does not come to the end of turn 1");
        assert!(watched.over(0, &[Plays(NORTH), Cheats, Cheats]).0.waiting(LK5).is_empty());
    }
}
