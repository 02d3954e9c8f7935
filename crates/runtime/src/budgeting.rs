//! What sessions may use: chosen when one starts, and changed by a person later.

use longhaul_core::budget;
use longhaul_core::cassette;
use longhaul_core::parking::ParkCode;
use longhaul_core::session::{At, NewBudget, Park, Rejection, Session};
use longhaul_events::{Caps, SessionId, TaskChange, TokenCount};

use crate::commands::Commands;
use crate::driving::Script;
use crate::error::{DrivenError, Error};
use crate::runner::Who;
use crate::system::System;
use crate::terminal;

impl System {
    /// The caps of the settings, with some of them changed; money is for the whole task. More than the files allow is a
    /// person's to give.
    pub(crate) fn caps_with(&self, text: Option<&str>) -> Result<Caps, Error> {
        let settings = self.config()?.caps;
        let caps = text.map_or(Ok(settings), |text| budget::changed_for_task(settings, text))?;
        if terminal::is_under_agent() && is_beyond(&caps, &self.config_of_files()?.caps) {
            return Err(Error::UnderAgent);
        }
        Ok(caps)
    }

    /// Gives a session other caps, as in `tokens=100k`, and goes on with it if it was parked for want of them; so does one below
    /// that it waits for. That of the day is taken from the settings anew, and so is that of its task unless a person gave it
    /// one. A person's to do.
    pub fn change_budget(&self, commands: &Commands, id: SessionId, text: &str) -> Result<(), Error> {
        terminal::refuse_agents()?;
        let session = commands.load_session(id)?;
        let waited = commands.waited_for(&session)?.filter(|_| !is_out_of_means(&session));
        let lacking = waited.filter(is_out_of_means);
        if let Some(below) = &lacking {
            enough(commands, below, &self.caps_anew(commands, below, text)?)?;
        }
        self.change_own_budget(commands, &session, text)?;
        lacking.map_or(Ok(()), |below| self.change_own_budget(commands, &below, text))
    }

    fn change_own_budget(&self, commands: &Commands, session: &Session, text: &str) -> Result<(), Error> {
        if session.closed.is_some() {
            return Err(Rejection::Closed.into());
        }
        if session.agent.is_none() {
            return Err(Error::Driven(DrivenError::NotDriven { id: session.id, lacks: "budget of ours" }));
        }
        let (caps, by) = (self.caps_anew(commands, session, text)?, terminal::user_name());
        self.give_budget(commands, session, &NewBudget { caps, by: by.clone() })?;
        let before = session.caps.map_or(caps.task_money_micros, |caps| caps.task_money_micros);
        if let Some(task) = session.task.filter(|_| {
            budget::gives_money(text)
                && caps.task_money_micros == caps.money_micros
                && caps.task_money_micros > before
        }) {
            commands.set_task(task, &TaskChange::Budget(caps), &by, None)?;
        }
        Ok(())
    }

    /// What a session has after a change. No session may use more than its task, so whoever gives it more gives it to the task.
    fn caps_anew(&self, commands: &Commands, session: &Session, text: &str) -> Result<Caps, Error> {
        let settings = self.config()?.caps;
        let given = commands.task_of(session)?.and_then(|task| task.money_micros);
        let task_money_micros = given.unwrap_or(settings.task_money_micros);
        let day_money_micros = settings.day_money_micros;
        let now = Caps { task_money_micros, day_money_micros, ..session.caps.unwrap_or(settings) };
        let caps = budget::changed(now, text)?;
        let task_money_micros = if budget::gives_money(text) {
            caps.task_money_micros.max(caps.money_micros)
        } else {
            caps.task_money_micros
        };
        Ok(Caps { task_money_micros, ..caps })
    }

    /// Puts other caps in force, and goes on with what was parked for want of them.
    pub(crate) fn give_budget(
        &self,
        commands: &Commands,
        session: &Session,
        budget: &NewBudget,
    ) -> Result<(), Error> {
        let goes_on = is_out_of_means(session);
        if goes_on {
            enough(commands, session, &budget.caps)?;
        }
        commands.set_budget(session.id, budget)?;
        if goes_on {
            self.start_runner(session.id)?;
        }
        Ok(())
    }
}

fn is_beyond(caps: &Caps, settings: &Caps) -> bool {
    caps.tokens > settings.tokens
        || caps.time_ms > settings.time_ms
        || caps.money_micros > settings.money_micros
        || caps.turns > settings.turns
        || caps.task_money_micros > settings.task_money_micros
        || caps.day_money_micros > settings.day_money_micros
}

pub(crate) fn is_out_of_means(session: &Session) -> bool {
    match &session.at {
        At::Parked(Park { out: Some(_), code, .. }) => {
            ParkCode::of(code).is_some_and(ParkCode::is_lifted_by_means)
        }
        At::Parked(_) | At::Nothing | At::Step(_) | At::Work(_) | At::Gate(_) => false,
    }
}

/// Whoever gives too little again is told now, not after a runner has looked.
pub(crate) fn enough(commands: &Commands, session: &Session, caps: &Caps) -> Result<(), Error> {
    let price = match commands.assignment_of(session.id)?.who {
        Who::Rehearsal(Script { path, text }) => cassette::parse(&path, &text)?.pricing,
        Who::Staff(staff) => staff.usual.current().pricing,
    };
    let price = price.known()?;
    let time_ms = commands.wall_clock(session.id)?.ms();
    let used = commands.used(session, time_ms, price)?;
    let turn = TokenCount { input: 1, output: 1 };
    let within = budget::after_turn(caps, &used).and_then(|()| budget::before_turn(caps, &used, turn, price));
    within.map_err(|over| {
        let message = over.reason(session.id).message;
        budget::Error::TooLittle { message }.into()
    })
}
