//! Jumps, and what comes after a step.

use std::collections::BTreeMap;

use longhaul_events::{Choice, Reason, StepId};

use super::{Found, Spot, Walk, id_of};
use crate::parking::ParkCode;
use crate::workflow::step::Jump;
use crate::workflow::{Step, StepKind};

/// What became of a jump.
enum Jumped {
    Yes,
    No,
    /// It should be made, and was made as often as it may.
    UsedUp,
}

impl<'a> Walk<'a> {
    /// From a step that is done and confirmed to what comes after it.
    pub(super) fn move_on(&mut self, step: &'a Step) -> Found<'a> {
        match step.jump.as_ref().map(|jump| self.jump(step, jump)) {
            Some(Jumped::Yes) => {}
            Some(Jumped::UsedUp) if matches!(step.kind, StepKind::Deliver(_)) => {
                return Found::Park(step, vec![self.delivered_in_vain(step)]);
            }
            Some(Jumped::No | Jumped::UsedUp) | None => self.pass(),
        }
        Found::Nothing
    }

    /// What was not delivered however often it was tried is not passed by.
    fn delivered_in_vain(&self, step: &Step) -> Reason {
        let (id, session) = (&step.id, self.session);
        ParkCode::DeliveryStale.reason(
            format!("`{id}` was stale every time it was tried, and all its jumps are used up"),
            format!("when the base is quiet, `longhaul session rewind {session} --to {id} --reason TEXT`; nothing is done twice"),
        )
    }

    fn jump(&mut self, step: &Step, jump: &Jump) -> Jumped {
        let judged = jump.when.judge(&self.scope());
        if !judged.holds {
            self.consider(step, Choice::NotJumped, judged.because);
            return Jumped::No;
        }
        let Some((depth, index)) = self.target(&jump.to) else { return Jumped::No };
        let loops = loops_around(&self.spots[..depth]);
        let taken = self.jumps_in(loops).entry(id_of(step)).or_insert(0);
        if *taken >= jump.max_jumps {
            let because = format!("{}; all {} jumps are used up", judged.because, jump.max_jumps);
            self.consider(step, Choice::NotJumped, because);
            return Jumped::UsedUp;
        }
        *taken += 1;
        let because = format!("to `{}` ({taken} of {}): {}", jump.to, jump.max_jumps, judged.because);
        self.consider(step, Choice::Jumped, because);
        self.place.frames.truncate(loops);
        self.items.truncate(loops);
        self.spots.truncate(depth + 1);
        self.spots[depth].index = index;
        Jumped::Yes
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
