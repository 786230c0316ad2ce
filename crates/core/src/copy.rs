//! Copies that keep what is allocated.

/// `Clone` for a struct, field by field. Its `clone_from` is that of the fields: explorers copy worlds
/// all the time, and most of a world fits into what its predecessor had allocated.
#[macro_export]
macro_rules! clone_by_field {
    ($name:ident $(<$parameter:ident: $bound:path>)? { $($field:ident),+ $(,)? }) => {
        impl$(<$parameter: $bound>)? Clone for $name$(<$parameter>)? {
            fn clone(&self) -> Self {
                $name { $($field: self.$field.clone()),+ }
            }

            fn clone_from(&mut self, source: &Self) {
                let $name { $($field),+ } = source;
                $(self.$field.clone_from($field);)+
            }
        }
    };
}
