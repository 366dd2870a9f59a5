//! The same labs with `ip`: named namespaces, links made in place, each end brought up with its
//! address and its neighbour.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::room;
use crate::table::{Times, Took};

/// Two runs of `ip` for all labs, and one for each namespace, which `ip` can only enter at its
/// start.
pub fn batched(labs: usize) -> Times {
    let ((), build) = Took::to(|| {
        let named: Vec<String> = names(labs).map(|name| format!("netns add {name}")).collect();
        batch(&[], &named);
        batch(&[], &(0..labs).flat_map(links).collect::<Vec<_>>());
        names(labs).for_each(|name| batch(&["-n", &name], &inside(&name)));
    });
    let ((), gone) = Took::to(|| {
        let removed: Vec<String> = names(labs).map(|name| format!("netns del {name}")).collect();
        batch(&[], &removed);
        room::wait_until_all_are_gone();
    });
    Times { build, gone }
}

/// A run of `ip` for each command.
pub fn one_at_a_time(labs: usize) -> Times {
    let ((), build) = Took::to(|| {
        names(labs).for_each(|name| ip(&["netns", "add", &name]));
        (0..labs).flat_map(links).for_each(|link| ip(&words(&link)));
        for name in names(labs) {
            for command in inside(&name) {
                ip(&[&["-n", &name], &words(&command)[..]].concat());
            }
        }
    });
    let ((), gone) = Took::to(|| {
        names(labs).for_each(|name| ip(&["netns", "del", &name]));
        room::wait_until_all_are_gone();
    });
    Times { build, gone }
}

fn names(labs: usize) -> impl Iterator<Item = String> {
    (0..labs).flat_map(|lab| ["vehicle", "middle", "cloud"].map(|role| format!("{role}{lab}")))
}

fn links(lab: usize) -> Vec<String> {
    let pair = |path: usize, role: &str, number: usize, side: &str| {
        format!(
            "link add p{path} netns {role}{lab} address {} type veth \
             peer name {side}{path} netns middle{lab} address {}",
            mac(path, number),
            mac(path, number + 2)
        )
    };
    (0..2).flat_map(|path| [pair(path, "vehicle", 1, "v"), pair(path, "cloud", 2, "c")]).collect()
}

fn inside(name: &str) -> Vec<String> {
    let loopback = "link set lo up".to_owned();
    let ends = (0..2).flat_map(|path| match name.as_bytes()[0] {
        b'v' => endpoint(path, 1, 2),
        b'c' => endpoint(path, 2, 1),
        _ => vec![format!("link set v{path} up"), format!("link set c{path} up")],
    });
    [loopback].into_iter().chain(ends).collect()
}

fn endpoint(path: usize, own: usize, other: usize) -> Vec<String> {
    vec![
        format!("link set p{path} up arp off"),
        format!("address add 10.77.{path}.{own}/24 dev p{path}"),
        format!(
            "neighbour add 10.77.{path}.{other} lladdr {} dev p{path} nud permanent",
            mac(path, other)
        ),
    ]
}

fn mac(path: usize, number: usize) -> String {
    format!("02:00:00:00:0{path}:0{number}")
}

fn words(command: &str) -> Vec<&str> {
    command.split_whitespace().collect()
}

fn batch(options: &[&str], commands: &[String]) {
    let mut ip = Command::new("ip")
        .args(options)
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("ip of iproute2 starts");
    let mut stdin = ip.stdin.take().expect("piped");
    stdin.write_all((commands.join("\n") + "\n").as_bytes()).expect("ip reads");
    drop(stdin);
    assert!(ip.wait().expect("ended").success(), "ip {options:?} -batch: {commands:?}");
}

fn ip(arguments: &[&str]) {
    let status = Command::new("ip").args(arguments).status().expect("ip of iproute2 starts");
    assert!(status.success(), "ip {arguments:?}");
}
