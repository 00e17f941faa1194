//! What is kept of an object on disk, weighed against what is known of the object.

use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::build::Place;
use super::cache::{Entry, Keep, Name};
use super::object::{Inner, Purpose, Want};
use crate::error::Result;
use crate::refs::Stamp;

/// Where objects of a bucket are kept.
pub struct Kept {
    keep: Keep,
    /// The bucket, wherever in the world it is.
    bucket: String,
}

impl Kept {
    /// For the objects of a place, if they are to be kept.
    pub fn of(place: &Place) -> Option<Self> {
        let names = [
            "aws_endpoint",
            "azure_storage_endpoint",
            "google_base_url",
            "azure_storage_account_name",
            "aws_bucket_name",
            "google_bucket_name",
            "azure_container_name",
        ];
        let said = names.map(|name| place.config.get(name).map_or("", String::as_str));
        let bucket = format!("{:?}\n{}", place.kind, said.join("\n"));
        place.keep.clone().map(|keep| Self { keep, bucket })
    }
}

impl Want {
    /// In words that no other part of an object has.
    fn words(self) -> String {
        match self {
            Self::Range(offset, length) => format!("{length} from {offset}"),
            Self::Whole(_) => "all".into(),
            Self::Last(length) => format!("last {length}"),
            Self::First(length) => format!("first {length}"),
        }
    }

    fn most(self) -> u64 {
        match self {
            Self::Range(_, length) => length,
            Self::Whole(most) | Self::Last(most) | Self::First(most) => most,
        }
    }

    /// Where in an object of this size the part begins, and how many bytes it has; `None` if there is no such part.
    fn within(self, size: u64) -> Option<(u64, u64)> {
        match self {
            Self::Range(offset, length) => {
                offset.checked_add(length).filter(|end| *end <= size).map(|_| (offset, length))
            }
            Self::Whole(most) => (size <= most).then_some((0, size)),
            Self::Last(length) => Some((size.saturating_sub(length), size.min(length))),
            Self::First(length) => Some((0, size.min(length))),
        }
    }
}

impl Inner {
    fn place(&self, want: Want) -> Option<(&Keep, Name)> {
        let Kept { keep, bucket } = self.service.kept.as_ref()?;
        let name = Name::of(&[bucket.as_bytes(), self.path.as_ref().as_bytes(), want.words().as_bytes()]);
        Some((keep, name))
    }

    /// What is kept of a part, if the object may still be in that state.
    pub(super) async fn kept(&self, want: Want) -> Option<Entry> {
        let (keep, name) = self.place(want).filter(|_| self.purpose != Purpose::Change)?;
        let entry = keep.get(name, want.most()).await?;
        let fits = want.within(entry.size) == Some((entry.start, entry.data.len() as u64));
        let possible = matches!(want, Want::Whole(_)) || self.contradiction(&entry).is_none();
        (fits && possible).then_some(entry)
    }

    fn contradiction(&self, entry: &Entry) -> Option<String> {
        let then = Stamp { size: Some(entry.size), modified: None, etag: Some(entry.etag.clone()) };
        Stamp { modified: None, ..self.state().clone() }.contradiction(&then)
    }

    /// Whether the service has said, since this call began, that the object is in this very state.
    pub(super) fn is_sure(&self, entry: &Entry) -> bool {
        self.purpose == Purpose::Call
            && self.confirmed.load(Ordering::Relaxed)
            && self.state().etag.as_ref() == Some(&entry.etag)
    }

    /// Take what is kept for what the service has: it has said so.
    pub(super) fn adopt(&self, want: Want, entry: Entry) -> Result<Bytes> {
        if !matches!(want, Want::Whole(_))
            && let Some(message) = self.contradiction(&entry)
        {
            return Err(self.changed(&message));
        }
        *self.state() = Stamp { size: Some(entry.size), modified: None, etag: Some(entry.etag) };
        self.confirmed.store(true, Ordering::Relaxed);
        Ok(entry.data)
    }

    /// Keep a part that has come, from an answer that had this ETag.
    pub(super) async fn keep(&self, want: Want, etag: Option<String>, data: &Bytes) {
        let Some((keep, name)) = self.place(want) else { return };
        let (Some(etag), Some(size)) = (etag, self.state().size) else { return };
        if let Some((start, length)) = want.within(size)
            && length == data.len() as u64
        {
            keep.put(name, Entry { etag, size, start, data: data.clone() }).await;
        }
    }
}
