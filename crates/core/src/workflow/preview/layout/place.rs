//! Gives every block its place, top down, and draws the ways between them.

use std::collections::BTreeMap;

use super::super::facts;
use super::block::{self, Again, Block, Body, Card, Frame, LANE, List, PADDING};
use super::lanes::LaneJump;
use super::parallel::{Between, Rows};
use super::{Edge, EdgeKind, Layout, Line, LineRole, Node, Point, Rect, Shape};
use crate::workflow::Step;

const MARGIN: i32 = 24;
/// Between steps: room for an arrow and for a way that comes back to the line.
const GAP: i32 = 32;
/// Where the way around a step comes in, beside the ordinary one.
const SKIP_OFFSET: i32 = 26;
const TURN_SIZE: i32 = 12;
const TERMINAL_WIDTH: i32 = 96;

pub(super) fn place(list: &List<'_>) -> Layout {
    let start = terminal("start");
    let end = terminal("end");
    let center = MARGIN + list.left.max(TERMINAL_WIDTH / 2) + list.left_gutter();
    let mut placer =
        Placer { center, nodes: Vec::new(), edges: Vec::new(), ports: BTreeMap::new(), jumps: Vec::new() };
    let first = placer.card(&start, MARGIN);
    let (loose, bottom) = placer.list(list, placer.bottom(first) + GAP, vec![Loose::below(first)]);
    let last = placer.card(&end, bottom);
    placer.connect(&loose, last);
    placer.draw_jumps();
    Layout {
        width: center + list.right.max(TERMINAL_WIDTH / 2) + list.right_gutter() + MARGIN,
        height: placer.bottom(last) + MARGIN,
        nodes: placer.nodes,
        edges: placer.edges,
    }
}

fn terminal(word: &'static str) -> Card {
    let frame = Frame { word, shape: Shape::Terminal, width: TERMINAL_WIDTH };
    block::card(frame, &[(LineRole::Detail, word.to_owned())])
}

/// A way that has no end yet.
struct Loose {
    from: usize,
    side: Side,
}

enum Side {
    Below,
    /// Around something: out to the right as far as this.
    Around(i32),
}

impl Loose {
    fn below(from: usize) -> Self {
        Self { from, side: Side::Below }
    }
}

/// Where jumps go into a step and come out of it, on the left.
struct Ports {
    enter: (usize, i32),
    leave: (usize, i32),
}

struct Placer<'a> {
    /// The one line that the flow runs on, at every depth.
    center: i32,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    ports: BTreeMap<&'a str, Ports>,
    /// With the `x` that it runs on.
    jumps: Vec<(i32, &'a LaneJump<'a>)>,
}

impl<'a> Placer<'a> {
    /// Places steps one under the other. The answer: the ways out, and where the next thing may begin.
    fn list(&mut self, list: &'a List<'a>, mut top: i32, mut loose: Vec<Loose>) -> (Vec<Loose>, i32) {
        for jump in &list.lanes.jumps {
            let lane = i32::try_from(jump.lane).expect("a few lanes");
            self.jumps.push((self.center - list.left - LANE * (lane + 1), jump));
        }
        for block in &list.blocks {
            let bottom;
            (loose, bottom) = self.block(block, top, &loose);
            top = bottom + GAP;
        }
        (loose, top)
    }

    fn block(&mut self, block: &'a Block<'a>, mut top: i32, loose: &[Loose]) -> (Vec<Loose>, i32) {
        let condition = block.condition.as_ref().map(|card| self.card(card, top));
        if let Some(node) = condition {
            self.connect(loose, node);
            top = self.bottom(node);
        }
        let body = self.body(block, top);
        if condition.is_none() {
            self.connect(loose, body);
        }
        let mut last = body;
        if let Some(card) = &block.confirmation {
            last = self.card(card, self.bottom(body));
        }
        self.remember_ports(block, condition, body);
        let mut out = vec![Loose::below(last)];
        if let Some(from) = condition {
            out.push(Loose { from, side: Side::Around(self.center + block.right + LANE) });
        }
        (out, self.bottom(last))
    }

    fn remember_ports(&mut self, block: &'a Block<'a>, condition: Option<usize>, body: usize) {
        let rect = self.nodes[body].rect;
        let third = rect.height / 3;
        let (enter, leave) = match &block.body {
            Body::Leaf(_) => (rect.y + third, rect.bottom() - third),
            Body::Group { .. } | Body::Parallel { .. } => (rect.y + PADDING, rect.bottom() - PADDING),
        };
        let enter = match condition {
            Some(node) => (node, self.nodes[node].rect.y + self.nodes[node].rect.height / 2),
            None => (body, enter),
        };
        self.ports.insert(&block.step.id, Ports { enter, leave: (body, leave) });
    }

    fn body(&mut self, block: &'a Block<'a>, top: i32) -> usize {
        let node = match &block.body {
            Body::Leaf(card) => self.card(card, top),
            Body::Group { head, list, again, title } => {
                let node = self.open(block, top, title);
                self.group(head, list, Inside { node, again: *again });
                node
            }
            Body::Parallel { head, rows, join, synthesis, title } => {
                let node = self.open(block, top, title);
                let synthesis = synthesis.as_ref().zip(block.step.kind.inner().first());
                let parts = Parts { head, rows, join, synthesis };
                let bottom = self.parallel(&parts, top);
                self.close(node, bottom);
                node
            }
        };
        self.nodes[node].step = Some(block.step.id.clone());
        node
    }

    fn open(&mut self, block: &Block<'_>, top: i32, title: &str) -> usize {
        let rect = Rect { x: self.center - block.left, y: top, width: block.left + block.right, height: 0 };
        self.nodes.push(Node {
            step: None,
            word: block.step.kind.word(),
            shape: Shape::Group,
            rect,
            lines: Vec::new(),
            title: title.to_owned(),
        });
        self.nodes.len() - 1
    }

    fn close(&mut self, node: usize, bottom: i32) {
        let rect = &mut self.nodes[node].rect;
        rect.height = bottom + PADDING - rect.y;
    }

    fn group(&mut self, head: &Card, list: &'a List<'a>, inside: Inside) {
        let Inside { node, again } = inside;
        let head = self.card(head, self.nodes[node].rect.y + PADDING);
        let (loose, next) = self.list(list, self.bottom(head) + GAP, vec![Loose::below(head)]);
        let bottom = match again {
            Again::Repeats => {
                let turn = self.turn(next - PADDING / 2);
                self.connect(&loose, turn);
                let half = self.nodes[head].rect.width / 2;
                self.again(turn, head, self.center + half.max(list.right) + list.right_gutter() + LANE);
                self.bottom(turn) + PADDING / 2
            }
            Again::Once if loose.len() > 1 => {
                let turn = self.turn(next - PADDING / 2);
                self.connect(&loose, turn);
                self.bottom(turn)
            }
            Again::Once => next - GAP,
        };
        self.close(node, bottom);
    }

    fn turn(&mut self, top: i32) -> usize {
        let rect = Rect { x: self.center - TURN_SIZE / 2, y: top, width: TURN_SIZE, height: TURN_SIZE };
        self.nodes.push(Node {
            step: None,
            word: "turn",
            shape: Shape::Turn,
            rect,
            lines: Vec::new(),
            title: String::new(),
        });
        self.nodes.len() - 1
    }

    fn again(&mut self, turn: usize, head: usize, lane: i32) {
        let (low, high) = (self.nodes[turn].rect, self.nodes[head].rect);
        let below = low.bottom() + PADDING / 2;
        let middle = high.y + high.height / 2;
        let center = self.center;
        let way =
            [(center, low.bottom()), (center, below), (lane, below), (lane, middle), (high.right(), middle)];
        self.edge(
            Ends { from: turn, to: head, kind: EdgeKind::Again },
            way.map(|(x, y)| Point { x, y }).to_vec(),
        );
    }

    fn parallel(&mut self, parts: &Parts<'_>, top: i32) -> i32 {
        let head = self.card(parts.head, top + PADDING);
        let between = Between { center: self.center, top: self.bottom(head) };
        let join = self.wide_card(parts, between.top + parts.rows.height());
        for (card, seat) in parts.rows.cards.iter().zip(parts.rows.seats(&between)) {
            let child = self.card_at(card, seat.rect);
            self.edge(Ends { from: head, to: child, kind: EdgeKind::Flow }, seat.way_in);
            self.edge(Ends { from: child, to: join, kind: EdgeKind::Flow }, seat.way_out);
        }
        if parts.rows.cards.is_empty() {
            self.connect(&[Loose::below(head)], join);
        }
        let Some((card, step)) = parts.synthesis else { return self.bottom(join) };
        let synthesis = self.card(card, self.bottom(join) + GAP);
        self.nodes[synthesis].step = Some(step.id.clone());
        self.connect(&[Loose::below(join)], synthesis);
        self.bottom(synthesis)
    }

    /// The bar on which all rows end.
    fn wide_card(&mut self, parts: &Parts<'_>, top: i32) -> usize {
        let node = self.card(parts.join, top);
        let center = self.center;
        let rect = &mut self.nodes[node].rect;
        let width = parts.rows.width().max(rect.width);
        *rect = Rect { x: center - width / 2, width, ..*rect };
        node
    }

    fn card(&mut self, card: &Card, top: i32) -> usize {
        let x = self.center - card.width / 2;
        self.card_at(card, Rect { x, y: top, width: card.width, height: card.height })
    }

    fn card_at(&mut self, card: &Card, rect: Rect) -> usize {
        let line = |text: &block::CardLine| Line {
            role: text.role,
            text: text.text.clone(),
            x: rect.x + rect.width / 2,
            y: rect.y + text.baseline,
        };
        self.nodes.push(Node {
            step: None,
            word: card.word,
            shape: card.shape,
            rect,
            lines: card.texts.iter().map(line).collect(),
            title: card.title.clone(),
        });
        self.nodes.len() - 1
    }

    fn bottom(&self, node: usize) -> i32 {
        self.nodes[node].rect.bottom()
    }

    /// Leads every loose way into the top of a node, or into the side of a mark that is too small for that.
    fn connect(&mut self, loose: &[Loose], to: usize) {
        for Loose { from, side } in loose {
            match side {
                Side::Below => self.straight(*from, to),
                Side::Around(lane) => self.around(*from, to, *lane),
            }
        }
    }

    fn straight(&mut self, from: usize, to: usize) {
        let (start, end) = (self.nodes[from].rect.bottom(), self.nodes[to].rect.y);
        let way = [start, end].map(|y| Point { x: self.center, y });
        self.edge(Ends { from, to, kind: EdgeKind::Flow }, way.to_vec());
    }

    fn around(&mut self, from: usize, to: usize, lane: i32) {
        let (start, end) = (self.nodes[from].rect, self.nodes[to].rect);
        let middle = start.y + start.height / 2;
        let out = [(start.right(), middle), (lane, middle)];
        let into = if self.nodes[to].shape == Shape::Turn {
            let level = end.y + end.height / 2;
            vec![(lane, level), (end.right(), level)]
        } else {
            let x = self.center + SKIP_OFFSET;
            let level = end.y - GAP / 2;
            vec![(lane, level), (x, level), (x, end.y)]
        };
        let way = out.into_iter().chain(into).map(|(x, y)| Point { x, y }).collect();
        self.edge(Ends { from, to, kind: EdgeKind::Skip }, way);
    }

    fn edge(&mut self, ends: Ends, points: Vec<Point>) {
        let title = match ends.kind {
            EdgeKind::Flow | EdgeKind::Jump => None,
            EdgeKind::Skip => Some("otherwise".to_owned()),
            EdgeKind::Again => Some("again".to_owned()),
        };
        let Ends { from, to, kind } = ends;
        self.edges.push(Edge { from, to, kind, points: without_repeats(points), title });
    }

    fn draw_jumps(&mut self) {
        for (lane, LaneJump { from, jump, .. }) in std::mem::take(&mut self.jumps) {
            let start = &self.ports[from.id.as_str()];
            let end = &self.ports[jump.to.as_str()];
            let ((from, y_from), (to, y_to)) = (start.leave, end.enter);
            let way = vec![
                Point { x: self.left_border(from, y_from), y: y_from },
                Point { x: lane, y: y_from },
                Point { x: lane, y: y_to },
                Point { x: self.left_border(to, y_to), y: y_to },
            ];
            let title = Some(facts::jumps(jump));
            self.edges.push(Edge { from, to, kind: EdgeKind::Jump, points: without_repeats(way), title });
        }
    }

    fn left_border(&self, node: usize, y: i32) -> i32 {
        let Node { shape, rect, .. } = &self.nodes[node];
        rect.x + shape.inset(*rect, y)
    }
}

/// A group that is being filled.
#[derive(Clone, Copy)]
struct Inside {
    node: usize,
    again: Again,
}

struct Parts<'a> {
    head: &'a Card,
    rows: &'a Rows,
    join: &'a Card,
    synthesis: Option<(&'a Card, &'a Step)>,
}

#[derive(Clone, Copy)]
struct Ends {
    from: usize,
    to: usize,
    kind: EdgeKind,
}

fn without_repeats(mut points: Vec<Point>) -> Vec<Point> {
    points.dedup();
    let is_corner = |index: usize| {
        let (before, at, after) = (points[index - 1], points[index], points[index + 1]);
        !(before.x == at.x && at.x == after.x || before.y == at.y && at.y == after.y)
    };
    let kept: Vec<bool> =
        (0..points.len()).map(|index| index == 0 || index + 1 == points.len() || is_corner(index)).collect();
    points.into_iter().zip(kept).filter_map(|(point, keep)| keep.then_some(point)).collect()
}
