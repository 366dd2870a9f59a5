//! How a thread that must be on time waits. In real time: asleep until shortly before its deadline,
//! then awake and watching, and never awake for so much of the time that the kernel takes the
//! processor away; it notices when the host let it oversleep. In virtual time: asleep.

use std::time::Duration;

use nix::poll::{PollFd, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;

use super::fidelity::Stalls;
use super::pace::Pace;
use super::real_clock::{Clock, thread_cpu_time};
use super::syscalls::run_first_in_first_out;
use crate::units::Instant;

/// A look at the sources takes some microseconds; so near to its deadline, a thread that is awake
/// looks at the clock alone.
const BLINK: Duration = Duration::from_micros(5);

/// The scheduling priority of a thread among the real-time ones of this program.
#[derive(Debug, Clone, Copy)]
pub enum Priority {
    Endpoint = 10,
    /// Above the endpoints: they may compute, the relay must only be on time.
    Relay = 20,
}

impl Priority {
    /// The share of a processor that a thread may use for long. Below the 95 % at which the kernel
    /// stops real-time threads, and for the endpoints so far below that several can share one.
    fn share(self) -> f64 {
        match self {
            Self::Endpoint => 0.7,
            Self::Relay => 0.9,
        }
    }
}

/// The waiting of one thread; made on the thread itself.
pub struct Waiter {
    clock: Clock,
    pace: Pace,
    spin: Duration,
    duty: Duty,
    stalls: Stalls,
    /// Whether SCHED_FIFO was granted.
    realtime: bool,
    /// When the last wait ended.
    awake_since: Instant,
    /// Processor time, not the clock's: a thread that is put aside while it spins uses none.
    spun: Duration,
}

impl Waiter {
    /// Takes the real-time scheduling class if this process may. In virtual time no thread is ever
    /// kept from running, but only in that class does the kernel let it sleep to the nanosecond:
    /// any other may be woken later by a thousandth of the time that it waits.
    pub fn new(clock: Clock, pace: Pace, priority: Priority, spin: Duration) -> Self {
        let realtime = run_first_in_first_out(priority as i32).is_ok();
        if !realtime {
            // Without it, the kernel may let a timer be 50 µs late; a refusal only leaves it at
            // that.
            let _ = set_timerslack(1);
        }
        let now = clock.now();
        Self {
            clock,
            pace,
            spin,
            duty: Duty::new(priority.share(), now, thread_cpu_time()),
            stalls: Stalls::default(),
            realtime,
            awake_since: now,
            spun: Duration::ZERO,
        }
    }

    /// Returns when one of `sources` has something to read, or at `deadline`, whichever is first.
    pub fn wait(&mut self, sources: &mut [PollFd<'_>], deadline: Instant) {
        match self.pace {
            Pace::Real => self.wait_awake(sources, deadline),
            Pace::Virtual => {
                poll_for(sources, deadline.saturating_since(self.clock.now()));
            }
        }
    }

    fn wait_awake(&mut self, sources: &mut [PollFd<'_>], deadline: Instant) {
        let asleep_from = self.clock.now();
        self.stalls.note(asleep_from.saturating_since(self.awake_since));
        let nap = self.duty.overdrawn(asleep_from, thread_cpu_time());
        if let Some(nap) = nap.filter(|_| self.realtime) {
            std::thread::sleep(nap);
        }
        let spin = if self.duty.allows_spinning() { self.spin } else { Duration::ZERO };
        let ready = poll_for(sources, (deadline - spin).saturating_since(self.clock.now()));
        if !ready {
            self.spin_until(sources, deadline);
        }
        self.awake_since = self.clock.now();
        if !ready {
            let due = deadline.max(asleep_from);
            self.stalls.note(self.awake_since.saturating_since(due));
        }
    }

    fn spin_until(&mut self, sources: &mut [PollFd<'_>], deadline: Instant) {
        let used_before = thread_cpu_time();
        while self.clock.now() + BLINK < deadline && !poll_for(sources, Duration::ZERO) {}
        while self.clock.now() < deadline && deadline <= self.clock.now() + BLINK {
            std::hint::spin_loop();
        }
        self.spun += thread_cpu_time().saturating_sub(used_before);
    }

    pub fn is_realtime(&self) -> bool {
        self.realtime
    }

    /// Processor time used awake and waiting.
    pub fn spun(&self) -> Duration {
        self.spun
    }

    /// Forgets the stalls so far: what happens before the workload starts does not count.
    pub fn start_counting_stalls(&mut self) {
        self.stalls = Stalls::default();
    }

    pub fn stalls(&self) -> Stalls {
        self.stalls
    }

    /// A wait that ended late for a reason the waiter cannot see (a packet that nobody picked up).
    pub fn note_stall(&mut self, late: Duration) {
        if self.pace == Pace::Real {
            self.stalls.note(late);
        }
    }
}

/// Whether something can be read before the time is up. A signal ends the wait early, which does no
/// harm.
fn poll_for(sources: &mut [PollFd<'_>], timeout: Duration) -> bool {
    ppoll(sources, Some(TimeSpec::from_duration(timeout)), None).is_ok_and(|ready| ready > 0)
}

/// Processor time as a purse: time fills it, using the processor empties it. A real-time thread
/// that uses one all the time is stopped by the kernel for 50 ms of every second, so it had better
/// take short naps of its own.
struct Duty {
    /// The share of a processor that the thread may use for long.
    limit: f64,
    /// Seconds; below zero it is overdrawn.
    purse: f64,
    last: Instant,
    last_used: Duration,
}

impl Duty {
    /// Seconds that it may use at once after a rest.
    const PURSE: f64 = 0.01;
    /// Seconds. What it would take longer to pay back is forgiven: a host that stood still may look
    /// like use.
    const LONGEST_NAP: f64 = 0.002;

    fn new(limit: f64, now: Instant, used: Duration) -> Self {
        Self { limit, purse: Self::PURSE, last: now, last_used: used }
    }

    /// Settles the account of a thread that has `used` this much in all; how long to nap if it is
    /// overdrawn.
    fn overdrawn(&mut self, now: Instant, used: Duration) -> Option<Duration> {
        let earned = self.limit * now.saturating_since(self.last).as_secs_f64();
        let spent = used.saturating_sub(self.last_used).as_secs_f64();
        (self.last, self.last_used) = (now, used);
        let most_debt = Self::LONGEST_NAP * self.limit;
        self.purse = (self.purse + earned - spent).clamp(-most_debt, Self::PURSE);
        let nap = Duration::try_from_secs_f64(-self.purse / self.limit).unwrap_or_default();
        (!nap.is_zero()).then_some(nap)
    }

    /// Half of the purse is kept for work.
    fn allows_spinning(&self) -> bool {
        self.purse > Self::PURSE / 2.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    use super::*;

    /// Another thread has the processor for most of the time.
    #[test]
    fn what_a_thread_spins_is_part_of_the_processor_time_that_it_used() {
        let processors = sched_getaffinity(Pid::from_raw(0)).expect("it has some");
        let mut one = CpuSet::new();
        let first = (0..CpuSet::count()).find(|&cpu| processors.is_set(cpu) == Ok(true));
        one.set(first.expect("it has one")).expect("it is in the set");
        let pin = move || sched_setaffinity(Pid::from_raw(0), &one).expect("it may run there");
        let done = AtomicBool::new(false);
        let (spun, used) = thread::scope(|scope| {
            scope.spawn(|| {
                pin();
                // Above the other, where that is allowed.
                let _ = run_first_in_first_out(Priority::Relay as i32);
                let clock = Clock::start();
                let limit = clock.now() + Duration::from_secs(10);
                while !done.load(Ordering::Acquire) && clock.now() < limit {
                    let until = clock.now() + Duration::from_millis(3);
                    while clock.now() < until {}
                    thread::sleep(Duration::from_millis(1));
                }
            });
            let spinner = scope.spawn(|| {
                pin();
                let clock = Clock::start();
                let mut waiter = Waiter::new(clock, Pace::Real, Priority::Endpoint, Duration::ZERO);
                waiter.spin_until(&mut [], clock.now() + Duration::from_millis(40));
                done.store(true, Ordering::Release);
                (waiter.spun(), thread_cpu_time())
            });
            spinner.join().expect("it ends")
        });
        assert!(!spun.is_zero() && spun <= used, "{spun:?} of {used:?}");
    }

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    #[test]
    fn a_thread_that_always_works_is_sent_to_nap_for_the_rest_of_its_share() {
        let mut duty = Duty::new(0.7, at(0), Duration::ZERO);
        let (mut time, mut used) = (Duration::ZERO, Duration::ZERO);
        while time < Duration::from_secs(10) {
            time += Duration::from_micros(500);
            used += Duration::from_micros(500);
            time += duty.overdrawn(Instant::ZERO + time, used).unwrap_or_default();
        }
        let share = used.as_secs_f64() / time.as_secs_f64();
        assert!((0.69..=0.71).contains(&share), "{share}");
    }

    #[test]
    fn a_thread_that_mostly_sleeps_may_spin() {
        let mut duty = Duty::new(0.7, at(0), Duration::ZERO);
        for round in 1..1000 {
            let used = Duration::from_micros(round * 100);
            assert_eq!(duty.overdrawn(at(round * 1000), used), None);
            assert!(duty.allows_spinning());
        }
    }
}
