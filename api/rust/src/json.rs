//! Reads the JSON documents of secequiv. It must not know what they mean.

/// A JSON value. The functions return a member of an object, or a sentence about what was expected.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Number(u64),
    /// A number with a sign, a fraction or an exponent.
    Real(f64),
    Text(String),
    Truth(bool),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Reads a whole document. The error is a sentence.
    pub fn read(text: &[u8]) -> Result<Value, String> {
        let mut json = Json { text, at: 0 };
        let whole = json.value(0)?;
        json.blank();
        if json.at != text.len() {
            return Err(format!("expected the end at byte {}, found more text", json.at));
        }
        Ok(whole)
    }

    pub fn member(&self, name: &str) -> Result<&Value, String> {
        match self {
            Value::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
        .ok_or_else(|| format!("expected an object with '{name}'"))
    }

    pub fn number<T: TryFrom<u64>>(&self, name: &str) -> Result<T, String> {
        match self.member(name)? {
            Value::Number(value) => T::try_from(*value).ok(),
            _ => None,
        }
        .ok_or_else(|| format!("{name}: expected a number that fits"))
    }

    pub fn text(&self, name: &str) -> Result<String, String> {
        match self.member(name)? {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(format!("{name}: expected text")),
        }
    }

    pub fn truth(&self, name: &str) -> Result<bool, String> {
        match self.member(name)? {
            Value::Truth(value) => Ok(*value),
            _ => Err(format!("{name}: expected true or false")),
        }
    }

    pub fn list<T>(&self, name: &str, read: impl Fn(&Value) -> Result<T, String>) -> Result<Vec<T>, String> {
        match self.member(name)? {
            Value::List(items) => items.iter().map(read).collect(),
            _ => Err(format!("{name}: expected a list")),
        }
    }
}

struct Json<'a> {
    text: &'a [u8],
    at: usize,
}

const DEEPEST: usize = 32;

impl Json<'_> {
    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Skips blanks and takes `expected` if it is next.
    fn take(&mut self, expected: &str) -> bool {
        self.blank();
        let found = self.text[self.at..].starts_with(expected.as_bytes());
        if found {
            self.at += expected.len();
        }
        found
    }

    fn expect(&mut self, expected: &str) -> Result<(), String> {
        if self.take(expected) {
            return Ok(());
        }
        Err(format!("expected '{expected}' at byte {}", self.at))
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        self.blank();
        match self.text.get(self.at) {
            _ if depth > DEEPEST => Err(format!("expected at most {DEEPEST} levels at byte {}", self.at)),
            Some(b'0'..=b'9' | b'-') => self.number(),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'[') => self.items("[", "]", |json| json.value(depth + 1)).map(Value::List),
            Some(b'{') => self
                .items("{", "}", |json| {
                    json.blank();
                    let key = json.string()?;
                    json.expect(":")?;
                    Ok((key, json.value(depth + 1)?))
                })
                .map(Value::Object),
            _ if self.take("true") => Ok(Value::Truth(true)),
            _ if self.take("false") => Ok(Value::Truth(false)),
            _ if self.take("null") => Ok(Value::Null),
            _ => Err(format!("expected a value at byte {}", self.at)),
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        while self
            .text
            .get(self.at)
            .is_some_and(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
        {
            self.at += 1;
        }
        let number = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        if number.bytes().all(|byte| byte.is_ascii_digit()) {
            return number
                .parse()
                .map(Value::Number)
                .map_err(|_| format!("expected a number of 64 bits at byte {start}"));
        }
        number
            .parse::<f64>()
            .map(Value::Real)
            .map_err(|_| format!("expected a number at byte {start}"))
    }

    fn items<T>(
        &mut self,
        open: &str,
        close: &str,
        read: impl Fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut out = Vec::new();
        self.expect(open)?;
        if self.take(close) {
            return Ok(out);
        }
        loop {
            out.push(read(self)?);
            if self.take(close) {
                return Ok(out);
            }
            self.expect(",")?;
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        let wrong = || format!("expected text in quotes at byte {start}");
        if self.text.get(start) != Some(&b'"') {
            return Err(wrong());
        }
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let byte = *self.text.get(self.at).ok_or_else(wrong)?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(out).map_err(|_| wrong()),
                b'\\' => out.extend(self.escaped().ok_or_else(wrong)?.to_string().as_bytes()),
                _ => out.push(byte),
            }
        }
    }

    /// Reads the rest of an escape sequence. secequiv escapes only quotes, backslashes and control characters.
    fn escaped(&mut self) -> Option<char> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let digits = std::str::from_utf8(self.text.get(self.at..self.at + 4)?).ok()?;
                self.at += 4;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            b'"' | b'\\' | b'/' => char::from(byte),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_value() {
        let text = br#"{"a": [1, -2.5e3, null, true], "b": {"c": "\u000ad\"\\"}}"#;
        let read = Value::read(text).unwrap();
        let kinds = read.list("a", |value| {
            Ok(match value {
                Value::Number(1) => 'n',
                Value::Null => '0',
                Value::Real(value) if *value == -2500.0 => 'r',
                Value::Truth(true) => 't',
                _ => '?',
            })
        });
        assert_eq!(kinds.unwrap(), ['n', 'r', '0', 't']);
        assert_eq!(read.member("b").unwrap().text("c").unwrap(), "\nd\"\\");
        assert!(read.number::<u32>("b").is_err() && read.truth("a").is_err());
    }

    #[test]
    fn refuses_what_is_not_json() {
        for wrong in [
            "",
            "{",
            "[1,]",
            "1 2",
            "-",
            "1.2.3",
            "nul",
            "\"a",
            "{\"a\" 1}",
            &"[".repeat(1000),
        ] {
            assert!(Value::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
