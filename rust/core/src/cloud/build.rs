//! From settings to a service.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};

use super::cache::Keep;
use super::renewal::{Renew, Renewing};
use super::{Connector, Settings};
use crate::error::{Error, Result};
use crate::net::{Headers, Names};

/// A kind of service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Amazon's, and all that speak its language.
    S3,
    /// Google's.
    Gcs,
    /// Azure's.
    Azure,
    /// A web server: only read.
    Web,
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "s3" => Ok(Self::S3),
            "gcs" => Ok(Self::Gcs),
            "azure" => Ok(Self::Azure),
            "http" => Ok(Self::Web),
            _ => Err(Error::Invalid(format!("there is no kind of service {name:?}"))),
        }
    }
}

/// Which service, and how to get in.
#[derive(Clone)]
pub struct Place {
    /// The kind.
    pub kind: Kind,
    /// Settings by the names that `object_store` gives them.
    pub config: BTreeMap<String, String>,
    /// Where it is, for messages; nothing secret.
    pub uri: String,
    /// Whether the caller has named it, and not a set that others wrote.
    pub trusted: bool,
    /// Where access keys come from that run out.
    pub renew: Option<Arc<dyn Renew>>,
    /// Where to keep what was read.
    pub keep: Option<Keep>,
    /// What goes with the requests to a web server.
    pub headers: Headers,
}

impl Place {
    /// What requests have in common that one server answers: for counting them.
    pub fn server(&self) -> String {
        let names = ["aws_endpoint", "azure_storage_endpoint", "google_base_url", "azure_storage_account_name", "url"];
        let found = names.iter().find_map(|&name| self.config.get(name));
        format!("{:?} {}", self.kind, found.map_or("", String::as_str))
    }
}

fn refused(uri: &str, message: impl std::fmt::Display) -> Error {
    Error::Invalid(format!("{uri}: {message}"))
}

fn key<K: FromStr<Err = object_store::Error>>(uri: &str, name: &str) -> Result<K> {
    name.parse().map_err(|_| refused(uri, format_args!("there is no setting {name:?}")))
}

/// Connections as long as the service likes: what takes too long is noticed elsewhere.
///
/// With them comes a text that is the same for all places whose options are.
fn options(place: &Place) -> (ClientOptions, String) {
    let mut options = ClientOptions::new().with_timeout_disabled().with_dns_resolver(Arc::new(Names));
    let mut text = String::new();
    for (name, value) in &place.config {
        if let Ok(known) = name.parse::<ClientConfigKey>() {
            options = options.with_config(known, value);
            text.extend([name, "\n", value, "\n"]);
        }
    }
    let endpoint = ["aws_endpoint", "azure_storage_endpoint", "google_base_url"];
    if endpoint.iter().any(|&name| place.config.get(name).is_some_and(|url| url.starts_with("http:"))) {
        // To read the system's certificates takes longer than many a request, and here nothing is certified.
        options = options.with_no_system_certificates(true);
        text.push_str("http");
    }
    (options, text)
}

fn is_option(name: &str) -> bool {
    name.parse::<ClientConfigKey>().is_ok()
}

/// The service of a place.
pub fn build(place: &Place, settings: Settings) -> Result<Arc<dyn ObjectStore>> {
    let ((options, client), uri) = (options(place), place.uri.as_str());
    let connector = Connector::new(client, settings, place.server(), place.trusted);
    // Requests are repeated below, where more is known about them.
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let config = place.config.iter().filter(|(name, _)| !is_option(name));
    let failed = |error: object_store::Error| refused(uri, super::failure::words(&error.to_string()));
    match place.kind {
        Kind::S3 => {
            let mut builder = AmazonS3Builder::new();
            for (name, value) in config {
                builder = builder.with_config(key::<AmazonS3ConfigKey>(uri, name)?, value);
            }
            if let Some(renew) = &place.renew {
                builder = builder.with_credentials(Arc::new(Renewing::new(Arc::clone(renew))));
            }
            let builder = builder.with_client_options(options).with_retry(retry).with_http_connector(connector);
            Ok(Arc::new(builder.build().map_err(failed)?))
        }
        Kind::Gcs => {
            let mut builder = GoogleCloudStorageBuilder::new();
            for (name, value) in config {
                builder = builder.with_config(key::<GoogleConfigKey>(uri, name)?, value);
            }
            let builder = builder.with_client_options(options).with_retry(retry).with_http_connector(connector);
            Ok(Arc::new(builder.build().map_err(failed)?))
        }
        Kind::Azure => {
            let mut builder = MicrosoftAzureBuilder::new();
            for (name, value) in config {
                builder = builder.with_config(key::<AzureConfigKey>(uri, name)?, value);
            }
            let builder = builder.with_client_options(options).with_retry(retry).with_http_connector(connector);
            Ok(Arc::new(builder.build().map_err(failed)?))
        }
        Kind::Web => Err(refused(uri, "a web server is no object store")),
    }
}
