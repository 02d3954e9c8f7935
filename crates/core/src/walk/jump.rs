//! Jumps, and what comes after a step.

use std::collections::BTreeMap;

use longhaul_events::{Choice, StepId};

use super::{Found, Spot, Walk, id_of};
use crate::workflow::step::Jump;
use crate::workflow::{Step, StepKind};

impl<'a> Walk<'a> {
    /// From a step that is done and confirmed to what comes after it.
    pub(super) fn move_on(&mut self, step: &'a Step) -> Found<'a> {
        match &step.jump {
            Some(jump) if self.jump(step, jump) => {}
            Some(_) | None => self.pass(),
        }
        Found::Nothing
    }

    fn jump(&mut self, step: &Step, jump: &Jump) -> bool {
        let judged = jump.when.judge(&self.scope());
        if !judged.holds {
            self.consider(step, Choice::NotJumped, judged.because);
            return false;
        }
        let Some((depth, index)) = self.target(&jump.to) else { return false };
        let loops = loops_around(&self.spots[..depth]);
        let taken = self.jumps_in(loops).entry(id_of(step)).or_insert(0);
        if *taken >= jump.max_jumps {
            let because = format!("{}; all {} jumps are used up", judged.because, jump.max_jumps);
            self.consider(step, Choice::NotJumped, because);
            return false;
        }
        *taken += 1;
        let because = format!("to `{}` ({taken} of {}): {}", jump.to, jump.max_jumps, judged.because);
        self.consider(step, Choice::Jumped, because);
        self.place.frames.truncate(loops);
        self.items.truncate(loops);
        self.spots.truncate(depth + 1);
        self.spots[depth].index = index;
        true
    }

    /// The innermost list around us that has the step.
    fn target(&self, to: &str) -> Option<(usize, usize)> {
        let place = |(depth, spot): (usize, &Spot<'_>)| {
            spot.steps.iter().position(|step| step.id == to).map(|index| (depth, index))
        };
        self.spots.iter().enumerate().rev().find_map(place)
    }

    fn jumps_in(&mut self, loops: usize) -> &mut BTreeMap<StepId, u32> {
        match loops.checked_sub(1).and_then(|last| self.place.frames.get_mut(last)) {
            Some(frame) => &mut frame.jumps,
            None => &mut self.place.jumps,
        }
    }
}

fn loops_around(spots: &[Spot<'_>]) -> usize {
    let is_loop =
        |spot: &&Spot<'_>| matches!(spot.steps[spot.index].kind, StepKind::Loop(_) | StepKind::Todo(_));
    spots.iter().filter(is_loop).count()
}
