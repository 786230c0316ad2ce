//! Who may do what on TCP: each client has a token, and each token a role.

use std::path::Path;
use synod_client::api::Request;

/// What a client may do. Each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Look.
    Read,
    /// Claim, release, send messages.
    Use,
    /// Change what exists, and who belongs to the cluster.
    Admin,
}

/// The tokens of clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens(Vec<(Role, String)>);

/// The shortest token: shorter ones can be guessed.
const SHORTEST: usize = 16;

impl Tokens {
    /// Reads a file with a role and a token in each line.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let at = |number: usize, why: &str| format!("{}, line {number}: {why}", path.display());
        let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let tokens = lines.map(|(number, line)| {
            let (role, token) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let role = match role {
                "read" => Role::Read,
                "use" => Role::Use,
                "admin" => Role::Admin,
                _ => return Err(at(number, "a line is a role (read, use or admin) and a token")),
            };
            let token = token.trim();
            if token.len() < SHORTEST {
                return Err(at(
                    number,
                    "a token has at least 16 characters, so that it is not guessed",
                ));
            }
            Ok((role, token.to_owned()))
        });
        tokens.collect::<Result<_, _>>().map(Tokens)
    }

    /// The role of a client by its header `Authorization`.
    pub(super) fn role_of(&self, header: Option<&str>) -> Option<Role> {
        let shown = header?.strip_prefix("Bearer ")?.trim().as_bytes();
        let known = self.0.iter().filter(|(_, token)| is_same(token.as_bytes(), shown));
        known.map(|(role, _)| *role).max()
    }
}

/// Compares in a time that tells nothing about the place of the first difference.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |found, (one, other)| found | one ^ other);
    one.len() == other.len() && differences == 0
}

/// The role that a request needs.
pub(super) fn needed(request: &Request) -> Role {
    match request {
        Request::Status
        | Request::ShowPool(_)
        | Request::Uses(_)
        | Request::Sessions
        | Request::Watch(_) => Role::Read,
        Request::OpenSession { .. }
        | Request::KeepAlive(_)
        | Request::CloseSession(_)
        | Request::Claim { .. }
        | Request::Release { .. }
        | Request::Cast { .. } => Role::Use,
        Request::CreatePool(..)
        | Request::DeletePool(_)
        | Request::CreateGroup(_)
        | Request::DeleteGroup(_)
        | Request::Forget(_)
        | Request::Leave
        | Request::Faults(_) => Role::Admin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Tokens, String> {
        let path = std::env::temp_dir().join(format!("synod-tokens-{}", std::process::id()));
        std::fs::write(&path, text).expect("it can be written");
        Tokens::read(&path)
    }

    #[test]
    fn a_token_has_its_role_and_another_one_none() {
        let tokens = read("# for the dashboard\nread 0123456789abcdef\nadmin fedcba9876543210\n");
        let tokens = tokens.expect("it is well-formed");
        let role = |header| tokens.role_of(Some(header));
        assert_eq!(role("Bearer 0123456789abcdef"), Some(Role::Read));
        assert_eq!(role("Bearer fedcba9876543210"), Some(Role::Admin));
        assert_eq!(role("Bearer 0123456789abcdeF"), None);
        assert_eq!(role("Bearer 0123456789abcde"), None);
        assert_eq!(role("0123456789abcdef"), None);
        assert_eq!(tokens.role_of(None), None);
        assert!(read("admin short").is_err_and(|why| why.contains("line 1: a token has at least")));
        assert!(read("\nroot 0123456789abcdef").is_err_and(|why| why.contains("line 2")));
    }
}
