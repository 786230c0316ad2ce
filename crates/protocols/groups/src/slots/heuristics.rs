//! How many slots a member asks for, and how many it donates: figures 5 and 6 of the source.

/// The number of slots to ask for (figure 5): up to an even share of the group's slots, if the
/// member owns less than that; otherwise just enough to have `low` free ones.
pub fn slots_to_request(total: u32, members: u32, owned: u32, free: u32, low: u32) -> u32 {
    let share = total.div_ceil(members.max(1));
    if share > owned { share - owned } else { low.saturating_sub(free) }
}

/// The number of slots to donate for a request of `asked` (figure 6): an even share of the request,
/// or the whole surplus if that is less. The text of the source says it the other way round; its
/// figure is right.
pub fn slots_to_donate(asked: u32, members: u32, free: u32, low: u32) -> u32 {
    let donors = members.saturating_sub(1).max(1);
    free.saturating_sub(low).min(asked.div_ceil(donors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_those_of_figure_5() {
        for (owned, free, asked) in [(10, 3, 14), (24, 1, 3), (30, 0, 4), (23, 3, 1)] {
            assert_eq!(slots_to_request(768, 32, owned, free, 4), asked, "{owned} {free}");
        }
    }

    #[test]
    fn donations_are_those_of_figure_6() {
        for (asked, members, free, given) in [
            (14, 32, 10, 1),
            (14, 32, 4, 0),
            (14, 32, 5, 1),
            (24, 2, 100, 24),
            (8, 3, 7, 3),
            (8, 3, 8, 4),
            (8, 3, 9, 4),
            (7, 4, 20, 3),
            (1, 32, 20, 1),
        ] {
            assert_eq!(slots_to_donate(asked, members, free, 4), given, "{asked} {members} {free}");
        }
    }

    #[test]
    fn whoever_donates_keeps_the_low_mark_and_all_donors_together_give_little_too_much() {
        for (asked, members) in [(1, 2), (5, 3), (14, 32), (40, 7), (3, 1)] {
            let donors = (members - 1).max(1);
            for free in 0..60 {
                let given = slots_to_donate(asked, members, free, 4);
                assert!(given == 0 || free - given >= 4, "{free} {given}");
                assert!(given * donors < asked + donors, "{asked} {members} {given}");
            }
        }
    }
}
