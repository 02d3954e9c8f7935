//! The same work for each of many files, on all cores. The order of the answers is that of the files.

use std::num::NonZero;
use std::thread;

/// Fewer files than this are done before a thread has started.
const WORTH_A_THREAD: usize = 4;

pub(super) fn map<In: Sync, Out: Send>(items: &[In], work: impl Fn(&In) -> Out + Sync) -> Vec<Out> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let share = items.len().div_ceil(cores).max(WORTH_A_THREAD);
    if share >= items.len() {
        return items.iter().map(work).collect();
    }
    let work = &work;
    // Every n-th file to the same thread: large ones often stand side by side.
    let threads = items.len().div_ceil(share);
    let mut answers: Vec<std::vec::IntoIter<Out>> = thread::scope(|scope| {
        let start = |first: usize| {
            scope.spawn(move || items.iter().skip(first).step_by(threads).map(work).collect::<Vec<Out>>())
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        let finished = running.into_iter().map(|thread| match thread.join() {
            Ok(answers) => answers.into_iter(),
            Err(panic) => std::panic::resume_unwind(panic),
        });
        finished.collect()
    });
    let next = |index: usize| answers[index % threads].next().expect("there is an answer for each file");
    (0..items.len()).map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_what_was_asked() {
        for count in [0, 1, 3, 4, 5, 8, 9, 50, 101] {
            let items: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(map(&items, |item| item * 2), doubled, "{count}");
        }
    }
}
