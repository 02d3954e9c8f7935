//! The daemon's own stream: which process serves, what is paused, who was told.

use longhaul_core::service::{self, Command, Pause, Service, daemon_id};
use longhaul_events::{DaemonEvent, DaemonId, Driver, Seq, StreamId, WorkspaceId};
use longhaul_store::State;
use longhaul_store::views::Board;

use super::Commands;
use crate::error::Error;
use crate::recorder::{Aggregate, Contents, Decided};

impl Aggregate for Service {
    type Event = DaemonEvent;

    fn seq(&self) -> Seq {
        self.seq
    }

    fn apply(&mut self, event: &DaemonEvent) {
        self.apply(event);
    }

    fn state(&self) -> State {
        let bytes = serde_json::to_vec(self).expect("a service has string keys only");
        State { fold_version: service::FOLD_VERSION, bytes }
    }
}

impl Commands {
    /// All rows of the views in memory, for whoever watches all the time.
    pub(crate) fn board(&self) -> Result<Board, Error> {
        match &self.views {
            Some(views) => Ok(Board::load(views, &*self.recorder.log)?),
            None => Ok(Board::default()),
        }
    }

    /// Brings them up to date, and names the streams that changed.
    pub(crate) fn follow_board(&self, board: &mut Board) -> Result<Vec<StreamId>, Error> {
        Ok(board.follow(&*self.recorder.log)?)
    }

    /// The daemon of this machine.
    pub fn daemon(&self) -> DaemonId {
        // Not what tells processes apart: that changes with every boot, and a pause lasts longer.
        daemon_id(&rustix::system::uname().nodename().to_string_lossy())
    }

    /// What is on record of the daemon of this machine.
    pub fn service(&self) -> Result<Service, Error> {
        let id = self.daemon();
        let stream = StreamId::from(id);
        let mut service = Service::new(id);
        let Some(head) = self.recorder.log.head(stream)? else { return Ok(service) };
        let stored = head.state.filter(|state| state.fold_version == service::FOLD_VERSION);
        if let Some(stored) = stored.and_then(|state| serde_json::from_slice::<Service>(&state.bytes).ok())
            && stored.seq == head.seq
        {
            return Ok(stored);
        }
        for decision in &self.recorder.log.read(stream, Seq(0), usize::MAX)? {
            decision.readable_events::<DaemonEvent>()?.iter().for_each(|event| service.apply(event));
        }
        Ok(service)
    }

    /// Says that a process serves from now on.
    pub fn service_started(&self, process: Driver, version: &str) -> Result<(), Error> {
        self.decide_service(&Command::Start { process, version: version.to_owned() }).map(drop)
    }

    pub fn service_stopped(&self, because: &str) -> Result<(), Error> {
        self.decide_service(&Command::Stop { because: because.to_owned() }).map(drop)
    }

    /// Has nothing new started, at all or in one repository. Says whether that was anything new.
    pub fn pause_queue(
        &self,
        workspace: Option<WorkspaceId>,
        by: &str,
        because: Option<&str>,
    ) -> Result<bool, Error> {
        let pause = Pause { by: by.to_owned(), because: because.map(str::to_owned) };
        self.decide_service(&Command::Pause { workspace, pause })
    }

    pub fn resume_queue(&self, workspace: Option<WorkspaceId>, by: &str) -> Result<bool, Error> {
        self.decide_service(&Command::Resume { workspace, by: by.to_owned() })
    }

    /// Puts on record that somebody was told of an entry of the inbox.
    pub fn notified(&self, entry: &str, way: &str) -> Result<bool, Error> {
        self.decide_service(&Command::Notify { entry: entry.to_owned(), way: way.to_owned() })
    }

    fn decide_service(&self, command: &Command) -> Result<bool, Error> {
        let stream = self.daemon().into();
        let recorded = self.recorder.record(self.write(stream, &Contents::default()), || {
            let service = self.service()?;
            let events = service.decide(command.clone());
            let decided =
                if events.is_empty() { Decided::Nothing(false) } else { Decided::Events(events, true) };
            Ok((service, decided))
        });
        recorded.map(|(is_new, _)| is_new)
    }
}
