//! The files as YAML, and what kubectl makes of them: merged, lenient about everything that is
//! not asked for.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::file::read;
use crate::error::{ConfigError, ConfigField, ConfigProblem};
use crate::yaml;

type Mapping = Map<String, Value>;

/// The files in the order in which they win.
pub(super) struct Kubeconfigs {
    searched: Vec<PathBuf>,
    documents: Vec<Document>,
}

struct Document {
    file: PathBuf,
    root: Mapping,
}

/// The body of one named entry (one cluster, user or context), or a mapping within it.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    file: &'a Path,
    kind: &'static str,
    name: &'a str,
    /// The field that holds the mapping, when it is one within an entry.
    within: Option<&'static str>,
    body: Option<&'a Mapping>,
}

impl Kubeconfigs {
    pub(super) fn read(files: Vec<PathBuf>, must_exist: bool) -> Result<Self, ConfigError> {
        let mut documents = Vec::new();
        for file in &files {
            let bytes = match read(file, None) {
                Err(ConfigError::Read { source, .. })
                    if !must_exist && source.kind() == io::ErrorKind::NotFound =>
                {
                    continue;
                }
                bytes => bytes?,
            };
            let document = Document { file: file.clone(), root: parse(file, &bytes)? };
            document.root().check_version()?;
            documents.push(document);
        }
        Ok(Self { searched: files, documents })
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.searched.clone()
    }

    /// The first that is not empty, whatever file it is in.
    pub(super) fn current_context(&self) -> Result<Option<String>, ConfigError> {
        for document in &self.documents {
            if let Some(name) = document.root().string("current-context")? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// The entry of this name in `list`, from the first file that has it.
    pub(super) fn entry<'a>(
        &'a self,
        list: &'static str,
        kind: &'static str,
        name: &'a str,
    ) -> Result<Option<Entry<'a>>, ConfigError> {
        for Document { file, root } in &self.documents {
            let invalid = |problem| {
                let field = ConfigField::in_file(file.clone(), "the kubeconfig".to_owned(), list);
                Err(ConfigError::Invalid { field, problem })
            };
            let entries = match root.get(list) {
                None | Some(Value::Null) => continue,
                Some(Value::Array(entries)) => entries,
                Some(other) => return invalid(not_a("list", other)),
            };
            let is_named = |entry: &&Value| match entry.get("name") {
                Some(Value::String(text)) => text == name,
                // kubectl would have it quoted.
                Some(Value::Number(number)) => number.to_string() == name,
                _ => false,
            };
            let mut named = entries.iter().filter(is_named);
            let Some(entry) = named.next() else { continue };
            if named.next().is_some() {
                return invalid(ConfigProblem::DuplicateName);
            }
            let body = match entry.get(kind) {
                None | Some(Value::Null) => None,
                Some(Value::Object(body)) => Some(body),
                Some(other) => return invalid(not_a("list of mappings", other)),
            };
            return Ok(Some(Entry { file, kind, name, within: None, body }));
        }
        Ok(None)
    }
}

impl Document {
    fn root(&self) -> Entry<'_> {
        Entry {
            file: &self.file,
            kind: "kubeconfig",
            name: "",
            within: None,
            body: Some(&self.root),
        }
    }
}

impl<'a> Entry<'a> {
    pub(super) fn file(&self) -> &Path {
        self.file
    }

    /// Where the field stands, for messages.
    pub(super) fn field(&self, name: &str) -> ConfigField {
        let entry = match self.name {
            "" => format!("the {}", self.kind),
            name => format!("{} \"{name}\"", self.kind),
        };
        match self.within {
            None => ConfigField::in_file(self.file.to_owned(), entry, name),
            Some(within) => {
                ConfigField::in_file(self.file.to_owned(), entry, &format!("{within}.{name}"))
            }
        }
    }

    pub(super) fn invalid(&self, name: &str, problem: ConfigProblem) -> ConfigError {
        ConfigError::Invalid { field: self.field(name), problem }
    }

    pub(super) fn needed(&self, name: &str) -> ConfigError {
        self.invalid(name, ConfigProblem::Needed)
    }

    /// `None` for what kubectl takes as not set: absent and null.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.body?.get(name).filter(|value| !value.is_null())
    }

    /// A nonempty string. An integer is taken for its text: a token or a name can consist of
    /// digits. Of a fraction, or a number too large, the text is lost.
    pub(super) fn string(&self, name: &str) -> Result<Option<String>, ConfigError> {
        Ok(self.get(name).map(|value| self.text(name, value)).transpose()?.flatten())
    }

    fn text(&self, name: &str, value: &Value) -> Result<Option<String>, ConfigError> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) if !number.is_f64() => number.to_string(),
            other => return Err(self.invalid(name, not_a("string", other))),
        };
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// A list of strings; an empty one stays, for an argument can be empty.
    pub(super) fn strings(&self, name: &str) -> Result<Vec<String>, ConfigError> {
        let mut strings = Vec::new();
        for item in self.list(name)? {
            let text = if item.is_null() { None } else { self.text(name, item)? };
            strings.push(text.unwrap_or_default());
        }
        Ok(strings)
    }

    fn list(&self, name: &str) -> Result<&'a [Value], ConfigError> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.invalid(name, not_a("list", other))),
        }
    }

    /// A mapping within this one.
    pub(super) fn mapping(&self, name: &'static str) -> Result<Option<Self>, ConfigError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => Ok(Some(self.inner(name, value)?)),
        }
    }

    /// A list of mappings within this one.
    pub(super) fn mappings(&self, name: &'static str) -> Result<Vec<Self>, ConfigError> {
        self.list(name)?.iter().map(|item| self.inner(name, item)).collect()
    }

    fn inner(&self, name: &'static str, value: &'a Value) -> Result<Self, ConfigError> {
        match value {
            Value::Object(body) => Ok(Self { within: Some(name), body: Some(body), ..*self }),
            other => Err(self.invalid(name, not_a("mapping", other))),
        }
    }

    /// The fields that are set.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'a String> + use<'a> {
        self.body.into_iter().flatten().map(|(name, _)| name)
    }

    /// YAML 1.1 knows more words for a boolean than YAML 1.2, and kubectl reads YAML 1.1.
    pub(super) fn boolean(&self, name: &str) -> Result<bool, ConfigError> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(value @ Value::String(text)) => match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "y" => Ok(true),
                "no" | "off" | "n" | "" => Ok(false),
                _ => Err(self.invalid(name, not_a("boolean", value))),
            },
            Some(other) => Err(self.invalid(name, not_a("boolean", other))),
        }
    }

    /// What says nothing about its version is of this one.
    fn check_version(&self) -> Result<(), ConfigError> {
        for (name, supported) in [("apiVersion", "v1"), ("kind", "Config")] {
            if self.string(name)?.is_some_and(|value| value != supported) {
                return Err(self.invalid(name, ConfigProblem::NotOneOf { supported }));
            }
        }
        Ok(())
    }
}

fn not_a(expected: &'static str, value: &Value) -> ConfigProblem {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "mapping",
    };
    ConfigProblem::NotA { expected, found }
}

/// An empty file is a kubeconfig that says nothing.
fn parse(file: &Path, bytes: &[u8]) -> Result<Mapping, ConfigError> {
    let broken = |line| ConfigError::Parse { path: file.to_owned(), line };
    let text = yaml::decode(bytes).ok_or_else(|| broken(None))?;
    match yaml::first_document(&text).map_err(broken)? {
        Value::Null => Ok(Mapping::new()),
        Value::Object(root) => Ok(root),
        _ => Err(broken(None)),
    }
}
