//! Telling whoever waits for a runner what it is at.

use longhaul_core::walk::view::StepView;

use crate::system::System;

/// Tells of each piece of work once, however often it is looked at.
pub(crate) struct Teller {
    tell: Option<fn(&StepView)>,
    /// The step that was told of last, and since when it is at work.
    told: Option<(Option<String>, String)>,
}

impl Teller {
    pub(crate) fn tell(&mut self, view: &StepView) {
        let (Some(tell), Some(working)) = (self.tell, &view.working) else { return };
        let work = Some((view.step_id.clone(), working.since.clone()));
        if self.told != work {
            self.told = work;
            tell(view);
        }
    }
}

impl System {
    pub(crate) const fn teller(&self) -> Teller {
        Teller { tell: self.told_of_work(), told: None }
    }
}
