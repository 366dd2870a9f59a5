//! `doctor`: what this machine can do, found out by trying, and how to get what is missing.

use std::io::{self, Write};

use netns::{Availability, Capabilities};
use serde::Serialize;

use super::engine_choice::{netem_lacks, relay_lacks};
use crate::engine::kernel_socket;
use crate::engine::uml::Kernel;

#[derive(Debug, Serialize)]
struct Diagnosis {
    kernel: String,
    engines: Vec<Finding>,
    capabilities: Vec<Finding>,
    senders: Vec<Finding>,
}

#[derive(Debug, Serialize)]
struct Finding {
    name: String,
    available: bool,
    /// Which it is, where there are several.
    detail: Option<String>,
    /// What went wrong.
    reason: Option<String>,
    /// How to get it.
    remedy: Option<String>,
}

pub fn run(json: bool, out: &mut dyn Write) -> io::Result<()> {
    let diagnosis = Diagnosis::of(&netns::probe());
    if json {
        serde_json::to_writer_pretty(&mut *out, &diagnosis)?;
        return writeln!(out);
    }
    writeln!(out, "Linux {}\n\nEngines", diagnosis.kernel)?;
    print(&diagnosis.engines, out)?;
    writeln!(out, "\nCapabilities")?;
    print(&diagnosis.capabilities, out)?;
    writeln!(
        out,
        "\nSenders that are not this program's own (relay, netem; uml has a kernel of its own)"
    )?;
    print(&diagnosis.senders, out)
}

impl Diagnosis {
    fn of(capabilities: &Capabilities) -> Self {
        let finding = |(name, availability): (&str, &Availability)| match availability {
            Availability::Available => Finding::available(name),
            Availability::Missing { reason, remedy } => Finding {
                name: name.to_owned(),
                available: false,
                detail: None,
                reason: Some(reason.clone()),
                remedy: Some((*remedy).to_owned()),
            },
        };
        let engine = |name: &str, lacks: Option<String>| match lacks {
            None => Finding::available(name),
            Some(missing) => Finding {
                name: name.to_owned(),
                available: false,
                detail: None,
                reason: Some(missing),
                remedy: Some("see the capabilities below".to_owned()),
            },
        };
        let relay = engine("relay", relay_lacks(capabilities));
        let netem = engine("netem", netem_lacks(capabilities));
        Self {
            kernel: capabilities.kernel.clone(),
            engines: vec![Finding::available("sim"), relay, netem, uml()],
            capabilities: capabilities.all().map(finding).into(),
            senders: vec![tcp(), mptcp(capabilities), kcptun()],
        }
    }
}

impl Finding {
    fn available(name: &str) -> Self {
        Self { name: name.to_owned(), available: true, detail: None, reason: None, remedy: None }
    }

    fn missing(name: &str, reason: String, remedy: &str) -> Self {
        let (reason, remedy) = (Some(reason), Some(remedy.to_owned()));
        Self { available: false, reason, remedy, ..Self::available(name) }
    }
}

fn uml() -> Finding {
    match Kernel::find() {
        Ok(kernel) => {
            let detail = format!("Linux {}, {}", kernel.release, kernel.path.display());
            Finding { detail: Some(detail), ..Finding::available("uml") }
        }
        Err(error) => Finding {
            available: false,
            reason: Some(error.to_string()),
            remedy: Some(
                "scripts/build-uml makes its kernel, once, in about six minutes".to_owned(),
            ),
            ..Finding::available("uml")
        },
    }
}

fn tcp() -> Finding {
    let detail = format!("congestion control {}", kernel_socket::congestion_controls());
    Finding { detail: Some(detail), ..Finding::available("tcp") }
}

fn mptcp(capabilities: &Capabilities) -> Finding {
    match &capabilities.mptcp {
        Availability::Available => match kernel_socket::multipath_allowed() {
            Ok(()) => Finding::available("mptcp"),
            Err(error) => Finding::missing("mptcp", error.to_string(), "see above"),
        },
        Availability::Missing { reason, remedy } => {
            Finding::missing("mptcp", reason.clone(), remedy)
        }
    }
}

fn kcptun() -> Finding {
    match kernel_socket::Programs::find() {
        Ok(programs) => {
            let detail = Some(programs.client.display().to_string());
            Finding { detail, ..Finding::available("kcptun") }
        }
        Err(error) => Finding::missing(
            "kcptun",
            error.to_string(),
            "apt-get install kcptun (Debian, Ubuntu), or put both of its programs in PATH",
        ),
    }
}

fn print(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        let state = if finding.available { "yes" } else { "no " };
        let detail = finding.detail.iter().map(|detail| format!(" ({detail})"));
        writeln!(out, "  {state}  {}{}", finding.name, detail.collect::<String>())?;
        for (label, text) in [("why", &finding.reason), ("get", &finding.remedy)] {
            if let Some(text) = text {
                writeln!(out, "         {label}: {text}")?;
            }
        }
    }
    Ok(())
}
