//! One call of a tool, from its arguments to its answer: run once, asked about where a gate is in the way, and answered
//! by its deadline.

use std::time::Instant;

use longhaul_runtime::AnswerGate;
use longhaul_runtime::types::Handle;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};

use crate::desk::Desk;
use crate::gate::{self, Asked, Asking};
use crate::refusal::Refusal;
use crate::reply::{Reply, SentToken};
use crate::server::Longhaul;
use crate::tools::{self, Offer};
use crate::waiting::{Stopped, Waiting};
use crate::words;

pub(crate) struct Call<'a> {
    server: &'a Longhaul,
    context: &'a RequestContext<RoleServer>,
    tool: Offer,
    waiting: Waiting<'a>,
    desk: Desk,
    token: Option<SentToken>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(
        server: &'a Longhaul,
        context: &'a RequestContext<RoleServer>,
        request: &CallToolRequestParams,
    ) -> Result<Self, ErrorData> {
        Ok(Self {
            server,
            context,
            tool: server.tool(&request.name)?,
            waiting: Waiting::new(context),
            desk: server.desk.until(Instant::now() + server.limits.patience),
            token: request.arguments.as_ref().and_then(SentToken::among),
        })
    }

    pub(crate) async fn answer(
        mut self,
        request: CallToolRequestParams,
    ) -> Result<CallToolResponse, ErrorData> {
        // What is not asked on the newest protocol, or of somebody who could not be asked, proves nothing.
        let is_asked = self.can_ask() && gate::is_newest(self.context);
        let state = request.request_state.filter(|_| is_asked);
        let mut reply = match state.as_deref() {
            None => self.run(request.arguments.unwrap_or_default()).await?,
            Some(state) => {
                self.refuse_another_session(state, request.arguments.as_ref())?;
                self.standing(state).await?
            }
        };
        let question = state.and_then(|state| state.parse::<Handle>().ok());
        let mut given = request.input_responses.filter(|_| question.is_some()).unwrap_or_default();
        while let Some(asking) = reply.view.as_ref().filter(|_| self.can_ask()).and_then(Asking::of) {
            let is_proved = question.is_some_and(|question| asking.is_proved_by(&question));
            let candidates = reply.candidates.take();
            match self.ask(&asking, given.remove(&asking.id).filter(|_| is_proved)).await? {
                Ok(Asked::Answered(answer)) => reply = self.answer_gate(answer).await?,
                Ok(Asked::Later(question)) => return Ok(question.into()),
                Ok(Asked::Declined) => {
                    reply.warn(words::DECLINED);
                    reply.view = None;
                }
                Ok(Asked::Nobody) => reply.view = None,
                Err(refused) => reply = *refused,
            }
            reply.candidates = candidates;
        }
        Ok(self.tool.wrap(reply).into_result().into())
    }

    fn can_ask(&self) -> bool {
        self.server.has_a_person() && gate::can_ask(self.context)
    }

    async fn run(&mut self, fields: Map<String, Value>) -> Result<Reply, ErrorData> {
        let tool = self.tool;
        self.on_desk(move |desk| tool.call(desk, fields)).await
    }

    /// A question about one session is not answered by a call about another.
    fn refuse_another_session(
        &self,
        state: &str,
        arguments: Option<&Map<String, Value>>,
    ) -> Result<(), ErrorData> {
        let asked = state.parse::<Handle>().ok().map(|question| question.session);
        let token = self.token.as_ref().and_then(|token| token.text.parse::<Handle>().ok());
        let named = arguments.and_then(|fields| fields.get("sessionId")?.as_str()?.trim().parse().ok());
        let meant = token.map(|token| token.session).or(named);
        if asked.is_some() && meant.is_some() && asked != meant {
            let message =
                "`requestState` is about another session than the call; send it with the call that led to it";
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(())
    }

    /// The second half of a call whose first half led to a question: the tool is not run again.
    async fn standing(&mut self, state: &str) -> Result<Reply, ErrorData> {
        let unknown = || {
            let message = "`requestState` was not given out by this server; make the call again without it";
            ErrorData::invalid_params(message, None)
        };
        let question: Handle = state.parse().map_err(|_| unknown())?;
        let token = self.token.clone();
        let standing = self.on_desk(move |desk| tools::standing(desk, &question, token.as_ref())).await;
        standing?.ok_or_else(unknown)
    }

    /// Asks, unless the answer came with the call. A refusal takes the place of the answer.
    async fn ask(
        &mut self,
        asking: &Asking,
        given: Option<Value>,
    ) -> Result<Result<Asked, Box<Reply>>, ErrorData> {
        let (context, reach) = (self.context, self.server.reach);
        if let Some(response) = given {
            return Ok(Ok(asking.given(context, reach, &response)));
        }
        let (about, token) = (asking.clone(), self.token.clone());
        let question = self
            .on_desk(move |desk| {
                about
                    .question(desk)
                    .map_err(|error| Box::new(tools::refused(desk, &Refusal::from(error), token.as_ref())))
            })
            .await?;
        let question = match question {
            Ok(question) => question,
            Err(refused) => return Ok(Err(refused)),
        };
        let desk = self.server.desk.clone();
        // A client that has closed its side brings no answer, and the gate stays as it is.
        let asking = async {
            tokio::select! {
                asked = asking.ask(context, reach, question) => asked,
                () = desk.deserted() => Asked::Nobody,
            }
        };
        let asked = self.waiting.on(asking).await;
        // The time that a person takes is theirs; what their word leads to has its own.
        self.desk = self.server.desk.until(Instant::now() + self.server.limits.patience);
        match asked {
            Ok(asked) => Ok(Ok(asked)),
            Err(stopped) => Err(stopped.into()),
        }
    }

    async fn answer_gate(&mut self, answer: AnswerGate) -> Result<Reply, ErrorData> {
        let token = self.token.clone();
        self.on_desk(move |desk| tools::answer_gate(desk, &answer, token.as_ref())).await
    }

    /// Works on it where blocking is allowed. If there is no place for it, the answer says so and leaves the token.
    async fn on_desk<T: Send + 'static + FromBusy>(
        &mut self,
        work: impl FnOnce(&Desk) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let desk = self.desk.clone();
        match self.waiting.blocking(&self.server.room, move || work(&desk)).await {
            Ok(done) => Ok(done),
            Err(Stopped::Busy) => {
                Ok(T::from_busy(Reply::refused(&Refusal::bad(Stopped::Busy.words()), self.token.as_ref())))
            }
            Err(stopped @ (Stopped::Cancelled | Stopped::Bug)) => Err(stopped.into()),
        }
    }
}

/// What can say that there was no place for it.
trait FromBusy {
    fn from_busy(refused: Reply) -> Self;
}

impl FromBusy for Reply {
    fn from_busy(refused: Reply) -> Self {
        refused
    }
}

impl FromBusy for Option<Reply> {
    fn from_busy(refused: Reply) -> Self {
        Some(refused)
    }
}

impl<T> FromBusy for Result<T, Box<Reply>> {
    fn from_busy(refused: Reply) -> Self {
        Err(Box::new(refused))
    }
}
