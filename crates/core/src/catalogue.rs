//! Lists of algorithms, for a catalogue.

use crate::algorithm::Algorithm;

/// A task that works for every algorithm: to run it, to explore it, …
pub trait Visit {
    /// The result of the task.
    type Answer;
    /// Carries the task out for the algorithm `A`.
    fn visit<A: Algorithm>(self) -> Self::Answer;
}

/// Lists the algorithms of a family, in the order of the course.
///
/// The list is a static of the family's own crate. Boxes of its algorithms are compiled there, so
/// an edit compiles that part of the catalogue again, and the parts that use it.
#[macro_export]
macro_rules! catalogue {
    ($($algorithm:ty),* $(,)?) => {
        /// The algorithms of this family, in the order of the course.
        pub static ALGORITHMS: &[$crate::boxed::Which] =
            &[$($crate::boxed::Which::of::<$algorithm>()),*];

        /// Visits the algorithm of that name or alias. Returns the visitor if this family has none.
        pub fn visit<V: $crate::Visit>(name: &str, visitor: V) -> Result<V::Answer, V> {
            $(if <$algorithm as $crate::Algorithm>::CARD.answers_to(name) {
                return Ok(visitor.visit::<$algorithm>());
            })*
            Err(visitor)
        }
    };
}
