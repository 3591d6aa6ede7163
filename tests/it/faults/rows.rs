//! The faults: what goes wrong, and with which request.

use std::time::Duration;

use openshift_templates_testing::{Fault, Reception};
use serde_json::json;

/// A fault by the name that it has in the document.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) strikes: Strikes,
}

type Strike = Box<dyn Fn(Fault) -> Fault + Send + Sync>;

/// A fault of connections strikes the request before the one in question: its answer is the last
/// thing that goes well. What befalls idle connections does so before the operation begins.
pub(super) enum Strikes {
    Idle(Strike),
    Before(Strike),
    At(Strike),
}

/// More than an answer may hold here.
pub(super) const ANSWER_LIMIT: u64 = 1_000_000;

/// An answer that drips is over long after the operation's deadline.
const DRIP: Duration = Duration::from_millis(20);

const JSON: &str = "application/json";

fn before(name: &str, strike: impl Fn(Fault) -> Fault + Send + Sync + 'static) -> Row {
    Row { name: name.to_owned(), strikes: Strikes::Before(Box::new(strike)) }
}

fn idle(name: &str, strike: impl Fn(Fault) -> Fault + Send + Sync + 'static) -> Row {
    Row { name: name.to_owned(), strikes: Strikes::Idle(Box::new(strike)) }
}

fn at(name: &str, strike: impl Fn(Fault) -> Fault + Send + Sync + 'static) -> Row {
    Row { name: name.to_owned(), strikes: Strikes::At(Box::new(strike)) }
}

fn answer(name: &str, status: u16, media_type: &'static str, body: &str) -> Row {
    let body = body.to_owned();
    at(name, move |fault| fault.answer(status, media_type, body.clone()))
}

fn raw(name: &str, head: &str, body: &str) -> Row {
    let bytes = format!("HTTP/1.1 {head}\r\n\r\n{body}");
    at(name, move |fault| fault.answer_raw(bytes.clone()))
}

/// A refusal as the API server words it.
fn refusal(code: u16, reason: &'static str) -> Row {
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "no", "reason": reason, "code": code})
    .to_string();
    answer(&format!("a Status {code} {reason}"), code, JSON, &body)
}

fn redirect(code: u16, what: &str, location: String) -> Row {
    at(&format!("a redirect {code} to {what}"), move |fault| {
        fault.answer(code, "text/html", "moved").header("Location", &location)
    })
}

/// All of them, given two places that nothing may ever reach.
pub(super) fn all(other_host: &str, other_port: u16) -> Vec<Row> {
    let port = format!("https://127.0.0.1:{other_port}");
    [connections(), endings(), bodies(), pages()]
        .into_iter()
        .flatten()
        .chain([
            redirect(301, "another host", format!("{other_host}/api/v1")),
            redirect(302, "another host without TLS", other_host.replace("https", "http")),
            redirect(307, "another port", format!("{port}/api/v1")),
            redirect(308, "another port", port),
        ])
        .chain(refusals())
        .collect()
}

fn connections() -> Vec<Row> {
    vec![
        before("TCP refuses a new connection", |f| f.close_and_receive(Reception::Refused)),
        before("TCP does not answer", |f| f.close_and_receive(Reception::Unanswered)),
        before("TLS is not answered", |f| f.close_and_receive(Reception::Silent)),
        before("the TLS handshake drips", |f| f.close_and_receive(Reception::Dripping(DRIP))),
        idle("the idle connection was closed", Fault::close_after_answer),
        idle("the idle connection was reset", |f| f.close_after_answer().by_reset()),
        before("the idle connection closes as the request leaves", Fault::close_at_next),
        before("the idle connection is reset as the request leaves", |f| {
            f.close_at_next().by_reset()
        }),
    ]
}

fn endings() -> Vec<Row> {
    vec![
        at("closed after reading", Fault::drop_before),
        at("reset after reading", |f| f.drop_before().by_reset()),
        at("closed after deciding", Fault::drop_after),
        at("reset after deciding", |f| f.drop_after().by_reset()),
        at("no answer", |f| f.delay(Duration::from_secs(60))),
        at("closed in the headers", |f| f.truncate_answer(40)),
        at("reset in the headers", |f| f.truncate_answer(40).by_reset()),
        at("closed in the body", |f| f.lose_end(20)),
        at("reset in the body", |f| f.lose_end(20).by_reset()),
        at("closed in a chunk", |f| f.chunked().lose_end(20)),
        at("reset in a chunk", |f| f.chunked().lose_end(20).by_reset()),
        at("the answer drips", |f| f.drip(DRIP)),
        at("an interim 100 first", |f| f.interim(100)),
        at("an interim 103 first", |f| f.interim(103)),
        at("chunked", Fault::chunked),
        at("compressed", Fault::compressed),
        at("compressed, and cut", |f| f.compressed().lose_end(20)),
    ]
}

fn bodies() -> Vec<Row> {
    let padding = " ".repeat(3 * 1024 * 1024);
    let bomb = padding.clone();
    let many = "\r\nX-Many: 1".repeat(200);
    let long = format!("\r\nX-Long: {}", "x".repeat(100_000));
    vec![
        at("a compression bomb", move |f| f.answer(200, JSON, bomb.clone()).compressed()),
        answer("a body over the limit", 200, JSON, &padding),
        at("called gzip, and none", |f| {
            f.answer(200, JSON, "{}").header("Content-Encoding", "gzip")
        }),
        raw("a length that is too great", "200 OK\r\nContent-Length: 100", "{}"),
        raw("a length that is too small", "200 OK\r\nContent-Length: 3", r#"{"kind":"Secret"}"#),
        raw("two lengths", "200 OK\r\nContent-Length: 2\r\nContent-Length: 3", "{}"),
        raw("no length, and cut", "200 OK", r#"{"kind":"#),
        raw("a header that is too long", &format!("200 OK{long}"), "{}"),
        raw("too many headers", &format!("200 OK{many}"), "{}"),
        at("no HTTP", |f| f.answer_raw(*b"SSH-2.0-OpenSSH\r\n")),
        answer("invalid JSON", 200, JSON, r#"{"kind":"Secret",}"#),
        answer("a JSON array", 200, JSON, "[]"),
        answer("an empty object", 200, JSON, "{}"),
        answer("nothing", 200, JSON, ""),
        answer("204", 204, JSON, ""),
        answer("101", 101, JSON, ""),
        answer(
            "a Status of failure in a 200",
            200,
            JSON,
            r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}"#,
        ),
        answer(
            "equal keys, the last of another object",
            200,
            JSON,
            r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"worker-001-secret","namespace":"workers","uid":"u"},"metadata":{"name":"other","namespace":"workers","uid":"u"}}"#,
        ),
    ]
}

fn pages() -> Vec<Row> {
    let html = "text/html";
    vec![
        answer("a login page", 200, html, "<html>please log in</html>"),
        answer("a proxy's 407", 407, html, "<html>proxy authentication required</html>"),
        answer("a proxy's 502", 502, html, "<html>bad gateway</html>"),
        answer("a plain 503", 503, "text/plain", "no healthy upstream"),
        at("a plain 503 with Retry-After", |f| {
            f.answer(503, "text/plain", "busy").header("Retry-After", "7")
        }),
        at("a plain 429 with Retry-After", |f| {
            f.answer(429, "text/plain", "busy").header("Retry-After", "7")
        }),
        at("a plain 429 with Retry-After as a date", |f| {
            f.answer(429, "text/plain", "busy")
                .header("Date", "Wed, 21 Oct 2015 07:28:00 GMT")
                .header("Retry-After", "Wed, 21 Oct 2015 07:28:07 GMT")
        }),
    ]
}

fn refusals() -> Vec<Row> {
    vec![
        refusal(400, "BadRequest"),
        refusal(401, "Unauthorized"),
        refusal(403, "Forbidden"),
        refusal(404, "NotFound"),
        refusal(409, "Conflict"),
        refusal(410, "Gone"),
        refusal(413, "RequestEntityTooLarge"),
        refusal(422, "Invalid"),
        refusal(429, "TooManyRequests"),
        refusal(500, "InternalError"),
        refusal(503, "ServiceUnavailable"),
        refusal(504, "Timeout"),
    ]
}
