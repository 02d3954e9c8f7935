//! Contracts: JSON Schemas that artifacts must fit, each with an example that fits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    /// What the artifact's `kind` says, where the contract has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub schema: Value,
    /// Always fits the schema.
    pub example: Value,
}
