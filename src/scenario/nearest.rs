//! The nearest name that exists, for "did you mean".

/// The candidate closest to `written`, if it is close enough to have been meant.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let lowered = written.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (closeness(&lowered, &candidate.to_lowercase()), candidate))
        .filter(|(closeness, _)| *closeness >= CLOSE_ENOUGH)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate.to_owned())
}

/// Below this, a suggestion is more of a riddle than a help.
const CLOSE_ENOUGH: f64 = 0.6;

/// Between 0 and 1. A long text is not compared: it is no slip of the finger.
fn closeness(a: &str, b: &str) -> f64 {
    let comparable = a.len() <= 64 && b.len() <= 64;
    if comparable { strsim::normalized_damerau_levenshtein(a, b) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_a_stranger_is_not() {
        let keys = ["delay", "jitter", "loss"];
        assert_eq!(nearest("delai", keys).as_deref(), Some("delay"));
        assert_eq!(nearest("Loss", keys).as_deref(), Some("loss"));
        assert_eq!(nearest("latency", keys), None);
    }
}
