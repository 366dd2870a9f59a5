//! The plan of a trial of one sender, run once: for the tests of every engine that has a kernel.

use std::sync::Arc;

use impairlab::engine::Trial;
use impairlab::link::profile::LinkProfile;
use impairlab::protocol::ProtocolSettings;
use impairlab::scenario::plan::{PathPlan, Plan, SenderPlan};
use impairlab::timeline::Timeline;
use impairlab::units::IpVersion;
use impairlab::workload::Workload;

pub fn path(name: &str, up: LinkProfile, down: LinkProfile) -> PathPlan {
    PathPlan {
        name: name.to_owned(),
        profile: None,
        sources: Vec::new(),
        ip: IpVersion::V4,
        up,
        down,
    }
}

pub fn trial(
    name: &str,
    protocol: ProtocolSettings,
    workload: Workload,
    paths: Vec<PathPlan>,
) -> Trial {
    let plan = Plan {
        name: name.to_owned(),
        about: String::new(),
        paths,
        timeline: Timeline::default(),
        workload,
        vehicles: 1,
        senders: vec![SenderPlan { name: protocol.keyword().to_owned(), protocol }],
        repeat: 1,
        seed: 1,
        claims: Vec::new(),
    };
    Trial { plan: Arc::new(plan), sender: 0, repetition: 0, vehicle: 0, qlog: None }
}
