//! SLOTS: a pool of identical resources, shared by a group, that stays usable on every side of a
//! partition.
