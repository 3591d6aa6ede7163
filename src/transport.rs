//! The one place that speaks HTTP: a request goes in, an answer or an error comes out.

use std::error::Error as StdError;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use ureq::http::{self, HeaderMap, HeaderName, HeaderValue, header};

use crate::config::{Config, Credential};
use crate::error::{AnswerProblem, ApiError, Phase, TransportError};
use crate::request::Request;
use crate::{Error, Result, Timeouts};

mod certificate;
mod connector;
mod roots;
mod tls;
mod tls_config;
mod verifier;

use connector::NotSent;

/// A pool of connections to one API server as one identity. Shared by all threads of a client.
pub(crate) struct Transport {
    agent: ureq::Agent,
    server: String,
    credential: Option<Arc<Credential>>,
}

/// Decoded bytes of an answer. An object is at most 3 MiB at the API server, a rendered Template
/// can be some of them.
const ANSWER_LIMIT: u64 = 64 * 1024 * 1024;
/// What explains a refusal is short; a page of a proxy is not worth more.
const REFUSAL_LIMIT: u64 = 1024 * 1024;
/// A header has to fit into the buffer with room to spare, or its length is never complained of:
/// ureq takes at most 64 KiB of headers.
const BUFFER: usize = 128 * 1024;
/// An idle connection this old is not used again. Load balancers close idle ones after a minute or
/// more.
const IDLE_FOR_READS: Duration = Duration::from_secs(15);
/// A mutation must not race against an idle timeout: it would be of unknown outcome.
const IDLE_FOR_MUTATIONS: Duration = Duration::from_secs(2);

impl Transport {
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Opens no connection and reads no file.
    pub(crate) fn new(config: Config) -> Result<Self> {
        let tls = tls::TlsConnector::new(tls_config::client_config(&config)?);
        let settings = ureq::Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(16)
            .max_idle_connections_per_host(16)
            .max_idle_age(IDLE_FOR_READS)
            .input_buffer_size(BUFFER)
            .output_buffer_size(BUFFER)
            .no_delay(true)
            .user_agent(concat!("openshift-templates/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            agent: connector::agent(settings, tls),
            server: config.server.to_string(),
            credential: config.credential,
        })
    }

    /// A successful answer. Any other is [`Error::Api`].
    pub(crate) fn send(&self, request: &Request, timeouts: Timeouts) -> Result<Success> {
        let Answer { status, headers, body } = self.answer(request, timeouts)?;
        if !(200..300).contains(&status) {
            // The status stands, even when the text that explains it did not arrive.
            let (subject, body) = (request.subject.clone(), body.unwrap_or_default());
            return Err(ApiError::new(subject, status, &body, retry_after(&headers)).into());
        }
        let body = body.map_err(|error| transport_error(request, Phase::Answer, error))?;
        let body = serde_json::from_slice(&body)
            .map_err(|error| TransportError::answer(request.subject.clone(), error.into()))?;
        Ok(Success { created: status == 201, warnings: warnings(&headers), body })
    }

    /// A GET is sent once more, over a new connection, when the first one died. Nothing else is
    /// ever sent twice.
    fn answer(&self, request: &Request, timeouts: Timeouts) -> Result<Answer> {
        let idle_age = if request.verb.mutates() { IDLE_FOR_MUTATIONS } else { IDLE_FOR_READS };
        let first = self.exchange(request, timeouts, idle_age)?;
        let died = match &first {
            // An answer that is none of success stands, though its text did not arrive.
            Ok(answer) => {
                (200..300).contains(&answer.status) && answer.body.as_ref().err().is_some_and(died)
            }
            Err(error) => died(error),
        };
        let answer = if died && !request.verb.mutates() {
            self.exchange(request, timeouts, Duration::ZERO)?
        } else {
            first
        };
        answer.map_err(|error| transport_error(request, Phase::Exchange, error))
    }

    /// One request over the wire. The outer error is of this side, before anything was sent.
    fn exchange(
        &self,
        request: &Request,
        timeouts: Timeouts,
        idle_age: Duration,
    ) -> Result<Result<Answer, ureq::Error>> {
        let body = request.body.as_ref().map(|(_, body)| body.as_slice());
        let message = http::Request::builder()
            .method(request.verb.method())
            .uri(format!("{}{}", self.server, request.target));
        let mut message = match message.body(body.unwrap_or_default()) {
            Ok(message) => message,
            Err(error) => return Ok(Err(connector::not_sent(error.into()))),
        };
        self.add_headers(request, message.headers_mut())?;
        let message = self
            .agent
            .configure_request(message)
            .timeout_connect(Some(timeouts.connect()))
            .timeout_per_read(Some(timeouts.read()))
            .timeout_per_write(Some(timeouts.read()))
            .max_idle_age(idle_age)
            .build();
        Ok(self.agent.run(message).map(|mut response| {
            let mut bytes = Vec::new();
            let limit = if response.status().is_success() { ANSWER_LIMIT } else { REFUSAL_LIMIT };
            // Drained whatever the status: a connection with bytes left on it is lost.
            let read =
                response.body_mut().with_config().limit(limit).reader().read_to_end(&mut bytes);
            Answer {
                status: response.status().as_u16(),
                headers: std::mem::take(response.headers_mut()),
                body: read.map(|_| bytes).map_err(ureq::Error::from),
            }
        }))
    }

    fn add_headers(&self, request: &Request, headers: &mut HeaderMap) -> Result<()> {
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        if let Some((media_type, _)) = &request.body {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type.name()));
        }
        if let Some(credential) = &self.credential {
            let token = credential.bearer(Instant::now())?;
            let value = format!("Bearer {}", token.expose());
            let mut value =
                HeaderValue::from_bytes(value.as_bytes()).map_err(|_| credential.refused())?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        Ok(())
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

/// What came back. The body is its own success or failure: a status can arrive alone.
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Result<Vec<u8>, ureq::Error>,
}

/// `Retry-After` in seconds. Its other form, a date, is not what API servers send.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    const NAME: HeaderName = header::RETRY_AFTER;
    let seconds = headers.get(NAME)?.to_str().ok()?.trim().parse::<u32>().ok()?;
    Some(Duration::from_secs(seconds.into()))
}

/// Whether the connection ended under the request, which happens to those that were idle.
fn died(error: &ureq::Error) -> bool {
    let ureq::Error::Io(error) = error else { return false };
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
    ) && error.get_ref().is_none_or(|inner| !inner.is::<rustls::Error>())
}

/// The texts of `Warning: 299 - "text"` headers, of which there can be several. RFC 9111 has
/// obsoleted the header for caches; the Kubernetes API keeps it.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let text = |value: &HeaderValue| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let quoted = value.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
        quoted.map_or(value.clone(), |(text, _)| text.replace("\\\"", "\"").replace("\\\\", "\\"))
    };
    headers.get_all(header::WARNING).iter().map(text).collect()
}

fn transport_error(request: &Request, phase: Phase, error: ureq::Error) -> Error {
    let (phase, error) = match NotSent::unwrap(error) {
        Ok(error) => (Phase::Connect, error),
        Err(error) => (phase, error),
    };
    let timed_out = match &error {
        ureq::Error::Timeout(_) => true,
        ureq::Error::Io(error) => error.kind() == io::ErrorKind::TimedOut,
        _ => false,
    };
    TransportError::new(request.subject.clone(), phase, timed_out, cause(error)).into()
}

/// ureq's errors wrap what happened and do not tell through `source`.
fn cause(error: ureq::Error) -> Box<dyn StdError + Send + Sync> {
    match error {
        ureq::Error::Io(error) if error.get_ref().is_some() => match error.into_inner() {
            Some(inner) => inner,
            None => "the connection failed".into(),
        },
        ureq::Error::Io(error) => error.into(),
        ureq::Error::Rustls(error) => error.into(),
        ureq::Error::Other(error) => error,
        error => error.into(),
    }
}
