//! The body of a POST, decoded as strictly as the real API decodes it, with its texts.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::raw;
use crate::http::{Request, Response};
use crate::{json, kinds, status};

pub(super) const API_VERSION: &str = "template.openshift.io/v1";

/// A Template as it was sent.
#[derive(Default)]
pub(super) struct Template {
    pub(super) metadata: Map<String, Value>,
    pub(super) message: String,
    /// Each one's JSON text: errors quote it.
    pub(super) objects: Option<Vec<String>>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) labels: Option<BTreeMap<String, String>>,
}

impl Template {
    pub(super) fn name(&self) -> &str {
        self.metadata.get("name").and_then(Value::as_str).unwrap_or_default()
    }
}

#[derive(Clone, Default)]
pub(super) struct Parameter {
    pub(super) name: String,
    display_name: String,
    description: String,
    pub(super) value: String,
    pub(super) generate: String,
    pub(super) from: String,
    pub(super) required: bool,
}

impl Parameter {
    /// Its JSON text with the members in Go's order, which is what the errors quote.
    pub(super) fn to_text(&self) -> String {
        let members = self.to_value();
        let order = ["name", "displayName", "description", "value", "generate", "from", "required"];
        let members: Vec<String> = order
            .iter()
            .filter_map(|key| {
                members.get(key).map(|value| format!("{:?}:{}", key, json::to_text(value)))
            })
            .collect();
        format!("{{{}}}", members.join(","))
    }

    pub(super) fn to_value(&self) -> Value {
        let mut members = json!({"name": self.name});
        for (key, value) in [
            ("displayName", &self.display_name),
            ("description", &self.description),
            ("value", &self.value),
            ("generate", &self.generate),
            ("from", &self.from),
        ] {
            if !value.is_empty() {
                members[key] = value.as_str().into();
            }
        }
        if self.required {
            members["required"] = true.into();
        }
        members
    }
}

/// The Template and what it should not have had: unknown and duplicate fields.
pub(super) fn decode(request: &Request) -> Result<(Template, Vec<String>), Response> {
    let text = json_text(request)?;
    let unrecognized = |why: &str| {
        status::bad_request(&format!(
            "the object provided is unrecognized (must be of type Template): couldn't get version/kind; json parse \
             error: {why} ({})",
            summary(&text)
        ))
    };
    let value: Value =
        serde_json::from_str(&text).map_err(|error| unrecognized(&syntax_error(&text, &error)))?;
    let Some(members) = raw::members(&text) else {
        let go_type = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                       \"json:\\\"kind,omitempty\\\"\" }";
        let found = raw::type_of(text.trim_start());
        return Err(unrecognized(&format!(
            "json: cannot unmarshal {found} into Go value of type {go_type}"
        )));
    };
    for field in ["kind", "apiVersion"] {
        if !value[field].is_null() && !value[field].is_string() {
            let found = raw::type_of(&json::to_text(&value[field]));
            let why = format!(
                "json: cannot unmarshal {found} into Go struct field .{field} of type string"
            );
            return Err(unrecognized(&why));
        }
    }
    check_kind(&value)?;
    let mut decoder = Decoder::default();
    let template = decoder.template(&members);
    match decoder.error {
        Some(error) => Err(not_a_template("Template", "v1", &error)),
        None => Ok((template, decoder.strict)),
    }
}

pub(super) fn strict_error(errors: &[String]) -> Response {
    not_a_template("Template", "v1", &format!("strict decoding error: {}", errors.join(", ")))
}

fn not_a_template(kind: &str, version: &str, why: &str) -> Response {
    status::bad_request(&format!(
        "{kind} in version {version:?} cannot be handled as a Template: {why}"
    ))
}

fn json_text(request: &Request) -> Result<String, Response> {
    let text = String::from_utf8_lossy(&request.body).into_owned();
    match request.content_type() {
        "" | "application/json" => Ok(text),
        "application/yaml" => match serde_yaml::from_str::<Value>(&text) {
            Ok(value) => Ok(json::to_text(&value)),
            Err(error) => {
                Err(status::bad_request(&format!("error converting YAML to JSON: yaml: {error}")))
            }
        },
        _ => Err(status::unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: application/json, \
             application/yaml, application/vnd.kubernetes.protobuf",
            None,
        )),
    }
}

fn syntax_error(text: &str, error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let found = line.chars().nth(error.column().saturating_sub(1)).unwrap_or(' ');
    format!("invalid character '{found}' looking for beginning of value")
}

/// What the real server quotes of a body that it cannot read: text if it looks like JSON, else hexadecimal.
fn summary(text: &str) -> String {
    const MAX: usize = 30;
    let bytes = text.as_bytes();
    let start = bytes.get(..MAX).unwrap_or(bytes);
    let more = if bytes.len() > MAX { " ..." } else { "" };
    match bytes.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(start)),
        Some(_) => {
            let digits: Vec<String> = start.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{}{more}", digits.concat())
        }
    }
}

/// Missing parts are defaulted; another kind, another version and the legacy group each have an error of their own.
fn check_kind(value: &Value) -> Result<(), Response> {
    let or = |field: &str, default: &str| match value[field].as_str() {
        None | Some("") => default.to_owned(),
        Some(text) => text.to_owned(),
    };
    let (kind, api_version) = (or("kind", "Template"), or("apiVersion", API_VERSION));
    let version = api_version.rsplit('/').next().unwrap_or_default().to_owned();
    match (kind.as_str(), api_version.as_str()) {
        ("Template", API_VERSION) => Ok(()),
        ("Template", "v1") => Err(status::bad_request(&format!(
            "the API version in the data (v1) does not match the expected API version ({API_VERSION})"
        ))),
        _ if kinds::by_kind(&api_version, &kind).is_some_and(|kind| !kind.is_custom()) => {
            let why =
                format!("converting ({version}.{kind}) to (template.Template): unknown conversion");
            Err(not_a_template(&kind, &version, &why))
        }
        _ => {
            let why = format!(
                "no kind {kind:?} is registered for version {api_version:?} in scheme \
                 \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""
            );
            Err(not_a_template(&kind, &version, &why))
        }
    }
}

const METADATA_FIELDS: &[&str] = &[
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

type Member<'a> = (String, &'a str);

/// Go keeps the first type error and goes on; unknown and duplicate fields are kept for whoever asks.
#[derive(Default)]
struct Decoder {
    error: Option<String>,
    strict: Vec<String>,
}

impl Decoder {
    fn template(&mut self, members: &[Member<'_>]) -> Template {
        let mut template = Template::default();
        self.duplicates("", members);
        for (key, text) in members {
            match key.as_str() {
                "kind" | "apiVersion" => {}
                "metadata" => template.metadata = self.metadata(text),
                "message" => self.string(text, "Template.message", &mut template.message),
                "objects" => {
                    let found = self.list(text, "Template.objects", "[]runtime.RawExtension");
                    template.objects =
                        found.map(|list| list.into_iter().map(str::to_owned).collect());
                }
                "parameters" => {
                    let found = self
                        .list(text, "Template.parameters", "[]v1.Parameter")
                        .unwrap_or_default();
                    let parameters = found.iter().enumerate();
                    template.parameters =
                        parameters.map(|(index, text)| self.parameter(index, text)).collect();
                }
                "labels" => template.labels = self.strings(text, "Template.labels"),
                unknown => self.strict.push(format!("unknown field {unknown:?}")),
            }
        }
        template
    }

    fn metadata(&mut self, text: &str) -> Map<String, Value> {
        let Some(members) = self.struct_members(text, "Template.metadata", "v1.ObjectMeta") else {
            return Map::new();
        };
        self.duplicates("metadata.", &members);
        let mut metadata = Map::new();
        for (key, text) in members {
            let field = format!("ObjectMeta.metadata.{key}");
            match key.as_str() {
                "name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion" => {
                    self.string(text, &field, &mut String::new());
                }
                "labels" | "annotations" => {
                    self.strings(text, &field);
                }
                known if METADATA_FIELDS.contains(&known) => {}
                unknown => {
                    self.strict.push(format!("unknown field \"metadata.{unknown}\""));
                    continue;
                }
            }
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            metadata.insert(key, json::with_go_integers(value));
        }
        metadata.retain(|_, value| {
            !value.is_null() && *value != "" && *value != json!({}) && *value != json!([])
        });
        metadata
    }

    fn parameter(&mut self, index: usize, text: &str) -> Parameter {
        let mut parameter = Parameter::default();
        let Some(members) = self.struct_members(text, "Template.parameters", "v1.Parameter") else {
            return parameter;
        };
        let path = format!("parameters[{index}].");
        self.duplicates(&path, &members);
        for (key, text) in members {
            let field = format!("Parameter.parameters.{key}");
            let place = match key.as_str() {
                "name" => &mut parameter.name,
                "displayName" => &mut parameter.display_name,
                "description" => &mut parameter.description,
                "value" => &mut parameter.value,
                "generate" => &mut parameter.generate,
                "from" => &mut parameter.from,
                "required" => {
                    match raw::type_of(text) {
                        "bool" => parameter.required = text == "true",
                        "null" => {}
                        found => self.mismatch(found, &field, "bool"),
                    }
                    continue;
                }
                unknown => {
                    self.strict.push(format!("unknown field {:?}", format!("{path}{unknown}")));
                    continue;
                }
            };
            self.string(text, &field, place);
        }
        parameter
    }

    fn duplicates(&mut self, path: &str, members: &[Member<'_>]) {
        for (index, (key, _)) in members.iter().enumerate() {
            if members.iter().take(index).any(|(earlier, _)| earlier == key) {
                self.strict.push(format!("duplicate field {:?}", format!("{path}{key}")));
            }
        }
    }

    fn string(&mut self, text: &str, field: &str, place: &mut String) {
        match raw::type_of(text) {
            "string" => *place = serde_json::from_str(text).unwrap_or_default(),
            "null" => {}
            found => self.mismatch(found, field, "string"),
        }
    }

    fn strings(&mut self, text: &str, field: &str) -> Option<BTreeMap<String, String>> {
        let members = match raw::members(text) {
            Some(members) => members,
            None if raw::type_of(text) == "null" => return None,
            None => {
                self.mismatch(raw::type_of(text), field, "map[string]string");
                return None;
            }
        };
        let mut strings = BTreeMap::new();
        for (key, text) in members {
            let mut value = String::new();
            self.string(text, field, &mut value);
            strings.insert(key, value);
        }
        Some(strings)
    }

    fn list<'a>(&mut self, text: &'a str, field: &str, go_type: &str) -> Option<Vec<&'a str>> {
        let elements = raw::elements(text);
        if elements.is_none() && raw::type_of(text) != "null" {
            self.mismatch(raw::type_of(text), field, go_type);
        }
        elements
    }

    fn struct_members<'a>(
        &mut self,
        text: &'a str,
        field: &str,
        go_type: &str,
    ) -> Option<Vec<Member<'a>>> {
        let members = raw::members(text);
        if members.is_none() && raw::type_of(text) != "null" {
            self.mismatch(raw::type_of(text), field, go_type);
        }
        members
    }

    fn mismatch(&mut self, found: &str, field: &str, go_type: &str) {
        let text = format!(
            "json: cannot unmarshal {found} into Go struct field {field} of type {go_type}"
        );
        self.error.get_or_insert(text);
    }
}
