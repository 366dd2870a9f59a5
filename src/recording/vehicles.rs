//! How far the vehicles of one sender lie apart, and what each of them cost this machine.

use std::time::Duration;

use super::{FleetCost, Recording};
use crate::statistics::{Distribution, Latency, Quantile};

/// Of every vehicle in every run: none has random numbers in common with another.
#[derive(Debug, Clone, PartialEq)]
pub struct Vehicles {
    /// Of one run.
    pub count: u32,
    /// The P99 of the best, of the one in the middle and of the worst vehicle.
    pub best: Latency,
    pub median: Latency,
    pub worst: Latency,
    /// Which it is, and the run it was in, both from 0.
    pub worst_vehicle: u32,
    pub worst_repetition: u32,
    /// Whether each has enough messages to bound its P99 from above.
    pub enough: bool,
    /// `None`: it was not measured in every run.
    pub cost: Option<VehicleCost>,
}

/// For each vehicle, the mean of all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VehicleCost {
    /// Processor time of the transports and of everything else, from the start of the workload on.
    pub gateway_cpu: Duration,
    pub vehicle_cpu: Duration,
    pub lab_cpu: Duration,
    /// Bytes; `None`: not measured in every run.
    pub gateway_heap: Option<u64>,
    pub vehicle_heap: Option<u64>,
}

impl Vehicles {
    /// `None` where each trial has only one, or nothing was sent.
    pub fn of(trials: &[&Recording]) -> Option<Self> {
        let count = trials.iter().map(|trial| trial.vehicles().count()).max()?;
        if count < 2 {
            return None;
        }
        let all = trials.iter().flat_map(|trial| trial.vehicles());
        let mut tails: Vec<(Latency, &Recording)> = all
            .filter_map(|vehicle| {
                Some((vehicle.messages.latencies().quantile(Quantile::P99)?, vehicle))
            })
            .collect();
        // Of those without a P99 the one that lost most is the worst.
        tails.sort_by_key(|(p99, at)| {
            let lost = at.messages.scheduled() - at.messages.delivered();
            (*p99, lost, at.repetition, at.vehicle)
        });
        let (worst, at) = *tails.last()?;
        let needed = Quantile::P99.samples_needed();
        Some(Self {
            count: u32::try_from(count).ok()?,
            best: tails[0].0,
            median: Distribution::from_samples(tails.iter().map(|(p99, _)| *p99)).median()?,
            worst,
            worst_vehicle: at.vehicle,
            worst_repetition: at.repetition,
            enough: tails.iter().all(|(_, vehicle)| vehicle.messages.scheduled() >= needed),
            cost: VehicleCost::of(trials),
        })
    }
}

impl VehicleCost {
    fn of(trials: &[&Recording]) -> Option<Self> {
        let costs: Vec<FleetCost> = trials.iter().map(|trial| trial.cost).collect::<Option<_>>()?;
        let vehicles = trials.iter().map(|trial| trial.vehicles().count() as u64).sum::<u64>();
        let cpu = |part: fn(&FleetCost) -> u64| {
            let nanos = costs.iter().map(part).sum::<u64>().saturating_mul(1000) / vehicles.max(1);
            Duration::from_nanos(nanos)
        };
        let heap = |part: fn(&FleetCost) -> Option<u64>| {
            Some(costs.iter().map(part).sum::<Option<u64>>()? / vehicles.max(1))
        };
        Some(Self {
            gateway_cpu: cpu(|cost| cost.gateway_cpu_us),
            vehicle_cpu: cpu(|cost| cost.vehicle_cpu_us),
            lab_cpu: cpu(|cost| cost.lab_cpu_us),
            gateway_heap: heap(|cost| cost.gateway_heap_bytes),
            vehicle_heap: heap(|cost| cost.vehicle_heap_bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Messages, sample};

    #[test]
    fn of_those_that_lose_more_than_has_a_p99_the_worst_is_the_one_that_loses_most() {
        let mut trial = sample::recording("udp", 0);
        trial.others = vec![Recording { vehicle: 1, ..trial.clone() }];
        let Messages::Each(messages) = &mut trial.messages else { panic!("each is kept") };
        messages.iter_mut().take(100).for_each(|message| message.delivered = None);
        let vehicles = Vehicles::of(&[&trial]).expect("there are two");
        assert_eq!((vehicles.worst, vehicles.worst_vehicle), (Latency::LOST, 0));
    }
}
