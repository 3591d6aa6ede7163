//! HTTP/1.1 on the wire: requests read to their exact bytes, answers written.

use std::io::{self, Read, Write};

use flate2::{Compression, write::GzEncoder};

use crate::fault::Form;

/// The API server compresses from this size on (`defaultGzipThresholdBytes` of its response writers): the recorded
/// aggregated discovery, of 34 KB, came back plain although gzip was asked for.
const GZIP_THRESHOLD: usize = 128 * 1024;

const MAX_HEAD: usize = 256 * 1024;

/// A request as it was received.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) raw: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// The media type of the body, without its parameters.
    pub(crate) fn content_type(&self) -> &str {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim()
    }

    /// Go's client and the recordings agree on this: the field manager is the user agent's first word up to a slash.
    pub(crate) fn user_agent_manager(&self) -> String {
        let agent = self.header("user-agent").unwrap_or_default();
        let manager = agent.split(['/', ' ']).next().unwrap_or_default();
        if manager.is_empty() { "unknown" } else { manager }.to_owned()
    }

    fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    fn accepts_gzip(&self) -> bool {
        self.header("accept-encoding")
            .is_some_and(|value| value.split(',').any(|coding| coding.trim().starts_with("gzip")))
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self { status, headers: vec![("Content-Type".to_owned(), content_type.to_owned())], body }
    }

    pub(crate) fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The bytes to write, and whether the connection ends with them.
    pub(crate) fn encode(mut self, request: &Request, form: &Form) -> (Vec<u8>, bool) {
        let close = request.wants_close();
        let is_worth_it = request.accepts_gzip() && self.body.len() >= GZIP_THRESHOLD;
        if is_worth_it || form.is_compressed {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&self.body).expect("memory can be written");
            self.body = encoder.finish().expect("memory can be written");
            self = self.with_header("Content-Encoding", "gzip");
        }
        if form.is_chunked {
            self.body = chunks(&self.body);
            self = self.with_header("Transfer-Encoding", "chunked");
        } else {
            let length = self.body.len().to_string();
            self = self.with_header("Content-Length", length);
        }
        if close {
            self = self.with_header("Connection", "close");
        }
        let interim = |status: u16| format!("HTTP/1.1 {status} {}\r\n\r\n", reason_phrase(status));
        let mut lines = Vec::from_iter(form.interim.map(interim));
        lines.push(format!("HTTP/1.1 {} {}\r\n", self.status, reason_phrase(self.status)));
        lines.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        lines.push("\r\n".to_owned());
        let mut bytes = lines.concat().into_bytes();
        bytes.extend_from_slice(&self.body);
        (bytes, close)
    }
}

fn chunks(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(64) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        bytes.extend([chunk, b"\r\n"].concat());
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

fn reason_phrase(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        409 => "Conflict",
        410 => "Gone",
        413 => "Request Entity Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

/// Why no request could be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The client went away between two requests, or in the middle of one.
    Closed,
    /// What came is not HTTP; the bytes so far are worth keeping.
    Malformed(Vec<u8>),
}

impl From<io::Error> for ReadError {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

/// Reads requests off one connection; bytes that came early wait here for the next one.
pub(crate) struct Reader {
    pending: Vec<u8>,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self { pending: Vec::new() }
    }

    pub(crate) fn next(&mut self, stream: &mut (impl Read + Write)) -> Result<Request, ReadError> {
        let (mut request, head) = loop {
            match parse_head(&self.pending) {
                Ok(Some(parsed)) => break parsed,
                Ok(None) if self.pending.len() < MAX_HEAD => self.fill(stream)?,
                _ => return Err(ReadError::Malformed(std::mem::take(&mut self.pending))),
            }
        };
        let expects = find(&request.headers, "expect");
        if expects.is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            stream.flush()?;
        }
        let end = self.read_body(stream, head, &mut request)?;
        let rest = self.pending.split_off(end);
        request.raw = std::mem::replace(&mut self.pending, rest);
        Ok(request)
    }

    /// Returns where the request ends in the pending bytes.
    fn read_body(
        &mut self,
        stream: &mut impl Read,
        head: usize,
        request: &mut Request,
    ) -> Result<usize, ReadError> {
        let chunked = find(&request.headers, "transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
        if chunked {
            return self.read_chunks(stream, head, &mut request.body);
        }
        let length = match find(&request.headers, "content-length").map(str::parse::<usize>) {
            None => 0,
            Some(Ok(length)) => length,
            Some(Err(_)) => return Err(ReadError::Malformed(std::mem::take(&mut self.pending))),
        };
        request.body = self.take(stream, head, length)?;
        Ok(head + length)
    }

    fn read_chunks(
        &mut self,
        stream: &mut impl Read,
        mut at: usize,
        body: &mut Vec<u8>,
    ) -> Result<usize, ReadError> {
        loop {
            let rest = self.pending.get(at..).unwrap_or_default();
            let (prefix, size) = match httparse::parse_chunk_size(rest) {
                Ok(httparse::Status::Complete((prefix, size))) => {
                    (prefix, usize::try_from(size).unwrap_or(usize::MAX))
                }
                Ok(httparse::Status::Partial) => {
                    self.fill(stream)?;
                    continue;
                }
                Err(_) => return Err(ReadError::Malformed(std::mem::take(&mut self.pending))),
            };
            at += prefix;
            if size == 0 {
                self.take(stream, at, 2)?;
                return Ok(at + 2);
            }
            body.extend(self.take(stream, at, size)?);
            self.take(stream, at + size, 2)?;
            at += size + 2;
        }
    }

    fn take(
        &mut self,
        stream: &mut impl Read,
        at: usize,
        length: usize,
    ) -> Result<Vec<u8>, ReadError> {
        loop {
            let end = at.saturating_add(length);
            match self.pending.get(at..end) {
                Some(bytes) => return Ok(bytes.to_vec()),
                None => self.fill(stream)?,
            }
        }
    }

    fn fill(&mut self, stream: &mut impl Read) -> Result<(), ReadError> {
        let mut chunk = [0; 16 * 1024];
        match stream.read(&mut chunk)? {
            0 => Err(ReadError::Closed),
            count => {
                self.pending.extend(chunk.iter().take(count));
                Ok(())
            }
        }
    }
}

fn parse_head(bytes: &[u8]) -> Result<Option<(Request, usize)>, httparse::Error> {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut parsed = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = parsed.parse(bytes)? else {
        return Ok(None);
    };
    let headers = parsed
        .headers
        .iter()
        .map(|header| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_owned(), value)
        })
        .collect();
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        headers,
        body: Vec::new(),
        raw: Vec::new(),
    };
    Ok(Some((request, head)))
}
