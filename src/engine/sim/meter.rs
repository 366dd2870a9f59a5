//! Real processor time of the two sides of many connections. The one part of this engine that reads
//! a clock: what it reads goes into the report, and never into the trial.

use std::cell::Cell;
use std::time::Duration;

use crate::engine::real_clock::thread_cpu_time;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Vehicle,
    Gateway,
}

#[derive(Debug)]
pub(super) struct Meter {
    begun: Duration,
    vehicle: Spent,
    gateway: Spent,
    /// Of one reading of the clock.
    reading: Duration,
}

#[derive(Debug, Default)]
struct Spent {
    time: Cell<Duration>,
    times: Cell<u32>,
}

impl Meter {
    pub(super) fn start() -> Self {
        const READINGS: u32 = 1000;
        let before = thread_cpu_time();
        let begun = (0..READINGS).fold(before, |_, _| thread_cpu_time());
        let reading = (begun - before) / READINGS;
        Self { begun, vehicle: Spent::default(), gateway: Spent::default(), reading }
    }

    pub(super) fn measure<T>(&self, side: Side, work: impl FnOnce() -> T) -> T {
        let before = thread_cpu_time();
        let done = work();
        let spent = match side {
            Side::Vehicle => &self.vehicle,
            Side::Gateway => &self.gateway,
        };
        // From the middle of one reading to the middle of the other.
        let time = (thread_cpu_time() - before).saturating_sub(self.reading);
        spent.time.set(spent.time.get() + time);
        spent.times.set(spent.times.get().saturating_add(1));
        done
    }

    /// Of the vehicles, of the gateway, and of everything else since the start.
    pub(super) fn stop(&self) -> [Duration; 3] {
        let [vehicle, gateway] = [&self.vehicle, &self.gateway].map(|spent| spent.time.get());
        let times = self.vehicle.times.get().saturating_add(self.gateway.times.get());
        let readings = self.reading * times.saturating_mul(2);
        let all = thread_cpu_time() - self.begun;
        [vehicle, gateway, all.saturating_sub(vehicle + gateway + readings)]
    }
}
