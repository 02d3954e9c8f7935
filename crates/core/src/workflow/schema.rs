//! JSON Schemas of both formats, for editors.

pub use super::native::schema as native;
pub use super::workrail::schema::schema as workrail;
