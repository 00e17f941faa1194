//! Object stores: S3 and what is like it, Google's, Azure's, and plain web servers, as a store.
//!
//! The `object_store` crate knows the services: how each is asked, how requests are signed and where credentials come
//! from. All its requests go through a service of ours ([`Connector`]), which asks again where that helps, bounds how many
//! are on their way, and keeps count. Bodies are gathered here ([`ObjectSource`]): what breaks off is resumed, and
//! nothing is believed that can be checked.

mod ahead;
mod build;
mod cache;
mod chunks;
mod connector;
mod failure;
mod file;
mod kept;
mod listing;
mod many;
mod object;
mod pages;
mod putting;
mod renewal;
mod store;

pub use build::{Kind, Place};
pub use cache::Keep;
pub use connector::Connector;
pub use file::ObjectFile;
pub use many::Many;
pub use object::{ObjectSource, Purpose};
pub use renewal::{Keys, Renew};
pub use store::CloudStore;

use std::time::Duration;

use crate::net;

/// How a service is asked.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How long to wait for what, and how often to ask.
    pub net: net::Settings,
    /// How long an operation may take with all its attempts.
    pub budget: Duration,
    /// Whether access that is refused means that nothing is there, as for services that hide what cannot be listed.
    pub forbidden_is_missing: bool,
    /// Whether the service honours conditions on what is put.
    pub conditional: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            net: net::Settings { pause: Duration::from_millis(100), ..net::Settings::default() },
            budget: Duration::from_secs(180),
            forbidden_is_missing: false,
            conditional: true,
        }
    }
}
