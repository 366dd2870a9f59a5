//! The folder of one run: what was asked, on what it ran, what was measured and what came of it.
//! Everything in it but the recordings and the plan can be made again from those two.
//!
//! ```text
//! results/<scenario>/<UTC time>-<id>/
//!   scenario.yaml      as it was written
//!   plan.json          as it was run: every default filled in
//!   environment.json   kernel, CPU, engine, versions
//!   recordings/        <sender>-<repetition>.json, one a trial
//!   qlog/              with `run --qlog`: <sender>-<repetition>-<side>.sqlog, one a connection
//!   summary.json       every figure, for scripts
//!   senders.csv        the figures of each sender, a line each
//!   messages.csv       every message
//!   outages.csv        every outage of every run, if there are any
//!   impairment.csv     what each link was asked for and what it did
//!   charts/            SVG and PNG
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use thiserror::Error;

use super::chart::{ChartError, render_all};
use super::summarise::in_plan_order;
use super::{Order, Report, csv, json, summarise};
use crate::protocol::{Qlog, Role};
use crate::recording::file::{WriteError, remedy, write_atomically, write_atomically_with};
use crate::recording::format::{self, ReadError};
use crate::recording::{Environment, Recording};
use crate::scenario::plan::{Plan, SenderPlan};

const SCENARIO: &str = "scenario.yaml";
const PLAN: &str = "plan.json";
const ENVIRONMENT: &str = "environment.json";
const RECORDINGS: &str = "recordings";
const SUMMARY: &str = "summary.json";
const SENDERS: &str = "senders.csv";
const MESSAGES: &str = "messages.csv";
const OUTAGES: &str = "outages.csv";
const IMPAIRMENT: &str = "impairment.csv";
const CHARTS: &str = "charts";
const QLOG: &str = "qlog";

/// Recordings of a folder that are still read: 64 senders, a thousand repetitions each.
const MAX_RECORDINGS: usize = 64_000;

#[derive(Debug, Error)]
pub enum ResultsError {
    #[error("cannot make the folder {}: {source}{}", path.display(), remedy(source))]
    Create { path: PathBuf, source: io::Error },
    #[error("{} is there already: results are never written over", path.display())]
    Exists { path: PathBuf },
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Chart(#[from] ChartError),
    #[error(
        "{} is not a folder of results: it has no {missing}; \
         name a folder like results/<scenario>/<time>-<id>",
        path.display()
    )]
    NotResults { path: PathBuf, missing: &'static str },
    #[error("there is no folder {}", path.display())]
    NoFolder { path: PathBuf },
    #[error("cannot read the folder {}: {source}", path.display())]
    ReadFolder { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("{} is damaged, or of another version of impairlab: {source}", path.display())]
    Plan { path: PathBuf, source: serde_json::Error },
    #[error(
        "{}: a recording of sender {sender}, repetition {repetition}, which the plan has not or another file holds",
        path.display()
    )]
    Misplaced { path: PathBuf, sender: String, repetition: u32 },
    #[error("{}: a recording of another workload, timeline, seed or paths than the plan's", path.display())]
    OtherPlan { path: PathBuf },
    #[error("{}: the recordings are of several engines", path.display())]
    SeveralEngines { path: PathBuf },
    #[error("{}: damaged or edited: it has control characters", path.display())]
    EditedPlan { path: PathBuf },
    #[error("{}: there is no recording", path.display())]
    NoRecordings { path: PathBuf },
    #[error("{}: more than {MAX_RECORDINGS} recordings", path.display())]
    TooManyRecordings { path: PathBuf },
    #[error("{}: a recording of scenario {found}, but the plan is of {expected}", path.display())]
    OtherScenario { path: PathBuf, found: String, expected: String },
}

#[derive(Debug)]
pub struct Results {
    folder: PathBuf,
}

impl Results {
    /// Makes the folder and shows that it can be written, so that a run does not measure for
    /// minutes and then fail. After an error nothing is left of it.
    pub fn create(
        root: &Path,
        scenario: &str,
        time: SystemTime,
        id: &str,
    ) -> Result<Self, ResultsError> {
        // Colons are no part of a file name everywhere.
        let time = humantime::format_rfc3339_seconds(time).to_string().replace(':', "-");
        let folder = root.join(scenario).join(format!("{time}-{id}"));
        let made = MadeFolders::create(&folder)?;
        for inner in [RECORDINGS, CHARTS] {
            let path = folder.join(inner);
            fs::create_dir(&path).map_err(|source| ResultsError::Create { path, source })?;
        }
        let probe = folder.join(".probe");
        write_atomically(&probe, &[0; 4096])?;
        fs::remove_file(&probe).map_err(|source| ResultsError::Create { path: probe, source })?;
        made.keep();
        Ok(Self { folder })
    }

    /// Takes the folder away again, before anything was measured; that of the scenario too if
    /// nothing else is in it.
    pub fn discard(self) {
        // Best effort: the error that matters is the one that led here.
        let _ = fs::remove_dir_all(&self.folder);
        if let Some(scenario) = self.folder.parent() {
            let _ = fs::remove_dir(scenario);
        }
    }

    /// The folder of an earlier run.
    pub fn open(folder: &Path) -> Result<Self, ResultsError> {
        if !folder.is_dir() {
            return Err(ResultsError::NoFolder { path: folder.to_path_buf() });
        }
        for missing in [PLAN, RECORDINGS] {
            if !folder.join(missing).exists() {
                return Err(ResultsError::NotResults { path: folder.to_path_buf(), missing });
            }
        }
        Ok(Self { folder: folder.to_path_buf() })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file as it was written, byte for byte.
    pub fn write_scenario(&self, text: &str) -> Result<(), ResultsError> {
        Ok(write_atomically(&self.folder.join(SCENARIO), text.as_bytes())?)
    }

    pub fn write_plan(&self, plan: &Plan) -> Result<(), ResultsError> {
        self.write_json(PLAN, plan)
    }

    pub fn write_environment(&self, environment: &Environment) -> Result<(), ResultsError> {
        self.write_json(ENVIRONMENT, environment)
    }

    pub fn write_recording(&self, recording: &Recording) -> Result<(), ResultsError> {
        let path = self.folder.join(RECORDINGS).join(recording_name(recording));
        Ok(format::write(&path, recording)?)
    }

    /// The logs of a trial's connections, in a folder that is there only if there are any.
    pub fn write_qlogs(&self, recording: &Recording, logs: &[Qlog]) -> Result<(), ResultsError> {
        let folder = self.folder.join(QLOG);
        if !logs.is_empty() {
            let create = |source| ResultsError::Create { path: folder.clone(), source };
            fs::create_dir_all(&folder).map_err(create)?;
        }
        for log in logs {
            let alone = logs.iter().filter(|other| other.role == log.role).count() == 1;
            let name = qlog_name(recording, log, alone);
            write_atomically(&folder.join(name), &log.bytes)?;
        }
        Ok(())
    }

    /// Writes all that is made from the recordings, over what an earlier call wrote.
    pub fn finish(
        &self,
        plan: &Plan,
        recordings: &[Recording],
        order: Order,
    ) -> Result<Report, ResultsError> {
        let report = summarise(plan, recordings).in_order(order);
        write_atomically(&self.folder.join(SUMMARY), json::summary(&report).as_bytes())?;
        write_atomically_with(&self.folder.join(SENDERS), |out| csv::write_senders(&report, out))?;
        write_atomically_with(&self.folder.join(MESSAGES), |out| {
            csv::write_messages(&in_plan_order(plan, recordings), out)
        })?;
        write_atomically_with(&self.folder.join(IMPAIRMENT), |out| {
            csv::write_impairment(&report, out)
        })?;
        if !report.outages.is_empty() {
            write_atomically_with(&self.folder.join(OUTAGES), |out| {
                csv::write_outages(&report, out)
            })?;
        }
        let charts = self.folder.join(CHARTS);
        let create = |source| ResultsError::Create { path: charts.clone(), source };
        fs::create_dir_all(&charts).map_err(create)?;
        for chart in render_all(&report, recordings)? {
            write_atomically(&charts.join(&chart.name), &chart.bytes)?;
        }
        Ok(report)
    }

    /// What [`Results::finish`] needs.
    pub fn read(&self) -> Result<(Plan, Vec<Recording>), ResultsError> {
        let path = self.folder.join(PLAN);
        let plan: Plan = serde_json::from_slice(&format::read_limited(&path)?)
            .map_err(|source| ResultsError::Plan { path: path.clone(), source })?;
        if prints_control_characters(&plan) {
            return Err(ResultsError::EditedPlan { path });
        }
        let recordings = self.recording_paths()?.into_iter().map(|path| {
            let recording = format::read(&path)?;
            belongs(&plan, &recording, path)?;
            Ok(recording)
        });
        let recordings: Vec<Recording> = recordings.collect::<Result<_, ResultsError>>()?;
        if recordings.iter().any(|recording| recording.engine != recordings[0].engine) {
            return Err(ResultsError::SeveralEngines { path: self.folder.join(RECORDINGS) });
        }
        Ok((plan, recordings))
    }

    /// Sorted, so that a report does not depend on the order a disk lists them in.
    fn recording_paths(&self) -> Result<Vec<PathBuf>, ResultsError> {
        let path = self.folder.join(RECORDINGS);
        let entries: Result<Vec<PathBuf>, io::Error> = fs::read_dir(&path)
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
        let mut paths = match entries {
            Ok(paths) => paths,
            Err(source) => return Err(ResultsError::ReadFolder { path, source }),
        };
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths.sort();
        match paths.len() {
            0 => Err(ResultsError::NoRecordings { path }),
            1..=MAX_RECORDINGS => Ok(paths),
            _ => Err(ResultsError::TooManyRecordings { path }),
        }
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), ResultsError> {
        let mut text = serde_json::to_vec_pretty(value).expect("only structs with plain keys");
        text.push(b'\n');
        Ok(write_atomically(&self.folder.join(name), &text)?)
    }
}

/// No scenario has any; on a terminal they are commands.
fn prints_control_characters(plan: &Plan) -> bool {
    let senders = plan.senders.iter().map(|sender| &sender.name);
    let paths = plan.paths.iter().map(|path| &path.name);
    let claims = plan.claims.iter().flat_map(|claim| [&claim.source, &claim.sender]);
    let mut texts = [&plan.name, &plan.about].into_iter().chain(senders).chain(paths).chain(claims);
    texts.any(|text| text.contains(char::is_control))
}

/// Whether a recording is one of this plan's, under its own name, so that none is counted twice or
/// left out.
fn belongs(plan: &Plan, recording: &Recording, path: PathBuf) -> Result<(), ResultsError> {
    if recording.scenario != plan.name {
        let (found, expected) = (recording.scenario.clone(), plan.name.clone());
        return Err(ResultsError::OtherScenario { path, found, expected });
    }
    let same = recording.workload == plan.workload
        && recording.outages == plan.timeline.outages
        && recording.seed == plan.seed
        && recording.path_names.iter().eq(plan.paths.iter().map(|path| &path.name));
    if !same {
        return Err(ResultsError::OtherPlan { path });
    }
    let planned = |sender: &SenderPlan| {
        sender.name == recording.sender && sender.protocol == recording.protocol
    };
    let planned = plan.senders.iter().any(planned);
    let named = path.file_name().is_some_and(|name| name == recording_name(recording).as_str());
    if planned && named && recording.repetition < plan.repeat {
        return Ok(());
    }
    let (sender, repetition) = (recording.sender.clone(), recording.repetition);
    Err(ResultsError::Misplaced { path, sender, repetition })
}

fn recording_name(recording: &Recording) -> String {
    format!("{}-{}.json", file_name(&recording.sender), recording.repetition)
}

/// Named like the recording; where a side has several connections, each also by its path.
fn qlog_name(recording: &Recording, log: &Qlog, alone: bool) -> String {
    let side = match log.role {
        Role::Client => "vehicle",
        Role::Server => "cloud",
    };
    let path = recording.path_names.get(log.path.index()).filter(|_| !alone);
    let path = path.map_or_else(String::new, |path| format!("-{}", file_name(path)));
    format!("{}-{}-{side}{path}.sqlog", file_name(&recording.sender), recording.repetition)
}

/// Letters, digits, dashes, dots and underscores as they are, anything else as `%` and its code:
/// two senders never share a file, and no name leaves the folder.
fn file_name(sender: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let escaped = |c: char| if plain(c) { c.to_string() } else { format!("%{:x}", u32::from(c)) };
    sender.chars().map(escaped).collect()
}

/// Folders that were made; unless kept, they and what is in them go again.
struct MadeFolders {
    /// The outermost one.
    first: Option<PathBuf>,
}

impl MadeFolders {
    fn create(folder: &Path) -> Result<Self, ResultsError> {
        if folder.exists() {
            return Err(ResultsError::Exists { path: folder.to_path_buf() });
        }
        let missing = folder.ancestors().take_while(|ancestor| !ancestor.exists());
        // The parent of a relative path may be empty, which is the folder we are in.
        let first = missing.filter(|path| !path.as_os_str().is_empty()).last();
        let made = Self { first: first.map(Path::to_path_buf) };
        let error = |source| ResultsError::Create { path: folder.to_path_buf(), source };
        fs::create_dir_all(folder).map_err(error)?;
        Ok(made)
    }

    fn keep(mut self) {
        self.first = None;
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        if let Some(first) = &self.first {
            // Best effort: the error that matters is the one that led here.
            let _ = fs::remove_dir_all(first);
        }
    }
}

#[cfg(test)]
mod tests;
