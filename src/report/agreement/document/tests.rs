use std::time::Duration;

use serde_json::{Value as Json, json};

use super::super::tests::ran;
use super::super::{Agreement, Ran};
use super::*;
use crate::recording::sample;
use crate::statistics::Interval;

fn plan() -> Plan {
    sample::plan(1)
}

fn reference() -> Ran {
    ran(EngineKind::Sim, Duration::ZERO, 50)
}

fn read(pairs: &[Agreement], interrupted: bool, exit_code: u8) -> Json {
    serde_json::from_str(&document(&plan(), pairs, interrupted, exit_code)).expect("JSON")
}

#[test]
fn it_reads_as_documented() {
    let other = ran(EngineKind::Relay, Duration::from_micros(120), 49);
    let pairs = [Agreement::between(&reference(), &other)];
    insta::assert_snapshot!(document(&plan(), &pairs, false, 0));
}

#[test]
fn each_criterion_has_its_own_verdict_and_the_worst_is_that_of_all() {
    let us = Duration::from_micros;
    let others = [
        ran(EngineKind::Uml, us(900), 50),
        ran(EngineKind::Relay, us(60_000), 50),
        ran(EngineKind::Netem, Duration::ZERO, 25),
    ];
    let pairs = others.map(|other| Agreement::between(&reference(), &other));
    let read = read(&pairs, false, 6);
    assert_eq!((&read["verdict"], &read["exit_code"]), (&json!("no"), &json!(6)));
    let verdicts = [0, 1, 2].map(|pair| {
        let sender = &read["pairs"][pair]["senders"][0];
        let delivery = &sender["delivery"];
        let of = |part: &Json| part["verdict"].as_str().unwrap_or("none").to_owned();
        let parts = [&delivery["p50"], &delivery["lost"], &sender["messages"], delivery, sender];
        parts.map(of).join(" ")
    });
    let expected =
        ["yes yes in-figures in-figures in-figures", "no yes none no no", "yes no none no no"];
    assert_eq!(verdicts, expected);
}

#[test]
fn what_an_engine_did_not_run_is_null_and_does_not_agree() {
    let mut nothing = reference();
    nothing.report.senders.clear();
    nothing.recordings.clear();
    let read = read(&[Agreement::between(&reference(), &nothing)], false, 6);
    let sender = &read["pairs"][0]["senders"][0];
    let expected = json!({
        "sender": "kcp",
        "verdict": "no",
        "delivery": null,
        "amplification": null,
        "messages": null,
    });
    assert_eq!(*sender, expected);
}

#[test]
fn interrupted_there_is_no_verdict_on_all() {
    let pair = Agreement::between(&reference(), &reference());
    let whole = read(std::slice::from_ref(&pair), false, 0);
    assert_eq!(whole["verdict"], json!("yes"));
    let part = read(&[pair], true, 130);
    assert_eq!((&part["verdict"], &part["exit_code"]), (&Json::Null, &json!(130)));
    assert_eq!(part["pairs"][0]["verdict"], json!("yes"));
}

#[test]
fn lost_is_told_from_unknown_and_nothing_is_rounded() {
    let figure = |low, high| {
        let value = 41.327_218_375_123;
        LatencyFigure::from(Value { value, interval: Interval { low, high } })
    };
    let written = |low, high| serde_json::to_string(&figure(low, high)).expect("JSON");
    assert_eq!(
        written(None, Some(f64::INFINITY)),
        r#"{"value":{"ms":41.327218375123,"lost":false},"low":null,"high":{"ms":null,"lost":true}}"#
    );
}

#[test]
fn what_is_said_below_the_tables_is_said_here_too() {
    let other = ran(EngineKind::Uml, Duration::from_millis(60), 50);
    let agreement = Agreement::between(&reference(), &other);
    let text = agreement.render(crate::report::terminal::Style { width: 120, colour: false });
    let said = read(&[agreement], false, 6)["pairs"][0]["remarks"].clone();
    let remarks = said.as_array().expect("a list").iter().map(|it| it.as_str().expect("text"));
    let remarks: Vec<&str> = remarks.collect();
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    let text = text.replace('\n', " ");
    assert!(remarks.iter().all(|remark| text.contains(remark)), "{remarks:?}\n{text}");
}
