//! Group services: the contract, on whichever engine.

mod abstract_engine;
