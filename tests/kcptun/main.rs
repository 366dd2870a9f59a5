//! Our sender and the real kcptun, each as the other's peer, over a network that loses packets in
//! both directions: what goes into one end comes out of the other, byte for byte. Every combination
//! of error correction, cipher and smux version is a connection of its own, all at the same time on
//! the same wire. Nothing here depends on how fast the machine is, but for a limit after which a
//! connection is taken to hang.

mod lab;
#[path = "../namespaces/mod.rs"]
mod namespaces;
mod programs;
mod sender;
mod tunnel;

use std::thread::JoinHandle;
use std::time::Duration;

use impairlab::protocol::kcptun::crypt::Crypt;
use impairlab::protocol::kcptun::fec::GroupSizes;
use impairlab::protocol::kcptun::smux::Version;
use impairlab::protocol::settings::{KcpBehaviour, KcpSettings};
use impairlab::splitmix::SplitMix64;
use impairlab::units::PathId;

use lab::Lab;
use programs::programs_or_skip;
use sender::Seen;

/// A connection that has not done its work after this long hangs.
const PATIENCE: Duration = Duration::from_secs(180);

/// Percent, in each direction.
const LOSSES: [f64; 2] = [2.0, 10.0];

/// One combination; its number gives it ports of its own.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub number: u16,
    pub fec: Option<(u32, u32)>,
    pub crypt: Crypt,
    pub smux: Version,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for fec in [None, Some((3, 2))] {
            for crypt in [Crypt::None, Crypt::Aes128, Crypt::Aes] {
                for smux in [Version::One, Version::Two] {
                    cases.push(Self { number: cases.len() as u16, fec, crypt, smux });
                }
            }
        }
        cases
    }

    /// kcptun's fast3 with windows of 128, as [`Case::flags`] says it to kcptun.
    pub fn settings(&self) -> KcpSettings {
        KcpSettings {
            behaviour: KcpBehaviour::KcpGo56,
            mtu: 1350,
            stream: true,
            fec: self.fec.map(|(data, parity)| GroupSizes::new(data, parity).expect("a group")),
            crypt: Some(self.crypt),
            smux: Some(self.smux),
            ..KcpSettings::new(PathId(0))
        }
    }

    pub fn flags(&self) -> Vec<String> {
        let (data, parity) = self.fec.unwrap_or((0, 0));
        let crypt = match self.crypt {
            Crypt::None => "none",
            Crypt::Aes128 => "aes-128",
            Crypt::Aes => "aes",
        };
        let flags = format!(
            "--crypt {crypt} --nocomp --mode fast3 --mtu 1350 --sndwnd 128 --rcvwnd 128 \
             --ds {data} --ps {parity} --smuxver {}",
            self.smux as u8,
        );
        flags.split(' ').map(str::to_owned).collect()
    }

    /// Messages of many lengths. In one case each with and without error correction more bytes than
    /// either side's first window and kcptun's own receive window hold, so that both have to tell
    /// theirs over and over.
    fn messages(&self) -> Vec<Vec<u8>> {
        let tests_windows = self.smux == Version::Two && self.crypt == Crypt::None;
        let bytes = if tests_windows { 2_700_000 } else { 200_000 };
        let mut random = SplitMix64::new(u64::from(self.number));
        let (mut messages, mut total) = (Vec::new(), 0);
        while total < bytes {
            let len = 1 + random.next() as usize % 6_000;
            messages.push((0..len).map(|_| random.next() as u8).collect());
            total += len;
        }
        messages
    }
}

fn each<T>(start: impl FnMut(Case) -> T) -> Vec<T> {
    Case::all().into_iter().map(start).collect()
}

#[test]
fn our_client_talks_to_the_real_server() {
    programs_or_skip!();
    for loss_percent in LOSSES {
        let Some(lab) = Lab::build(loss_percent) else { return };
        let _echo = tunnel::echo(&lab);
        let _servers = each(|case| programs::server(&lab, case));
        let clients = each(|case| sender::client(&lab, case));
        check(clients);
        lab.end();
    }
}

#[test]
fn the_real_client_talks_to_our_server() {
    programs_or_skip!();
    for loss_percent in LOSSES {
        let Some(lab) = Lab::build(loss_percent) else { return };
        let servers = each(|case| sender::server(&lab, case));
        let _clients = each(|case| programs::client(&lab, case));
        let users = each(|case| tunnel::user(&lab, case));
        users.into_iter().for_each(|user| user.join().expect("all came back"));
        check(servers);
        lab.end();
    }
}

/// Each connection did its work, and error correction its own where it was on.
fn check(sides: Vec<JoinHandle<Seen>>) {
    for side in sides {
        let side = side.join().expect("it did its work");
        println!("{side:?}");
        assert_eq!(side.delivered, side.case.messages().len());
        assert_eq!(side.recovered > 0, side.case.fec.is_some(), "{side:?}");
    }
}
