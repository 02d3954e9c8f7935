//! Sessions side by side: in rows, each reached and left through the gaps between the columns.

use crate::workflow::step::Child;

use super::super::facts;
use super::block::{self, Card, Frame};
use super::{LineRole, Point, Rect, Shape};

const CHILD_WIDTH: i32 = 176;
/// Between columns: room for a way down into the rows below and one out of them.
const COLUMN_GAP: i32 = 30;
const ROW_GAP: i32 = 36;
/// From a session to the way beside it.
const BESIDE: i32 = 10;
/// From a session to the level part of a way above or below it.
const APART: i32 = 12;
/// More than this in one row makes the drawing too wide for a page.
const MOST_COLUMNS: usize = 3;

#[derive(Debug)]
pub(super) struct Rows {
    pub cards: Vec<Card>,
    columns: usize,
}

/// A child with its place, and how it is reached and left.
pub(super) struct Seat {
    pub rect: Rect,
    pub way_in: Vec<Point>,
    pub way_out: Vec<Point>,
}

/// The line that the rows hang from, and the one that they stand on.
pub(super) struct Between {
    pub center: i32,
    pub top: i32,
}

impl Rows {
    pub(super) fn new(children: &[Child]) -> Self {
        let cards: Vec<Card> = children.iter().map(child_card).collect();
        let columns = if cards.len() == 4 { 2 } else { cards.len().min(MOST_COLUMNS) };
        Self { cards, columns }
    }

    fn row_count(&self) -> usize {
        if self.columns == 0 { 0 } else { self.cards.len().div_ceil(self.columns) }
    }

    /// Of the columns alone.
    pub(super) fn row_width(&self) -> i32 {
        let columns = as_pixels(self.columns);
        (columns * CHILD_WIDTH + (columns - 1) * COLUMN_GAP).max(0)
    }

    /// With the ways on both sides, which only several rows need.
    pub(super) fn width(&self) -> i32 {
        if self.row_count() > 1 { self.row_width() + 4 * BESIDE } else { self.row_width() }
    }

    /// From the head to the join, gaps included.
    pub(super) fn height(&self) -> i32 {
        ROW_GAP + self.row_heights().iter().map(|height| height + ROW_GAP).sum::<i32>()
    }

    fn row_heights(&self) -> Vec<i32> {
        if self.columns == 0 {
            return Vec::new();
        }
        self.cards
            .chunks(self.columns)
            .map(|row| row.iter().map(|card| card.height).max().unwrap_or(0))
            .collect()
    }

    pub(super) fn seats(&self, between: &Between) -> Vec<Seat> {
        let bottom = between.top + self.height();
        let mut seats = Vec::with_capacity(self.cards.len());
        let mut y = between.top + ROW_GAP;
        for (row, height) in self.row_heights().into_iter().enumerate() {
            let cards = self.cards.iter().skip(row * self.columns).take(self.columns);
            // A last row that is not full still stands in the columns: its ways are then those of the columns.
            let left = between.center - self.row_width() / 2;
            for (column, card) in cards.enumerate() {
                let x = left + as_pixels(column) * (CHILD_WIDTH + COLUMN_GAP);
                let rect = Rect { x, y, width: card.width, height: card.height };
                let is_last = row + 1 == self.row_count();
                let way_in = if row == 0 { from_above(between, rect) } else { down_beside(between, rect) };
                let way_out = if is_last { straight_down(rect, bottom) } else { out_beside(rect, bottom) };
                seats.push(Seat { rect, way_in, way_out });
            }
            y += height + ROW_GAP;
        }
        seats
    }
}

fn from_above(between: &Between, rect: Rect) -> Vec<Point> {
    let center = rect.x + rect.width / 2;
    let bus = between.top + APART;
    points([(between.center, between.top), (between.center, bus), (center, bus), (center, rect.y)])
}

fn down_beside(between: &Between, rect: Rect) -> Vec<Point> {
    let center = rect.x + rect.width / 2;
    let bus = between.top + APART;
    let lane = rect.x - BESIDE;
    points([
        (between.center, between.top),
        (between.center, bus),
        (lane, bus),
        (lane, rect.y - APART),
        (center, rect.y - APART),
        (center, rect.y),
    ])
}

fn straight_down(rect: Rect, bottom: i32) -> Vec<Point> {
    let center = rect.x + rect.width / 2;
    points([(center, rect.bottom()), (center, bottom)])
}

fn out_beside(rect: Rect, bottom: i32) -> Vec<Point> {
    let center = rect.x + rect.width / 2;
    let lane = rect.right() + BESIDE;
    points([
        (center, rect.bottom()),
        (center, rect.bottom() + APART),
        (lane, rect.bottom() + APART),
        (lane, bottom),
    ])
}

fn points<const N: usize>(points: [(i32, i32); N]) -> Vec<Point> {
    points.into_iter().map(|(x, y)| Point { x, y }).collect()
}

fn as_pixels(count: usize) -> i32 {
    i32::try_from(count).expect("a few columns")
}

fn child_card(child: &Child) -> Card {
    let mut texts = vec![(LineRole::Kind, "session".to_owned()), (LineRole::Title, child.workflow.clone())];
    texts.extend(block::drawn(&facts::child(child)));
    block::card(Frame { word: "session", shape: Shape::Engine, width: CHILD_WIDTH }, &texts)
}
