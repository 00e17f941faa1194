//! What the services say when something fails, in the kernel's words.

use std::error::Error as StdError;

use object_store::Error as Said;
use object_store::client::HttpError;

use crate::error::Error;

/// What a failure means for whoever asked.
#[derive(Debug)]
pub enum Meaning {
    /// Nothing is there.
    Missing,
    /// Access is refused.
    Forbidden(String),
    /// A condition does not hold: someone else was quicker.
    Condition,
    /// Asking again will not help.
    Final(String),
    /// An answer that makes no sense: another may.
    Again(String),
    /// No answer, or one that says that the service cannot answer now; what may be repeated was repeated already.
    Spent(String),
}

/// Understand a failure.
pub fn meaning(said: &Said) -> Meaning {
    match said {
        Said::NotFound { .. } => Meaning::Missing,
        Said::PermissionDenied { source, .. } | Said::Unauthenticated { source, .. } => {
            let text = innermost(&**source);
            // Credentials that have run out are fetched anew by the next request.
            if text.contains("ExpiredToken") || text.contains("RequestTimeTooSkewed") {
                return Meaning::Again(words(&text));
            }
            Meaning::Forbidden(words(&text))
        }
        Said::Precondition { .. } | Said::AlreadyExists { .. } | Said::NotModified { .. } => Meaning::Condition,
        Said::Generic { source, .. } => generic(&**source),
        other => Meaning::Final(words(&other.to_string())),
    }
}

fn generic(source: &(dyn StdError + 'static)) -> Meaning {
    let text = innermost(source);
    let mut cause = Some(source);
    while let Some(error) = cause {
        if error.is::<HttpError>() {
            return Meaning::Spent(words(&text));
        }
        cause = error.source();
    }
    if text.contains("ExpiredToken") {
        return Meaning::Again(words(&text));
    }
    match status(&text) {
        Some(408 | 425 | 429 | 500..) => Meaning::Spent(words(&text)),
        Some(_) => Meaning::Final(words(&text)),
        None if text.contains("redirect") => Meaning::Final(words(&text)),
        None => Meaning::Again(words(&text)),
    }
}

/// The status that a message tells of.
fn status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}

fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(next) = cause {
        let text = next.to_string();
        if !texts.iter().any(|said| said.contains(&text)) {
            texts.push(text);
        }
        cause = next.source();
    }
    texts.join(": ")
}

/// A message on one line and of bearable length; documents in XML give their code and message alone.
pub fn words(text: &str) -> String {
    let between = |name: &str| {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let start = text.find(&open)?.checked_add(open.len())?;
        let end = text.get(start..)?.find(&close)?.checked_add(start)?;
        text.get(start..end).map(str::to_owned)
    };
    let said = match (between("Code"), between("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code,
        _ => {
            // What was asked of whom, and how long it took, is known to who reads this.
            let text = text.rsplit_once(" - ").map_or(text, |(_, cause)| cause);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        }
    };
    if said.chars().count() > MOST { said.chars().take(MOST).chain(['…']).collect() } else { said }
}

const MOST: usize = 300;

/// The error for an operation on a key.
pub fn failed(key: &str, op: &'static str, message: impl Into<String>) -> Error {
    Error::Store { key: key.into(), op, message: message.into(), errno: None }
}

/// The error for access that is refused.
pub fn forbidden(key: &str, op: &'static str, message: &str) -> Error {
    let message = format!("the service refuses access: {message}");
    Error::Store { key: key.into(), op, message, errno: Some(libc::EACCES) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_cut_to_what_they_say() {
        let text =
            "Client error with status 403: <?xml?><Error><Code>AccessDenied</Code>\n<Message>No.</Message></Error>";
        assert_eq!(words(text), "AccessDenied: No.");
        assert_eq!(words("a\n  b"), "a b");
        assert!(words(&"x".repeat(1000)).chars().count() <= MOST + 1);
    }
}
