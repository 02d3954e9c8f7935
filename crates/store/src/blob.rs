//! Large contents, named by their digest.

use std::sync::Arc;

use longhaul_core::canonical::sha256;
use longhaul_events::BlobRef;

/// Blobs up to this size lie in the database, in the same transaction; larger ones are files.
pub const INLINE_LIMIT: usize = 64 * 1024;

/// Bytes to be stored with an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBlob {
    pub(crate) reference: BlobRef,
    pub(crate) bytes: Arc<[u8]>,
}

impl NewBlob {
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { reference: BlobRef { sha256: sha256(&bytes), bytes: bytes.len() as u64 }, bytes }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn reference(&self) -> BlobRef {
        self.reference
    }
}
