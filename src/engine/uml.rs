//! A real Linux kernel in virtual time: User-Mode Linux, a process of this machine that needs no
//! rights on it. Programs in it see the host's files under an overlay in memory, a clock that stands
//! still while they compute and jumps while they sleep, and nothing of the host's network.

pub mod error;
mod folder;
pub mod guest;
pub mod job;
pub mod kernel;
pub mod launch;
mod machine;
mod mconsole;
mod memory;
mod standstill;

pub use error::{KernelError, UmlError};
pub use folder::remove_when_orphaned;
pub use kernel::Kernel;
pub use machine::{Machine, Settings};
