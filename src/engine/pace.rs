//! How time goes by for the threads of a trial: by itself, or only while all of them sleep.

use std::fs;
use std::time::Duration;

/// Of the kernel that a trial runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// The host's own time: a thread that must be on time is awake before.
    #[default]
    Real,
    /// A kernel in time travel, which goes to the next timer whenever nobody runs. Timers are
    /// exact, and so are sleeps; work takes no time; and a thread that waits awake for a time that
    /// others have to reach first may wait for ever.
    Virtual,
}

impl Pace {
    /// How often a thread looks whether the trial goes on. Where sleeping through costs nothing,
    /// waking is what takes the host's time; more than [`super::SETTLE`] would miss the start.
    pub fn heartbeat(self) -> Duration {
        match self {
            Self::Real => Duration::from_millis(20),
            Self::Virtual => Duration::from_millis(50),
        }
    }

    /// Of the kernel that this process runs on (User-Mode Linux says so on its command line).
    pub fn of_this_kernel() -> Self {
        let arguments = fs::read_to_string("/proc/cmdline").unwrap_or_default();
        Self::by_kernel_arguments(&arguments)
    }

    fn by_kernel_arguments(arguments: &str) -> Self {
        let travels = |word: &str| word == "time-travel" || word.starts_with("time-travel=");
        if arguments.split_whitespace().any(travels) { Self::Virtual } else { Self::Real }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_in_time_travel_is_known_by_its_arguments() {
        let pace = Pace::by_kernel_arguments;
        assert_eq!(pace("mem=512M root=/dev/root time-travel=inf-cpu ro"), Pace::Virtual);
        assert_eq!(pace("mem=512M time-travel time-travel-start=1"), Pace::Virtual);
        assert_eq!(pace("BOOT_IMAGE=/vmlinuz root=UUID=1 ro time-travel-start=1"), Pace::Real);
    }
}
