//! A pattern as a tree.

use std::ops::Range;

use regex_syntax::hir::ClassUnicode;

#[derive(Debug, Clone)]
pub(super) enum Node {
    /// One character of a set.
    Set(ClassUnicode),
    Assert(Assertion),
    /// What one of these groups has matched; nothing while none has.
    Back {
        groups: Vec<usize>,
        case: Case,
    },
    Group {
        index: usize,
        node: Box<Node>,
    },
    Look(Look),
    Sequence(Vec<Node>),
    /// The first that leads to a match wins.
    Either(Vec<Node>),
    Repeat(Repeat),
}

/// A place between characters.
#[derive(Debug, Clone)]
pub(super) enum Assertion {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    WordEdge(ClassUnicode),
    NotWordEdge(ClassUnicode),
}

#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) direction: Direction,
    pub(super) wanted: bool,
    pub(super) node: Box<Node>,
}

#[derive(Debug, Clone)]
pub(super) struct Repeat {
    pub(super) node: Box<Node>,
    pub(super) bounds: Bounds,
    /// The groups inside, which forget what they matched in each round.
    pub(super) groups: Range<usize>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) greed: Greed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Greed {
    Greedy,
    Lazy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// How letters are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Matters,
    /// As without the flag `u`: no letter outside of ASCII is the same as one inside.
    Ignored,
    IgnoredUnicode,
}
