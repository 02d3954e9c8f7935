//! Which jump runs how far out beside the steps, so that no two lie on one another.

use std::collections::BTreeMap;

use crate::workflow::step::{Jump, Step};

/// The jumps that run beside one list.
#[derive(Debug, Default)]
pub(super) struct Lanes<'a> {
    pub jumps: Vec<LaneJump<'a>>,
    pub count: usize,
}

#[derive(Debug)]
pub(super) struct LaneJump<'a> {
    pub from: &'a Step,
    pub jump: &'a Jump,
    /// The one nearest to the steps is zero.
    pub lane: usize,
}

/// Path of a list (indices from the outermost list down to the step that holds it) → its jumps.
pub(super) type ByList<'a> = BTreeMap<Vec<usize>, Lanes<'a>>;

/// A step's place in the tree, and where ways into and out of it lie from top to bottom.
struct Port<'a> {
    step: &'a Step,
    path: Vec<usize>,
    enter: usize,
    leave: usize,
}

/// A jump on its way down or up.
struct Span<'a> {
    from: &'a Step,
    jump: &'a Jump,
    first: usize,
    last: usize,
}

/// Gives every jump whose target exists to the innermost list around both of its ends.
pub(super) fn assign(steps: &[Step]) -> ByList<'_> {
    let mut ports = Vec::new();
    gather(steps, &mut Vec::new(), &mut Counter { next: 0, ports: &mut ports });
    let by_id: BTreeMap<&str, &Port<'_>> = ports.iter().map(|port| (port.step.id.as_str(), port)).collect();
    let mut spans: BTreeMap<Vec<usize>, Vec<Span<'_>>> = BTreeMap::new();
    for port in &ports {
        let Some(jump) = &port.step.jump else { continue };
        let Some(target) = by_id.get(jump.to.as_str()) else { continue };
        let (first, last) = (port.leave.min(target.enter), port.leave.max(target.enter));
        let span = Span { from: port.step, jump, first, last };
        spans.entry(common_list(&port.path, &target.path)).or_default().push(span);
    }
    spans.into_iter().map(|(path, spans)| (path, lanes(spans))).collect()
}

struct Counter<'a, 'p> {
    next: usize,
    ports: &'p mut Vec<Port<'a>>,
}

impl Counter<'_, '_> {
    fn tick(&mut self) -> usize {
        self.next += 1;
        self.next
    }
}

fn gather<'a>(steps: &'a [Step], path: &mut Vec<usize>, counter: &mut Counter<'a, '_>) {
    for (index, step) in steps.iter().enumerate() {
        path.push(index);
        let enter = counter.tick();
        gather(step.kind.inner(), path, counter);
        let leave = counter.tick();
        counter.ports.push(Port { step, path: path.clone(), enter, leave });
        path.pop();
    }
}

fn common_list(from: &[usize], to: &[usize]) -> Vec<usize> {
    let holders = |path: &[usize]| path.len() - 1;
    let most = holders(from).min(holders(to));
    let shared = from[..most].iter().zip(&to[..most]).take_while(|(one, other)| one == other).count();
    from[..shared].to_vec()
}

/// Short ones inside, long ones outside: then few of them cross.
fn lanes(mut spans: Vec<Span<'_>>) -> Lanes<'_> {
    spans.sort_by_key(|span| (span.last - span.first, span.first));
    let mut taken: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut jumps = Vec::with_capacity(spans.len());
    for Span { from, jump, first, last } in spans {
        let is_free =
            |lane: &Vec<(usize, usize)>| lane.iter().all(|&(start, end)| last < start || end < first);
        // Never inside of a shorter one that it spans: its level ends would cross that one.
        let innermost = taken.iter().rposition(|lane| !is_free(lane)).map_or(0, |lane| lane + 1);
        if innermost == taken.len() {
            taken.push(Vec::new());
        }
        taken[innermost].push((first, last));
        jumps.push(LaneJump { from, jump, lane: innermost });
    }
    Lanes { jumps, count: taken.len() }
}
