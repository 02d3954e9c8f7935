//! A pattern as a list of operations. It is as long as the pattern: counts stay counts.

use std::ops::Range;

use regex_syntax::hir::ClassUnicode;

use super::node::{Assertion, Bounds, Case, Direction, Greed, Look, Node, Repeat};
use super::parse::Parsed;

#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) operations: Vec<Operation>,
    /// Two for each group, two for each loop.
    pub(super) registers: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Operation {
    /// One character of the set, then on.
    Step {
        set: ClassUnicode,
        direction: Direction,
    },
    /// Several characters of the set.
    Run {
        set: ClassUnicode,
        direction: Direction,
        bounds: Bounds,
    },
    Assert(Assertion),
    Back {
        groups: Vec<usize>,
        case: Case,
        direction: Direction,
    },
    /// Goes on behind it, and at the place if that leads nowhere.
    Or(usize),
    Jump(usize),
    /// Remembers the position.
    Save(usize),
    /// Makes a loop's count zero.
    Reset(usize),
    /// Decides between another round, which begins behind it, and the place behind the loop.
    Loop {
        register: usize,
        bounds: Bounds,
        end: usize,
    },
    /// Begins a round.
    Round {
        register: usize,
        groups: Range<usize>,
    },
    /// What lies up to the place is tried without moving.
    Look {
        wanted: bool,
        end: usize,
    },
    Accept,
}

impl Program {
    pub(super) fn of(parsed: &Parsed) -> Self {
        let mut compiler = Compiler { operations: Vec::new(), registers: 2 * (parsed.groups + 1) };
        compiler.compile(&parsed.node, Direction::Forward);
        compiler.operations.push(Operation::Accept);
        Self { operations: compiler.operations, registers: compiler.registers }
    }
}

struct Compiler {
    operations: Vec<Operation>,
    registers: usize,
}

impl Compiler {
    fn compile(&mut self, node: &Node, direction: Direction) {
        match node {
            Node::Set(set) => self.operations.push(Operation::Step { set: set.clone(), direction }),
            Node::Assert(assertion) => self.operations.push(Operation::Assert(assertion.clone())),
            Node::Back { groups, case } => {
                self.operations.push(Operation::Back { groups: groups.clone(), case: *case, direction });
            }
            Node::Group { index, node } => self.group(*index, node, direction),
            Node::Look(look) => self.look(look),
            Node::Sequence(nodes) => match direction {
                Direction::Forward => nodes.iter().for_each(|node| self.compile(node, direction)),
                Direction::Backward => nodes.iter().rev().for_each(|node| self.compile(node, direction)),
            },
            Node::Either(nodes) => self.either(nodes, direction),
            Node::Repeat(repeat) => self.repeat(repeat, direction),
        }
    }

    fn group(&mut self, index: usize, node: &Node, direction: Direction) {
        let (start, end) = (2 * index, 2 * index + 1);
        let (first, last) = match direction {
            Direction::Forward => (start, end),
            Direction::Backward => (end, start),
        };
        self.operations.push(Operation::Save(first));
        self.compile(node, direction);
        self.operations.push(Operation::Save(last));
    }

    fn look(&mut self, look: &Look) {
        let at = self.operations.len();
        self.operations.push(Operation::Accept);
        self.compile(&look.node, look.direction);
        self.operations.push(Operation::Accept);
        let end = self.operations.len();
        self.operations[at] = Operation::Look { wanted: look.wanted, end };
    }

    fn either(&mut self, nodes: &[Node], direction: Direction) {
        let mut jumps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.compile(node, direction);
                break;
            }
            let or = self.operations.len();
            self.operations.push(Operation::Accept);
            self.compile(node, direction);
            jumps.push(self.operations.len());
            self.operations.push(Operation::Accept);
            self.operations[or] = Operation::Or(self.operations.len());
        }
        let end = self.operations.len();
        for jump in jumps {
            self.operations[jump] = Operation::Jump(end);
        }
    }

    fn repeat(&mut self, repeat: &Repeat, direction: Direction) {
        if let Node::Set(set) = repeat.node.as_ref() {
            self.operations.push(Operation::Run { set: set.clone(), direction, bounds: repeat.bounds });
            return;
        }
        let register = self.registers;
        self.registers += 2;
        self.operations.push(Operation::Reset(register));
        let at = self.operations.len();
        self.operations.push(Operation::Accept);
        let groups = repeat.groups.start + 1..repeat.groups.end + 1;
        self.operations.push(Operation::Round { register, groups });
        self.compile(&repeat.node, direction);
        self.operations.push(Operation::Jump(at));
        let end = self.operations.len();
        self.operations[at] = Operation::Loop { register, bounds: repeat.bounds, end };
    }
}

impl Bounds {
    pub(super) fn is_greedy(self) -> bool {
        self.greed == Greed::Greedy
    }
}
