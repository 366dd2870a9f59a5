//! Trials of senders that live in the kernel or in a program, and the engines that can run them.

#[path = "../one_sender/mod.rs"]
mod one_sender;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use impairlab::engine::kernel_socket::Programs;
use impairlab::engine::relay::Relay;
use impairlab::engine::uml::{Kernel, Uml};
use impairlab::engine::{Engine, EngineError, Trial};
use impairlab::link::profile::{Correlated, LinkProfile, Loss};
use impairlab::protocol::ProtocolSettings;
use impairlab::recording::{EndSockets, Message, Messages, Recording, Status};
use impairlab::scenario::plan::PathPlan;
use impairlab::timeline::{Change, Outage};
use impairlab::units::{Direction, IpVersion, PathId, Probability};
use impairlab::workload::{Keep, Periodic, Workload};

use crate::namespaces;

pub const FIRST: PathId = PathId(0);
pub const SECOND: PathId = PathId(1);
pub const SIZE: u32 = 600;
const RATE: f64 = 50.0;
const REQUIRED: &str = "IMPAIRLAB_UML_TESTS";

/// The relay, in real time; `None`, saying so, where there are no namespaces and none are expected.
pub fn relay() -> Option<Relay> {
    namespaces::are_here().then_some(Relay)
}

/// Guests; `None`, saying so, where there is no kernel for them and none is expected.
pub fn uml() -> Option<Uml> {
    match Kernel::find() {
        Ok(kernel) => Some(Uml::new(kernel, PathBuf::from(env!("CARGO_BIN_EXE_impairlab")))),
        Err(error) => {
            assert!(std::env::var_os(REQUIRED).is_none(), "{error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// Says so where it is not, and fails where it is expected.
pub fn has_kcptun() -> bool {
    let Err(error) = Programs::find() else { return true };
    assert!(std::env::var_os("IMPAIRLAB_KCPTUN_TESTS").is_none(), "{error}");
    eprintln!("skipped: {error}");
    false
}

pub fn run(engine: &dyn Engine, trial: &Trial) -> Result<Recording, EngineError> {
    engine.admit(&trial.plan)?;
    engine.run(trial, &mut |_| ControlFlow::Continue(()))
}

/// Two paths of 40 ms each way that lose this share, and this many seconds of 600 bytes at 50/s.
pub fn trial(protocol: ProtocolSettings, loss: f64, seconds: u64) -> Trial {
    let periodic = Periodic {
        rate: RATE,
        size: SIZE,
        duration: Duration::from_secs(seconds),
        deadline: Duration::from_millis(250),
        keep: Keep::Messages,
        phase: None,
    };
    let paths = ["first", "second"].map(|name| one_sender::path(name, lossy(loss), lossy(loss)));
    one_sender::trial("kernel-senders", protocol, Workload::Control(periodic), paths.to_vec())
}

/// The same over IPv6.
pub fn over_ipv6(mut trial: Trial) -> Trial {
    let plan = Arc::make_mut(&mut trial.plan);
    plan.paths.iter_mut().for_each(|path| path.ip = IpVersion::V6);
    trial
}

/// The same over so many paths.
pub fn over_paths(mut trial: Trial, count: u8) -> Trial {
    let plan = Arc::make_mut(&mut trial.plan);
    let path = plan.paths[0].clone();
    let name = |number| PathPlan { name: format!("p{number}"), ..path.clone() };
    plan.paths = (0..count).map(name).collect();
    trial
}

/// The same with answers of this size.
pub fn with_answers(mut trial: Trial, response_size: u32) -> Trial {
    let plan = Arc::make_mut(&mut trial.plan);
    let request = plan.workload.periodic().clone();
    plan.workload = Workload::Echo { request, response_size };
    trial
}

/// The same with the first path dark, both ways, for this time.
pub fn dark(trial: Trial, from: Duration, until: Duration) -> Trial {
    dark_paths(trial, &[FIRST], from, until)
}

/// The same with these paths.
pub fn dark_paths(mut trial: Trial, paths: &[PathId], from: Duration, until: Duration) -> Trial {
    let plan = Arc::make_mut(&mut trial.plan);
    let before = plan.paths[0].up.clone();
    for (at, profile) in [(from, lossy(1.0)), (until, before)] {
        let ways = [Direction::Up, Direction::Down];
        let both = ways.map(|direction| (direction, profile.clone()));
        plan.timeline.changes.extend(paths.iter().flat_map(|path| {
            let change = |(direction, profile)| Change { at, path: *path, direction, profile };
            both.clone().map(change)
        }));
    }
    let outage = |path: &PathId| Outage { path: *path, from, until };
    plan.timeline.outages = paths.iter().map(outage).collect();
    trial
}

fn lossy(share: f64) -> LinkProfile {
    let probability = Probability::new(share).expect("between 0 and 1");
    LinkProfile {
        delay: Duration::from_millis(40),
        loss: Loss::Random(Correlated { probability, ..Correlated::default() }),
        ..LinkProfile::default()
    }
}

pub fn messages(recording: &Recording) -> &[Message] {
    match &recording.messages {
        Messages::Each(messages) => messages,
        Messages::Histogram(_) => panic!("every message is kept"),
    }
}

/// All arrived, in the order in which they were sent, and none sooner than the path lets it.
pub fn assert_all_arrived(recording: &Recording) {
    assert_eq!(recording.status, Status::Complete);
    let mut last = 0;
    for (id, message) in messages(recording).iter().enumerate() {
        let (Some(sent), Some(delivered)) = (message.sent, message.delivered) else {
            panic!("message {id} was lost: {message:?}");
        };
        assert!(delivered >= last, "message {id} overtook another");
        assert!(delivered - sent >= 40_000_000, "message {id}: {message:?}");
        last = delivered;
    }
}

/// Milliseconds after it was due: the middle, the worst, and the longest time without any message.
pub fn latencies_ms(recording: &Recording) -> (f64, f64, f64) {
    let ms = |nanos: u64| nanos as f64 / 1e6;
    let at = |message: &Message| message.delivered.expect("it arrived");
    let all = messages(recording);
    let mut late: Vec<_> = all.iter().map(|message| at(message) - message.scheduled).collect();
    late.sort_unstable();
    let gap = all.windows(2).map(|pair| at(&pair[1]) - at(&pair[0])).max().unwrap_or(0);
    (ms(late[late.len() / 2]), ms(late[late.len() - 1]), ms(gap))
}

pub fn sockets(recording: &Recording) -> &[EndSockets; 2] {
    recording.kernel_sockets.as_ref().expect("the kernel tells of its own")
}
