//! A loop that does nothing but be there.

use std::sync::{Condvar, Mutex, PoisonError};

use super::serve::{Condition, Health, Serve};

/// Serves nobody, and is healthy until it is asked to end.
#[derive(Debug, Default)]
pub struct Idle {
    is_over: Mutex<bool>,
    ended: Condvar,
}

impl Serve for Idle {
    fn health(&self) -> Health {
        Health { condition: Condition::Healthy, ..Health::default() }
    }

    fn drain(&self) {
        self.stop();
    }

    fn stop(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.notify_all();
    }

    fn wait(&self) {
        let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.ended.wait_while(is_over, |is_over| !*is_over).unwrap_or_else(PoisonError::into_inner));
    }
}
