use std::env;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::engine::environment;
use crate::recording::EngineKind;
use crate::recording::sample;
use crate::units::PathId;

fn time() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

fn created(root: &Path) -> Results {
    Results::create(root, "handover-5s", time(), "a1b2").unwrap()
}

fn finished(root: &Path) -> Results {
    let (results, plan) = (created(root), sample::plan(1));
    results.write_scenario("version: 1\n").unwrap();
    results.write_plan(&plan).unwrap();
    results.write_environment(&environment::gather(EngineKind::Sim, time())).unwrap();
    let recordings = sample::recordings(1);
    recordings.iter().for_each(|recording| results.write_recording(recording).unwrap());
    results.finish(&plan, &recordings, Order::Scenario).unwrap();
    results
}

/// Every file below a folder, with `/` between the names.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|inner| format!("{name}/{inner}")));
        } else {
            found.push(name);
        }
    }
    found.sort();
    found
}

#[test]
fn a_log_is_named_like_its_recording_by_its_side_and_by_its_path_if_there_are_several() {
    let root = tempfile::tempdir().unwrap();
    let results = created(root.path());
    let recordings = sample::recordings(1);
    let log = |role, path| Qlog { role, path: PathId(path), bytes: b"log".to_vec(), left_out: 0 };
    let of = |sender: &str| recordings.iter().find(|recording| recording.sender == sender).unwrap();
    results.write_qlogs(of("kcp"), &[]).unwrap();
    assert!(!results.folder().join("qlog").exists());
    results.write_qlogs(of("quic"), &[log(Role::Client, 1), log(Role::Server, 1)]).unwrap();
    let both = [log(Role::Client, 0), log(Role::Client, 1), log(Role::Server, 0)];
    results.write_qlogs(of("quic-both"), &both).unwrap();
    let names = of("quic").path_names.clone();
    let expected = [
        format!("quic-both-0-vehicle-{}.sqlog", names[0]),
        format!("quic-both-0-vehicle-{}.sqlog", names[1]),
        "quic-both-0-cloud.sqlog".to_owned(),
        "quic-0-vehicle.sqlog".to_owned(),
        "quic-0-cloud.sqlog".to_owned(),
    ];
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(files(&results.folder().join("qlog")), expected);
}

#[test]
fn a_run_fills_its_folder_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let results = finished(root.path());
    let made = root.path().join("handover-5s/2026-09-21T14-13-20Z-a1b2");
    assert_eq!(results.folder(), made);
    assert_eq!(files(root.path()).len(), files(&made).len());
    insta::assert_snapshot!(files(&made).join("\n"), @"
    charts/amplification.png
    charts/amplification.svg
    charts/over-time.png
    charts/over-time.svg
    charts/quantiles.png
    charts/quantiles.svg
    charts/tail.png
    charts/tail.svg
    charts/trade-off.png
    charts/trade-off.svg
    environment.json
    impairment.csv
    messages.csv
    outages.csv
    plan.json
    recordings/kcp-0.json
    recordings/kcp-both-0.json
    recordings/mpquic-0.json
    recordings/quic-0.json
    recordings/quic-both-0.json
    recordings/udp-0.json
    scenario.yaml
    senders.csv
    summary.json
    ");
}

#[test]
fn what_is_read_back_gives_the_same_files_again() {
    let root = tempfile::tempdir().unwrap();
    let folder = finished(root.path()).folder().to_path_buf();
    let made = ["summary.json", "messages.csv", "charts/tail.svg", "charts/tail.png"];
    let before = made.map(|name| fs::read(folder.join(name)).unwrap());
    made.iter().for_each(|name| fs::remove_file(folder.join(name)).unwrap());
    let results = Results::open(&folder).unwrap();
    let (plan, recordings) = results.read().unwrap();
    assert_eq!(plan, sample::plan(1));
    results.finish(&plan, &recordings, Order::Scenario).unwrap();
    assert!(before == made.map(|name| fs::read(folder.join(name)).unwrap()));
}

#[test]
fn results_are_never_written_over() {
    let root = tempfile::tempdir().unwrap();
    let folder = created(root.path()).folder().to_path_buf();
    let error = Results::create(root.path(), "handover-5s", time(), "a1b2").unwrap_err();
    assert!(matches!(error, ResultsError::Exists { .. }), "{error}");
    assert!(folder.exists());
}

/// A file stands where a folder should be: what root cannot do either.
#[test]
fn a_folder_that_cannot_be_made_is_named_and_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("results"), "a file").unwrap();
    let error = Results::create(&root.path().join("results"), "a", time(), "b").unwrap_err();
    let said = error.to_string().replace(root.path().to_str().unwrap(), "ROOT");
    let folder = "ROOT/results/a/2026-09-21T14-13-20Z-b";
    assert_eq!(said, format!("cannot make the folder {folder}: Not a directory (os error 20)"));
    assert_eq!(files(root.path()), ["results"]);
}

const REFUSING: &str = "IMPAIRLAB_TEST_REFUSING_FOLDER";

/// Runs [`a_folder_that_refuses`] under a program that takes a right away. `None` if this machine
/// lacks it.
fn in_a_refusing_folder(program: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(program[0])
        .args(&program[1..])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "report::results::tests::a_folder_that_refuses"])
        .args(["--include-ignored", "--nocapture"])
        .env(REFUSING, folder)
        .output()
        .ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = printed.lines().find_map(|line| line.split_once("said: "));
    if said.is_none() {
        eprintln!("not tested: {}", String::from_utf8_lossy(&output.stderr));
    }
    said.map(|(_, said)| said.replace(folder.to_str().unwrap(), "ROOT"))
}

#[test]
#[ignore = "needs a folder that refuses: started by the tests below"]
fn a_folder_that_refuses() {
    let folder = PathBuf::from(env::var_os(REFUSING).unwrap());
    let error = Results::create(&folder.join("results"), "a", time(), "b").unwrap_err();
    println!("said: {error}");
    assert!(!folder.join("results").exists());
}

#[test]
fn a_full_disk_is_found_before_the_run() {
    let root = tempfile::tempdir().unwrap();
    // Room for folders, but not for a file.
    let script = format!(
        "mount -t tmpfs -o size=64k none {0} && head -c 64k /dev/zero > {0}/full; exec \"$@\"",
        root.path().display()
    );
    let program = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"];
    if let Some(said) = in_a_refusing_folder(&program, root.path()) {
        insta::assert_snapshot!(said);
    }
}

#[test]
fn a_folder_without_permission_is_found_before_the_run() {
    let root = tempfile::tempdir().unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let as_root = nix::unistd::Uid::effective().is_root();
    // Root may write anywhere, so it becomes nobody.
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let program = if as_root { &nobody[..] } else { &["env"] };
    if let Some(said) = in_a_refusing_folder(program, root.path()) {
        insta::assert_snapshot!(said);
    }
}

#[test]
fn the_folders_of_a_failed_start_go_again() {
    let root = tempfile::tempdir().unwrap();
    drop(MadeFolders::create(&root.path().join("results/a/b")).unwrap());
    assert!(!root.path().join("results").exists());
}

#[test]
fn a_folder_that_is_missing_damaged_or_foreign_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let refused = |folder: &Path| {
        let error = Results::open(folder).and_then(|results| results.read()).unwrap_err();
        let text = error.to_string().replace(root.path().to_str().unwrap(), "ROOT");
        text.split(" at line").next().unwrap().to_owned()
    };
    let folder = finished(root.path()).folder().to_path_buf();
    let recording = folder.join("recordings/kcp-0.json");
    let good = fs::read_to_string(&recording).unwrap();
    let with_recording = |text: &str| {
        fs::write(&recording, text).unwrap();
        refused(&folder)
    };
    let mut refusals = vec![
        refused(&root.path().join("none")),
        refused(root.path()),
        with_recording(&good[..good.len() / 3]),
        with_recording(&good.replacen("\"format\":2", "\"format\":7", 1)),
        with_recording(&good.replacen("handover-5s", "another", 1)),
    ];
    fs::remove_dir_all(folder.join("recordings")).unwrap();
    fs::create_dir(folder.join("recordings")).unwrap();
    refusals.push(refused(&folder));
    fs::write(folder.join("plan.json"), "{}").unwrap();
    refusals.push(refused(&folder));
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn no_name_of_a_sender_leaves_the_folder_or_meets_another() {
    assert_eq!(file_name("kcp-both_2"), "kcp-both_2");
    assert_eq!(file_name("../a b"), "%2e%2e%2fa%20b");
    assert_ne!(file_name("a b"), file_name("a%20b"));
}
