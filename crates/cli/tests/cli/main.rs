//! The real command, run as people and programs run it.

mod catalogue;
mod check;
mod compare;
mod documents;
mod exports;
mod implosion;
mod linear;
mod mistakes;
mod mutants;
mod new;
mod play;
mod printed;
mod prove;
mod raise;
mod real;
mod run;
mod step;
mod swarm;
mod sweep;
mod synod;
mod tour;
