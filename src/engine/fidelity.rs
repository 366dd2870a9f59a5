//! How well the host let an engine keep time, and from when on that spoils a result. Knows no clock
//! of its own.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::pace::Pace;
use crate::recording::Fidelity;
use crate::sum::add_fields;

/// A thread that runs this much later than it should have was held up by the host.
pub const STALL: Duration = Duration::from_millis(5);

/// A result is spoilt when anything that adds to the latency of messages came this late, at the
/// 99th percentile …
const LATENESS_P99_LIMIT: Duration = Duration::from_millis(1);
/// … or one stall was this long.
const STALL_LIMIT: Duration = Duration::from_millis(20);

/// How late things happened, in nanoseconds.
#[derive(Debug, Clone)]
pub struct Lateness(Histogram<u64>);

impl Default for Lateness {
    fn default() -> Self {
        let minute = 60_000_000_000;
        Self(Histogram::new_with_bounds(1, minute, 2).expect("these bounds are valid"))
    }
}

impl Lateness {
    /// Anything past a minute counts as a minute.
    pub fn record(&mut self, late: Duration) {
        self.record_many(late, 1);
    }

    /// The same for so many things at once.
    pub fn record_many(&mut self, late: Duration, count: u64) {
        let nanos = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.0.saturating_record_n(nanos, count);
    }

    pub fn sum<'a>(parts: impl IntoIterator<Item = &'a Lateness>) -> Lateness {
        let mut sum = Lateness::default();
        for part in parts {
            sum.0.add(&part.0).expect("all of them have the same bounds");
        }
        sum
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn quantile(&self, quantile: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(quantile))
    }

    fn max(&self) -> Duration {
        Duration::from_nanos(self.0.max())
    }
}

/// Times the host did not run a thread for more than [`STALL`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stalls {
    count: u64,
    longest: Duration,
}

impl Stalls {
    /// Counts it if it was one.
    pub fn note(&mut self, late: Duration) {
        if late > STALL {
            self.count += 1;
            self.longest = self.longest.max(late);
        }
    }

    pub fn sum(parts: impl IntoIterator<Item = Stalls>) -> Stalls {
        parts.into_iter().fold(Stalls::default(), |sum, part| Stalls {
            count: sum.count + part.count,
            longest: sum.longest.max(part.longest),
        })
    }
}

/// Everything that is known of how time was kept in one trial, from all of its threads.
#[derive(Debug, Default)]
pub struct Timekeeping {
    pub pace: Pace,
    /// Packets as they left the link: left, minus due, of those of which it is known.
    pub packets: Lateness,
    /// How far off the time at which a packet came to the relay may be.
    pub stamps: Lateness,
    /// Changes of the timeline: the most by which one came late or early for a packet, judged by
    /// the time at which the packet arrived or was to leave.
    pub changes: Lateness,
    /// Messages: sent, minus scheduled.
    pub sends: Lateness,
    /// Datagrams at the endpoints: read, minus received by the kernel, plus the doubt about the
    /// latter.
    pub reads: Lateness,
    pub stalls: Stalls,
    pub realtime: bool,
    pub damage: Damage,
    pub vehicle_cpu: Duration,
    pub cloud_cpu: Duration,
    /// The kernel does not tell the seed of its random draws, and so may not have taken it.
    pub seedless: bool,
}

/// Packets that came to harm outside of the link model. None of these should ever happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Dropped because a socket's buffer was full.
    pub overflowed: u64,
    /// Refused by a socket: its send buffer was full, or the packet was too long for the path.
    pub unsendable: u64,
    /// Several packets in one that the relay cannot cut: refused by it.
    pub super_packets: u64,
    /// Dropped because the relay held as much as it may.
    pub unheld: u64,
    /// Passed, but not seen by those who count them, whose buffer was full.
    pub unseen: u64,
    /// Left a path and had never been seen to enter it.
    pub strays: u64,
}

add_fields!(Damage { overflowed, unsendable, super_packets, unheld, unseen, strays });

impl Damage {
    fn total(&self) -> u64 {
        let lost = self.overflowed + self.unsendable + self.super_packets + self.unheld;
        lost + self.unseen + self.strays
    }
}

impl Timekeeping {
    pub fn fidelity(&self) -> Fidelity {
        let lateness = |of: Duration| (!self.packets.is_empty()).then(|| us(of));
        Fidelity {
            virtual_time: self.pace == Pace::Virtual,
            lateness_p50_us: lateness(self.packets.quantile(0.5)),
            lateness_p99_us: lateness(self.packets.quantile(0.99)),
            lateness_max_us: lateness(self.packets.max()),
            change_lateness_max_us: us(self.changes.max()),
            send_lateness_p99_us: us(self.sends.quantile(0.99)),
            send_lateness_max_us: us(self.sends.max()),
            read_lateness_p99_us: us(self.reads.quantile(0.99)),
            read_lateness_max_us: us(self.reads.max()),
            stalls: self.stalls.count,
            longest_stall_us: us(self.stalls.longest),
            realtime: self.realtime,
            damaged_packets: self.damage.total(),
            vehicle_cpu_us: us(self.vehicle_cpu),
            cloud_cpu_us: us(self.cloud_cpu),
            limitations: self.limitations(),
            spoilt: self.spoilt(),
        }
    }

    fn limitations(&self) -> Vec<String> {
        let seedless = "this kernel's netem does not tell its seed (6.6 and later do): its random \
                        draws are others in every run";
        self.seedless.then(|| seedless.to_owned()).into_iter().collect()
    }

    /// The worst of what makes the figures doubtful, in one line.
    fn spoilt(&self) -> Option<String> {
        let Damage { overflowed, unsendable, super_packets, unheld, unseen, strays } = self.damage;
        if overflowed + unsendable + super_packets + unheld > 0 {
            return Some(format!(
                "packets were lost outside of the link model: {overflowed} by full socket buffers, \
                 {unsendable} unsendable, {super_packets} longer than a packet, {unheld} by a full \
                 relay"
            ));
        }
        if unseen + strays > 0 {
            return Some(format!(
                "the packets on the paths could not be counted: {unseen} passed unseen, since the \
                 host did not let the observer run, and {strays} left a path that had not \
                 entered it"
            ));
        }
        let excesses = self.delays().into_iter().filter(|delay| delay.excess() > 1.0);
        let worst = excesses.max_by(|one, other| one.excess().total_cmp(&other.excess()));
        worst.map(|delay| format!("{} {:.1} ms{}", delay.what, ms(delay.found), delay.how))
    }

    /// Everything that has a limit.
    fn delays(&self) -> [Delay; 5] {
        let p99 = |lateness: &Lateness, what, how| Delay {
            found: lateness.quantile(0.99),
            limit: LATENESS_P99_LIMIT,
            what,
            how,
        };
        let longest = self.stalls.longest;
        [
            Delay { found: longest, limit: STALL_LIMIT, what: "the host stood still for", how: "" },
            p99(&self.packets, "1 % of the packets left more than", " late"),
            p99(&self.sends, "1 % of the messages were sent more than", " late"),
            p99(&self.reads, "1 % of the datagrams were read more than", " late"),
            p99(&self.stamps, "the arrival of 1 % of the packets is known to no better than", ""),
        ]
    }
}

/// A duration that spoils a result if it is beyond its limit, and how to say so.
struct Delay {
    found: Duration,
    limit: Duration,
    what: &'static str,
    how: &'static str,
}

impl Delay {
    fn excess(&self) -> f64 {
        self.found.div_duration_f64(self.limit)
    }
}

fn us(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e3
}

fn ms(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

#[cfg(test)]
mod tests;
