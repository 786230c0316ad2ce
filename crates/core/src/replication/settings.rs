//! Settings that make no sense, and what to do about them.

/// A group cannot work with these settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the setting {name} makes no sense: {why}")]
pub struct BadSettings {
    /// The setting.
    pub name: &'static str,
    /// The values that are possible.
    pub why: &'static str,
}

impl BadSettings {
    /// The first rule that is broken: each has the name of a setting, whether it is kept, and what
    /// it asks for.
    pub fn first(rules: &[(&'static str, bool, &'static str)]) -> Result<(), BadSettings> {
        match rules.iter().find(|(_, is_kept, _)| !is_kept) {
            Some((name, _, why)) => Err(BadSettings { name, why }),
            None => Ok(()),
        }
    }
}
