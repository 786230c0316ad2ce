//! Multicast: the sentences and examples of the textbooks.

mod basic;
mod exploring;
mod forged;
mod groups;
mod ip;
