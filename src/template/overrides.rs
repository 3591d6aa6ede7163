//! What is sent to be rendered: a copy of the Template with this rendering's values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{ParameterValue, Source, Template, inline};
use crate::{InvalidInput, Result};

impl Template {
    /// Every value for this rendering, by name.
    pub(super) fn overrides(&self) -> BTreeMap<&String, &ParameterValue> {
        let mut all: BTreeMap<_, _> = self.file_parameters.iter().collect();
        all.extend(&self.parameters);
        all
    }

    /// Makes of the Template what is to be posted for rendering.
    ///
    /// The metadata shrinks to the name: a namespace or an owner of the stored object has no place
    /// there. **Every** definition of an overridden name is changed, because the server takes the
    /// last one.
    pub(crate) fn override_in(&self, mut template: Map<String, Value>) -> Result<Value> {
        let name = match &self.source {
            Source::Stored(name) => Some(name.as_str()),
            Source::Inline(template) => inline::name(template),
        };
        template.insert(
            "metadata".to_owned(),
            name.map_or_else(|| json!({}), |name| json!({ "name": name })),
        );
        template.remove("status");
        self.add_labels(&mut template);

        let mut definitions: Vec<_> = match template.get_mut("parameters") {
            Some(Value::Array(definitions)) => {
                definitions.iter_mut().filter_map(Value::as_object_mut).collect()
            }
            _ => Vec::new(),
        };
        let overrides = self.overrides();
        let known: BTreeSet<String> =
            definitions.iter().filter_map(|d| text(d, "name").map(str::to_owned)).collect();
        let unknown: Vec<String> =
            overrides.keys().filter(|name| !known.contains(**name)).copied().cloned().collect();
        if !self.ignore_unknown && !unknown.is_empty() {
            let known = known.into_iter().collect();
            return Err(InvalidInput::UnknownParameters { unknown, known }.into());
        }

        let mut generated: Vec<(String, bool)> = Vec::new();
        for definition in &mut definitions {
            let Some(name) = text(definition, "name").map(str::to_owned) else { continue };
            if let Some(value) = overrides.get(&name) {
                let value = Value::String(value.as_str().to_owned());
                definition.insert("value".to_owned(), value);
                definition.remove("generate");
                definition.remove("from");
            }
            let open = is_generated(definition);
            match generated.iter_mut().find(|(earlier, _)| *earlier == name) {
                Some((_, earlier)) => *earlier = open,
                None => generated.push((name, open)),
            }
        }
        let parameters: Vec<_> =
            generated.into_iter().filter_map(|(name, open)| open.then_some(name)).collect();
        if !parameters.is_empty() {
            return Err(InvalidInput::UnresolvedGenerators { parameters }.into());
        }
        Ok(Value::Object(template))
    }

    fn add_labels(&self, template: &mut Map<String, Value>) {
        if self.labels.is_empty() {
            return;
        }
        let mut labels = match template.remove("labels") {
            Some(Value::Object(labels)) => labels,
            _ => Map::new(),
        };
        let own = |(key, value): (&String, &String)| (key.clone(), Value::String(value.clone()));
        labels.extend(self.labels.iter().map(own));
        template.insert("labels".to_owned(), Value::Object(labels));
    }
}

/// Whether the server would make up a value.
pub(super) fn is_generated(definition: &Map<String, Value>) -> bool {
    let is_set = |field| text(definition, field).is_some_and(|text| !text.is_empty());
    is_set("generate") && !is_set("value")
}

pub(super) fn text<'a>(definition: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    definition.get(field)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::super::API_VERSION;
    use super::*;
    use crate::Error;

    fn stored(parameters: &Value) -> Map<String, Value> {
        let Value::Object(map) = json!({
            "kind": "Template", "apiVersion": API_VERSION, "status": {},
            "metadata": {"name": "t", "namespace": "infra", "uid": "u"},
            "parameters": parameters,
        }) else {
            unreachable!()
        };
        map
    }

    #[test]
    fn only_the_name_is_left_of_the_metadata() {
        let posted = Template::new("t").override_in(stored(&Value::Null)).unwrap();
        assert_eq!(
            posted,
            json!({"kind": "Template", "apiVersion": API_VERSION, "metadata": {"name": "t"}, "parameters": null})
        );
    }

    #[test]
    fn every_definition_of_a_name_is_overridden() {
        let posted = Template::new("t")
            .parameter("A", "")
            .override_in(stored(&json!([
                {"name": "A", "value": "1", "required": true},
                {"name": "B", "value": "2"},
                {"name": "A", "generate": "expression", "from": "[a-z]{8}"},
            ])))
            .unwrap();
        assert_eq!(
            posted["parameters"],
            json!([
                {"name": "A", "value": "", "required": true},
                {"name": "B", "value": "2"},
                {"name": "A", "value": ""},
            ])
        );
    }

    #[test]
    fn unknown_names_are_listed_with_the_known_ones() {
        let error = Template::new("t")
            .parameters([("z", "1"), ("B", "1"), ("a", "1")])
            .override_in(stored(&json!([{"name": "B"}, {"name": "A"}, {"name": "B"}])))
            .unwrap_err();
        let Error::InvalidInput(InvalidInput::UnknownParameters { unknown, known }) = error else {
            panic!("{error:?}")
        };
        assert_eq!((unknown, known), (vec!["a".into(), "z".into()], vec!["A".into(), "B".into()]));
    }

    #[test]
    fn the_last_definition_says_whether_a_value_would_be_generated() {
        let generators =
            |parameters: Value| match Template::new("t").override_in(stored(&parameters)) {
                Err(Error::InvalidInput(InvalidInput::UnresolvedGenerators { parameters })) => {
                    parameters
                }
                Ok(_) => Vec::new(),
                Err(error) => panic!("{error:?}"),
            };
        let open = json!({"name": "A", "generate": "expression", "from": "x"});
        assert_eq!(generators(json!([open])), ["A"]);
        assert_eq!(generators(json!([{"name": "A", "value": "1"}, open])), ["A"]);
        assert!(generators(json!([open, {"name": "A", "value": "1"}])).is_empty());
        assert!(generators(json!([{"name": "A", "generate": "", "value": ""}])).is_empty());
        assert!(
            generators(json!([{"name": "A", "generate": "expression", "value": "1"}])).is_empty()
        );
        let second = json!({"name": "Z", "generate": "expression", "value": null});
        assert_eq!(generators(json!([second, open])), ["Z", "A"]);
    }
}
