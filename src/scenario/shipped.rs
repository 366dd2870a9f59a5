//! The profiles that are built into the program, so that they can be named from anywhere.

macro_rules! profile {
    ($name:literal) => {
        ($name, include_str!(concat!("../../scenarios/profiles/", $name, ".yaml")))
    };
}

/// Name and text of each.
pub const PROFILES: [(&str, &str); 7] = [
    profile!("4g-city-light"),
    profile!("4g-city-medium"),
    profile!("4g-city-heavy"),
    profile!("5g-city-light"),
    profile!("5g-city-medium"),
    profile!("5g-city-heavy"),
    profile!("kcp-test"),
];
