//! Reads a distribution from the text of a `.dist` file, the format of iproute2's `/usr/lib/tc`:
//! numbers with white space between them, in units of jitter / 8192, and `#` before a comment.
//! Reading the file is the caller's.

use std::sync::Arc;

use thiserror::Error;

/// What netem holds at most.
pub const MAX_ENTRIES: usize = 16_384;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TableError {
    #[error("line {line}: `{text}` is not a whole number")]
    NotANumber { line: usize, text: String },
    #[error(
        "line {line}: {value} is outside of {} to {}, the range of a sample",
        i16::MIN,
        i16::MAX
    )]
    OutOfRange { line: usize, value: i64 },
    #[error("line {line}: more than {MAX_ENTRIES} numbers, which is all that a table holds")]
    TooLong { line: usize },
    #[error("no number in it: a table holds 1 to {MAX_ENTRIES}")]
    Empty,
}

/// # Errors
/// The first thing that is wrong, with its line (from 1).
pub fn parse(text: &str) -> Result<Arc<[i16]>, TableError> {
    let mut samples = Vec::new();
    for (index, content) in text.lines().enumerate() {
        let line = index + 1;
        let numbers = content.split('#').next().unwrap_or_default();
        for word in numbers.split_ascii_whitespace() {
            if samples.len() == MAX_ENTRIES {
                return Err(TableError::TooLong { line });
            }
            samples.push(sample(word, line)?);
        }
    }
    if samples.is_empty() { Err(TableError::Empty) } else { Ok(samples.into()) }
}

fn sample(word: &str, line: usize) -> Result<i16, TableError> {
    let value: i64 = word.parse().map_err(|_| not_a_number(word, line))?;
    i16::try_from(value).map_err(|_| TableError::OutOfRange { line, value })
}

/// Quotes no more of the word than a line of a terminal takes: the file may be anything.
fn not_a_number(word: &str, line: usize) -> TableError {
    const QUOTED: usize = 40;
    TableError::NotANumber { line, text: word.chars().take(QUOTED).collect() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        parse(text).expect_err("is wrong").to_string()
    }

    #[test]
    fn numbers_comments_and_blank_lines() {
        let text = "# made by hand\n -32768 -1\t0\n\n 1 32767 # the rest is a comment 7\r\n";
        assert_eq!(*parse(text).expect("is right"), [-32768, -1, 0, 1, 32767]);
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(error("1 2\n3 x4"), "line 2: `x4` is not a whole number");
        assert_eq!(error("1.5"), "line 1: `1.5` is not a whole number");
        assert_eq!(
            error("# c\n1\n32768"),
            "line 3: 32768 is outside of -32768 to 32767, the range of a sample"
        );
        assert_eq!(error("# nothing\n\n"), "no number in it: a table holds 1 to 16384");
        assert!(error(&"x".repeat(10_000)).len() < 100);
    }

    #[test]
    fn the_longest_table_is_read_and_one_more_is_not() {
        let longest = "1\n".repeat(MAX_ENTRIES);
        assert_eq!(parse(&longest).expect("is right").len(), MAX_ENTRIES);
        assert_eq!(
            error(&(longest + "1")),
            "line 16385: more than 16384 numbers, which is all that a table holds"
        );
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(samples in prop::collection::vec(any::<i16>(), 1..500)) {
            let text: String = samples.iter().map(|sample| format!(" {sample}\n")).collect();
            prop_assert_eq!(&*parse(&text).expect("is right"), &samples[..]);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            let _ = parse(&text);
        }
    }
}
