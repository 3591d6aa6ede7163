use std::fmt;

use serde_json::{Map, Value};

use super::overrides::{is_generated, text};

/// A parameter as a Template defines it, for a form to fill in or a job to check.
///
/// Its default can be a secret, so `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Parameter {
    name: String,
    display_name: Option<String>,
    description: Option<String>,
    value: Option<String>,
    required: bool,
    generated: bool,
}

impl Parameter {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name for people, if the Template has one.
    #[must_use]
    pub fn display_name(&self) -> Option<&str> {
        self.display_name.as_deref()
    }

    /// What it is for, if the Template says.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The default, if there is one that is not empty.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// Whether the server refuses to render without a value. An empty one is none.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// Whether the server would make up a value, so that a value has to be given here.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        self.generated
    }

    fn read(definition: &Map<String, Value>) -> Option<Self> {
        let nonempty = |field| text(definition, field).filter(|t| !t.is_empty()).map(str::to_owned);
        Some(Self {
            name: nonempty("name")?,
            display_name: nonempty("displayName"),
            description: nonempty("description"),
            value: nonempty("value"),
            required: definition.get("required").and_then(Value::as_bool).unwrap_or_default(),
            generated: is_generated(definition),
        })
    }
}

/// The parameters of a Template, in its order; of several definitions of one name the last, which
/// is the one that the server uses.
pub(crate) fn parameters(template: &Map<String, Value>) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    let definitions = template.get("parameters").and_then(Value::as_array).into_iter().flatten();
    for parameter in definitions.filter_map(|d| Parameter::read(d.as_object()?)) {
        match parameters.iter_mut().find(|earlier| earlier.name == parameter.name) {
            Some(earlier) => *earlier = parameter,
            None => parameters.push(parameter),
        }
    }
    parameters
}

impl fmt::Debug for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter")
            .field("name", &self.name)
            .field("required", &self.required)
            .field("generated", &self.generated)
            .finish_non_exhaustive()
    }
}
