//! `replicate`: another protocol, over several paths at once.

use super::{PathChoice, exactly_one, paths};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{Copy, ReplicateSettings};
use crate::scenario::fields::Fields;
use crate::scenario::mistake::Mistake;

pub fn replicate(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let PathChoice::Own(names) = choice else {
        let reason = "copies of copies would go the same ways; list all paths in one";
        let mistake = Mistake::CannotReplicate { protocol: "replicate", reason };
        fields.mistakes.push(fields.place().clone(), mistake);
        fields.leave();
        return None;
    };
    let paths = paths(fields, "replicate", 2, names);
    let words = [("datagram", Copy::Datagram), ("message", Copy::Message)];
    let copy = fields.word("copy", &words).unwrap_or(Copy::Datagram);
    let protocol = exactly_one(fields, PathChoice::Given);
    let (paths, protocol) = (paths?, protocol?);
    let protocol = Box::new(protocol.on_path(paths[0]));
    Some(ProtocolSettings::Replicate(ReplicateSettings { paths, copy, protocol }))
}
