use super::*;
use crate::link::profile::LinkProfile;
use crate::scenario::plan::PathPlan;
use crate::timeline::Timeline;
use crate::units::IpVersion;
use crate::workload::{Keep, Periodic, Workload};
use std::time::Duration;

fn plan(paths: usize, rate: f64, answer: Option<u32>) -> Plan {
    let request = Periodic {
        rate,
        size: 600,
        duration: Duration::from_secs(1),
        deadline: Duration::from_millis(250),
        keep: Keep::Messages,
        phase: None,
    };
    let path = PathPlan {
        name: "path".to_owned(),
        profile: None,
        sources: Vec::new(),
        ip: IpVersion::V4,
        up: LinkProfile::default(),
        down: LinkProfile::default(),
    };
    Plan {
        name: "side-by-side".to_owned(),
        about: String::new(),
        paths: vec![path; paths],
        timeline: Timeline::default(),
        workload: match answer {
            Some(response_size) => Workload::Echo { request, response_size },
            None => Workload::Control(request),
        },
        vehicles: 1,
        senders: Vec::new(),
        repeat: 1,
        seed: 1,
        claims: Vec::new(),
    }
}

#[test]
fn the_more_packets_the_fewer_trials_share_a_processor() {
    let two_processors = |paths, rate, answer| with_processors(2, &plan(paths, rate, answer));
    assert_eq!(two_processors(2, 50.0, None), 12);
    assert_eq!(two_processors(1, 1000.0, None), 4);
    assert_eq!(two_processors(1, 1000.0, Some(100)), 2);
    assert_eq!(two_processors(4, 1000.0, Some(100)), 1);
    assert_eq!(two_processors(1, 0.1, None), 12);
}
