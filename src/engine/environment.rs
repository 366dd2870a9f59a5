//! Asks this machine what it is, once, before a run.

use std::fs;
use std::thread;
use std::time::SystemTime;

use nix::sys::utsname;

use crate::recording::{EngineKind, Environment, TransportVersion};

/// The versions this program was built with, from the file that decided them.
const LOCK_FILE: &str = include_str!("../../Cargo.lock");
const TRANSPORTS: [&str; 3] = ["quinn-proto", "tquic", "noq-proto"];

pub fn gather(engine: EngineKind, started: SystemTime) -> Environment {
    Environment {
        started: humantime::format_rfc3339_seconds(started).to_string(),
        engine,
        kernel: kernel(),
        cpu: fs::read_to_string("/proc/cpuinfo").map_or_else(|_| String::new(), |text| cpu(&text)),
        processors: thread::available_parallelism().map_or(1, usize::from),
        impairlab: env!("CARGO_PKG_VERSION").to_owned(),
        transports: TRANSPORTS.iter().filter_map(|name| transport(LOCK_FILE, name)).collect(),
    }
}

fn kernel() -> String {
    let Ok(name) = utsname::uname() else { return String::new() };
    let parts = [name.sysname(), name.release(), name.version(), name.machine()];
    parts.map(|part| part.to_string_lossy()).join(" ")
}

/// x86 and most others say `model name`; some Arm kernels say `Hardware`, or nothing.
fn cpu(cpuinfo: &str) -> String {
    let value = |key: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    value("model name").or_else(|| value("Hardware")).unwrap_or_default()
}

fn transport(lock_file: &str, name: &str) -> Option<TransportVersion> {
    let entry = lock_file
        .split("[[package]]")
        .find(|entry| entry.lines().any(|line| line == format!("name = \"{name}\"")))?;
    let version = entry.lines().find_map(|line| line.strip_prefix("version = \""))?;
    let version = version.trim_end_matches('"').to_owned();
    Some(TransportVersion { name: name.to_owned(), version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_is_found_in_the_lock_file() {
        let environment = gather(EngineKind::Sim, SystemTime::UNIX_EPOCH);
        assert_eq!(environment.started, "1970-01-01T00:00:00Z");
        let mut found: Vec<_> = environment.transports.into_iter().map(|it| it.name).collect();
        found.sort();
        assert_eq!(found, quic_dependencies());
        assert!(environment.kernel.starts_with("Linux "));
    }

    /// What this program is built on and what speaks QUIC by itself: every one that the lock file
    /// names for it, but for those that only its tests use.
    fn quic_dependencies() -> Vec<String> {
        let manifest = include_str!("../../Cargo.toml");
        let (_, after) = manifest.split_once("\n[dependencies]\n").expect("it has some");
        let own = after.split("\n[").next().expect("up to the next table");
        let names = own.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
        let speaks_quic = |name: &&str| ["quic", "quinn", "noq"].iter().any(|it| name.contains(it));
        let mut names: Vec<_> = names.filter(speaks_quic).map(str::to_owned).collect();
        names.sort();
        names
    }

    #[test]
    fn the_cpu_is_read_from_either_spelling() {
        assert_eq!(cpu("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n"), "Some CPU @ 2 GHz");
        assert_eq!(cpu("processor\t: 0\nHardware\t: BCM2835\n"), "BCM2835");
        assert_eq!(cpu(""), "");
    }
}
