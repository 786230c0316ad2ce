//! The common part of enough histories.

use synod_core::family::generalized::History;

/// ⊔ over all sets of `enough` histories of ⊓ of the set: every command that `enough` of them have
/// with the same past. `None` if these contradict each other, which can happen when the sets need
/// not intersect.
pub(super) fn common(histories: &[&History], enough: usize) -> Option<History> {
    let mut all = History::default();
    for history in histories {
        for command in history.commands() {
            let past = history.up_to(command);
            let same = |other: &&&History| other.contains(command) && other.up_to(command) == past;
            if !all.contains(command) && histories.iter().filter(same).count() >= enough {
                all = all.join(&past)?;
            }
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_core::ProcessId;
    use synod_core::family::generalized::Command;

    /// Every history of the commands of three processes: two interfere, one does not.
    fn all() -> Vec<History> {
        let of = |of, word| Command::from_word(ProcessId(of), word).expect("a command");
        let (a, b, c) = (of(0, "w0"), of(1, "w0"), of(2, "w1"));
        let sequences: [&[Command]; 9] =
            [&[], &[a], &[b], &[c], &[a, b], &[b, a], &[a, c], &[b, c], &[a, b, c]];
        sequences.iter().map(|commands| History::from(commands.to_vec())).collect()
    }

    /// By definition, going through the sets of two among three.
    fn by_definition(three: [&History; 3]) -> Option<History> {
        [(0, 1), (0, 2), (1, 2)]
            .iter()
            .try_fold(History::default(), |joined, (a, b)| joined.join(&three[*a].meet(three[*b])))
    }

    #[test]
    fn what_two_of_three_have_in_common_is_the_join_of_the_meets() {
        let all = all();
        for a in &all {
            for (b, c) in all.iter().flat_map(|b| all.iter().map(move |c| (b, c))) {
                assert_eq!(common(&[a, b, c], 2), by_definition([a, b, c]), "{a:?} {b:?} {c:?}");
            }
        }
    }
}
