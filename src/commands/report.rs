//! `report`: the table, the summary and the charts of an earlier run, made again from its
//! recordings alone.

use std::io::Write;
use std::path::Path;

use super::{CommandError, OutputError};
use crate::report::terminal::{self, Style};
use crate::report::{Order, Results, json};

#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The summary as JSON instead of the table.
    pub json: bool,
    /// Of the senders.
    pub order: Order,
    pub style: Style,
}

pub fn run(folder: &Path, options: &Options, out: &mut dyn Write) -> Result<(), CommandError> {
    let results = Results::open(folder)?;
    let (plan, recordings) = results.read()?;
    let report = results.finish(&plan, &recordings, options.order)?;
    let text = match options.json {
        true => json::summary(&report),
        false => terminal::render(&report, options.style),
    };
    Ok(out.write_all(text.as_bytes()).map_err(OutputError)?)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::recording::sample;
    use crate::report::summarise;

    const STYLE: Style = Style { width: 120, colour: false };

    #[test]
    fn it_prints_what_the_run_printed() {
        let root = tempfile::tempdir().unwrap();
        let (plan, recordings) = (sample::plan(2), sample::recordings(2));
        let results =
            Results::create(root.path(), &plan.name, SystemTime::UNIX_EPOCH, "x").unwrap();
        results.write_plan(&plan).unwrap();
        recordings.iter().for_each(|recording| results.write_recording(recording).unwrap());
        let printed = |json, order| {
            let mut out = Vec::new();
            run(results.folder(), &Options { json, order, style: STYLE }, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let report = summarise(&plan, &recordings);
        assert_eq!(printed(false, Order::Scenario), terminal::render(&report, STYLE));
        assert_eq!(printed(true, Order::Scenario), json::summary(&report));
        let by_p99 = report.in_order(Order::P99);
        assert_eq!(printed(false, Order::P99), terminal::render(&by_p99, STYLE));
        assert_eq!(printed(true, Order::P99), json::summary(&by_p99));
        assert!(results.folder().join("charts/tail.png").exists());
    }

    #[test]
    fn a_folder_that_is_none_is_refused() {
        let options = Options { json: false, order: Order::Scenario, style: STYLE };
        let error = run(Path::new("/none"), &options, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "there is no folder /none");
    }
}
