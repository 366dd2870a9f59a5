//! Whatever happens to impairlab, no process and no file of a guest is left.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{command, kernel_or_skip};

/// The kernel ends processes in its own time; what is still there after this many looks will stay.
const LOOKS: u32 = 1000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A kernel and a TMPDIR of its own, by which all that belongs to a guest can be found.
struct Traced {
    place: tempfile::TempDir,
}

impl Traced {
    fn new(kernel: &Path) -> Self {
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        fs::copy(kernel, place.path().join("linux")).unwrap();
        fs::create_dir(place.path().join("tmp")).unwrap();
        Self { place }
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = command(arguments);
        command.env("IMPAIRLAB_UML", self.place.path().join("linux"));
        command.env("TMPDIR", self.place.path().join("tmp")).spawn().unwrap()
    }

    /// Processes whose program is the kernel, and files in TMPDIR.
    fn left(&self) -> Vec<String> {
        let kernel = self.place.path().join("linux");
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_guest = |path: &Path| fs::read_link(path.join("exe")).is_ok_and(|exe| exe == kernel);
        let processes = processes.filter(|path| is_guest(path));
        let files = fs::read_dir(self.place.path().join("tmp")).unwrap().flatten();
        let files = files.map(|entry| entry.path());
        processes.chain(files).map(|path| path.display().to_string()).collect()
    }

    fn wait_until_nothing_is_left(&self) {
        for _ in 0..LOOKS {
            if self.left().is_empty() {
                return;
            }
            sleep(BETWEEN_LOOKS);
        }
        panic!("left behind: {:?}", self.left());
    }
}

/// Prints nothing until its guest runs, and then never ends.
const ENDLESS: [&str; 5] = ["exec", "--", "/bin/sh", "-c", "(while :; do :; done) & sleep 1; wait"];

#[test]
fn killed_at_any_moment_it_leaves_nothing() {
    let kernel = kernel_or_skip!();
    let traced = Traced::new(&kernel.path);
    let mut random = 1_u64;
    let mut seen_running = 0;
    for _ in 0..20 {
        // Knuth's MMIX generator: from the first moment to well into the program.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut child = traced.start(&ENDLESS);
        sleep(Duration::from_millis((random >> 33) % 800));
        seen_running += u32::from(!traced.left().is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        traced.wait_until_nothing_is_left();
    }
    assert!(seen_running > 0, "no guest had begun when it was killed");
}

#[test]
fn stopped_by_a_signal_it_leaves_nothing_and_says_so() {
    let kernel = kernel_or_skip!();
    let traced = Traced::new(&kernel.path);
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let mut child = traced.start(&ENDLESS);
        for _ in 0..LOOKS {
            if traced.left().len() > 2 {
                break;
            }
            sleep(BETWEEN_LOOKS);
        }
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let files = traced.left().into_iter().filter(|left| !left.starts_with("/proc/"));
        assert_eq!(files.collect::<Vec<_>>(), Vec::<String>::new());
        // The processes of the guest's programs are killed as their kernel is, and then die.
        traced.wait_until_nothing_is_left();
    }
}

#[test]
fn a_folder_that_was_abandoned_is_removed_by_the_next_guest() {
    let kernel = kernel_or_skip!();
    let traced = Traced::new(&kernel.path);
    let abandoned = traced.place.path().join("tmp/impairlab-uml.1.0");
    fs::create_dir(&abandoned).unwrap();
    fs::write(abandoned.join("console"), "").unwrap();
    let status = traced.start(&["exec", "true"]).wait().unwrap();
    assert!(status.success(), "{status}");
    traced.wait_until_nothing_is_left();
}
