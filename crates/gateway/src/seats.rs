//! How many may be connected at once, and who goes when there are too many: whoever came first and asked for nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// More at once than any agent has use for.
pub(crate) const MOST: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Seats {
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    next: u64,
    taken: BTreeMap<u64, Arc<Guest>>,
}

/// One connection.
#[derive(Debug, Default)]
pub(crate) struct Guest {
    has_asked: AtomicBool,
    pub(crate) end: CancellationToken,
}

impl Guest {
    /// It has made a whole request.
    pub(crate) fn asked(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
    }
}

/// A place that is given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    pub(crate) guest: Arc<Guest>,
}

impl Seats {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if everybody who is here asked for something: they were first.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Seat> {
        let mut book = self.book();
        if book.taken.len() >= MOST {
            let is_silent = |guest: &Guest| !guest.has_asked.load(Ordering::Relaxed);
            let (number, guest) = book.taken.iter().find(|(_, guest)| is_silent(guest))?;
            guest.end.cancel();
            let number = *number;
            book.taken.remove(&number);
        }
        let (number, guest) = (book.next, Arc::new(Guest::default()));
        book.next += 1;
        book.taken.insert(number, guest.clone());
        drop(book);
        Some(Seat { seats: self.clone(), number, guest })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.book().taken.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_silent_make_room_and_whoever_asked_stays() {
        let seats = Arc::new(Seats::default());
        let taken: Vec<Seat> = (0..MOST).map(|_| seats.take().unwrap()).collect();
        taken[0].guest.asked();
        let next = seats.take().unwrap();
        assert!(!taken[0].guest.end.is_cancelled() && taken[1].guest.end.is_cancelled());
        taken.iter().for_each(|seat| seat.guest.asked());
        next.guest.asked();
        assert!(seats.take().is_none());
        drop(next);
        assert!(seats.take().is_some());
    }
}
