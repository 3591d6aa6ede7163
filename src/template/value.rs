use std::fmt;

use crate::{Error, InvalidInput, Result};

/// A parameter's value, in the one form that the API has for it: a string.
///
/// Made from strings as they are, from `bool` (`true`, `false`), from integers up to 128 bits, and
/// from finite floats. Floats are written as Python's `str` writes them (`1.0`, `1e+16`, `1e-05`),
/// so that jobs started by the Python original are found again.
///
/// ```
/// use openshift_templates::ParameterValue;
///
/// assert_eq!(ParameterValue::from(true).as_str(), "true");
/// assert_eq!(ParameterValue::try_from(1e16)?.as_str(), "1e+16");
/// assert!(ParameterValue::try_from(f64::NAN).is_err());
/// # Ok::<(), openshift_templates::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ParameterValue(String);

impl ParameterValue {
    /// The value as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ParameterValue(..)")
    }
}

impl From<&str> for ParameterValue {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl From<&String> for ParameterValue {
    fn from(value: &String) -> Self {
        Self(value.clone())
    }
}

macro_rules! from_display {
    ($($scalar:ty),*) => {
        $(impl From<$scalar> for ParameterValue {
            fn from(value: $scalar) -> Self {
                Self(value.to_string())
            }
        })*
    };
}

from_display!(String, bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl TryFrom<f64> for ParameterValue {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self> {
        if !value.is_finite() {
            return Err(InvalidInput::NonFiniteParameter.into());
        }
        // Both languages write the shortest digits that read back as the same number; they differ
        // in the exponent's form, and in where it begins: Python at 1e16 and below 1e-4.
        let scientific = format!("{value:e}");
        let Some((digits, exponent)) = scientific.split_once('e') else {
            return Ok(Self(scientific));
        };
        let text = match exponent.parse::<i32>() {
            Ok(e) if !(-4..16).contains(&e) => {
                let sign = if e < 0 { '-' } else { '+' };
                format!("{digits}e{sign}{:02}", e.unsigned_abs())
            }
            _ => {
                let plain = value.to_string();
                if plain.contains('.') { plain } else { plain + ".0" }
            }
        };
        Ok(Self(text))
    }
}

impl TryFrom<f32> for ParameterValue {
    type Error = Error;

    /// Through `f64`, as Python has no shorter float: `0.1_f32` is `0.10000000149011612`.
    fn try_from(value: f32) -> Result<Self> {
        Self::try_from(f64::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_all_their_digits() {
        assert_eq!(ParameterValue::from(i128::MIN).as_str(), i128::MIN.to_string());
        assert_eq!(ParameterValue::from(u128::MAX).as_str(), u128::MAX.to_string());
    }
}
