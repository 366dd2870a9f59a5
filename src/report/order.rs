//! In which order a report lists its senders.

use super::{Report, SenderReport};
use crate::recording::{Recovery, Summary};
use crate::statistics::{Latency, Quantile};

/// By a figure the best first; then those without it, and last those that are not ranked (spoilt or
/// interrupted) in the same way; equal ones as in the scenario. By name, and as in the scenario,
/// those that are not ranked stand among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Order {
    /// As in the scenario
    #[default]
    Scenario,
    /// By the name of the sender
    Name,
    P50,
    /// Where it is lost, by the share that is
    P99,
    P999,
    /// The worst latency that was delivered
    Worst,
    /// The share of messages that were not delivered
    Lost,
    /// The share past the deadline, lost ones included
    Late,
    /// The longest time without a delivery
    Gap,
    /// The time to come back after an outage
    Recovery,
    /// Bytes on the wire per byte of payload, up and down
    Amplification,
}

impl Report {
    #[must_use]
    pub fn in_order(mut self, order: Order) -> Self {
        self.order = order;
        match order {
            Order::Scenario => self.senders.sort_by_key(|sender| sender.place),
            Order::Name => self.senders.sort_by(|a, b| a.pooled.sender.cmp(&b.pooled.sender)),
            _ => self.senders.sort_by(|a, b| {
                let [a, b] = [a, b].map(|sender| (rank(sender, order), sender.place));
                a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal).then(a.1.cmp(&b.1))
            }),
        }
        self
    }
}

impl Order {
    /// What a table is sorted by, as it is said below it.
    pub(super) fn in_words(self) -> Option<String> {
        let figure = match self {
            Self::Scenario => return None,
            Self::Name => return Some("in the order of their names".to_owned()),
            Self::P50 => "P50",
            Self::P99 => "P99",
            Self::P999 => "P999",
            Self::Worst => "the worst latency",
            Self::Lost => "the share lost",
            Self::Late => "the share late",
            Self::Gap => "the longest gap",
            Self::Recovery => "recovery",
            Self::Amplification => "amplification",
        };
        Some(format!("in the order of {figure}, the best first"))
    }
}

/// Smaller is better: whether it is not ranked, whether there is no figure, the figure, and the
/// share lost where the figure may be.
fn rank(sender: &SenderReport, order: Order) -> (bool, bool, f64, f64) {
    let figure = figure(&sender.pooled, order);
    let value = figure.unwrap_or(f64::INFINITY);
    (!sender.is_ranked(), figure.is_none(), value, sender.pooled.lost_share())
}

fn figure(of: &Summary, order: Order) -> Option<f64> {
    let ms = Latency::as_ms_or_infinity;
    let quantile = |quantile| of.figure(quantile)?.value.map(ms);
    let any = (of.messages > 0).then_some(());
    match order {
        Order::Scenario | Order::Name => None,
        Order::P50 => quantile(Quantile::P50),
        Order::P99 => quantile(Quantile::P99),
        Order::P999 => quantile(Quantile::P999),
        Order::Worst => of.worst.map(ms),
        Order::Lost => any.map(|()| of.lost_share()),
        Order::Late => any.map(|()| of.late_share()),
        Order::Gap => any.map(|()| ms(of.longest_gap.gap.length())),
        Order::Recovery => match of.recovery()? {
            Recovery::After(time) => Some(time.as_secs_f64()),
            Recovery::Never => Some(f64::INFINITY),
            Recovery::Unknown => None,
        },
        Order::Amplification => of.amplification.map(|amplification| amplification.total()),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::recording::{Messages, sample};
    use crate::report::summarise;

    fn names(report: &Report) -> String {
        let names = report.senders.iter().map(|sender| sender.pooled.sender.as_str());
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_order_lists_the_best_first() {
        let report = summarise(&sample::plan(1), &sample::recordings(1));
        let lines = Order::value_variants().iter().map(|order| {
            let name = order.to_possible_value().unwrap().get_name().to_owned();
            format!("{name}: {}", names(&report.clone().in_order(*order)))
        });
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn only_a_figure_has_a_best() {
        let words = [Order::Scenario, Order::Name, Order::P99].map(Order::in_words);
        let expected = [
            None,
            Some("in the order of their names"),
            Some("in the order of P99, the best first"),
        ];
        assert_eq!(words, expected.map(|it| it.map(str::to_owned)));
    }

    #[test]
    fn the_order_of_the_scenario_comes_back() {
        let report = summarise(&sample::plan(1), &sample::recordings(1));
        let there = report.clone().in_order(Order::P99);
        assert_ne!(names(&there), names(&report));
        assert_eq!(there.in_order(Order::Scenario), report);
    }

    #[test]
    fn no_figure_comes_after_lost_and_more_lost_after_less() {
        let mut recordings = ["udp", "kcp", "quic"].map(|sender| sample::recording(sender, 0));
        recordings[0].messages = Messages::Each(Vec::new());
        let lose = |messages: &mut Messages, count: usize| {
            if let Messages::Each(each) = messages {
                each[..count].iter_mut().for_each(|message| message.delivered = None);
            }
        };
        lose(&mut recordings[1].messages, 900);
        lose(&mut recordings[2].messages, 300);
        let report = summarise(&sample::plan(1), &recordings).in_order(Order::P99);
        assert_eq!(names(&report), "quic kcp udp");
    }
}
