//! The files as YAML, and what kubectl makes of them: merged, lenient about everything that is
//! not asked for.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::read;
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

/// The body of one named entry: one cluster, user or context.
pub(super) struct Entry<'a> {
    file: &'a Path,
    kind: &'static str,
    name: &'a str,
    body: Option<&'a Mapping>,
}

impl Kubeconfigs {
    pub(super) fn read(files: Vec<PathBuf>, must_exist: bool) -> Result<Self, ConfigError> {
        let mut documents = Vec::new();
        for file in &files {
            let bytes = match read(file.clone(), None) {
                Err(ConfigError::Read { source, .. })
                    if !must_exist && source.kind() == io::ErrorKind::NotFound =>
                {
                    continue;
                }
                bytes => bytes?,
            };
            documents.push(Document { file: file.clone(), root: parse(file, &bytes)? });
        }
        Ok(Self { searched: files, documents })
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.searched.clone()
    }

    /// The first that is not empty, whatever file it is in.
    pub(super) fn current_context(&self) -> Result<Option<String>, ConfigError> {
        for document in &self.documents {
            let root = Entry {
                file: &document.file,
                kind: "kubeconfig",
                name: "",
                body: Some(&document.root),
            };
            if let Some(name) = root.string("current-context")? {
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
                Some(_) => return invalid(ConfigProblem::NotA("list")),
            };
            let mut named = entries
                .iter()
                .filter(|entry| entry.get("name").and_then(Value::as_str) == Some(name));
            let Some(entry) = named.next() else { continue };
            if named.next().is_some() {
                return invalid(ConfigProblem::DuplicateName);
            }
            let body = match entry.get(kind) {
                None | Some(Value::Null) => None,
                Some(Value::Object(body)) => Some(body),
                Some(_) => return invalid(ConfigProblem::NotA("list of mappings")),
            };
            return Ok(Some(Entry { file, kind, name, body }));
        }
        Ok(None)
    }
}

impl Entry<'_> {
    pub(super) fn file(&self) -> &Path {
        self.file
    }

    pub(super) fn label(&self) -> String {
        if self.name.is_empty() {
            return format!("the {}", self.kind);
        }
        format!("{} \"{}\"", self.kind, self.name)
    }

    /// `None` for what kubectl takes as not set: absent and null.
    fn get(&self, name: &str) -> Option<&Value> {
        self.body?.get(name).filter(|value| !value.is_null())
    }

    /// Whether there is more than nothing: an empty string, list or mapping is nothing.
    pub(super) fn is_set(&self, name: &str) -> bool {
        match self.get(name) {
            None => false,
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(items)) => !items.is_empty(),
            Some(Value::Object(fields)) => !fields.is_empty(),
            Some(_) => true,
        }
    }

    /// A nonempty string. A number is taken for its text: a token or a name can consist of digits.
    pub(super) fn string(&self, name: &str) -> Result<Option<String>, ConfigError> {
        let text = match self.get(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => return Err(self.wrong_type(name, "string")),
        };
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// YAML 1.1 knows more words for a boolean than YAML 1.2, and kubectl reads YAML 1.1.
    pub(super) fn boolean(&self, name: &str) -> Result<bool, ConfigError> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(Value::String(text)) => match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "y" => Ok(true),
                "no" | "off" | "n" | "" => Ok(false),
                _ => Err(self.wrong_type(name, "boolean")),
            },
            Some(_) => Err(self.wrong_type(name, "boolean")),
        }
    }

    fn wrong_type(&self, name: &str, expected: &'static str) -> ConfigError {
        ConfigError::Invalid {
            field: ConfigField::in_file(self.file.to_owned(), self.label(), name),
            problem: ConfigProblem::NotA(expected),
        }
    }
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
