//! Election.

pub mod bully;
pub mod chang_roberts;
mod cost;
pub mod hirschberg_sinclair;
pub mod luis;
pub mod mutants;
mod ring;

pub use bully::Bully;
pub use chang_roberts::ChangRoberts;
pub use hirschberg_sinclair::HirschbergSinclair;
pub use luis::Luis;

synod_core::catalogue! {
    ChangRoberts,
    HirschbergSinclair,
    Bully,
    Luis,
    mutants::ChangRobertsForwarding,
    mutants::ChangRobertsEndless,
    mutants::ChangRobertsFresh,
    mutants::BullyHasty,
}
