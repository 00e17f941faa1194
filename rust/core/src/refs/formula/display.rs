//! Values as text, spelled as Python does.

use std::fmt::Write;

use super::node::Value;

/// Widest field of a format.
const MOST_WIDE: usize = 1000;

/// Add the text of a value to `out`.
pub fn show(value: &Value, out: &mut String) {
    // Writing to a String cannot fail.
    match value {
        Value::Int(value) => drop(write!(out, "{value}")),
        Value::Float(value) => out.push_str(&float(*value)),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Text(text) => out.push_str(text),
    }
}

/// The shortest digits that give the number back, as `repr` puts them.
fn float(value: f64) -> String {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() && !value.is_nan() { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let small = value != 0.0 && value.abs() < 1e-4;
    if !small && value.abs() < 1e16 {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
    format!("{digits}e{sign}{power:0>2}")
}

/// A field of a `%` format: flags, width and precision.
#[derive(Default)]
struct Field {
    zero: bool,
    left: bool,
    plus: bool,
    space: bool,
    width: usize,
    precision: Option<usize>,
}

/// Put values into a text as Python's `%` does: `d i u s x X o f` and `%%`, with flags, width and precision.
pub fn format(pattern: &str, values: &[Value], most: usize) -> Result<String, &'static str> {
    let mut out = String::new();
    let mut letters = pattern.chars().peekable();
    let mut values = values.iter();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        if letters.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let field = flags(&mut letters)?;
        let kind = letters.next().ok_or("a format does not end")?;
        let value = values.next().ok_or("a format has more fields than values")?;
        out.push_str(&field.show(kind, value)?);
        if out.len() > most {
            return Err("a text gets too long");
        }
    }
    if values.next().is_some() { Err("a format has fewer fields than values") } else { Ok(out) }
}

fn flags(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Field, &'static str> {
    let mut field = Field::default();
    while let Some(flag) = letters.next_if(|letter| "0-+ ".contains(*letter)) {
        match flag {
            '0' => field.zero = true,
            '-' => field.left = true,
            '+' => field.plus = true,
            _ => field.space = true,
        }
    }
    field.width = number(letters)?.unwrap_or(0);
    if letters.next_if_eq(&'.').is_some() {
        field.precision = Some(number(letters)?.unwrap_or(0));
    }
    Ok(field)
}

fn number(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Option<usize>, &'static str> {
    let mut found = None;
    while let Some(digit) = letters.next_if(char::is_ascii_digit).and_then(|letter| letter.to_digit(10)) {
        let value = found.unwrap_or(0usize).saturating_mul(10).saturating_add(digit as usize);
        if value > MOST_WIDE {
            return Err("a field of a format is too wide");
        }
        found = Some(value);
    }
    Ok(found)
}

impl Field {
    fn show(&self, kind: char, value: &Value) -> Result<String, &'static str> {
        let number = match (kind, value) {
            ('s', _) => None,
            ('f' | 'F', Value::Float(value)) => Some((*value < 0.0, self.fixed(value.abs()))),
            ('f' | 'F', Value::Int(value)) => Some((*value < 0, self.fixed(value.unsigned_abs() as f64))),
            ('d' | 'i' | 'u', Value::Float(value)) if value.is_finite() && value.abs() < 1e18 => {
                Some((*value < 0.0, self.digits(format!("{:.0}", value.abs().trunc()))))
            }
            ('d' | 'i' | 'u', Value::Int(value)) => Some((*value < 0, self.digits(value.unsigned_abs().to_string()))),
            ('x', Value::Int(value)) => Some((*value < 0, self.digits(format!("{:x}", value.unsigned_abs())))),
            ('X', Value::Int(value)) => Some((*value < 0, self.digits(format!("{:X}", value.unsigned_abs())))),
            ('o', Value::Int(value)) => Some((*value < 0, self.digits(format!("{:o}", value.unsigned_abs())))),
            _ => return Err("a field of a format does not fit its value, or is of a kind that is not known"),
        };
        let Some((negative, digits)) = number else {
            let mut text = String::new();
            show(value, &mut text);
            if let Some(most) = self.precision {
                text = text.chars().take(most).collect();
            }
            return Ok(self.padded("", text));
        };
        let sign = match (negative, self.plus, self.space) {
            (true, _, _) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        Ok(self.padded(sign, digits))
    }

    fn fixed(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        format!("{value:.precision$}")
    }

    fn digits(&self, digits: String) -> String {
        let least = self.precision.unwrap_or(0);
        format!("{digits:0>least$}")
    }

    fn padded(&self, sign: &str, text: String) -> String {
        let room = self.width.saturating_sub(sign.len());
        let width = self.width;
        let number = !sign.is_empty() || text.starts_with(|letter: char| letter.is_ascii_hexdigit());
        match (self.left, self.zero && number) {
            (true, _) => format!("{:<width$}", format!("{sign}{text}")),
            (_, true) => format!("{sign}{text:0>room$}"),
            _ => format!("{:>width$}", format!("{sign}{text}")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn one(pattern: &str, value: Value) -> String {
        format(pattern, &[value], 1 << 16).unwrap()
    }

    #[test]
    fn numbers_are_spelled_as_python_does() {
        let shown = |value: f64| float(value);
        assert_eq!(
            [1000.0, 0.5, 1e16, 5e-5, 1e-4, -2.5e300].map(shown),
            ["1000.0", "0.5", "1e+16", "5e-05", "0.0001", "-2.5e+300"]
        );
        assert_eq!(one("%03d", Value::Int(7)), "007");
        assert_eq!(one("%03d", Value::Int(-7)), "-07");
        assert_eq!(one("a%-4d|", Value::Int(7)), "a7   |");
        assert_eq!(one("%+.3d", Value::Int(7)), "+007");
        assert_eq!(one("%5s%%", Value::Text("ab".into())), "   ab%");
        assert_eq!(one("%04x", Value::Int(255)), "00ff");
        assert_eq!(one("%.2f", Value::Int(3)), "3.00");
        assert!(format("%9999d", &[Value::Int(1)], 1 << 16).is_err());
        assert!(format("%d", &[], 1 << 16).is_err());
        assert!(format("", &[Value::Int(1)], 1 << 16).is_err());
        assert!(format("%n", &[Value::Int(1)], 1 << 16).is_err());
    }
}
