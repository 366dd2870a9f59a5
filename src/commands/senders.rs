//! `impairlab senders [NAME…]`: what can be compared, and what can be set on each, from the table
//! that scenario files are read by.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use super::{CommandError, OutputError};
use crate::scenario::senders::{OptionText, PathKeys, SENDERS, Sender};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    /// The part of the documentation that lists them.
    Markdown,
}

/// All senders in short, or those named with all their options.
pub fn run(names: &[String], format: Format, out: &mut dyn Write) -> Result<(), CommandError> {
    let chosen = chosen(names)?;
    let written = match format {
        Format::Text if names.is_empty() => list(&chosen, out),
        Format::Text => chosen.iter().try_for_each(|sender| describe(sender, out)),
        Format::Json => json(&chosen, out),
        Format::Markdown => write!(out, "{}", markdown(&chosen)),
    };
    Ok(written.map_err(OutputError)?)
}

fn chosen(names: &[String]) -> Result<Vec<Sender>, CommandError> {
    let known = || SENDERS.map(|sender| sender.keyword).join(", ");
    let find = |name: &String| {
        let found = SENDERS.into_iter().find(|sender| sender.keyword == name);
        found.ok_or_else(|| CommandError::UnknownSender { name: name.clone(), known: known() })
    };
    match names {
        [] => Ok(SENDERS.into_iter().collect()),
        names => names.iter().map(find).collect(),
    }
}

fn list(senders: &[Sender], out: &mut dyn Write) -> io::Result<()> {
    let rows = senders.iter().map(|sender| {
        let engines = sender.engines.names().join(" ");
        [sender.keyword.to_owned(), engines, sender.about.to_owned()]
    });
    write_columns(&["sender", "engines", "what it is"], rows.collect(), "", out)?;
    writeln!(out, "\nimpairlab senders NAME: every option with its values, default and meaning")
}

fn describe(sender: &Sender, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", sender.keyword, sender.about)?;
    writeln!(out, "  engines  {}", sender.engines.names().join(", "))?;
    writeln!(out, "  source   {}", sender.source)?;
    let copied = if sender.replicable { "can be replicated" } else { "cannot be replicated" };
    writeln!(out, "  copies   {copied}")?;
    let rows = options(sender).into_iter().map(|option| {
        [option.key.to_owned(), option.default, option.values, option.about.into_owned()]
    });
    write_columns(&["option", "default", "values", "meaning"], rows.collect(), "  ", out)?;
    writeln!(out)
}

/// Columns that line up, the last as long as it is.
fn write_columns<const N: usize>(
    headings: &[&str; N],
    rows: Vec<[String; N]>,
    indent: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let headings = headings.map(str::to_owned);
    let rows: Vec<_> = [headings].into_iter().chain(rows).collect();
    let length = |text: &String| text.chars().count();
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter().map(|row| length(&row[column])).max().unwrap_or_default()
    });
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        writeln!(out, "{indent}{}", line.trim_end())?;
    }
    Ok(())
}

/// An option as it is listed.
#[derive(Serialize)]
struct Listed {
    key: &'static str,
    default: String,
    values: String,
    about: Cow<'static, str>,
}

/// The keys of its paths first.
fn options(sender: &Sender) -> Vec<Listed> {
    let path = match sender.paths {
        PathKeys::One => Listed {
            key: "path",
            default: "the only one".to_owned(),
            values: "the name of a path".to_owned(),
            about: "may be left out where there is only one".into(),
        },
        PathKeys::Several { least } => Listed {
            key: "paths",
            default: "required".to_owned(),
            values: format!("a list of {least} or more names"),
            about: "in the order in which they are opened".into(),
        },
    };
    let listed = |option: OptionText| Listed {
        key: option.key,
        default: option.default,
        values: option.form.words(),
        about: option.about,
    };
    [path].into_iter().chain((sender.options)().into_iter().map(listed)).collect()
}

#[derive(Serialize)]
struct Document {
    sender: &'static str,
    about: &'static str,
    source: &'static str,
    engines: &'static [&'static str],
    replicable: bool,
    options: Vec<Listed>,
}

fn json(senders: &[Sender], out: &mut dyn Write) -> io::Result<()> {
    let document = |sender: &Sender| Document {
        sender: sender.keyword,
        about: sender.about,
        source: sender.source,
        engines: sender.engines.names(),
        replicable: sender.replicable,
        options: options(sender),
    };
    let documents: Vec<_> = senders.iter().map(document).collect();
    serde_json::to_writer_pretty(&mut *out, &documents).map_err(io::Error::from)?;
    writeln!(out)
}

fn markdown(senders: &[Sender]) -> String {
    senders.iter().map(section).collect::<Vec<_>>().join("\n")
}

fn section(sender: &Sender) -> String {
    let Sender { keyword, about, source, .. } = sender;
    let engines = sender.engines.names().join(", ");
    let mut text = format!("**`{keyword}`**: {about}. Engines: {engines}. Source: {source}.\n\n");
    text += "| option | values | default | |\n|---|---|---|---|\n";
    for Listed { key, default, values, about } in options(sender) {
        text += &format!("| `{key}` | {values} | {default} | {about} |\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(names: &[&str], format: Format) -> Result<String, CommandError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut out = Vec::new();
        run(&names, format, &mut out)?;
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn all_are_listed_in_short() {
        insta::assert_snapshot!(printed(&[], Format::Text).expect("a list"));
    }

    #[test]
    fn those_named_are_described_with_every_option() {
        insta::assert_snapshot!(printed(&["kcp", "replicate"], Format::Text).expect("a list"));
    }

    #[test]
    fn one_that_does_not_exist_is_an_error_that_names_those_that_do() {
        let error = printed(&["kpc"], Format::Text).expect_err("a wrong name");
        assert!(error.to_string().starts_with("there is no sender `kpc`; there are: udp, "));
    }

    /// After a change of the table: `impairlab senders --markdown`, between the two comments.
    #[test]
    fn the_documentation_has_what_the_table_has() {
        let document = include_str!("../../scenarios/README.md");
        let begin = "<!-- what `impairlab senders --markdown` prints -->\n";
        let (_, rest) = document.split_once(begin).expect("where it begins");
        let (found, _) = rest.split_once("<!-- end -->").expect("where it ends");
        assert_eq!(found.trim(), printed(&[], Format::Markdown).expect("a list").trim());
    }
}
