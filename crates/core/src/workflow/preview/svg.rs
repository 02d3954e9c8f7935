//! The drawing as SVG: shapes, texts and classes. Looks come from a style sheet, so that a page can have its own.

use std::fmt::Write;

use crate::workflow::Workflow;

use super::layout::{self, Edge, EdgeKind, GATE_POINT, Layout, LineRole, Node, Point, Rect, Shape};
use super::measure::clean;

/// The looks of a drawing that stands alone, in light and in dark. The sizes of its letters are those that the layout
/// measures with.
pub const STYLE: &str = include_str!("style.css");

const ARROW_LENGTH: i32 = 7;
const ARROW_HALF: i32 = 4;
/// How far the corners of a loop's head are cut.
const CUT: i32 = 10;
/// Between the doubled sides of an engine step.
const DOUBLE: i32 = 5;

/// The drawing without any looks: for a page that brings its own style sheet, or [`STYLE`].
pub fn svg(workflow: &Workflow) -> String {
    draw(workflow, Looks::FromPage)
}

/// The drawing as a file of its own.
pub fn svg_standalone(workflow: &Workflow) -> String {
    draw(workflow, Looks::Inside)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    FromPage,
    Inside,
}

fn draw(workflow: &Workflow, looks: Looks) -> String {
    let layout = layout::layout(workflow);
    let mut out = String::new();
    head(&mut out, workflow, &layout);
    if looks == Looks::Inside {
        let Layout { width, height, .. } = &layout;
        put(&mut out, format_args!("<style>\n{STYLE}</style>\n"));
        put(&mut out, format_args!("<rect class=\"canvas\" width=\"{width}\" height=\"{height}\"/>\n"));
    }
    let (boxes, others): (Vec<&Node>, Vec<&Node>) =
        layout.nodes.iter().partition(|node| node.shape == Shape::Group);
    boxes.into_iter().for_each(|node| draw_node(&mut out, node));
    layout.edges.iter().for_each(|edge| draw_edge(&mut out, edge));
    others.into_iter().for_each(|node| draw_node(&mut out, node));
    out.push_str("</svg>\n");
    out
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes everything");
}

fn head(out: &mut String, workflow: &Workflow, layout: &Layout) {
    let Layout { width, height, .. } = layout;
    put(
        out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"workflow\" role=\"img\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n"
        ),
    );
    put(out, format_args!("<title>{}</title>\n", escape(&workflow.name)));
    put(out, format_args!("<desc>{}</desc>\n", escape(&description(workflow))));
}

fn description(workflow: &Workflow) -> String {
    let count = workflow.all_steps().len();
    let order = workflow.steps.iter().map(|step| step.id.as_str()).collect::<Vec<_>>().join(", ");
    let about = if workflow.about.is_empty() { String::new() } else { format!("{} ", workflow.about) };
    format!("{about}Workflow {} {} with {count} steps. In order: {order}.", workflow.id, workflow.version)
}

fn draw_node(out: &mut String, node: &Node) {
    put(out, format_args!("<g class=\"node {} {}\"", shape_class(node.shape), node.word));
    if let Some(step) = &node.step {
        put(out, format_args!(" data-step=\"{}\"", escape(step)));
    }
    out.push_str(">\n");
    if !node.title.is_empty() {
        let lines: Vec<String> = node.title.lines().map(escape).collect();
        put(out, format_args!("<title>{}</title>\n", lines.join("\n")));
    }
    draw_shape(out, node);
    for line in &node.lines {
        let role = match line.role {
            LineRole::Kind => "kind",
            LineRole::Title => "title",
            LineRole::Detail => "detail",
        };
        let (x, y, text) = (line.x, line.y, escape(&line.text));
        put(
            out,
            format_args!("<text class=\"{role}\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>\n"),
        );
    }
    out.push_str("</g>\n");
}

fn shape_class(shape: Shape) -> &'static str {
    match shape {
        Shape::Terminal => "terminal",
        Shape::Agent => "agent",
        Shape::Engine => "engine",
        Shape::Gate => "gate-shape",
        Shape::Group => "group",
        Shape::Repeat => "repeat",
        Shape::Head => "head",
        Shape::Condition => "condition-mark",
        Shape::Confirmation => "confirmation-mark",
        Shape::Join => "join-bar",
        Shape::Turn => "turn-dot",
    }
}

fn draw_shape(out: &mut String, node: &Node) {
    let rect = node.rect;
    match node.shape {
        Shape::Terminal | Shape::Turn => draw_rect(out, rect, rect.height / 2),
        Shape::Agent => draw_rect(out, rect, 10),
        Shape::Group | Shape::Join => draw_rect(out, rect, 4),
        Shape::Engine => draw_engine(out, rect),
        Shape::Gate => draw_gate(out, rect),
        Shape::Repeat => draw_polygon(out, &cut_corners(rect)),
        Shape::Head => {}
        Shape::Condition => draw_polygon(out, &slanted(rect, Slant::Top)),
        Shape::Confirmation => draw_polygon(out, &slanted(rect, Slant::Bottom)),
    }
}

fn draw_rect(out: &mut String, rect: Rect, radius: i32) {
    let Rect { x, y, width, height } = rect;
    put(
        out,
        format_args!(
            "<rect class=\"outline\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>\n"
        ),
    );
}

fn draw_engine(out: &mut String, rect: Rect) {
    draw_rect(out, rect, 0);
    let (left, right) = (rect.x + DOUBLE, rect.right() - DOUBLE);
    let (top, bottom) = (rect.y, rect.bottom());
    put(out, format_args!("<path class=\"outline\" d=\"M{left} {top}V{bottom}M{right} {top}V{bottom}\"/>\n"));
}

fn draw_gate(out: &mut String, rect: Rect) {
    let middle = rect.y + rect.height / 2;
    let (left, right) = (rect.x + GATE_POINT, rect.right() - GATE_POINT);
    let corners = [
        (left, rect.y),
        (right, rect.y),
        (rect.right(), middle),
        (right, rect.bottom()),
        (left, rect.bottom()),
        (rect.x, middle),
    ];
    draw_polygon(out, &corners);
}

fn cut_corners(rect: Rect) -> [(i32, i32); 6] {
    [
        (rect.x + CUT, rect.y),
        (rect.right() - CUT, rect.y),
        (rect.right(), rect.y + CUT),
        (rect.right(), rect.bottom()),
        (rect.x, rect.bottom()),
        (rect.x, rect.y + CUT),
    ]
}

/// The side of a mark that is away from its step: its corners are cut, so that the mark is seen to belong to it.
#[derive(Clone, Copy)]
enum Slant {
    Top,
    Bottom,
}

fn slanted(rect: Rect, slant: Slant) -> [(i32, i32); 6] {
    let cut = 5;
    match slant {
        Slant::Top => [
            (rect.x + cut, rect.y),
            (rect.right() - cut, rect.y),
            (rect.right(), rect.y + cut),
            (rect.right(), rect.bottom()),
            (rect.x, rect.bottom()),
            (rect.x, rect.y + cut),
        ],
        Slant::Bottom => [
            (rect.x, rect.y),
            (rect.right(), rect.y),
            (rect.right(), rect.bottom() - cut),
            (rect.right() - cut, rect.bottom()),
            (rect.x + cut, rect.bottom()),
            (rect.x, rect.bottom() - cut),
        ],
    }
}

fn draw_polygon(out: &mut String, corners: &[(i32, i32)]) {
    let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{x},{y}")).collect();
    put(out, format_args!("<polygon class=\"outline\" points=\"{}\"/>\n", corners.join(" ")));
}

fn draw_edge(out: &mut String, edge: &Edge) {
    let kind = match edge.kind {
        EdgeKind::Flow => "flow",
        EdgeKind::Skip => "skip",
        EdgeKind::Again => "again",
        EdgeKind::Jump => "jump",
    };
    put(out, format_args!("<g class=\"edge {kind}\">\n"));
    if let Some(title) = &edge.title {
        put(out, format_args!("<title>{}</title>\n", escape(title)));
    }
    let points: Vec<String> = edge.points.iter().map(|Point { x, y }| format!("{x},{y}")).collect();
    put(out, format_args!("<polyline class=\"way\" points=\"{}\"/>\n", points.join(" ")));
    if let [.., before, tip] = edge.points.as_slice() {
        put(out, format_args!("<polygon class=\"arrow\" points=\"{}\"/>\n", arrow(*before, *tip)));
    }
    out.push_str("</g>\n");
}

/// Drawn point by point: a marker would need an id, and a page may hold several drawings.
fn arrow(before: Point, tip: Point) -> String {
    let (along_x, along_y) = ((tip.x - before.x).signum(), (tip.y - before.y).signum());
    let (base_x, base_y) = (tip.x - along_x * ARROW_LENGTH, tip.y - along_y * ARROW_LENGTH);
    let (side_x, side_y) = (along_y * ARROW_HALF, along_x * ARROW_HALF);
    format!(
        "{},{} {},{} {},{}",
        tip.x,
        tip.y,
        base_x + side_x,
        base_y + side_y,
        base_x - side_x,
        base_y - side_y
    )
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in clean(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            plain => out.push(plain),
        }
    }
    out
}
