//! The one place that speaks HTTP: a request goes in, an answer or an error comes out.

use std::io::Read as _;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Map, Value};
use ureq::Timeout;
use ureq::http::{self, HeaderMap, HeaderName, HeaderValue, header};

use crate::config::{Config, Login, Secret};
use crate::error::{AnswerProblem, ApiError, Break, Interruption, Phase, TransportError};
use crate::request::Request;
use crate::{Error, Result};

mod cancel;
mod cause;
mod certificate;
mod connector;
mod der;
mod headers;
mod limits;
mod line;
mod private_key;
mod record;
mod roots;
mod session;
mod tls;
mod tls_config;
mod verifier;

pub use cancel::CancelToken;
pub(crate) use limits::Limits;

use cause::{cause, died, is_no_answer, is_timeout};
use headers::{retry_after, warnings};
use line::Exchange;
use session::{IDLE_FOR_READS, Sessions};

/// Connections to one API server as one identity. Shared by all threads of a client.
pub(crate) struct Transport {
    sessions: Sessions,
    server: String,
}

/// What explains a refusal is short; a page of a proxy is not worth more.
const REFUSAL_LIMIT: u64 = 1024 * 1024;
/// A mutation must not race against an idle timeout: it would be of unknown outcome.
const IDLE_FOR_MUTATIONS: Duration = Duration::from_secs(2);

const UNAUTHORIZED: u16 = 401;
const PROXY_UNAUTHORIZED: u16 = 407;
const NO_REDIRECTS: &str =
    "redirects are not followed: the cluster's server has to be the API server itself";
const LOG_IN_AT_THE_PROXY: &str =
    "a proxy on the way wants to know who asks: put user and password into proxy-url";
const LOG_IN_FIRST: &str = "OpenShift's API takes no user with password: get a token with oc login";

impl Transport {
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Opens no connection and reads no file but those that are due to be read again.
    pub(crate) fn new(config: Config) -> Result<Self> {
        Ok(Self { server: config.server.to_string(), sessions: Sessions::new(config)? })
    }

    /// A successful answer. Any other is [`Error::Api`].
    pub(crate) fn send(&self, request: &Request, limits: &Limits) -> Result<Success> {
        if let Some(interruption) = limits.interruption() {
            let (subject, how) = (request.subject.clone(), Break::Interrupted(interruption));
            return Err(TransportError::new(subject, Phase::Connect, how, interruption).into());
        }
        let Answer { status, headers, body } = self.authenticated(request, limits)?;
        if !(200..300).contains(&status) {
            // The status stands, even when the text that explains it did not arrive.
            let (subject, body) = (request.subject.clone(), body.unwrap_or_default());
            let error =
                ApiError::new(subject, status, &body, retry_after(&headers, Timestamp::now()));
            let is_basic = self.sessions.config().credential.as_ref().is_some_and(|c| c.is_basic());
            let advice = match status {
                UNAUTHORIZED if is_basic => Some(LOG_IN_FIRST),
                300..=399 => Some(NO_REDIRECTS),
                PROXY_UNAUTHORIZED => Some(LOG_IN_AT_THE_PROXY),
                _ => None,
            };
            return Err(match advice {
                Some(advice) => error.advise(advice),
                None => error,
            }
            .into());
        }
        let unusable = |problem| TransportError::answer(request.subject.clone(), problem);
        let body = body.map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(limit) => {
                unusable(AnswerProblem::TooLong { limit }).into()
            }
            error => self.error(request, limits, Phase::Answer, error),
        })?;
        let body = serde_json::from_slice(&body).map_err(|error| unusable(error.into()))?;
        let warnings = warnings(&headers);
        record::warnings(request, &warnings);
        Ok(Success { created: status == 201, warnings, body })
    }

    /// The server does not act on what it answers with a 401, so that this does not count as sent:
    /// it is sent again, once, when there is another credential than the one refused.
    fn authenticated(&self, request: &Request, limits: &Limits) -> Result<Answer> {
        let Some(credential) = &self.sessions.config().credential else {
            return self.answer(request, limits, &Login::default());
        };
        let login = credential.login(Instant::now())?;
        let answer = self.answer(request, limits, &login)?;
        if answer.status != UNAUTHORIZED {
            return Ok(answer);
        }
        match credential.login_again(&login, Instant::now())? {
            Some(login) => self.answer(request, limits, &login),
            None => Ok(answer),
        }
    }

    /// A GET is sent once more, over a new connection, when the first one died. Nothing else that
    /// the server may have acted on is ever sent twice.
    fn answer(&self, request: &Request, limits: &Limits, login: &Login) -> Result<Answer> {
        let agent = self.sessions.agent(login, Instant::now())?;
        let header = login.authorization.as_ref();
        let exchange = |idle_age| self.exchange(&agent, request, limits, header, idle_age);
        let idle_age = if request.verb.mutates() { IDLE_FOR_MUTATIONS } else { IDLE_FOR_READS };
        let first = exchange(idle_age);
        let died = match &first {
            // An answer that is none of success stands, though its text did not arrive.
            Ok(answer) => {
                (200..300).contains(&answer.status) && answer.body.as_ref().err().is_some_and(died)
            }
            Err((_, error)) => died(error),
        };
        let again = died && !request.verb.mutates() && limits.interruption().is_none();
        let answer = if again { exchange(Duration::ZERO) } else { first };
        answer.map_err(|(phase, error)| self.error(request, limits, phase, error))
    }

    /// One request over the wire.
    fn exchange(
        &self,
        agent: &ureq::Agent,
        request: &Request,
        limits: &Limits,
        authorization: Option<&Secret>,
        idle_age: Duration,
    ) -> Result<Answer, (Phase, ureq::Error)> {
        let start = Instant::now();
        let result = Exchange::run(limits, |exchange| {
            let run = || {
                let message = self.message(request, authorization)?;
                let message = agent
                    .configure_request(message)
                    .timeout_connect(Some(limits.timeouts.connect()))
                    .timeout_per_read(Some(limits.timeouts.read()))
                    .timeout_per_write(Some(limits.timeouts.read()))
                    .max_idle_age(idle_age)
                    .build();
                agent.run(message)
            };
            let mut response = run().map_err(|error| {
                let phase = match exchange.is_sent() {
                    true if is_no_answer(&error) => Phase::Answer,
                    true => Phase::Exchange,
                    false => Phase::Connect,
                };
                (phase, error)
            })?;
            let limit = match self.sessions.config().answer_limit {
                limit if response.status().is_success() => limit,
                limit => limit.min(REFUSAL_LIMIT),
            };
            let body = read_body(response.body_mut(), limit);
            Ok(Answer {
                status: response.status().as_u16(),
                headers: std::mem::take(response.headers_mut()),
                body,
            })
        });
        record::exchange(request, &result, start.elapsed());
        result
    }

    fn message<'a>(
        &self,
        request: &'a Request,
        authorization: Option<&Secret>,
    ) -> Result<http::Request<&'a [u8]>, http::Error> {
        let body = request.body.as_ref().map(|(_, body)| body.as_slice());
        let mut message = http::Request::builder()
            .method(request.verb.method())
            .uri(format!("{}{}", self.server, request.target))
            .body(body.unwrap_or_default())?;
        self.add_headers(request, authorization, message.headers_mut())?;
        Ok(message)
    }

    /// Values that a configuration gives were looked at when it was checked.
    fn add_headers(
        &self,
        request: &Request,
        authorization: Option<&Secret>,
        headers: &mut HeaderMap,
    ) -> Result<(), http::Error> {
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        if let Some((media_type, _)) = &request.body {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type.name()));
        }
        if let Some(impersonation) = &self.sessions.config().impersonation {
            for (name, value) in impersonation.headers() {
                let name = HeaderName::from_bytes(name.as_bytes())?;
                headers.append(name, HeaderValue::from_bytes(value.as_bytes())?);
            }
        }
        if let Some(authorization) = authorization {
            let mut value = HeaderValue::from_bytes(authorization.expose().as_bytes())?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        Ok(())
    }

    fn error(&self, request: &Request, limits: &Limits, phase: Phase, error: ureq::Error) -> Error {
        let how = match (&error, limits.interruption()) {
            (_, Some(Interruption::Cancelled)) => Break::Interrupted(Interruption::Cancelled),
            (ureq::Error::Timeout(Timeout::Global), _) => {
                Break::Interrupted(Interruption::Deadline)
            }
            (error, _) if is_timeout(error) => Break::TimedOut,
            _ => Break::Failed,
        };
        let source = cause(error, phase, limits.timeouts, self.sessions.config());
        TransportError::new(request.subject.clone(), phase, how, source).into()
    }
}

/// A successful answer, read.
pub(crate) struct Success {
    /// Whether the server says that it created the object (201), not that it had one already.
    pub(crate) created: bool,
    /// The texts of its `Warning` headers.
    pub(crate) warnings: Vec<String>,
    pub(crate) body: Value,
}

impl Success {
    /// The object that the body has to be.
    pub(crate) fn into_object(self, request: &Request) -> Result<Map<String, Value>> {
        if let Value::Object(object) = self.body {
            return Ok(object);
        }
        let problem = AnswerProblem::NotAnObject;
        Err(TransportError::answer(request.subject.clone(), problem).into())
    }
}

/// Read whatever the status: a connection with bytes left on it is lost.
fn read_body(body: &mut ureq::Body, limit: u64) -> Result<Vec<u8>, ureq::Error> {
    let mut text = Vec::new();
    // The length that the server announces spares copies. It may be a lie, and so may fail to be had.
    let length = body.content_length().map_or(0, |length| length.min(limit));
    let _ = text.try_reserve_exact(usize::try_from(length).unwrap_or_default());
    body.with_config().limit(limit).reader().read_to_end(&mut text)?;
    Ok(text)
}

/// What came back. The body is its own success or failure: a status can arrive alone.
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Result<Vec<u8>, ureq::Error>,
}
