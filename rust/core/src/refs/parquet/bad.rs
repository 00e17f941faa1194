//! What can be wrong with a record file; the file's name is added where it is known.

use crate::error::{ArchiveFault, CodecError, Error};

/// A fault of a file whose name is added later.
#[derive(Debug)]
pub struct Bad {
    fault: ArchiveFault,
    message: String,
}

/// The result of reading something inside a record file.
pub type Read<T> = std::result::Result<T, Bad>;

impl Bad {
    /// Cut short, or contradictory.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self { fault: ArchiveFault::Corrupt, message: message.into() }
    }

    /// Legal, but not to be had.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self { fault: ArchiveFault::Unsupported, message: message.into() }
    }

    /// More than the limits allow.
    pub fn large(message: impl Into<String>) -> Self {
        Self { fault: ArchiveFault::TooLarge, message: message.into() }
    }

    /// The error of the file with this name.
    pub fn of(self, key: &str) -> Error {
        let hint = match self.fault {
            ArchiveFault::TooLarge => "Pass larger omnizarr.limits.Limits if the data is to be trusted.",
            _ => "",
        };
        Error::Archive { key: key.into(), fault: self.fault, message: self.message, hint }
    }
}

impl From<CodecError> for Bad {
    fn from(error: CodecError) -> Self {
        Self::corrupt(format!("a page does not decode: {error}"))
    }
}
