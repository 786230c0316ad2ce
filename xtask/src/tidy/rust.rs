//! Just enough Rust: which part of a file is code, and which part of the code is a test.

/// The code of a Rust file, line by line in its place: comments become blanks, and what stands in
/// string and character literals becomes `~`.
pub(super) fn code(text: &str) -> String {
    let mut scanner = Scanner { rest: text, code: String::with_capacity(text.len()) };
    while scanner.step() {}
    scanner.code
}

struct Scanner<'a> {
    rest: &'a str,
    code: String,
}

impl Scanner<'_> {
    /// Takes one comment, literal or character; false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        let after_a_name = self.code.ends_with(is_of_a_name);
        if self.rest.starts_with("//") {
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()), ' ');
        } else if self.rest.starts_with("/*") {
            self.take(comment_length(self.rest), ' ');
        } else if first == '"' {
            self.take(string_length(self.rest), '~');
        } else if let Some(length) = raw_string_length(self.rest).filter(|_| !after_a_name) {
            self.take(length, '~');
        } else if let Some(length) = character_length(self.rest) {
            self.take(length, '~');
        } else {
            self.code.push(first);
            self.rest = &self.rest[first.len_utf8()..];
        }
        true
    }

    /// Takes so many bytes; all but white space becomes `instead`.
    fn take(&mut self, length: usize, instead: char) {
        let (taken, rest) = self.rest.split_at(length);
        self.code.extend(taken.chars().map(|c| if c.is_whitespace() { c } else { instead }));
        self.rest = rest;
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a block comment, which may hold others.
fn comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length of a string literal that begins with its quotation mark.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The length of a raw string literal (`r"…"`, `br#"…"#`), if one begins here.
fn raw_string_length(text: &str) -> Option<usize> {
    let after_prefix =
        text.strip_prefix("br").or(text.strip_prefix("cr")).or(text.strip_prefix('r'))?;
    let after_marks = after_prefix.trim_start_matches('#');
    let marks = &after_prefix[..after_prefix.len() - after_marks.len()];
    let content = after_marks.strip_prefix('"')?;
    let end = content.find(&format!("\"{marks}"))?;
    Some(text.len() - content.len() + end + 1 + marks.len())
}

/// The length of a character literal, if one begins here; a lifetime is none.
fn character_length(text: &str) -> Option<usize> {
    let content = text.strip_prefix('\'')?;
    let mut characters = content.char_indices();
    let (_, first) = characters.next()?;
    let (second_at, second) = characters.next()?;
    if first == '\\' {
        let after_escaped = second_at + second.len_utf8();
        return Some(1 + after_escaped + content[after_escaped..].find('\'')? + 1);
    }
    (second == '\'').then_some(1 + second_at + 1)
}

/// The code without its test modules.
pub(super) fn without_tests(code: &str) -> String {
    without_items(code, "#[cfg(test)]\nmod ")
}

/// The code without the items that begin so.
pub(super) fn without_items(code: &str, beginning: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(beginning) {
        kept.push_str(&rest[..at]);
        let item = &rest[at..];
        rest = &item[item_length(item)..];
    }
    kept.push_str(rest);
    kept
}

/// The length of an item that ends with its block, or with a semicolon.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 && !code[at..].starts_with("};") => return at + 1,
            '}' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// The lines of a text, numbered from one.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}

/// The line in which this byte stands.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_vanish_and_the_lines_stay() {
        assert_eq!(
            code("a // b\nc /* d\n/* e */ */ f").split_whitespace().collect::<Vec<_>>(),
            ["a", "c", "f"]
        );
        assert_eq!(code("a // b\nc /* d\n */ f").lines().count(), 3);
    }

    #[test]
    fn what_stands_in_literals_is_not_code() {
        assert_eq!(code(r#"f("todo // x", b) // y"#).trim_end(), "f(~~~~~ ~~ ~~, b)");
        assert_eq!(code("r#\"a\"b\"# + c"), "~~~~~~~~ + c");
        assert_eq!(code(r#""a\"b" + c"#), "~~~~~~ + c");
        assert_eq!(code(r#"'"' + '\'' + '\u{1F600}' + c"#), "~~~ + ~~~~ + ~~~~~~~~~~~ + c");
    }

    #[test]
    fn a_lifetime_is_not_a_literal() {
        assert_eq!(
            code("fn f<'a>(x: &'a str, y: &'static str)"),
            "fn f<'a>(x: &'a str, y: &'static str)"
        );
    }

    #[test]
    fn a_name_that_ends_with_r_begins_no_raw_string() {
        assert_eq!(code("xr\"a\" + b"), "xr~~~ + b");
    }

    #[test]
    fn test_modules_are_left_out_and_what_follows_them_is_kept() {
        let text = "a();\n#[cfg(test)]\nmod tests { fn b() { c() } }\nd();\n#[cfg(test)]\nmod e;\n";
        let kept = without_tests(text);
        assert_eq!(kept.split_whitespace().collect::<Vec<_>>(), ["a();", "d();"]);
    }

    #[test]
    fn an_item_that_is_a_value_is_left_out_up_to_its_semicolon() {
        let text = "a();\nconst B: C = C {\n    d: D { e },\n    ..F\n};\ng();\n";
        assert_eq!(without_items(text, "const B"), "a();\n\ng();\n");
    }
}
