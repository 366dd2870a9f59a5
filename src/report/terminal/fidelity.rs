//! How well the engine kept time, and what the kernel counted, each in a line.

use super::{Style, wrap};
use crate::recording::{EngineKind, Fidelity, QdiscCounters};
use crate::report::table::{Tone, paint};
use crate::report::{Report, figures};

pub(super) fn fidelity(report: &Report, style: Style) -> String {
    if report.engine == Some(EngineKind::Sim) {
        return VIRTUAL.to_owned();
    }
    report.fidelity.as_ref().map_or_else(String::new, |fidelity| {
        let line = wrap(&fidelity_line(fidelity), style.width);
        paint(&line, if fidelity.spoilt.is_some() { Tone::Bad } else { Tone::Plain }, style.colour)
            + "\n"
    })
}

/// There is nothing to be late in virtual time.
const VIRTUAL: &str = "Fidelity: virtual time, exact to the nanosecond on any machine\n";

fn fidelity_line(fidelity: &Fidelity) -> String {
    let us = |us: f64| figures::milliseconds(us / 1e3);
    let stalls = match fidelity.stalls {
        0 => "no stall of the host".to_owned(),
        1 => format!("one stall of the host, {}", us(fidelity.longest_stall_us)),
        stalls => format!("{stalls} stalls of the host, up to {}", us(fidelity.longest_stall_us)),
    };
    let packets = [fidelity.lateness_p50_us, fidelity.lateness_p99_us, fidelity.lateness_max_us];
    let packets = match packets {
        [Some(p50), Some(p99), Some(max)] => format!(
            "packets left the link late by P50 {}, P99 {}, at most {}; ",
            us(p50),
            us(p99),
            us(max)
        ),
        _ => String::new(),
    };
    let messages = format!(
        "messages were sent late by P99 {}, at most {}",
        us(fidelity.send_lateness_p99_us),
        us(fidelity.send_lateness_max_us),
    );
    let host = match (fidelity.virtual_time, fidelity.realtime) {
        (true, _) => "virtual time, which waits for the host".to_owned(),
        (false, true) => format!("{stalls}; real-time scheduling"),
        (false, false) => format!("{stalls}; no real-time scheduling"),
    };
    let limitations = fidelity.limitations.iter().map(|limitation| format!("; {limitation}"));
    format!(
        "Fidelity (worst trial): {packets}{messages}; {host}{}",
        limitations.collect::<String>()
    )
}

pub(super) fn kernel(report: &Report, style: Style) -> String {
    report
        .kernel
        .as_ref()
        .map_or_else(String::new, |counters| wrap(&kernel_line(counters), style.width) + "\n")
}

fn kernel_line(counters: &QdiscCounters) -> String {
    let QdiscCounters { sent, dropped, overlimits, requeues, queued, .. } = *counters;
    format!(
        "netem (all trials): sent {}, dropped {}, over limits {}, let go ahead {}, still queued {}",
        figures::count(sent),
        figures::count(dropped),
        figures::count(overlimits),
        figures::count(requeues),
        figures::count(queued),
    )
}
