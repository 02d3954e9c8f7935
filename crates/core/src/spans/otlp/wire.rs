//! Protocol buffers, as far as these messages need them. Fields are written even if they hold what they hold by default.

/// A message that is being written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Message(Vec<u8>);

const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const LENGTH: u8 = 2;

impl Message {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn varint(&mut self, field: u32, value: u64) {
        self.key(field, VARINT);
        self.number(value);
    }

    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub(super) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, LENGTH);
        self.number(u64::try_from(value.len()).unwrap_or(u64::MAX));
        self.0.extend_from_slice(value);
    }

    pub(super) fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    pub(super) fn message(&mut self, field: u32, value: &Self) {
        self.bytes(field, &value.0);
    }

    /// Many numbers of eight bytes in one field.
    pub(super) fn packed(&mut self, field: u32, values: impl Iterator<Item = [u8; 8]>) {
        let all: Vec<u8> = values.flatten().collect();
        self.bytes(field, &all);
    }

    fn key(&mut self, field: u32, kind: u8) {
        self.number(u64::from(field) << 3 | u64::from(kind));
    }

    /// Seven bits at a time, the lowest first.
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }
}
