//! Numbers and names as people read them.

use synod_core::card::{
    Crashes, Load, Order, OtherCosts, Rounds, Scope, Settings, Timing, Tolerance,
};
use synod_core::{Bounds, Card, Setup};

/// `1 234 567`: a whole number with a gap between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A measured number: at most two decimal places, without trailing zeros.
pub(crate) fn measured(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The value of a formula: `8`, `3..6` or `at least 2`.
pub(crate) fn bounds(bounds: Bounds) -> String {
    match (bounds.exact(), bounds.max) {
        (Some(value), _) => measured(value),
        (None, Some(max)) => format!("{}..{}", measured(bounds.min), measured(max)),
        (None, None) => format!("at least {}", measured(bounds.min)),
    }
}

/// `1 process`, `5 processes`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// The plural of a family's word for an operation: `entries`.
pub(crate) fn plural(word: &str) -> String {
    match word.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{word}s"),
    }
}

/// The load, as flags and tables name it.
pub(crate) fn load(load: Load) -> &'static str {
    match load {
        Load::Any => "random",
        Load::Sequential => "sequential",
        Load::Saturated => "saturated",
    }
}

/// The order, as flags name it.
pub(crate) fn order(order: Order) -> &'static str {
    match order {
        Order::Any => "any",
        Order::Fifo => "fifo",
        Order::Causal => "causal",
    }
}

/// The rounds, as flags name them.
pub(crate) fn rounds(rounds: Rounds) -> String {
    match rounds {
        Rounds::Times(times) => times.to_string(),
        Rounds::Forever => "forever".to_owned(),
    }
}

/// The fault budgets of a scope, with the flags that set them.
pub(crate) fn budgets(scope: &Scope) -> [(&'static str, u32); 7] {
    [
        ("tells", scope.tells),
        ("crashes", scope.crashes),
        ("restarts", scope.restarts),
        ("drops", scope.drops),
        ("duplicates", scope.duplicates),
        ("ticks", scope.ticks),
        ("late", scope.late),
    ]
}

/// The scope in words: `3 processes, 1 round each, tells 1`.
pub(crate) fn scope(scope: &Scope) -> String {
    let mut text = count(scope.n as u64, "process", "processes");
    text += &match scope.rounds {
        Rounds::Times(1) => ", 1 round each".to_owned(),
        Rounds::Times(times) => format!(", {times} rounds each"),
        Rounds::Forever => ", asking for ever".to_owned(),
    };
    text += match scope.order {
        Order::Any => ", messages in any order",
        Order::Fifo => ", links in order",
        Order::Causal => ", messages in causal order",
    };
    if let Timing::Synchronous { delay_ms } = scope.timing {
        text += &format!(", which arrive within {delay_ms}ms");
    }
    for (name, allowed) in budgets(scope).into_iter().filter(|(_, allowed)| *allowed > 0) {
        text += &format!(", {name} {allowed}");
    }
    if !scope.set.is_empty() {
        text += &format!(", {}", settings(scope.set));
    }
    text
}

/// The tolerated faults, in words.
pub(crate) fn tolerance(tolerance: &Tolerance) -> String {
    let mut parts = vec![match tolerance.order {
        Order::Any => "messages that overtake each other",
        Order::Fifo => "nothing that would change the order on a link",
        Order::Causal => "nothing that would change the causal order of messages",
    }];
    parts.extend(match tolerance.crashes {
        Crashes::None => None,
        Crashes::One => Some("the crash of one process"),
        Crashes::Third => Some("crashes of fewer than a third of the processes"),
        Crashes::Minority => Some("crashes of fewer than half of the processes"),
        Crashes::AllButOne => Some("crashes of all processes but one"),
    });
    parts.extend(
        tolerance.recovery.then_some("crashes of any process that starts again with its disk"),
    );
    parts.extend(tolerance.loss.then_some("loss of messages"));
    parts.extend(tolerance.duplication.then_some("messages that arrive twice"));
    let bound = tolerance.delay_ms.map(|ms| format!("; every message within {ms}ms"));
    parts.join(", ") + &bound.unwrap_or_default()
}

/// Parameters and their values: `over = basic`.
pub(crate) fn settings(settings: Settings) -> String {
    let each: Vec<String> =
        settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    each.join(", ")
}

/// In which setting costs are others.
pub(crate) fn other_costs(other: &OtherCosts) -> String {
    let network = if other.multicast { "over a network that multicasts" } else { "" };
    let set = settings(other.set);
    let comma = if network.is_empty() || set.is_empty() { "" } else { ", " };
    format!("Costs {network}{comma}{}{set}", if set.is_empty() { "" } else { "with " })
}

/// The command that explores this scope, and judges these properties there.
pub(crate) fn check_command(card: &Card, scope: &Scope, properties: &[&str]) -> String {
    let setup = Setup::new(scope.n).with_all(scope.set);
    let bounded = card.tolerates_with(&setup).delay_ms.is_some();
    let (name, flags) = (card.name, scope_flags(scope, bounded));
    match properties {
        [] => format!("synod check {name} {flags}"),
        _ => format!("synod check {name} {flags} --property {}", properties.join(",")),
    }
}

/// The flags of `synod check` that give this scope, without relying on defaults; `bounded` if the
/// algorithm is usually explored with a bound on messages.
fn scope_flags(scope: &Scope, bounded: bool) -> String {
    let mut flags = format!("-n {} --rounds {}", scope.n, rounds(scope.rounds));
    if scope.order != Order::Any {
        flags += &format!(" --order {}", order(scope.order));
    }
    for (name, allowed) in budgets(scope) {
        if allowed > 0 || name == "tells" {
            flags += &format!(" --{name} {allowed}");
        }
    }
    match scope.timing {
        Timing::Asynchronous if bounded => flags += " --bound never",
        Timing::Asynchronous => {}
        Timing::Synchronous { delay_ms } => flags += &format!(" --bound {delay_ms}ms"),
    }
    for (name, value) in scope.set {
        flags += &format!(" --param {}", shell_quoted(&format!("{name}={value}")));
    }
    flags
}

/// The word, quoted for a shell if it needs quotes.
pub(crate) fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,%@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The words of a line, as a shell takes it apart: single quotes keep blanks.
pub(crate) fn of_shell(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            _ => words.last_mut().expect("there is one from the start").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The known names that are most similar to this one, the nearest first; none if none is similar.
pub(crate) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    const ALIKE: f64 = 0.75;
    const SHOWN: usize = 3;
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(SHOWN).map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }

    #[test]
    fn measured_numbers_have_no_idle_zeros() {
        assert_eq!([8.0, 2.5, 0.333].map(measured), ["8", "2.5", "0.33"]);
    }

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        assert_eq!(shell_quoted("exp:5ms"), "exp:5ms");
        assert_eq!(shell_quoted("p0->p1=20ms"), "'p0->p1=20ms'");
        assert_eq!(shell_quoted("it's"), r"'it'\''s'");
        assert_eq!(shell_quoted(""), "''");
    }

    #[test]
    fn a_line_is_taken_apart_as_by_a_shell() {
        assert_eq!(of_shell("-n 3  --param 'a=p0 p1'"), ["-n", "3", "--param", "a=p0 p1"]);
        assert!(of_shell("").is_empty());
    }

    #[test]
    fn the_nearest_name_comes_first_and_nonsense_has_none() {
        let known = ["ricart-agrawala", "ricart-agrawala-tickets", "maekawa"];
        assert_eq!(nearest("ricart-agrawla", known)[0], "ricart-agrawala");
        assert!(nearest("xyzzy", known).is_empty());
    }

    #[test]
    fn a_scope_is_told_in_flags_that_leave_nothing_to_defaults() {
        let scope = Scope { crashes: 1, order: Order::Fifo, ..Scope::of(2) };
        assert_eq!(
            scope_flags(&scope, false),
            "-n 2 --rounds 1 --order fifo --tells 0 --crashes 1"
        );
    }
}
