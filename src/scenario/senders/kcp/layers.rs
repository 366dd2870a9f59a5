//! The options of `kcp` that put something around it or on it as kcptun does, and what they need of
//! the others.

use super::KcpOption;
use crate::protocol::kcptun::crypt::Crypt;
use crate::protocol::kcptun::fec::GroupSizes;
use crate::protocol::kcptun::smux::Version;
use crate::protocol::settings::{KcpBehaviour, KcpSettings};
use crate::scenario::diagnostic::Mistakes;
use crate::scenario::fields::{self, Fields};
use crate::scenario::file::Place;
use crate::scenario::mistake::Mistake;
use crate::scenario::quantity::Limits;
use crate::scenario::senders::form::Form;
use crate::scenario::senders::option::SenderOption;
use crate::scenario::tree::{Key, Node, Value};

/// Of either kind; what they come to together is checked by [`GroupSizes`].
const SHARDS: Limits<u64> = Limits { min: 1, max: 255 };
const OFF: &str = "off";
const VERSIONS: Limits<u64> = Limits { min: 1, max: 2 };

pub fn options() -> Vec<KcpOption> {
    let crypts = vec![
        (OFF, None),
        ("none", Some(Crypt::None)),
        ("aes-128", Some(Crypt::Aes128)),
        ("aes", Some(Crypt::Aes)),
    ];
    vec![
        fec(|kcp: &mut KcpSettings| &mut kcp.fec)
            .about("kcp-go only: after each `data` datagrams, so many of `parity`"),
        KcpOption::word("crypt", crypts, |kcp| &mut kcp.crypt).about(
            "kcp-go only: an envelope of 20 bytes around each datagram, even with `none`; \
             and a cipher",
        ),
        smux().about("kcp-go only: messages on one stream of this version of smux"),
    ]
}

/// Of every sender that has it.
pub fn fec<S: Clone + 'static>(field: fn(&mut S) -> &mut Option<GroupSizes>) -> SenderOption<S> {
    let Limits { min, max } = SHARDS;
    let shards = |key| (key, Form::Whole { min, max });
    let sizes = Form::Mapping(vec![shards("data"), shards("parity")]);
    let form = Form::Either(vec![Form::Words(vec![OFF]), sizes]);
    let write = |fec: &Option<GroupSizes>| match fec {
        None => OFF.to_owned(),
        Some(sizes) => format!("{{ data: {}, parity: {} }}", sizes.data(), sizes.parity()),
    };
    SenderOption::custom("fec", form, read_fec, write, field)
}

fn read_fec((key, node): &(Key, Node), mistakes: &Mistakes) -> Option<Option<GroupSizes>> {
    if !matches!(node.value, Value::Map(_)) {
        return read_off(node, mistakes);
    }
    let mut inner = Fields::of(node, "error correction", &key.place, mistakes)?;
    let mut shards = |key, example| {
        let node = inner.require(key, example)?;
        fields::whole_number(node, key, SHARDS.min, SHARDS.max, mistakes)
    };
    let (data, parity) = (shards("data", "data: 3"), shards("parity", "parity: 2"));
    inner.finish();
    match GroupSizes::new(data? as u32, parity? as u32) {
        Ok(sizes) => Some(Some(sizes)),
        Err(error) => {
            mistakes.push(node.place.clone(), Mistake::GroupSizes(error));
            None
        }
    }
}

fn read_off(node: &Node, mistakes: &Mistakes) -> Option<Option<GroupSizes>> {
    let text = fields::text(node, "fec", mistakes)?;
    let other = Some("{ data: 3, parity: 2 }");
    fields::word_or(text, &node.place, "fec", &[(OFF, None)], other, mistakes)
}

fn smux() -> KcpOption {
    let Limits { min, max } = VERSIONS;
    let form = Form::Either(vec![Form::Words(vec![OFF]), Form::Whole { min, max }]);
    let words = [(OFF, None), ("1", Some(Version::One)), ("2", Some(Version::Two))];
    let read = move |(_, node): &(Key, Node), mistakes: &Mistakes| {
        let text = fields::text(node, "smux", mistakes)?;
        fields::word(text, &node.place, "smux", &words, mistakes)
    };
    let write = |smux: &Option<Version>| {
        smux.map_or_else(|| OFF.to_owned(), |version| (version as u8).to_string())
    };
    KcpOption::custom("smux", form, read, write, |kcp| &mut kcp.smux)
}

/// Where the options are that others have to go with, if they are there.
pub struct Places<'n> {
    mtu: Option<&'n Place>,
    layers: [(&'static str, Option<&'n Place>); 3],
    drivers: [(&'static str, Option<&'n Place>); 4],
}

impl<'n> Places<'n> {
    /// Before they are taken out.
    pub fn of(fields: &Fields<'n>) -> Self {
        let layer = |key| (key, fields.place_of(key));
        Self {
            mtu: fields.place_of("mtu"),
            layers: ["fec", "crypt", "smux"].map(layer),
            drivers: ["flush-at-once", "update-interval", "ack-nodelay", "write-delay"].map(layer),
        }
    }

    /// Of an option that tells the driver something.
    pub fn of_key(&self, key: &str) -> Option<&'n Place> {
        self.drivers.iter().find(|(known, _)| *known == key).and_then(|(_, place)| *place)
    }

    pub fn check(&self, settings: &KcpSettings, mistakes: &Mistakes) {
        let is_on = [settings.fec.is_some(), settings.crypt.is_some(), settings.smux.is_some()];
        for ((key, place), is_on) in self.layers.into_iter().zip(is_on) {
            if let Some(place) = place.filter(|_| is_on)
                && settings.behaviour != KcpBehaviour::KcpGo56
            {
                mistakes.push(place.clone(), Mistake::OnlyKcpGo { key });
            }
        }
        let least = settings.least_mtu();
        if let Some(place) = self.mtu.filter(|_| settings.mtu < least) {
            let mtu = settings.mtu;
            mistakes.push(place.clone(), Mistake::MtuTooSmall { mtu, least });
        }
    }
}
