//! quinn writes round trips in seconds, where qlog has milliseconds ("all following rtt fields are
//! expressed in ms", draft-ietf-quic-qlog-quic-events). Here they are made what a reader takes them
//! for; every other byte stays as it was.

use std::str;

const EVENT: &str = "recovery:metrics_updated";
const FIELDS: [&str; 4] =
    ["\"min_rtt\":", "\"smoothed_rtt\":", "\"latest_rtt\":", "\"rtt_variance\":"];

pub fn to_milliseconds(log: &[u8]) -> Vec<u8> {
    let Ok(text) = str::from_utf8(log) else { return log.to_vec() };
    text.split_inclusive('\n')
        .map(|record| in_record(record).into_bytes())
        .collect::<Vec<_>>()
        .concat()
}

fn in_record(record: &str) -> String {
    match record.contains(EVENT) {
        true => FIELDS.iter().fold(record.to_owned(), |record, field| in_field(&record, field)),
        false => record.to_owned(),
    }
}

fn in_field(record: &str, field: &str) -> String {
    let Some((before, after)) = record.split_once(field) else { return record.to_owned() };
    let end = after.find([',', '}']).unwrap_or(after.len());
    let (number, rest) = after.split_at(end);
    match number.parse::<f64>() {
        Ok(seconds) => format!("{before}{field}{}{rest}", milliseconds(seconds)),
        Err(_) => record.to_owned(),
    }
}

/// To the nanosecond: a 32-bit float has no more.
fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_become_milliseconds_and_nothing_else_changes() {
        let log = "\u{1e}{\"trace\":{\"min_rtt\":1}}\n\
            \u{1e}{\"time\":2.5,\"name\":\"recovery:metrics_updated\",\"data\":{\"min_rtt\":0.041573,\
            \"rtt_variance\":5e-7,\"pto_count\":2,\"latest_rtt\":0.333}}\n\
            \u{1e}{\"time\":3.0,\"name\":\"transport:packet_sent\",\"data\":{\"latest_rtt\":1.0}}\n";
        let expected = "\u{1e}{\"trace\":{\"min_rtt\":1}}\n\
            \u{1e}{\"time\":2.5,\"name\":\"recovery:metrics_updated\",\"data\":{\"min_rtt\":41.573,\
            \"rtt_variance\":0.0005,\"pto_count\":2,\"latest_rtt\":333}}\n\
            \u{1e}{\"time\":3.0,\"name\":\"transport:packet_sent\",\"data\":{\"latest_rtt\":1.0}}\n";
        assert_eq!(String::from_utf8(to_milliseconds(log.as_bytes())).unwrap(), expected);
    }
}
