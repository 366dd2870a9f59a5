//! Why a sender of the kernel's, or a program, cannot be had here.

use std::io;
use std::path::PathBuf;

use netns::{MptcpError, NamespaceError, ProgramError};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum KernelSocketError {
    #[error(
        "the kernel that it runs on has no congestion control `{name}`; it has {available}. \
         Others are modules, loaded by root where the kernel has them: modprobe tcp_{name}. The \
         kernel of engine uml has all of Linux's own."
    )]
    NoCongestion { name: String, available: String },
    #[error("cannot set congestion control `{name}`: {source}")]
    Congestion { name: String, source: io::Error },
    #[error(
        "the kernel that it runs on has no multipath TCP: it takes Linux 5.16 or later with \
         CONFIG_MPTCP. The kernel of engine uml has it."
    )]
    NoMptcp,
    #[error(
        "multipath TCP is switched off on this machine: net.mptcp.enabled is {value}. Whoever \
         administers it can allow it: sysctl -w net.mptcp.enabled=1. Or use engine uml, whose \
         kernel is its own."
    )]
    MptcpOff { value: String },
    #[error("the kernel that it runs on has no multipath scheduler `{name}`; it has {available}")]
    NoScheduler { name: String, available: String },
    #[error(transparent)]
    PathManager(#[from] MptcpError),
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    #[error("cannot open a {protocol} socket: {source}")]
    Socket { protocol: &'static str, source: io::Error },
    #[error(
        "{program} is not installed: it is not in {folders}. It comes with kcptun: \
         `apt-get install kcptun` on Debian and Ubuntu."
    )]
    NoProgram { program: &'static str, folders: String },
    #[error(
        "{program} cannot be executed: {} is there, but without the permission, or on a file \
         system that has none (mount option noexec). If it is the mode: chmod +x {}",
        path.display(), path.display()
    )]
    NotExecutable { program: &'static str, path: PathBuf },
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("cannot read what {program} prints: {source}")]
    Output { program: &'static str, source: io::Error },
    #[error("{program} ended before it listened: {said}")]
    Ended { program: &'static str, said: String },
    #[error("{program} does not listen after {limit_s} s; it said: {said}")]
    NotListening { program: &'static str, limit_s: u64, said: String },
    #[error("cannot read which ports are open in a namespace: {0}")]
    Ports(io::Error),
}
