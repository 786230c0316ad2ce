//! Real clusters, as people use them: `synod up`, and the commands that talk to it.

mod daemon;
mod lease;
mod mistakes;
mod stories;
mod up;
