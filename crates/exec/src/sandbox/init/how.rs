//! How the program ended, on its way from the inner to the outer process.

use rustix::process::WaitStatus;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Exited(u8),
    Signalled(i32),
}

impl How {
    pub(super) const LENGTH: usize = 5;

    pub(super) fn of(status: WaitStatus) -> Self {
        match status.terminating_signal() {
            Some(signal) => Self::Signalled(signal),
            // The system keeps no more than eight bits.
            None => {
                Self::Exited(status.exit_status().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
            }
        }
    }

    pub(super) fn to_bytes(self) -> [u8; Self::LENGTH] {
        let (tag, number) = match self {
            Self::Exited(code) => (0, i32::from(code)),
            Self::Signalled(signal) => (1, signal),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [tag, a, b, c, d]
    }

    pub(super) fn from_bytes([tag, a, b, c, d]: [u8; Self::LENGTH]) -> Self {
        match tag {
            0 => Self::Exited(a),
            _ => Self::Signalled(i32::from_le_bytes([a, b, c, d])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_as_it_was_written() {
        for how in [How::Exited(0), How::Exited(255), How::Signalled(9)] {
            assert_eq!(How::from_bytes(how.to_bytes()), how);
        }
    }
}
