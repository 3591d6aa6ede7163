//! Options in the query: `fieldManager`, `dryRun`, `fieldValidation`, `force`, and what is acceptable.

use serde_json::json;

use crate::http::{Request, Response};
use crate::status::{self, Cause};
use crate::target::Query;

/// What a write is told beside its body.
pub(crate) struct WriteOptions {
    field_manager: Option<String>,
    pub(crate) dry_run: bool,
    pub(crate) field_validation: String,
    pub(crate) force: bool,
}

impl WriteOptions {
    pub(crate) fn field_manager(&self) -> Option<&str> {
        self.field_manager.as_deref()
    }

    pub(crate) fn manager(&self, request: &Request) -> String {
        self.field_manager.clone().unwrap_or_else(|| request.user_agent_manager())
    }
}

/// `kind` is the one that a refusal names: `CreateOptions` or `PatchOptions`.
pub(crate) fn write_options(kind: &str, query: &Query) -> Result<WriteOptions, Response> {
    let dry_run: Vec<&str> = query.all("dryRun").filter(|value| !value.is_empty()).collect();
    check_dry_run(kind, &dry_run)?;
    let field_manager = query.get("fieldManager").filter(|manager| !manager.is_empty());
    if field_manager.is_some_and(|manager| manager.len() > 128) {
        return Err(status::invalid_options(kind, Cause::too_long("fieldManager", 128)));
    }
    if let Some(manager) = field_manager.filter(|manager| manager.contains(char::is_control)) {
        let why = "should only contain printable characters";
        let cause = Cause::invalid("fieldManager", &manager.into(), why);
        return Err(status::invalid_options(kind, cause));
    }
    let field_validation = query.get("fieldValidation").unwrap_or_default();
    let supported = ["", "Ignore", "Strict", "Warn"];
    if !supported.contains(&field_validation) {
        let cause = Cause::unsupported("fieldValidation", &field_validation.into(), &supported);
        return Err(status::invalid_options(kind, cause));
    }
    Ok(WriteOptions {
        field_manager: field_manager.map(str::to_owned),
        dry_run: !dry_run.is_empty(),
        field_validation: field_validation.to_owned(),
        force: query.get("force").is_some_and(|force| ["", "true", "1"].contains(&force)),
    })
}

pub(crate) fn check_dry_run(kind: &str, values: &[&str]) -> Result<(), Response> {
    if values.iter().all(|value| *value == "All") {
        return Ok(());
    }
    let cause = Cause::unsupported("dryRun", &json!(values), &["All"]);
    Err(status::invalid_options(kind, cause))
}

/// What an answer may be written in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    Json,
    Yaml,
}

/// The first format that the request accepts.
pub(crate) fn format(request: &Request) -> Result<Format, Response> {
    let accept = request.header("accept").unwrap_or("*/*");
    let ranges = accept.split(',').map(|range| range.split(';').next().unwrap_or_default().trim());
    let mut formats = ranges.filter_map(|range| match range {
        "application/json" | "application/*" | "*/*" => Some(Format::Json),
        "application/yaml" => Some(Format::Yaml),
        _ => None,
    });
    formats.next().ok_or_else(status::not_acceptable)
}
