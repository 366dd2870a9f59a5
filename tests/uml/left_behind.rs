//! Whatever happens to impairlab, no process and no file of a guest is left.

use std::fs;
use std::path::{Path, PathBuf};
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

    /// Processes whose program is the kernel or that were told of TMPDIR (as the one that removes
    /// the folder is), and files in TMPDIR.
    fn left(&self) -> Vec<String> {
        let place = self.place.path().join("tmp");
        let told = |path: &Path| {
            let line = fs::read(path.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(place.to_str().unwrap())
        };
        let processes = processes().filter(|path| self.is_guest(path) || told(path));
        let files = fs::read_dir(&place).unwrap().flatten().map(|entry| entry.path());
        processes.chain(files).map(|path| path.display().to_string()).collect()
    }

    fn is_guest(&self, process: &Path) -> bool {
        let kernel = self.place.path().join("linux");
        fs::read_link(process.join("exe")).is_ok_and(|exe| exe == kernel)
    }

    /// Its kernel, and a process that this has started.
    fn wait_until_a_guest_runs(&self) {
        for _ in 0..LOOKS {
            if processes().filter(|path| self.is_guest(path)).count() > 1 {
                return;
            }
            sleep(BETWEEN_LOOKS);
        }
        panic!("no guest has begun; there is {:?}", self.left());
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

fn processes() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path())
}

/// Prints nothing until its guest runs, and then never ends.
const ENDLESS: [&str; 5] = ["exec", "--", "/bin/sh", "-c", "(while :; do :; done) & sleep 1; wait"];

#[test]
fn killed_at_any_moment_it_leaves_nothing() {
    let kernel = kernel_or_skip!();
    let traced = Traced::new(&kernel.path);
    let mut random = 1_u64;
    for round in 0..20 {
        // Knuth's MMIX generator: from the first moment, or from the guest's, to well into the
        // program.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut child = traced.start(&ENDLESS);
        if round % 2 == 1 {
            traced.wait_until_a_guest_runs();
        }
        sleep(Duration::from_millis((random >> 33) % 800));
        child.kill().unwrap();
        child.wait().unwrap();
        traced.wait_until_nothing_is_left();
    }
}

#[test]
fn the_process_that_removes_the_folder_is_looked_for() {
    let kernel = kernel_or_skip!();
    let traced = Traced::new(&kernel.path);
    let mut child = traced.start(&ENDLESS);
    traced.wait_until_a_guest_runs();
    let others = traced.left().into_iter().map(PathBuf::from);
    let others: Vec<_> = others.filter(|path| !traced.is_guest(path)).collect();
    let in_place = |path: &&PathBuf| path.starts_with(traced.place.path());
    assert_eq!(others.iter().filter(in_place).count(), 1, "one folder: {others:?}");
    assert!(others.len() > 1, "its remover: {others:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    traced.wait_until_nothing_is_left();
}

#[test]
fn stopped_by_a_signal_it_leaves_nothing_and_says_so() {
    let kernel = kernel_or_skip!();
    let traced = Traced::new(&kernel.path);
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let mut child = traced.start(&ENDLESS);
        traced.wait_until_a_guest_runs();
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
