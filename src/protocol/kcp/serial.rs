//! Arithmetic on KCP's 32-bit circles: segment numbers and millisecond timestamps both wrap (as in
//! RFC 1982).

/// How far `later` is ahead of `earlier`; negative if it is in fact behind.
pub const fn distance(later: u32, earlier: u32) -> i32 {
    later.wrapping_sub(earlier).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_right_on_both_sides_of_the_wrap() {
        assert_eq!(distance(5, 3), 2);
        assert_eq!(distance(2, u32::MAX), 3);
        assert_eq!(distance(u32::MAX, 2), -3);
        assert_eq!(distance(0x8000_0000, 0), i32::MIN);
    }
}
