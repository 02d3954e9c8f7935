//! Where everything of a drawing lies: a pure value of whole pixels, which the SVG and the web console both draw.
//!
//! The main flow runs straight down one line. Steps inside a loop or a routine lie in its box, on the same line. Ways
//! around a conditional step and back to the head of a loop keep to the right of the boxes, jumps to the left, so that
//! no way crosses a box that it does not lead into or out of.

mod block;
mod lanes;
mod parallel;
mod place;

use serde::Serialize;

use crate::workflow::Workflow;

/// A drawing without its looks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Layout {
    pub width: i32,
    pub height: i32,
    /// A box comes before what lies in it.
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// The step that it stands for. Each step has exactly one such node; marks and parts of a step have none.
    pub step: Option<String>,
    /// What the step is called in workflow files, or what else it is: `start`, `condition`, `session` …
    pub word: &'static str,
    pub shape: Shape,
    pub rect: Rect,
    pub lines: Vec<Line>,
    /// Everything there is to say about it, whole.
    pub title: String,
}

/// Tells who acts, without any colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Where the workflow begins and ends: round ends.
    Terminal,
    /// An agent's step: rounded corners.
    Agent,
    /// The engine's own step: square, with doubled sides.
    Engine,
    /// A gate: pointed on the left and on the right.
    Gate,
    /// A box around the steps of a loop, a todo, a routine, or around parallel sessions.
    Group,
    /// The head of something repeated: upper corners cut off.
    Repeat,
    /// The head of another group: text without a border.
    Head,
    /// The condition on top of a step.
    Condition,
    /// The confirmation under a step.
    Confirmation,
    /// Where parallel sessions come together.
    Join,
    /// The end of the steps in a group.
    Turn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rect {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// A line of text. It is centred on `x`; `y` is its baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    pub role: LineRole,
    pub text: String,
    pub x: i32,
    pub y: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineRole {
    Kind,
    Title,
    Detail,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// Places in [`Layout::nodes`].
    pub from: usize,
    pub to: usize,
    pub kind: EdgeKind,
    /// At least two. Segments are upright or level; the ends lie on the borders of the nodes.
    pub points: Vec<Point>,
    /// What it means, where the ordinary way is not meant.
    pub title: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// From one step to the next.
    Flow,
    /// Around a step whose condition does not hold.
    Skip,
    /// Back to the head of a loop.
    Again,
    Jump,
}

/// Lays a workflow out. The same workflow always gives the same drawing.
pub fn layout(workflow: &Workflow) -> Layout {
    place::place(&block::workflow_list(workflow))
}

impl Rect {
    pub fn right(self) -> i32 {
        self.x + self.width
    }

    pub fn bottom(self) -> i32 {
        self.y + self.height
    }
}

impl Shape {
    /// How far the outline stands back from the left and right side of `rect` at the height `y`.
    pub(super) fn inset(self, rect: Rect, y: i32) -> i32 {
        match self {
            Self::Gate => {
                let from_middle = (2 * y - 2 * rect.y - rect.height).abs();
                GATE_POINT * from_middle / rect.height.max(1)
            }
            Self::Terminal
            | Self::Agent
            | Self::Engine
            | Self::Group
            | Self::Repeat
            | Self::Head
            | Self::Condition
            | Self::Confirmation
            | Self::Join
            | Self::Turn => 0,
        }
    }
}

/// How far the points of a gate stand out.
pub(super) const GATE_POINT: i32 = 14;
