use std::fs;

use super::*;

#[test]
fn one_wrong_file_does_not_keep_the_others_from_being_checked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let right = include_str!("../../../scenarios/handover-5s.yaml");
    let wrong = right.replace("outage: 5s", "outage: 5").replace("size: 600B", "size: huge");
    let files = [("right.yaml", right), ("wrong.yaml", &wrong), ("also-right.yaml", right)];
    let paths = files.map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a new file");
        path
    });
    let mut out = Vec::new();
    let count = run(&paths, Colour::Never, &mut out).expect("a Vec takes everything");
    let printed = String::from_utf8(out).expect("text");
    assert_eq!(count, 1);
    insta::assert_snapshot!(printed.replace(&format!("{}/", folder.path().display()), ""));
}
