//! Parameters: their names, their generators, and the required ones without a value.

use super::decode::Parameter;
use super::generator::{self, Failure};
use super::substitute::is_name;
use crate::status::Cause;

/// Why the parameters cannot be used.
pub(super) enum Refusal {
    Invalid(Vec<Cause>),
    Panic,
}

/// All bad names at once; nothing is generated while there is one.
pub(super) fn check_names(parameters: &[Parameter]) -> Result<(), Refusal> {
    let causes: Vec<Cause> = parameters
        .iter()
        .enumerate()
        .filter(|(_, parameter)| !is_name(&parameter.name))
        .map(|(index, parameter)| {
            let field = format!("parameters[{index}].name");
            if parameter.name.is_empty() {
                Cause::required(field, "")
            } else {
                Cause::invalid(
                    field,
                    &parameter.name.as_str().into(),
                    "does not match ^[a-zA-Z0-9_]+$",
                )
            }
        })
        .collect();
    if causes.is_empty() { Ok(()) } else { Err(Refusal::Invalid(causes)) }
}

/// A value that is there wins over the generator; an empty one never satisfies `required`.
pub(super) fn generate(parameters: &mut [Parameter]) -> Result<(), Refusal> {
    let mut causes = Vec::new();
    for (index, parameter) in parameters.iter_mut().enumerate() {
        let field = format!("template.parameters[{index}]");
        if parameter.value.is_empty() && !parameter.generate.is_empty() {
            match generated(parameter) {
                Ok(value) => parameter.value = value,
                Err(Failure::Panic) => return Err(Refusal::Panic),
                Err(Failure::Invalid(why)) if parameter.generate == EXPRESSION => {
                    causes.push(Cause::invalid_text(field, &parameter.to_text(), &why));
                    continue;
                }
                Err(Failure::Invalid(why)) => {
                    causes.push(Cause::invalid(field, &parameter.generate.as_str().into(), &why));
                    continue;
                }
            }
        }
        if parameter.value.is_empty() && parameter.required {
            // The real text says the path twice.
            let why =
                format!("{field}: parameter {} is required and must be specified", parameter.name);
            causes.push(Cause::required(field, &why));
        }
    }
    if causes.is_empty() { Ok(()) } else { Err(Refusal::Invalid(causes)) }
}

const EXPRESSION: &str = "expression";

fn generated(parameter: &Parameter) -> Result<String, Failure> {
    if parameter.generate == EXPRESSION {
        return generator::generate(&parameter.from);
    }
    let why =
        format!("Unknown generator name '{}' for parameter {}", parameter.generate, parameter.name);
    Err(Failure::Invalid(why))
}
