//! The search: backtracking over a list of its own, with every step counted.

use super::TooManySteps;
use super::class;
use super::node::{Assertion, Bounds, Case, Direction};
use super::program::{Operation, Program};
use super::source::Sticky;

/// More choices than these are not kept in memory.
const MOST_CHOICES: usize = 2_000_000;
/// The position of what has not matched.
const UNSET: usize = usize::MAX;

#[derive(Clone, Copy)]
pub(super) struct Search {
    pub(super) limit: u64,
    pub(super) sticky: Sticky,
}

pub(super) struct Searched {
    pub(super) outcome: Result<bool, TooManySteps>,
    /// How many it took.
    pub(super) steps: u64,
}

pub(super) fn search(program: &Program, text: &[char], search: Search) -> Searched {
    let mut matcher = Matcher {
        program,
        text,
        registers: vec![UNSET; program.registers],
        choices: Vec::new(),
        steps_left: search.limit,
    };
    let last = match search.sticky {
        Sticky::Anywhere => text.len(),
        Sticky::AtStart => 0,
    };
    let outcome = matcher.attempt_each(last);
    Searched { outcome, steps: search.limit - matcher.steps_left }
}

/// What to do when the way taken leads nowhere; the newest first.
enum Choice {
    /// Go on from here instead.
    Try { at: usize, position: usize },
    /// Let a run have one character less, or one more if it is lazy.
    Rerun { at: usize, from: usize, taken: usize },
    /// Forget what was learned on the way.
    Restore { register: usize, value: usize },
}

struct Matcher<'a> {
    program: &'a Program,
    text: &'a [char],
    registers: Vec<usize>,
    choices: Vec<Choice>,
    steps_left: u64,
}

/// Where the search goes on.
struct Place {
    at: usize,
    position: usize,
}

impl Matcher<'_> {
    /// Tries each place to begin at, up to `last`.
    fn attempt_each(&mut self, last: usize) -> Result<bool, TooManySteps> {
        for start in 0..=last {
            if self.attempt(0, start)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs from `at` to its `Accept`. Without a match, everything is as it was.
    ///
    /// It calls itself for what a pattern looks at ahead or behind, so as deep as its groups lie.
    fn attempt(&mut self, at: usize, position: usize) -> Result<Option<usize>, TooManySteps> {
        let floor = self.choices.len();
        let mut place = Some(Place { at, position });
        loop {
            self.spend(1)?;
            place = match place {
                None => match self.back_up(floor)? {
                    None => return Ok(None),
                    resumed => resumed,
                },
                Some(Place { at, position }) => match &self.program.operations[at] {
                    Operation::Accept => return Ok(Some(position)),
                    _ => self.perform(at, position)?,
                },
            };
        }
    }

    fn spend(&mut self, steps: usize) -> Result<(), TooManySteps> {
        let left = self.steps_left.checked_sub(steps as u64);
        self.steps_left = left.unwrap_or(0);
        left.ok_or(TooManySteps)?;
        if self.choices.len() > MOST_CHOICES { Err(TooManySteps) } else { Ok(()) }
    }

    /// `None` when the way ends here.
    fn perform(&mut self, at: usize, position: usize) -> Result<Option<Place>, TooManySteps> {
        let program = self.program;
        let on = |position| Some(Place { at: at + 1, position });
        Ok(match &program.operations[at] {
            Operation::Step { set, direction } => match self.letter(position, *direction) {
                Some(letter) if class::contains(set, letter) => on(moved(position, 1, *direction)),
                Some(_) | None => None,
            },
            Operation::Run { bounds, direction, .. } => self.run(at, position, *bounds)?.and_then(|taken| {
                self.choices.push(Choice::Rerun { at, from: position, taken });
                on(moved(position, taken, *direction))
            }),
            Operation::Assert(assertion) if self.holds(assertion, position) => on(position),
            Operation::Assert(_) => None,
            Operation::Back { groups, case, direction } => {
                let same = Same { case: *case, direction: *direction };
                self.back_reference(groups, position, same)?.and_then(on)
            }
            Operation::Or(other) => {
                self.choices.push(Choice::Try { at: *other, position });
                on(position)
            }
            Operation::Jump(target) => Some(Place { at: *target, position }),
            Operation::Save(register) => {
                self.set(*register, position);
                on(position)
            }
            Operation::Reset(register) => {
                self.set(*register, 0);
                on(position)
            }
            Operation::Loop { register, bounds, end } => {
                self.decide_loop(&LoopPlace { at, register: *register, bounds: *bounds, end: *end }, position)
            }
            Operation::Round { register, groups } => {
                self.set(*register, self.registers[*register] + 1);
                self.set(*register + 1, position);
                self.spend(groups.len())?;
                for group in groups.clone() {
                    self.set(2 * group, UNSET);
                    self.set(2 * group + 1, UNSET);
                }
                on(position)
            }
            Operation::Look { wanted, end } => {
                let holds = self.look(at + 1, position)? == *wanted;
                if holds { Some(Place { at: *end, position }) } else { None }
            }
            Operation::Accept => Some(Place { at, position }),
        })
    }

    /// Takes up the newest choice above `floor`.
    fn back_up(&mut self, floor: usize) -> Result<Option<Place>, TooManySteps> {
        while self.choices.len() > floor {
            self.spend(1)?;
            match self.choices.pop() {
                Some(Choice::Try { at, position }) => return Ok(Some(Place { at, position })),
                Some(Choice::Restore { register, value }) => self.registers[register] = value,
                Some(Choice::Rerun { at, from, taken }) => {
                    if let Some(place) = self.rerun(at, from, taken) {
                        return Ok(Some(place));
                    }
                }
                None => break,
            }
        }
        Ok(None)
    }

    fn set(&mut self, register: usize, value: usize) {
        let old = std::mem::replace(&mut self.registers[register], value);
        if old != value {
            self.choices.push(Choice::Restore { register, value: old });
        }
    }

    /// The character that is passed when moving from `position`.
    fn letter(&self, position: usize, direction: Direction) -> Option<char> {
        match direction {
            Direction::Forward => self.text.get(position).copied(),
            Direction::Backward => self.text.get(position.checked_sub(1)?).copied(),
        }
    }

    /// How many characters a run takes at first.
    fn run(&mut self, at: usize, position: usize, bounds: Bounds) -> Result<Option<usize>, TooManySteps> {
        let wanted = if bounds.is_greedy() { bounds.most } else { bounds.least };
        let mut taken = 0;
        while taken < wanted && self.runs_on(at, position, taken) {
            taken += 1;
        }
        self.spend(taken)?;
        Ok(Some(taken).filter(|taken| *taken >= bounds.least))
    }

    /// Whether one more character belongs to the run.
    fn runs_on(&self, at: usize, from: usize, taken: usize) -> bool {
        let Operation::Run { set, direction, .. } = &self.program.operations[at] else { return false };
        self.letter(moved(from, taken, *direction), *direction)
            .is_some_and(|letter| class::contains(set, letter))
    }

    fn rerun(&mut self, at: usize, from: usize, taken: usize) -> Option<Place> {
        let Operation::Run { direction, bounds, .. } = &self.program.operations[at] else { return None };
        let taken = if bounds.is_greedy() {
            taken.checked_sub(1).filter(|taken| *taken >= bounds.least)?
        } else {
            Some(taken + 1).filter(|next| *next <= bounds.most && self.runs_on(at, from, taken))?
        };
        let position = moved(from, taken, *direction);
        self.choices.push(Choice::Rerun { at, from, taken });
        Some(Place { at: at + 1, position })
    }

    /// Once enough rounds are done, a round that took nothing leads nowhere: it would go on for ever.
    fn decide_loop(&mut self, place: &LoopPlace, position: usize) -> Option<Place> {
        let LoopPlace { at, register, bounds, end } = *place;
        let rounds = self.registers[register];
        let (again, leave) = (Place { at: at + 1, position }, Place { at: end, position });
        if rounds > bounds.least && self.registers[register + 1] == position {
            None
        } else if rounds < bounds.least {
            Some(again)
        } else if rounds >= bounds.most {
            Some(leave)
        } else if bounds.is_greedy() {
            self.choices.push(Choice::Try { at: leave.at, position });
            Some(again)
        } else {
            self.choices.push(Choice::Try { at: again.at, position });
            Some(leave)
        }
    }

    /// Whether the part that begins at `at` matches here. What it learned stays, its choices do not.
    fn look(&mut self, at: usize, position: usize) -> Result<bool, TooManySteps> {
        let floor = self.choices.len();
        let found = self.attempt(at, position)?.is_some();
        let Operation::Look { wanted, .. } = &self.program.operations[at - 1] else { return Ok(found) };
        if found && *wanted {
            let learned = self.choices.split_off(floor);
            self.spend(learned.len())?;
            self.choices
                .extend(learned.into_iter().filter(|choice| matches!(choice, Choice::Restore { .. })));
        } else if found {
            self.forget(floor)?;
        }
        Ok(found)
    }

    fn forget(&mut self, floor: usize) -> Result<(), TooManySteps> {
        self.spend(self.choices.len() - floor)?;
        for choice in self.choices.split_off(floor).into_iter().rev() {
            if let Choice::Restore { register, value } = choice {
                self.registers[register] = value;
            }
        }
        Ok(())
    }

    fn holds(&self, assertion: &Assertion, position: usize) -> bool {
        let before = self.letter(position, Direction::Backward);
        let after = self.letter(position, Direction::Forward);
        let is_edge = |words: &_| {
            let is_word = |letter: Option<char>| letter.is_some_and(|letter| class::contains(words, letter));
            is_word(before) != is_word(after)
        };
        match assertion {
            Assertion::TextStart => before.is_none(),
            Assertion::TextEnd => after.is_none(),
            Assertion::LineStart => before.is_none_or(class::is_line_end),
            Assertion::LineEnd => after.is_none_or(class::is_line_end),
            Assertion::WordEdge(words) => is_edge(words),
            Assertion::NotWordEdge(words) => !is_edge(words),
        }
    }

    /// The position behind what the group has matched. A group that has not matched is the empty text.
    fn back_reference(
        &mut self,
        groups: &[usize],
        position: usize,
        same: Same,
    ) -> Result<Option<usize>, TooManySteps> {
        let ranges = groups.iter().map(|group| (self.registers[2 * group], self.registers[2 * group + 1]));
        let Some((start, end)) = ranges.into_iter().find(|(start, end)| *start != UNSET && *end != UNSET)
        else {
            return Ok(Some(position));
        };
        let length = end - start;
        self.spend(length)?;
        let from = match same.direction {
            Direction::Forward => Some(position),
            Direction::Backward => position.checked_sub(length),
        };
        let Some(candidate) = from.and_then(|from| self.text.get(from..from + length)) else {
            return Ok(None);
        };
        let pairs = self.text[start..end].iter().zip(candidate);
        let is_same = pairs.into_iter().all(|(left, right)| class::same(*left, *right, same.case));
        Ok(is_same.then(|| moved(position, length, same.direction)))
    }
}

struct LoopPlace {
    at: usize,
    register: usize,
    bounds: Bounds,
    end: usize,
}

#[derive(Clone, Copy)]
struct Same {
    case: Case,
    direction: Direction,
}

fn moved(position: usize, by: usize, direction: Direction) -> usize {
    match direction {
        Direction::Forward => position + by,
        Direction::Backward => position - by,
    }
}
