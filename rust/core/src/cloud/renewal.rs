//! Credentials that run out and are got anew from outside the kernel.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use tokio::sync::Mutex;

use crate::error::Result;

/// Credentials are got anew this long before they run out.
const EARLY: Duration = Duration::from_secs(60);

/// An access key.
#[derive(Clone)]
pub struct Keys {
    /// Its name.
    pub id: String,
    /// Its secret.
    pub secret: String,
    /// What goes with keys that are lent.
    pub token: Option<String>,
    /// When it runs out, if it does.
    pub until: Option<SystemTime>,
}

/// Where new keys come from.
pub trait Renew: Send + Sync {
    /// New keys; may take its time.
    fn renew(&self) -> Result<Keys>;
}

/// Gives out keys, and gets new ones when they run out.
pub struct Renewing {
    source: Arc<dyn Renew>,
    known: Mutex<Option<(Arc<AwsCredential>, Option<SystemTime>)>>,
}

impl Renewing {
    /// Nothing is asked yet.
    pub fn new(source: Arc<dyn Renew>) -> Self {
        Self { source, known: Mutex::const_new(None) }
    }
}

impl fmt::Debug for Renewing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Renewing")
    }
}

fn failed(message: impl fmt::Display) -> object_store::Error {
    object_store::Error::Generic { store: "credentials", source: message.to_string().into() }
}

#[async_trait::async_trait]
impl CredentialProvider for Renewing {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let mut known = self.known.lock().await;
        let soon = SystemTime::now().checked_add(EARLY);
        if let Some((keys, until)) = &*known
            && until.is_none_or(|until| soon.is_some_and(|soon| soon < until))
        {
            return Ok(Arc::clone(keys));
        }
        let source = Arc::clone(&self.source);
        let keys = tokio::task::spawn_blocking(move || source.renew()).await.map_err(failed)?.map_err(failed)?;
        let made = Arc::new(AwsCredential { key_id: keys.id, secret_key: keys.secret, token: keys.token });
        *known = Some((Arc::clone(&made), keys.until));
        Ok(made)
    }
}
