//! `kcptun`. What is not written is as in [`KcptunSettings::new`].

use super::form::Form;
use super::option::{self, SenderOption};
use super::paths::{PathChoice, PathKeys};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{KcptunCrypt, KcptunMode, KcptunSettings, Shards};
use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::quantity::Limits;
use crate::scenario::tree::{Key, Node, Value};
use crate::units::PathId;

pub const SENDER: Sender = Sender {
    keyword: "kcptun",
    about: "The real kcptun, as two programs: TCP to them over loopback, KCP between them; not repeatable",
    source: "xtaci/kcptun as installed (Debian's package kcptun); its compression is off",
    engines: Engines::WithKernel,
    paths: PathKeys::One,
    replicable: false,
    options: || option::texts(options(), &KcptunSettings::new(PathId(0))),
    read,
};

const NOT_REPLICABLE: &str = "it is a program with sockets of its own; `kcp` can be replicated";
const OFF: &str = "none";
const SMUX: Limits<u64> = Limits { min: 1, max: 2 };
const WINDOW: Limits<u64> = Limits { min: 1, max: 32_768 };
/// What is left in the smallest is still a segment; the largest fits a packet of 1,500 bytes.
const MTU: Limits<u64> = Limits { min: 256, max: 1472 };
const SHARDS: Limits<u64> = Limits { min: 1, max: 127 };

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
        fec().about("Reed-Solomon: so many parity packets after so many of data"),
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

/// `none`, or `{ data: 10, parity: 3 }`.
fn fec() -> KcptunOption {
    let count = || Form::Whole { min: SHARDS.min, max: SHARDS.max };
    let shards = Form::Mapping(vec![("data", count()), ("parity", count())]);
    let form = Form::Either(vec![Form::Words(vec![OFF]), shards]);
    let write = |fec: &Option<Shards>| match fec {
        None => OFF.to_owned(),
        Some(Shards { data, parity }) => format!("{{ data: {data}, parity: {parity} }}"),
    };
    KcptunOption::custom("fec", form, read_fec, write, |kcptun| &mut kcptun.fec)
}

fn read_fec((key, node): &(Key, Node), mistakes: &Mistakes) -> Option<Option<Shards>> {
    if !matches!(node.value, Value::Map(_)) {
        let text = fields::text(node, "fec", mistakes)?;
        return fields::word(text, &node.place, "fec", &[(OFF, None)], mistakes);
    }
    let mut inner = Fields::of(node, "`fec`", &key.place, mistakes)?;
    let (data, parity) = (inner.require("data", "data: 10"), inner.require("parity", "parity: 3"));
    inner.finish();
    let count = |node, key| fields::whole_number(node, key, SHARDS.min, SHARDS.max, mistakes);
    let (data, parity) = (count(data?, "data"), count(parity?, "parity"));
    let fits = |count: u64| u8::try_from(count).unwrap_or_else(|_| unreachable!("at most 127"));
    Some(Some(Shards { data: fits(data?), parity: fits(parity?) }))
}
