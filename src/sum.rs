//! Counts that are added up field by field.

/// Makes a struct of counts one to which another can be added, and many summed up: every field is
/// named once, and none can be forgotten.
macro_rules! add_fields {
    ($kind:ident { $($field:ident),+ $(,)? }) => {
        impl std::ops::AddAssign for $kind {
            fn add_assign(&mut self, other: Self) {
                let $kind { $($field),+ } = other;
                $(self.$field += $field;)+
            }
        }

        impl std::iter::Sum for $kind {
            fn sum<I: Iterator<Item = $kind>>(counts: I) -> $kind {
                counts.fold($kind::default(), |mut sum, one| {
                    sum += one;
                    sum
                })
            }
        }
    };
}
pub(crate) use add_fields;
