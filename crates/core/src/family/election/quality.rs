//! The quality by which processes are compared: their names, their loads, or the versions of their
//! copies.
//!
//! An identifier is any value that is totally ordered and belongs to one process. A quality alone
//! is no identifier, because two processes may be equally good; with the name behind it, it is one.
//! A process fixes its quality when it is set up. (An algorithm that reads the load afresh while an
//! election is under way does not recognise its own identifier.)

use crate::card::Parameter;
use crate::setup::{Setup, SetupError};
use std::collections::BTreeSet;

/// The parameter that names the identifiers themselves.
pub const IDS: Parameter = Parameter {
    name: "ids",
    meaning: "the identifier of each process, e.g. 17 24 1 (default: its number)",
};

/// The parameter that makes the least loaded process the greatest.
pub const LOADS: Parameter = Parameter {
    name: "loads",
    meaning: "in place of ids, the load of each process in percent, e.g. 80 15 40; the least \
              loaded is elected, and its identifier is its free percentage and its number: 85001",
};

/// The parameter that makes the process with the newest copy the greatest.
pub const VERSIONS: Parameter = Parameter {
    name: "versions",
    meaning: "in place of ids, the version of each process's copy, e.g. 7 9 9; the newest copy is \
              elected, and its identifier is its version and its number: 9002",
};

/// The parameter that decides between processes of equal quality.
pub const TIES: Parameter = Parameter {
    name: "ties",
    meaning: "number or none: whether the number of a process decides between equal loads or \
              versions; without, they have equal identifiers (default: number)",
};

/// One unit of quality in an identifier: a percentage, or a version. The number of the process is
/// less than that.
pub const QUALITY: u64 = 1_000;

/// The identifier of each process; two may be equal.
pub fn ids(setup: &Setup) -> Result<Vec<u64>, SetupError> {
    let qualities = qualities(setup)?;
    let tied = setup.choice(TIES.name, &["number", "none"])? == "none";
    let ids = setup.number_each(IDS.name)?;
    match (ids, qualities) {
        (Some(_), Some(_)) => {
            Err(setup.bad(IDS.name, "loads or versions decide already; give one of the three"))
        }
        (ids, None) => Ok(ids.unwrap_or_else(|| (0..setup.n as u64).collect())),
        (None, Some(qualities)) => {
            let number = |number: u64| if tied { 0 } else { number };
            Ok(qualities.into_iter().zip(0..).map(|(q, p)| q * QUALITY + number(p)).collect())
        }
    }
}

/// How good each process is, if another quality than its name decides.
fn qualities(setup: &Setup) -> Result<Option<Vec<u64>>, SetupError> {
    let (loads, versions) = (setup.number_each("loads")?, setup.number_each("versions")?);
    let Some(name) = loads.as_ref().map(|_| "loads").or(versions.as_ref().map(|_| "versions"))
    else {
        return Ok(None);
    };
    if setup.n as u64 > QUALITY {
        return Err(setup.bad(name, format!("at most {QUALITY} processes are told apart")));
    }
    match (loads, versions) {
        (Some(_), Some(_)) => Err(setup.bad(name, "versions decide already; give one of the two")),
        (Some(loads), None) if loads.iter().any(|load| *load > 100) => {
            Err(setup.bad(name, "a load is 0 to 100 percent"))
        }
        (Some(loads), None) => Ok(Some(loads.into_iter().map(|load| 100 - load).collect())),
        (None, Some(versions)) if versions.iter().any(|version| *version > 1 << 40) => {
            Err(setup.bad(name, "a version is at most 2^40"))
        }
        (None, versions) => Ok(versions),
    }
}

/// The same, but no two may be equal.
pub fn unique_ids(setup: &Setup) -> Result<Vec<u64>, SetupError> {
    let ids = ids(setup)?;
    let different: BTreeSet<_> = ids.iter().collect();
    if different.len() < ids.len() {
        return Err(setup.bad(IDS.name, "two processes have the same identifier"));
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &[(&str, &str)]) -> Result<Vec<u64>, SetupError> {
        ids(&settings.iter().fold(Setup::new(3), |setup, (name, value)| setup.with(name, value)))
    }

    #[test]
    fn the_least_loaded_is_the_greatest_and_the_number_decides_between_equal_loads() {
        assert_eq!(of(&[("loads", "80 15 40")]), Ok(vec![20_000, 85_001, 60_002]));
        assert_eq!(of(&[("loads", "15 15 40")]), Ok(vec![85_000, 85_001, 60_002]));
        assert_eq!(of(&[("loads", "100 100 100")]), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn the_newest_copy_is_the_greatest() {
        assert_eq!(of(&[("versions", "7 9 9")]), Ok(vec![7_000, 9_001, 9_002]));
        assert_eq!(of(&[("versions", "7 9 9"), ("ties", "none")]), Ok(vec![7_000, 9_000, 9_000]));
    }

    #[test]
    fn without_the_number_two_processes_may_have_the_same_identifier() {
        let equal = Setup::new(2).with("versions", "5 5");
        assert!(unique_ids(&equal).is_ok());
        assert!(unique_ids(&equal.with("ties", "none")).is_err());
    }

    #[test]
    fn qualities_that_make_no_sense_are_refused() {
        for settings in [
            &[("loads", "101 0 0")][..],
            &[("loads", "1 2")],
            &[("versions", "4611686018427387903 0 0")],
            &[("versions", "1 2 3"), ("loads", "1 2 3")],
            &[("versions", "1 2 3"), ("ids", "1 2 3")],
            &[("ties", "maybe")],
        ] {
            assert!(matches!(of(settings), Err(SetupError::BadParameter { .. })), "{settings:?}");
        }
    }
}
