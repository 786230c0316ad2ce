//! Copies that reuse the memory of the value they replace.

use smallvec::{Array, SmallVec};

/// Makes one list equal to the other. Explorers copy worlds all the time, and lists are nearly
/// always as long as those that they replace.
#[inline]
pub fn copy_list<A: Array<Item: Copy>>(mine: &mut SmallVec<A>, theirs: &[A::Item]) {
    if mine.len() == theirs.len() {
        mine.copy_from_slice(theirs);
    } else {
        mine.clear();
        mine.extend_from_slice(theirs);
    }
}

/// `Clone` for a struct, field by field. Its `clone_from` is that of the fields: explorers copy
/// worlds all the time, and most of a world fits into what its predecessor had allocated. Options
/// that are nearly always `None` come last, after a semicolon: both copies being `None`, nothing is
/// called.
#[macro_export]
macro_rules! clone_by_field {
    ($name:ident $(<$parameter:ident: $bound:path>)? {
        $($field:ident),+ $(; $($rare:ident),+)?
    }) => {
        impl$(<$parameter: $bound>)? Clone for $name$(<$parameter>)? {
            #[inline]
            fn clone(&self) -> Self {
                $name { $($field: self.$field.clone()),+ $(, $($rare: self.$rare.clone()),+)? }
            }

            #[inline]
            fn clone_from(&mut self, source: &Self) {
                let $name { $($field),+ $(, $($rare),+)? } = source;
                $(self.$field.clone_from($field);)+
                $($(if self.$rare.is_some() || $rare.is_some() {
                    self.$rare.clone_from($rare);
                })+)?
            }
        }
    };
}
