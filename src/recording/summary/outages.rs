//! What is told of all outages of a sender together: of those of a run the worst, and of the runs
//! the median.

use std::collections::BTreeSet;

use super::{OutageFigures, Summary};
use crate::recording::{NoLevel, Recovery};
use crate::units::PathId;

/// A median, and how many of the runs (with many vehicles: of the vehicles of all runs) are not
/// told by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfRuns {
    pub median: Recovery,
    pub runs: usize,
    pub never: usize,
    pub unknown: usize,
}

/// How long it took until a dark path was used again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathInUse {
    pub path: PathId,
    pub after: OfRuns,
    /// The reasons why that is unknown for some outage.
    pub unknown: BTreeSet<NoLevel>,
}

impl OfRuns {
    fn of(runs: Vec<Recovery>) -> Option<Self> {
        let count = |what| runs.iter().filter(|run| **run == what).count();
        let (never, unknown) = (count(Recovery::Never), count(Recovery::Unknown));
        Some(Self { runs: runs.len(), never, unknown, median: Recovery::median(runs)? })
    }
}

impl Summary {
    /// `None`: there was no outage on a path of this sender.
    pub fn recovery(&self) -> Option<Recovery> {
        Some(self.recovery_of_runs()?.median)
    }

    pub fn recovery_of_runs(&self) -> Option<OfRuns> {
        let worst = |run: &[OutageFigures]| run.iter().map(|figures| figures.recovery).max();
        OfRuns::of(self.outages_of_runs().filter_map(worst).collect())
    }

    /// How long it took until the dark path was used again, of all paths together.
    pub fn path_back(&self) -> Option<Recovery> {
        Some(self.path_back_of_runs(|_| true)?.median)
    }

    /// The same of each path, in the order of the plan.
    pub fn paths_back(&self) -> Vec<PathInUse> {
        let paths: BTreeSet<PathId> = self.outages.iter().map(|it| it.outage.path).collect();
        let of = |path| {
            let after = self.path_back_of_runs(|figures| figures.outage.path == path)?;
            let outages = self.outages.iter().filter(|figures| figures.outage.path == path);
            let unknown = outages.filter_map(|figures| figures.path_back?.why).collect();
            Some(PathInUse { path, after, unknown })
        };
        paths.into_iter().filter_map(of).collect()
    }

    fn path_back_of_runs(&self, which: impl Fn(&OutageFigures) -> bool) -> Option<OfRuns> {
        let worst = |run: &[OutageFigures]| {
            let outages = run.iter().filter(|figures| which(figures));
            outages.filter_map(|figures| figures.path_back).map(|back| back.after).max()
        };
        OfRuns::of(self.outages_of_runs().filter_map(worst).collect())
    }

    /// Of each vehicle of each run.
    fn outages_of_runs(&self) -> impl Iterator<Item = &[OutageFigures]> {
        let of = |figures: &OutageFigures| (figures.repetition, figures.vehicle);
        self.outages.chunk_by(move |one, next| of(one) == of(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{PathBack, Recording, sample};

    /// Five runs with an outage of each of two paths, of which the second is used again later, and
    /// in one run never.
    fn summary() -> Summary {
        let runs: Vec<Recording> = (0..5).map(|run| sample::recording("mpquic", run)).collect();
        let mut summary = Summary::of(&runs.iter().collect::<Vec<_>>()).expect("five runs");
        let after = |ms| Recovery::After(std::time::Duration::from_millis(ms));
        let outages = summary.outages.iter().flat_map(|figures| {
            let second = match figures.repetition {
                4 => Recovery::Never,
                run => after(1000 + u64::from(run)),
            };
            [(0, after(10)), (1, second)].map(|(path, after)| {
                let outage = crate::timeline::Outage { path: PathId(path), ..figures.outage };
                let path_back = Some(PathBack { after, why: None });
                OutageFigures { outage, path_back, recovery: after, ..figures.clone() }
            })
        });
        summary.outages = outages.collect();
        summary
    }

    #[test]
    fn each_path_is_told_apart_and_what_the_median_hides() {
        let after = |ms| Recovery::After(std::time::Duration::from_millis(ms));
        let summary = summary();
        let [first, second] = &summary.paths_back()[..] else { panic!("two paths") };
        let all = OfRuns { median: after(10), runs: 5, never: 0, unknown: 0 };
        assert_eq!((first.path, first.after), (PathId(0), all));
        let most = OfRuns { median: after(1002), runs: 5, never: 1, unknown: 0 };
        assert_eq!((second.path, second.after), (PathId(1), most));
        assert_eq!(summary.recovery_of_runs(), Some(most));
        assert_eq!(summary.path_back(), Some(after(1002)), "the worst of each run");
    }
}
