use std::time::Duration;

use super::*;
use crate::engine::Pace;
use crate::engine::netem::error::when;

fn refused() -> NetemError {
    let source = Box::new(netns::QdiscError::KernelLacks("sch_netem".to_owned()));
    NetemError::Refused { path: "4g".to_owned(), at: when(Some(Duration::from_secs(2))), source }
}

#[test]
fn a_thread_that_fails_ends_the_trial_and_says_why() {
    let bounds = Arc::new(Bounds::new(Pace::Real));
    let aside = Aside::<Result<(), _>>::start("changes", &bounds, |_| || Err(refused()));
    let error = aside.expect("started").end().expect_err("it failed");
    assert!(bounds.is_over());
    assert_eq!(
        error.to_string(),
        "netem: path 4g, the change at 2 s of the workload: this kernel lacks sch_netem (as root: \
         modprobe sch_netem, or install the rest of the kernel's modules)"
    );
}

#[test]
fn a_thread_that_is_dropped_is_told_to_stop_and_waited_for() {
    let bounds = Arc::new(Bounds::new(Pace::Real));
    let ended = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&ended);
    let aside = Aside::start("waits", &bounds, |stop| {
        move || {
            while !stop.load(Ordering::Acquire) {
                thread::yield_now();
            }
            told.store(true, Ordering::Release);
            Ok(())
        }
    });
    drop(aside.expect("started"));
    assert!(ended.load(Ordering::Acquire) && !bounds.is_over());
}
