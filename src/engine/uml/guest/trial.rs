//! Runs a trial in the guest, on engine netem, or says whether one could be run. Its events and its
//! recording go to the host as they come.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;

use super::error::{GuestError, step};
use super::file;
use crate::engine::netem::Netem;
use crate::engine::uml::job::{self, Answer};
use crate::engine::uml::qlogs;
use crate::engine::{Engine, Event, Pace, Trial};
use crate::recording::format::encode;
use crate::scenario::plan::Plan;

pub fn run(trial: &Trial) -> Result<Answer, GuestError> {
    let mut options = OpenOptions::new();
    // Each event goes to the host at once.
    let events = options.append(true).custom_flags(libc::O_DSYNC).open(file(job::EVENTS));
    let mut events = step(|| "open its file for events".to_owned(), events)?;
    let mut told = Ok(());
    let engine = Netem::new(Pace::of_this_kernel());
    let mut on_event = |event| {
        if told.is_ok() {
            told = tell(&mut events, &event);
        }
        match fs::exists(file(job::STOP)) {
            Ok(true) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let result = engine.run(trial, &mut on_event);
    step(|| "tell how far it is".to_owned(), told)?;
    let recording = match result {
        Ok(recording) => recording,
        Err(error) => return Ok(Answer::EngineFailed { message: error.to_string() }),
    };
    let written = fs::write(file(job::RECORDING), encode(&recording));
    step(|| "write the recording".to_owned(), written)?;
    if let Some(book) = &trial.qlog {
        let written = qlogs::write(&file(job::QLOGS), &file(job::QLOG_BYTES), &book.take());
        step(|| "write the logs of its connections".to_owned(), written)?;
    }
    Ok(Answer::Recorded)
}

pub fn admit(plan: &Plan) -> Answer {
    match Netem::new(Pace::of_this_kernel()).admit(plan) {
        Ok(()) => Answer::Admitted,
        Err(error) => Answer::EngineFailed { message: error.to_string() },
    }
}

/// One line, in one write.
fn tell(events: &mut File, event: &Event) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    events.write_all(&line)
}
