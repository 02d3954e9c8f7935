//! What must hold for the drawing of any workflow.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::sample;
use crate::workflow::Workflow;
use crate::workflow::arbitrary::{self, pattern};
use crate::workflow::preview::layout::{Edge, EdgeKind, Layout, Node, Point, Rect, Shape};
use crate::workflow::preview::{self, STYLE, words};

/// Texts as a hostile file could have them.
fn hostile() -> BoxedStrategy<String> {
    prop_oneof![
        pattern("\\PC{0,80}"),
        pattern("[<>&\"'`;#{}\\[\\]()|\\\\ -]{0,40}"),
        pattern("[\u{0}-\u{1f}\u{202e}\u{ffff}a-z]{0,20}"),
        pattern("[a-zA-Z.]{0,200}"),
        pattern("[一-龥😀]{0,60}"),
    ]
    .boxed()
}

proptest! {
    // A quarter of the usual number: every property here lays out a whole workflow.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn boxes_lie_apart_or_inside_one_another(workflow in arbitrary::workflow_with(hostile())) {
        let layout = preview::layout(&workflow);
        for (index, one) in layout.nodes.iter().enumerate() {
            let page = Rect { x: 0, y: 0, width: layout.width, height: layout.height };
            prop_assert!(contains(page, one.rect), "{:?} is off the page", one);
            for other in &layout.nodes[index + 1..] {
                let nested = one.shape == Shape::Group && contains(one.rect, other.rect);
                prop_assert!(nested || !overlap(one.rect, other.rect), "{:?} and {:?}", one, other);
            }
        }
    }

    #[test]
    fn every_way_ends_on_the_borders_of_its_nodes(workflow in arbitrary::workflow()) {
        let layout = preview::layout(&workflow);
        for edge in &layout.edges {
            let (first, last) = (edge.points[0], edge.points[edge.points.len() - 1]);
            prop_assert!(is_on_border(&layout.nodes[edge.from], first), "{:?} from {:?}", edge, layout.nodes[edge.from]);
            prop_assert!(is_on_border(&layout.nodes[edge.to], last), "{:?} to {:?}", edge, layout.nodes[edge.to]);
        }
    }

    #[test]
    fn ways_are_level_or_upright_and_cross_no_foreign_box(workflow in arbitrary::workflow()) {
        let layout = preview::layout(&workflow);
        for edge in &layout.edges {
            for segment in edge.points.windows(2) {
                prop_assert!((segment[0].x == segment[1].x) != (segment[0].y == segment[1].y), "{:?}", edge);
                for node in &layout.nodes {
                    prop_assert!(!crosses(&layout, edge, segment, node), "{:?} crosses {:?}", edge, node);
                }
            }
        }
    }

    #[test]
    fn ways_of_different_jumps_never_run_on_one_another(workflow in arbitrary::workflow()) {
        let layout = preview::layout(&workflow);
        let jumps: Vec<&Edge> = layout.edges.iter().filter(|edge| edge.kind == EdgeKind::Jump).collect();
        for (index, one) in jumps.iter().enumerate() {
            for other in &jumps[index + 1..] {
                prop_assert!(!share_a_lane(one, other), "{:?} and {:?}", one, other);
            }
        }
    }

    #[test]
    fn every_step_is_drawn_once_and_every_jump_has_its_way(workflow in arbitrary::workflow()) {
        let layout = preview::layout(&workflow);
        let drawn: Vec<&str> = layout.nodes.iter().filter_map(|node| node.step.as_deref()).collect();
        let mut ids: Vec<&str> = workflow.all_steps().iter().map(|step| step.id.as_str()).collect();
        let distinct: BTreeSet<&str> = drawn.iter().copied().collect();
        prop_assert_eq!(distinct.len(), drawn.len());
        ids.sort_unstable();
        prop_assert_eq!(distinct.into_iter().collect::<Vec<_>>(), ids);
        let jumps = workflow.all_steps().iter().filter(|step| step.jump.is_some()).count();
        prop_assert_eq!(layout.edges.iter().filter(|edge| edge.kind == EdgeKind::Jump).count(), jumps);
    }

    #[test]
    fn any_drawing_is_well_formed_and_has_no_style_of_its_own(workflow in arbitrary::workflow_with(hostile())) {
        let plain = preview::svg(&workflow);
        let document = roxmltree::Document::parse(&plain).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(document.descendants().all(|node| node.attribute("style").is_none()));
        prop_assert!(!document.descendants().any(|node| node.has_tag_name("style")));
        let drawn = document.descendants().filter(|node| node.attribute("data-step").is_some()).count();
        prop_assert_eq!(drawn, workflow.all_steps().len());
        let alone = preview::svg_standalone(&workflow);
        prop_assert!(roxmltree::Document::parse(&alone).is_ok());
    }

    #[test]
    fn text_and_flowchart_name_every_step(workflow in arbitrary::workflow_with(hostile())) {
        let (text, chart) = (preview::text(&workflow), preview::mermaid(&workflow));
        for step in workflow.all_steps() {
            prop_assert!(text.contains(&format!("[{}] {}", step.kind.word(), step.id)), "{}", step.id);
            prop_assert!(chart.contains(&format!("{}: {}", step.kind.word(), step.id)), "{}", step.id);
        }
        prop_assert!(!text.chars().any(|character| character.is_control() && character != '\n'));
    }

    #[test]
    fn the_same_workflow_gives_the_same_drawing(workflow in arbitrary::workflow()) {
        prop_assert_eq!(preview::svg(&workflow), preview::svg(&workflow.clone()));
    }

    #[test]
    fn parentheses_of_a_condition_in_words_are_balanced(condition in arbitrary::condition()) {
        let said = words::condition(&condition);
        prop_assert_eq!(said.matches('(').count(), said.matches(')').count());
        prop_assert!(!said.is_empty());
    }
}

fn contains(outer: Rect, inner: Rect) -> bool {
    outer.x <= inner.x
        && outer.y <= inner.y
        && inner.right() <= outer.right()
        && inner.bottom() <= outer.bottom()
}

fn overlap(one: Rect, other: Rect) -> bool {
    one.x < other.right() && other.x < one.right() && one.y < other.bottom() && other.y < one.bottom()
}

fn is_on_border(node: &Node, point: Point) -> bool {
    let inset = node.shape.inset(node.rect, point.y);
    let Rect { x, y, .. } = node.rect;
    let (left, right) = (x + inset, node.rect.right() - inset);
    let on_side = (point.x == left || point.x == right) && (y..=node.rect.bottom()).contains(&point.y);
    let on_level = (point.y == y || point.y == node.rect.bottom()) && (left..=right).contains(&point.x);
    on_side || on_level
}

/// Whether a part of a way runs through the inside of a node that neither end of the way lies in.
fn crosses(layout: &Layout, edge: &Edge, segment: &[Point], node: &Node) -> bool {
    let [from, to] = [edge.from, edge.to].map(|end| &layout.nodes[end]);
    let is_around = |end: &Node| node.shape == Shape::Group && contains(node.rect, end.rect);
    if is_around(from) || is_around(to) {
        return false;
    }
    let swept = Rect {
        x: segment[0].x.min(segment[1].x),
        y: segment[0].y.min(segment[1].y),
        width: (segment[0].x - segment[1].x).abs(),
        height: (segment[0].y - segment[1].y).abs(),
    };
    // A gate's outline stands back from its rectangle, so the ends of its ways reach into that.
    let inset = node.shape.inset(node.rect, swept.y);
    let inner = Rect { x: node.rect.x + inset, width: node.rect.width - 2 * inset, ..node.rect };
    inner.x < swept.right() && swept.x < inner.right() && inner.y < swept.bottom() && swept.y < inner.bottom()
        || swept.height == 0
            && inner.y < swept.y
            && swept.y < inner.bottom()
            && inner.x < swept.right()
            && swept.x < inner.right()
        || swept.width == 0
            && inner.x < swept.x
            && swept.x < inner.right()
            && inner.y < swept.bottom()
            && swept.y < inner.bottom()
}

/// Whether the upright parts of two jumps lie on one another.
fn share_a_lane(one: &Edge, other: &Edge) -> bool {
    let upright = |edge: &Edge| {
        edge.points
            .windows(2)
            .find(|part| part[0].x == part[1].x)
            .map(|part| (part[0].x, part[0].y.min(part[1].y), part[0].y.max(part[1].y)))
    };
    match (upright(one), upright(other)) {
        (Some((x, top, bottom)), Some((other_x, other_top, other_bottom))) => {
            x == other_x && top < other_bottom && other_top < bottom
        }
        _ => false,
    }
}

#[test]
fn who_acts_is_told_by_shape_and_not_by_colour_alone() {
    let layout = preview::layout(&sample::workflow());
    let shape =
        |id: &str| layout.nodes.iter().find(|node| node.step.as_deref() == Some(id)).expect("drawn").shape;
    assert_eq!(shape("reproduce"), Shape::Agent);
    assert_eq!(shape("checks"), Shape::Engine);
    assert_eq!(shape("look"), Shape::Gate);
    assert_eq!(shape("fix"), Shape::Group);
}

#[test]
fn a_drawing_says_what_it_shows_to_those_who_cannot_see_it() {
    let svg = preview::svg(&sample::workflow());
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    let texts: Vec<&str> =
        root.children().filter(roxmltree::Node::is_element).take(2).filter_map(|node| node.text()).collect();
    let about = "For bugs that one person could fix in an hour. Workflow lh.bugfix-small 1.2.0 with 16 steps. In order: \
                 reproduce, diagnose, fix, slices, confidence, pitch, reviewers, audit, look, ship.";
    assert_eq!(texts, ["Small bug fix", about]);
}

#[test]
fn a_text_that_is_cut_is_whole_in_the_tooltip() {
    let mut workflow = sample::workflow();
    let long = "word ".repeat(60).trim_end().to_owned();
    workflow.steps[0].title.clone_from(&long);
    let layout = preview::layout(&workflow);
    let node = layout.nodes.iter().find(|node| node.step.as_deref() == Some("reproduce")).expect("drawn");
    assert!(node.lines.iter().any(|line| line.text.ends_with('…')));
    assert!(node.title.contains(&long));
}

#[test]
fn a_jump_to_a_step_that_does_not_exist_is_told_but_not_drawn() {
    let mut workflow: Workflow = sample::workflow();
    workflow.steps[1].jump.as_mut().expect("it jumps").to = "nowhere".to_owned();
    let layout = preview::layout(&workflow);
    assert!(layout.edges.iter().all(|edge| edge.kind != EdgeKind::Jump));
    assert!(preview::text(&workflow).contains("jumps to nowhere if"));
}

#[test]
fn a_workflow_without_steps_is_still_a_drawing() {
    let mut workflow = sample::workflow();
    workflow.steps.clear();
    let layout = preview::layout(&workflow);
    assert_eq!(layout.edges.len(), 1);
    assert!(roxmltree::Document::parse(&preview::svg_standalone(&workflow)).is_ok());
}

#[test]
fn the_style_sheet_has_the_sizes_that_the_layout_measures_with() {
    for rule in [
        "text { fill: #1c2430; font-size: 11px",
        "text.kind { fill: #5b6675; font-size: 10px",
        "text.title { font-size: 13px",
    ] {
        assert!(STYLE.contains(rule), "{rule}");
    }
    assert!(STYLE.contains("prefers-color-scheme: dark"));
}
