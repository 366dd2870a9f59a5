//! How bad input and lacking machines are answered.

use std::fs;
use std::process::Output;

use super::{PROGRAM, Place, SHORT, code, stderr, stdout};

#[test]
fn every_wrong_scenario_ends_with_code_2_and_its_place() {
    let cases = [
        ("unknown key", SHORT.replace("delay: 40ms", "dealy: 40ms"), "`dealy`"),
        ("wrong unit", SHORT.replace("40ms", "40 parsecs"), "parsecs"),
        ("negative delay", SHORT.replace("delay: 40ms", "delay: -40ms"), "-40ms"),
        ("loss of 120 %", SHORT.replace("loss: 2%", "loss: 120%"), "120"),
        ("duplicate key", SHORT.replace("name: short", "name: short\nname: again"), "`name`"),
        ("two paths of one name", SHORT.replace("b: { delay", "a: { delay"), "`a`"),
        ("timeline past the end", with_timeline("{ at: 5s, path: a, outage: 1s }"), "end"),
        ("timeline on an unknown path", with_timeline("{ at: 1s, path: c, outage: 1s }"), "`c`"),
        ("sender on an unknown path", SHORT.replace("kcp: { path: a }", "kcp: { path: c }"), "`c`"),
        ("missing profile", SHORT.replace("delay: 40ms", "profile: none"), "none"),
        ("empty", String::new(), "nothing in this file"),
        ("10 MB", "#".repeat(10_000_000), "10000000 bytes"),
    ];
    for (name, scenario, says) in cases {
        let place = Place::with(&scenario);
        for args in [&["run", "--engine", "sim", "scenario.yaml"][..], &["check", "scenario.yaml"]]
        {
            let output = place.run(args);
            let printed = stdout(&output) + &stderr(&output);
            assert_eq!(code(&output), 2, "{name}: {printed}");
            assert!(printed.contains(says), "{name}: {printed}");
            assert!(printed.contains("scenario.yaml"), "{name} has its place: {printed}");
        }
        assert!(!place.path("results").exists(), "{name}: nothing is left behind");
    }
}

fn with_timeline(entry: &str) -> String {
    SHORT.replace("workload:", &format!("timeline: [{entry}]\nworkload:"))
}

#[test]
fn wrong_usage_ends_with_code_2() {
    let place = Place::with(SHORT);
    for args in [
        &["run"][..],
        &["run", "--engine", "ns3", "scenario.yaml"],
        &["run", "--repeat", "0", "scenario.yaml"],
        &["run", "--engine", "sim", "--sender", "tcp", "scenario.yaml"],
        &["run", "--engine", "sim", "absent.yaml"],
        &["dance"],
    ] {
        let output = place.run(args);
        assert_eq!(code(&output), 2, "{args:?}: {}", stderr(&output));
        assert!(!stderr(&output).is_empty());
    }
}

/// The exit code is a verdict, and no matter of who reads the output.
#[test]
fn a_wrong_scenario_is_wrong_also_where_nobody_reads_it() {
    let place = Place::with(SHORT);
    fs::write(place.path("wrong.yaml"), SHORT.replace("40ms", "40 parsecs")).unwrap();
    for (args, expected) in [
        (&["check", "scenario.yaml", "wrong.yaml"][..], 2),
        (&["show", "wrong.yaml"], 2),
        (&["check", "scenario.yaml"], 0),
        (&["show", "scenario.yaml"], 0),
        (&["run", "--engine", "sim", "--sender", "udp", "scenario.yaml"], 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.command(PROGRAM, args);
        let unread = command.stderr(writer.try_clone().unwrap()).stdout(writer).output().unwrap();
        assert_eq!(code(&unread), expected, "{args:?}");
    }
}

/// Never on a clean link, silently.
#[test]
fn without_netem_its_engine_ends_with_code_3_and_says_how_to_get_it() {
    if impairlab::engine::netem::Netem::probe().is_ok() {
        eprintln!("skipped: this kernel has netem");
        return;
    }
    let place = Place::with(SHORT);
    let output = place.run(&["run", "--engine", "netem", "scenario.yaml"]);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).starts_with("error: engine netem cannot run here: no "));
    assert!(stderr(&output).contains("doctor"), "{}", stderr(&output));
    assert!(!place.path("results").exists(), "nothing is left behind");
}

#[test]
fn an_unknown_sender_is_answered_with_the_known_ones() {
    let place = Place::with(SHORT);
    let output = place.run(&["run", "--engine", "sim", "--sender", "tcp", "scenario.yaml"]);
    assert_eq!(
        stderr(&output),
        "error: no sender is called `tcp` in this scenario; it has: udp, kcp, quic, mpquic, both\n"
    );
}

/// In a user namespace of its own even root has to obey the mode of a folder.
#[test]
fn results_that_may_not_be_written_end_with_code_4_before_any_trial() {
    let place = Place::with(SHORT);
    fs::create_dir(place.path("locked")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    fs::set_permissions(place.path("locked"), mode).unwrap();
    let args =
        ["--user", PROGRAM, "run", "--engine", "sim", "--results", "locked", "scenario.yaml"];
    let output = place.command("unshare", &args).output().unwrap();
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot make the folder locked/short"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("connected"), "no trial was started");
    assert_eq!(fs::read_dir(place.path("locked")).unwrap().count(), 0);
}

/// On a file system of the test's own, of this size.
fn on_a_small_disk(place: &Place, size: &str) -> (Output, String) {
    fs::create_dir(place.path("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={size} none disk
         {PROGRAM} run --engine sim --results disk scenario.yaml
         code=$?; find disk -type f | sort; find disk -name '*.json' -exec tail -qc 2 {{}} +; exit $code"
    );
    let args = ["--user", "--map-root-user", "--mount", "sh", "-c", &script];
    let output = place.command("unshare", &args).output().unwrap();
    let listed = stdout(&output);
    (output, listed)
}

#[test]
fn a_full_disk_ends_with_code_4_and_no_half_file() {
    for (size, during) in [("8k", "before"), ("96k", "while")] {
        let place = Place::with(SHORT);
        let (output, listed) = on_a_small_disk(&place, size);
        assert_eq!(code(&output), 4, "{during} it runs: {}", stderr(&output));
        assert!(stderr(&output).contains("No space left"), "{}", stderr(&output));
        assert!(!listed.contains(".part") && !listed.contains("probe"), "{listed}");
        match during {
            "while" => assert!(listed.contains("plan.json"), "what fitted is kept: {listed}"),
            _ => assert_eq!(listed, "", "nothing was measured, so nothing is left"),
        }
    }
}

#[test]
fn without_root_and_user_namespaces_relay_ends_with_code_3_and_auto_takes_sim() {
    let place = Place::with(SHORT);
    let without_rights = |engine: &str| {
        let script = format!(
            "echo 0 > /proc/sys/user/max_user_namespaces
             exec setpriv --bounding-set=-all --inh-caps=-all --securebits=+noroot \
             {PROGRAM} run --engine {engine} --sender udp scenario.yaml"
        );
        let args = ["--user", "--map-root-user", "sh", "-c", &script];
        place.command("unshare", &args).output().unwrap()
    };
    let relay = without_rights("relay");
    assert_eq!(code(&relay), 3, "{}", stderr(&relay));
    assert!(stderr(&relay).contains("engine relay cannot run here"), "{}", stderr(&relay));
    assert!(stderr(&relay).contains("--engine sim"), "{}", stderr(&relay));
    assert!(!place.path("results").exists());

    let auto = without_rights("auto");
    assert_eq!(code(&auto), 0, "{}", stderr(&auto));
    assert!(stderr(&auto).contains("Engine sim (virtual time), since"), "{}", stderr(&auto));
    assert!(stdout(&auto).contains("engine sim"));
}
