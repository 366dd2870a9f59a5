use std::env;
use std::process::Command;

use super::*;

fn names(folder: &Path) -> Vec<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    write_atomically(&path, b"first").unwrap();
    write_atomically(&path, b"second").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
    assert_eq!(names(folder.path()), ["a.json"]);
}

#[test]
fn a_missing_folder_is_named_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let error = write_atomically(&folder.path().join("none/a.json"), b"x").unwrap_err();
    assert!(error.to_string().starts_with("cannot write /"), "{error}");
    assert!(names(folder.path()).is_empty());
}

/// A rename onto a folder fails after everything was written: the part file must go all the same.
#[test]
fn a_failure_at_the_last_step_leaves_no_half_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    fs::create_dir_all(path.join("inside")).unwrap();
    write_atomically(&path, b"x").unwrap_err();
    assert_eq!(names(folder.path()), ["taken"]);
}

const SMALL_DISK: &str = "IMPAIRLAB_TEST_SMALL_DISK";

/// Runs [`fills_a_small_disk`] in a mount namespace of its own, on a disk of 64 KiB.
#[test]
fn a_full_disk_is_said_and_leaves_no_half_file() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=64k none \"$0\" && exec \"$@\"";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(folder.path())
        .arg(env::current_exe().unwrap())
        .args(["--exact", "recording::file::tests::fills_a_small_disk", "--include-ignored"])
        .env(SMALL_DISK, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("unshare failed") || said.contains("permission denied") {
        eprintln!("not tested, this machine allows no namespaces: {said}");
        return;
    }
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "needs a small disk: started by the test above"]
fn fills_a_small_disk() {
    let folder = PathBuf::from(env::var_os(SMALL_DISK).unwrap());
    write_atomically(&folder.join("small"), b"fits").unwrap();
    let error = write_atomically(&folder.join("large"), &[7; 100_000]).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
    assert!(error.to_string().ends_with("free some space or choose a folder on another disk"));
    assert_eq!(names(&folder), ["small"]);
}
