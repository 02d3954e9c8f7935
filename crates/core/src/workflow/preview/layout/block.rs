//! How much room each step needs, before anything has a place.

use crate::workflow::Workflow;
use crate::workflow::step::{Step, StepKind};

use super::super::facts::{self, Fact, Shown};
use super::super::measure::{self, Room, Size, Weight};
use super::lanes::{self, Lanes};
use super::parallel::Rows;
use super::{GATE_POINT, LineRole, Shape};

/// The width of a step that has no steps inside it.
pub(super) const STEP_WIDTH: i32 = 272;
/// Between the border of a box and what lies in it.
pub(super) const PADDING: i32 = 14;
/// Between the text of a step and its border.
const TEXT_MARGIN: i32 = 12;
/// How much narrower the marks on top of and under a step are, on each side.
const MARK_INSET: i32 = 14;
/// From a box to the first way beside it, and from one way to the next.
pub(super) const LANE: i32 = 14;

/// Texts in a frame: what is drawn as one node.
#[derive(Debug)]
pub(super) struct Card {
    pub word: &'static str,
    pub shape: Shape,
    pub width: i32,
    pub height: i32,
    pub texts: Vec<CardLine>,
    pub title: String,
}

/// One line, and where its baseline lies from the top of the card.
#[derive(Debug)]
pub(super) struct CardLine {
    pub role: LineRole,
    pub text: String,
    pub baseline: i32,
}

/// One step with its marks. Its room is told to the left and to the right of the line that the flow runs on.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub step: &'a Step,
    pub condition: Option<Card>,
    pub body: Body<'a>,
    pub confirmation: Option<Card>,
    pub left: i32,
    pub right: i32,
}

#[derive(Debug)]
pub(super) enum Body<'a> {
    Leaf(Card),
    Group { head: Card, list: List<'a>, again: Again, title: String },
    Parallel { head: Card, rows: Rows, join: Card, synthesis: Option<Card>, title: String },
}

/// Whether a group is gone through more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Repeats,
    Once,
}

/// Steps that follow one another.
#[derive(Debug)]
pub(super) struct List<'a> {
    pub blocks: Vec<Block<'a>>,
    /// The jumps that run beside this list.
    pub lanes: Lanes<'a>,
    /// Without the ways beside it.
    pub left: i32,
    pub right: i32,
}

impl List<'_> {
    /// The room for jumps.
    pub(super) fn left_gutter(&self) -> i32 {
        if self.lanes.count == 0 {
            0
        } else {
            LANE * (i32::try_from(self.lanes.count).unwrap_or(i32::MAX / LANE) + 1) - PADDING / 2
        }
    }

    /// The room for the ways around conditional steps.
    pub(super) fn right_gutter(&self) -> i32 {
        if self.blocks.iter().any(|block| block.condition.is_some()) { LANE } else { 0 }
    }
}

pub(super) fn workflow_list(workflow: &Workflow) -> List<'_> {
    let mut lanes = lanes::assign(&workflow.steps);
    list(&workflow.steps, &mut Vec::new(), &mut lanes)
}

fn list<'a>(steps: &'a [Step], path: &mut Vec<usize>, lanes: &mut lanes::ByList<'a>) -> List<'a> {
    let lanes_here = lanes.remove(path.as_slice()).unwrap_or_default();
    let mut blocks = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        path.push(index);
        blocks.push(block(step, path, lanes));
        path.pop();
    }
    let left = blocks.iter().map(|block| block.left).max().unwrap_or(0);
    let right = blocks.iter().map(|block| block.right).max().unwrap_or(0);
    List { blocks, lanes: lanes_here, left, right }
}

fn block<'a>(step: &'a Step, path: &mut Vec<usize>, lanes: &mut lanes::ByList<'a>) -> Block<'a> {
    let body = body(step, path, lanes);
    let (left, right) = match &body {
        Body::Leaf(card) => (card.width / 2, card.width / 2),
        Body::Group { head, list, again, .. } => {
            let half = head.width / 2;
            let turn = if *again == Again::Repeats { LANE } else { 0 };
            (
                half.max(list.left) + list.left_gutter() + PADDING,
                half.max(list.right) + list.right_gutter() + turn + PADDING,
            )
        }
        Body::Parallel { head, rows, .. } => {
            let half = (head.width / 2).max(rows.width() / 2) + PADDING;
            (half, half)
        }
    };
    let condition = facts::only_if(step).map(|text| mark("condition", Shape::Condition, &text));
    let confirmation = facts::confirmation(step).map(|text| mark("confirmation", Shape::Confirmation, &text));
    Block { step, condition, body, confirmation, left, right }
}

fn body<'a>(step: &'a Step, path: &mut Vec<usize>, lanes: &mut lanes::ByList<'a>) -> Body<'a> {
    match &step.kind {
        StepKind::Prompt(_) => Body::Leaf(step_card(step, Shape::Agent)),
        StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Spawn(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => Body::Leaf(step_card(step, Shape::Engine)),
        StepKind::Gate(_) => Body::Leaf(step_card(step, Shape::Gate)),
        StepKind::Loop(_) | StepKind::Todo(_) => Body::Group {
            head: step_card(step, Shape::Repeat),
            list: list(step.kind.inner(), path, lanes),
            again: Again::Repeats,
            title: whole(step),
        },
        StepKind::Routine(_) => Body::Group {
            head: step_card(step, Shape::Head),
            list: list(step.kind.inner(), path, lanes),
            again: Again::Once,
            title: whole(step),
        },
        StepKind::Parallel(parallel) => Body::Parallel {
            head: step_card(step, Shape::Head),
            rows: Rows::new(&parallel.children),
            join: card(
                Frame { word: "join", shape: Shape::Join, width: 0 },
                &[detail(&facts::join(parallel))],
            ),
            synthesis: parallel.asked().map(|prompt| {
                let mut texts = vec![(LineRole::Kind, "synthesis".to_owned())];
                texts.extend(drawn(&facts::synthesis(prompt)));
                card(Frame { word: "synthesis", shape: Shape::Agent, width: STEP_WIDTH }, &texts)
            }),
            title: whole(step),
        },
    }
}

fn step_card(step: &Step, shape: Shape) -> Card {
    let mut texts = vec![(LineRole::Kind, kind_line(step))];
    let title = if step.title.is_empty() { &step.id } else { &step.title };
    texts.push((LineRole::Title, title.clone()));
    texts.extend(drawn(&facts::of(step)));
    Card { title: whole(step), ..card(Frame { word: step.kind.word(), shape, width: STEP_WIDTH }, &texts) }
}

fn kind_line(step: &Step) -> String {
    let model = step.model.map(|model| format!(", {}", facts::tier(model))).unwrap_or_default();
    format!("{}{model} · {}", step.kind.word(), step.id)
}

fn whole(step: &Step) -> String {
    let head = if step.title.is_empty() { step.id.clone() } else { format!("{}: {}", step.id, step.title) };
    let said = facts::of(step).into_iter().map(|fact| fact.text);
    let all: Vec<String> = std::iter::once(head)
        .chain(facts::only_if(step))
        .chain(said)
        .chain(facts::confirmation(step))
        .collect();
    all.join("\n")
}

/// The facts that a drawing has room for.
pub(super) fn drawn(facts: &[Fact]) -> Vec<(LineRole, String)> {
    facts.iter().filter(|fact| fact.shown == Shown::Everywhere).map(|fact| detail(&fact.text)).collect()
}

fn detail(text: &str) -> (LineRole, String) {
    (LineRole::Detail, text.to_owned())
}

fn mark(word: &'static str, shape: Shape, text: &str) -> Card {
    card(Frame { word, shape, width: STEP_WIDTH - 2 * MARK_INSET }, &[detail(text)])
}

/// What a card is before its texts are known. A width of zero follows the text.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub word: &'static str,
    pub shape: Shape,
    pub width: i32,
}

pub(super) fn card(frame: Frame, texts: &[(LineRole, String)]) -> Card {
    let Frame { word, shape, width } = frame;
    let (above, below) = vertical_margins(shape);
    let inner = if width == 0 { STEP_WIDTH } else { width } - 2 * text_margin(shape);
    let mut placed = Vec::new();
    let mut y = above;
    for (role, text) in texts {
        let room = Room { width: inner, most_lines: most_lines(*role, shape) };
        for line in measure::wrap(text, size(*role), room).lines {
            y += line_height(*role);
            placed.push(CardLine { role: *role, text: line, baseline: y - line_height(*role) / 4 });
        }
    }
    let title = texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
    let widest = placed.iter().map(|text| measure::width(&text.text, size(text.role))).max().unwrap_or(0);
    // An even width keeps the middle of every card on the one line that the flow runs on.
    let width = if width == 0 { (widest + 2 * text_margin(shape) + 1) / 2 * 2 } else { width };
    Card { word, shape, width, height: y + below, texts: placed, title }
}

fn vertical_margins(shape: Shape) -> (i32, i32) {
    match shape {
        Shape::Agent | Shape::Engine | Shape::Gate | Shape::Repeat => (7, 9),
        Shape::Head => (0, 2),
        Shape::Condition | Shape::Confirmation | Shape::Join => (3, 4),
        Shape::Terminal => (5, 7),
        Shape::Group | Shape::Turn => (0, 0),
    }
}

fn text_margin(shape: Shape) -> i32 {
    match shape {
        Shape::Gate => TEXT_MARGIN + GATE_POINT,
        Shape::Engine => TEXT_MARGIN + 4,
        Shape::Terminal | Shape::Repeat => TEXT_MARGIN + 6,
        Shape::Agent
        | Shape::Head
        | Shape::Condition
        | Shape::Confirmation
        | Shape::Join
        | Shape::Turn
        | Shape::Group => TEXT_MARGIN,
    }
}

fn most_lines(role: LineRole, shape: Shape) -> usize {
    match (role, shape) {
        (LineRole::Kind, _) => 1,
        (LineRole::Detail, Shape::Condition | Shape::Confirmation) => 5,
        (LineRole::Title | LineRole::Detail, _) => 3,
    }
}

pub(super) fn size(role: LineRole) -> Size {
    match role {
        LineRole::Kind => Size { pixels: 10, weight: Weight::Regular },
        LineRole::Title => Size { pixels: 13, weight: Weight::Bold },
        LineRole::Detail => Size { pixels: 11, weight: Weight::Regular },
    }
}

fn line_height(role: LineRole) -> i32 {
    match role {
        LineRole::Kind => 13,
        LineRole::Title => 17,
        LineRole::Detail => 14,
    }
}
