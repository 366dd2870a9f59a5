//! The Reed-Solomon code of kcp-go: byte for byte, the data shards of a group are what a polynomial
//! of least degree takes at the points 0, 1, 2, …, and the parity shards what it takes at the points
//! behind. (As a matrix: Vandermonde's, times the inverse of its own top.) Any `data` points tell
//! the polynomial, by Lagrange's formula; so encoding and recovering are one computation.

use super::GroupSizes;
use super::galois::{Multiplier, product, quotient};

#[derive(Debug, Clone)]
pub struct Code {
    sizes: GroupSizes,
    /// For each parity shard, what each data shard counts.
    parity_rows: Vec<Vec<Multiplier>>,
}

impl Code {
    pub fn new(sizes: GroupSizes) -> Self {
        let known: Vec<usize> = (0..sizes.data()).collect();
        let row = |point| lagrange(&known, point).into_iter().map(Multiplier::new).collect();
        let parity_rows = (sizes.data()..sizes.shards()).map(row).collect();
        Self { sizes, parity_rows }
    }

    /// The parity shards, as long as the longest of the `data` shards; a shorter one counts as if
    /// zeros followed.
    pub fn parity(&self, data: &[Vec<u8>]) -> Vec<Vec<u8>> {
        debug_assert_eq!(data.len(), self.sizes.data());
        let longest = data.iter().map(Vec::len).max().unwrap_or(0);
        let combine = |row: &Vec<Multiplier>| {
            let mut sum = vec![0; longest];
            row.iter()
                .zip(data)
                .for_each(|(multiplier, shard)| multiplier.add_products(shard, &mut sum));
            sum
        };
        self.parity_rows.iter().map(combine).collect()
    }

    /// The missing data shards in order, from at least `data` shards of one group, each with its
    /// place in it (no place twice); all as long as the longest. `None` with fewer.
    pub fn recover(&self, present: &[(usize, &[u8])]) -> Option<Vec<Vec<u8>>> {
        let present = present.get(..self.sizes.data())?;
        let known: Vec<usize> = present.iter().map(|(place, _)| *place).collect();
        let longest = present.iter().map(|(_, shard)| shard.len()).max().unwrap_or(0);
        let evaluate = |point| {
            let mut sum = vec![0; longest];
            for (factor, (_, shard)) in lagrange(&known, point).into_iter().zip(present) {
                Multiplier::new(factor).add_products(shard, &mut sum);
            }
            sum
        };
        let missing = (0..self.sizes.data()).filter(|place| !known.contains(place));
        Some(missing.map(evaluate).collect())
    }
}

/// How much the value at each known point counts in the value at another one:
/// ∏ (point − other) / (own − other) over the other known points. In this field the difference is
/// exclusive or.
fn lagrange(known: &[usize], point: usize) -> Vec<u8> {
    let difference = |a: usize, b: usize| (a ^ b) as u8;
    let factor = |own: &usize| {
        let others = known.iter().filter(|other| *other != own);
        let (above, below) = others.fold((1, 1), |(above, below), other| {
            (product(above, difference(point, *other)), product(below, difference(*own, *other)))
        });
        quotient(above, below)
    };
    known.iter().map(factor).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reed_solomon_erasure::galois_8::ReedSolomon;

    use super::*;

    fn code(data: u32, parity: u32) -> Code {
        Code::new(GroupSizes::new(data, parity).expect("a group"))
    }

    /// The rows and bytes that kcp-go's own library gives.
    #[test]
    fn the_rows_are_the_published_ones() {
        let known = [0, 1, 2];
        assert_eq!(lagrange(&known, 3), [0x01, 0x01, 0x01]);
        assert_eq!(lagrange(&known, 4), [0x0f, 0x08, 0x06]);
        let parity = code(3, 2).parity(&[vec![1], vec![2], vec![3]]);
        assert_eq!(parity, [[0x00], [0x15]]);
    }

    fn group() -> impl Strategy<Value = Vec<Vec<u8>>> {
        (1..40_usize, 1..40_usize).prop_flat_map(|(data, len)| {
            prop::collection::vec(prop::collection::vec(any::<u8>(), len), data)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// An independent implementation with tables and matrices.
        #[test]
        fn it_is_the_code_of_a_published_crate(data in group(), parity in 1..40_usize) {
            let ours = code(data.len() as u32, parity as u32).parity(&data);
            let mut shards = data.clone();
            shards.resize(data.len() + parity, vec![0; data[0].len()]);
            ReedSolomon::new(data.len(), parity).expect("sizes").encode(&mut shards).expect("shards");
            prop_assert_eq!(&ours, &shards[data.len()..]);
        }

        #[test]
        fn enough_shards_tell_the_rest(
            data in group(), parity in 1..40_usize, order in any::<prop::sample::Index>(), seed: u64,
        ) {
            let code = code(data.len() as u32, parity as u32);
            let all = [data.clone(), code.parity(&data)].concat();
            // Some `data` of them, in any order.
            let mut places: Vec<usize> = (0..all.len()).collect();
            places.sort_by_key(|place| crate::splitmix::mix(seed ^ *place as u64));
            places.truncate(data.len());
            places.rotate_left(order.index(data.len()));
            let present: Vec<_> = places.iter().map(|place| (*place, &all[*place][..])).collect();
            let missing = (0..data.len()).filter(|place| !places.contains(place));
            let expected: Vec<_> = missing.map(|place| data[place].clone()).collect();
            prop_assert_eq!(code.recover(&present), Some(expected));
            prop_assert_eq!(code.recover(&present[1..]), None);
        }
    }

    #[test]
    fn the_largest_groups_have_a_point_for_each_shard() {
        for (data, parity) in [(1, 255), (255, 1), (128, 128)] {
            let shards: Vec<Vec<u8>> = (0..data).map(|at| vec![at as u8, 7]).collect();
            let code = code(data, parity);
            let parity = code.parity(&shards);
            let mut present: Vec<(usize, &[u8])> =
                shards.iter().enumerate().map(|(place, shard)| (place, &shard[..])).collect();
            present[0] = (data as usize + parity.len() - 1, &parity[parity.len() - 1]);
            assert_eq!(code.recover(&present), Some(vec![shards[0].clone()]));
        }
    }
}
