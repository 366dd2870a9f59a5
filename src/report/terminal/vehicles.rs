//! How far many vehicles lie apart, and what each costs.

use std::time::Duration;

use super::{Style, list, paint};
use crate::recording::{Summary, VehicleCost, Vehicles};
use crate::report::table::{Cell, Table, Tone};
use crate::report::{Report, figures};
use crate::statistics::Latency;

const HEADINGS: [&str; 10] = [
    "sender",
    "best P99",
    "median",
    "worst",
    "of vehicle",
    "gateway CPU",
    "memory",
    "vehicle CPU",
    "memory",
    "lab CPU",
];

pub(super) fn render(report: &Report, style: Style) -> String {
    let spreads = report
        .senders
        .iter()
        .filter_map(|sender| Some((&sender.pooled, sender.pooled.vehicles.as_ref()?)));
    let spreads: Vec<(&Summary, &Vehicles)> = spreads.collect();
    let Some((_, first)) = spreads.first() else { return String::new() };
    let workload = report.workload.periodic().duration;
    let mut table = Table::new(&HEADINGS);
    for (pooled, vehicles) in &spreads {
        table.push(row(pooled, vehicles, workload));
    }
    let count = figures::count(u64::from(first.count));
    let title = format!("{count} vehicles to one gateway, each with a connection of its own");
    let title = paint(&title, Tone::Heading, style.colour);
    let mut notes = vec![
        "P99 of each vehicle; CPU of this machine, for each vehicle and second of the workload; \
         memory of its end of the connection, after the last delivery"
            .to_owned(),
    ];
    if spreads.iter().any(|(_, vehicles)| !vehicles.enough) {
        notes.push("a vehicle has too few messages to bound its P99 from above".to_owned());
    }
    let table = table.render(style.width, style.colour);
    format!("{title}\n{table}{}", list(&notes, Tone::Faint, style))
}

fn row(pooled: &Summary, of: &Vehicles, workload: Duration) -> Vec<Cell> {
    let latency = |latency: Latency| Cell::new(figures::latency(latency));
    let at = match pooled.runs {
        1 => of.worst_vehicle.to_string(),
        _ => format!("{}, run {}", of.worst_vehicle, of.worst_repetition),
    };
    let cost = |part: &dyn Fn(&VehicleCost) -> Option<String>| {
        let text = of.cost.as_ref().and_then(part);
        Cell::new(text.unwrap_or_else(|| figures::NONE.to_owned()))
    };
    let cpu = |part: fn(&VehicleCost) -> Duration| {
        cost(&move |cost| {
            let share = part(cost).as_secs_f64() / workload.as_secs_f64();
            Some(format!("{}/s", figures::milliseconds(share * 1e3)))
        })
    };
    let memory = |part: fn(&VehicleCost) -> Option<u64>| {
        cost(&move |cost| Some(format!("{} kB", figures::significant(part(cost)? as f64 / 1e3))))
    };
    vec![
        Cell::new(&pooled.sender),
        latency(of.best),
        latency(of.median),
        latency(of.worst),
        Cell::new(at),
        cpu(|cost| cost.gateway_cpu),
        memory(|cost| cost.gateway_heap),
        cpu(|cost| cost.vehicle_cpu),
        memory(|cost| cost.vehicle_heap),
        cpu(|cost| cost.lab_cpu),
    ]
}
