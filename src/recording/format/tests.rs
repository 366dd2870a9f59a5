use proptest::prelude::*;

use super::*;
use crate::protocol::ShardCounts;
use crate::recording::{Fidelity, Message, Messages, sample};

#[test]
fn equal_recordings_give_equal_bytes_that_read_back_the_same() {
    let recording = sample::recording("kcp", 0);
    let bytes = encode(&recording);
    assert_eq!(bytes, encode(&recording.clone()));
    assert_eq!(decode(&bytes).unwrap(), recording);
}

#[test]
fn counts_of_error_correction_are_kept_and_an_older_recording_has_none() {
    let counts = ShardCounts { data: 5, parity: 4, recovered: 3, known: 2, failed: 1 };
    let mut recording = sample::recording("kcp", 0);
    let older = encode(&recording);
    recording.error_correction = Some([counts, ShardCounts::default()]);
    assert_eq!(decode(&encode(&recording)).unwrap(), recording);
    assert!(!String::from_utf8(older.clone()).unwrap().contains("error_correction"));
    assert_eq!(decode(&older).unwrap().error_correction, None);
}

#[test]
fn a_message_takes_a_few_bytes() {
    let recording = sample::recording("kcp", 0);
    let each = encode(&recording).len() as u64 / recording.messages.scheduled();
    assert!(each < 30, "{each} bytes a message");
}

#[test]
fn every_refusal_says_what_is_wrong() {
    let good = String::from_utf8(encode(&sample::recording("kcp", 0))).unwrap();
    let said = |text: &str| {
        let error = decode(text.as_bytes()).unwrap_err().to_string();
        error.split(" at line").next().unwrap().to_owned()
    };
    let edited = |from: &str, to: &str| said(&good.replacen(from, to, 1));
    let refusals = [
        edited("\"format\":2", "\"format\":1"),
        said("{}"),
        said("a photo"),
        said(&good[..good.len() / 2]),
        edited("\"seed\"", "\"weed\""),
        edited("\"latency\":[", "\"latency\":[1,"),
        edited("\"scheduled_after_previous\":[0,", "\"scheduled_after_previous\":[-1,"),
    ];
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn a_file_is_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kcp-0.json");
    let recording = sample::recording("kcp", 0);
    write(&path, &recording).unwrap();
    assert_eq!(read(&path).unwrap(), recording);
    let missing = read(&folder.path().join("none.json")).unwrap_err();
    assert!(missing.to_string().ends_with("none.json: No such file or directory (os error 2)"));
}

prop_compose! {
    fn any_messages()(
        mut rows in prop::collection::vec(any::<(u64, Option<u64>, Option<u64>)>(), 0..50)
    ) -> Vec<Message> {
        // Times that a trial can have: up to two weeks, nothing before it is due.
        rows.iter_mut().for_each(|row| row.0 >>= 15);
        rows.sort_unstable();
        let message = |(scheduled, sent, delivered): (u64, Option<u64>, Option<u64>)| Message {
            scheduled,
            sent: sent.map(|after| scheduled + (after >> 15)),
            delivered: delivered.map(|after| scheduled + (after >> 15)),
        };
        rows.into_iter().map(message).collect()
    }
}

proptest! {
    #[test]
    fn any_messages_come_back_exactly(messages in any_messages(), lateness in any::<f64>()) {
        prop_assume!(lateness.is_finite());
        let mut recording = sample::recording("kcp", 0);
        recording.messages = Messages::Each(messages);
        recording.fidelity = Some(Fidelity { lateness_p50_us: Some(lateness), ..sample::fidelity() });
        prop_assert_eq!(decode(&encode(&recording)).unwrap(), recording);
    }

    #[test]
    fn garbage_is_refused_and_never_panics(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = encode(&sample::recording("udp", 0));
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(recording) = decode(&bytes) {
            let _ = crate::recording::Summary::of(&[&recording]);
        }
    }
}
