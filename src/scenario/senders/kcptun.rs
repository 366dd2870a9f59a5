//! `kcptun`. What is not written is as in [`KcptunSettings::new`].

use super::kcp::fec;
use super::option::{self, SenderOption};
use super::paths::{PathChoice, PathKeys};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{KcptunCrypt, KcptunMode, KcptunSettings};
use crate::scenario::fields::Fields;
use crate::scenario::quantity::Limits;
use crate::units::PathId;

pub const SENDER: Sender = Sender {
    keyword: "kcptun",
    about: "The real kcptun: two programs, reached by TCP over loopback; not repeatable",
    source: "xtaci/kcptun as installed (Debian's package kcptun); its compression is off",
    engines: Engines::WithKernel,
    paths: PathKeys::One,
    replicable: false,
    options: || option::texts(options(), &KcptunSettings::new(PathId(0))),
    read,
};

const NOT_REPLICABLE: &str = "it is a program with sockets of its own; `kcp` can be replicated";
const SMUX: Limits<u64> = Limits { min: 1, max: 2 };
const WINDOW: Limits<u64> = Limits { min: 1, max: 32_768 };
/// What is left in the smallest is still a segment; the largest fits a packet of 1,500 bytes.
const MTU: Limits<u64> = Limits { min: 256, max: 1472 };

type KcptunOption = SenderOption<KcptunSettings>;

pub fn options() -> Vec<KcptunOption> {
    let modes = [KcptunMode::Normal, KcptunMode::Fast, KcptunMode::Fast2, KcptunMode::Fast3];
    let crypts = [
        KcptunCrypt::Aes,
        KcptunCrypt::Aes128,
        KcptunCrypt::Aes192,
        KcptunCrypt::Salsa20,
        KcptunCrypt::Xor,
        KcptunCrypt::None,
    ];
    let modes = modes.map(|mode| (mode.keyword(), mode)).to_vec();
    let crypts = crypts.map(|crypt| (crypt.keyword(), crypt)).to_vec();
    vec![
        KcptunOption::word("mode", modes, |kcptun| &mut kcptun.mode)
            .about("KCP's timing: nodelay and flush clock 0, 40 ms; 0, 30 ms; 1, 20 ms; 1, 10 ms"),
        fec(|kcptun: &mut KcptunSettings| &mut kcptun.fec)
            .about("Reed-Solomon: so many parity packets after so many of data"),
        KcptunOption::word("crypt", crypts, |kcptun| &mut kcptun.crypt)
            .about("cipher; `none` still has nonce and checksum"),
        KcptunOption::whole("smux", SMUX, |kcptun| &mut kcptun.smux)
            .about("version of its stream multiplexer"),
        KcptunOption::size("mtu", MTU, |kcptun| &mut kcptun.mtu).about("UDP payload of a datagram"),
        KcptunOption::whole("send-window", WINDOW, |kcptun| &mut kcptun.send_window)
            .about("packets, on both sides"),
        KcptunOption::whole("receive-window", WINDOW, |kcptun| &mut kcptun.receive_window)
            .about("packets, on both sides"),
    ]
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    choice.own(fields, "kcptun", NOT_REPLICABLE)?;
    let path = choice.path(fields, "`kcptun`");
    let mut settings = KcptunSettings::new(path.unwrap_or(PathId(0)));
    option::read(&options(), fields, &mut settings);
    path.map(|_| ProtocolSettings::Kcptun(settings))
}
