//! Root without root: a user namespace in which the process may make network namespaces. To be
//! entered before anything else, since the kernel lets only a process with a single thread do it.

use std::fs;
use std::io;
use std::thread::sleep;
use std::time::Duration;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, getegid, geteuid};
use thiserror::Error;

/// The process could not become root in a user namespace.
#[derive(Debug, Error)]
pub enum UserNamespaceError {
    /// It already has more than one thread.
    #[error("a user namespace can only be entered before the first thread is started")]
    SeveralThreads,
    /// The kernel or its configuration forbids it.
    #[error(
        "user namespaces are not allowed here: {source} (see the sysctls \
         user.max_user_namespaces, kernel.unprivileged_userns_clone and \
         kernel.apparmor_restrict_unprivileged_userns, or run as root)"
    )]
    NotAllowed {
        /// What the kernel said.
        source: io::Error,
    },
    /// The user could not be mapped to root.
    #[error("cannot write {file}: {source}")]
    Map {
        /// Under `/proc/self`.
        file: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The answer could not be found out.
    #[error("cannot find out whether user namespaces are allowed: {source}")]
    Probe {
        /// What the kernel said.
        source: io::Error,
    },
}

/// Makes the process root in a user namespace of its own, with every right over the network
/// namespaces that it then makes and none over the host. Call it first thing in `main`. It does not
/// return to what was before: files on disk are still those of the user.
pub fn become_root_in_user_namespace() -> Result<(), UserNamespaceError> {
    let (user, group) = (geteuid(), getegid());
    leave_user_namespace()?;
    // Without root the kernel only accepts a map of groups from those who cannot change groups any
    // more.
    map("/proc/self/setgroups", "deny")?;
    map("/proc/self/uid_map", &format!("0 {user} 1"))?;
    map("/proc/self/gid_map", &format!("0 {group} 1"))
}

/// A thread that was joined may take the kernel a moment longer to forget, so a few attempts are
/// made.
fn leave_user_namespace() -> Result<(), UserNamespaceError> {
    const ATTEMPTS: u32 = 100;
    for _ in 0..ATTEMPTS {
        match unshare(CloneFlags::CLONE_NEWUSER) {
            Err(Errno::EINVAL) => sleep(Duration::from_millis(1)),
            Err(errno) => return Err(UserNamespaceError::NotAllowed { source: errno.into() }),
            Ok(()) => return Ok(()),
        }
    }
    Err(UserNamespaceError::SeveralThreads)
}

fn map(file: &'static str, line: &str) -> Result<(), UserNamespaceError> {
    fs::write(file, line).map_err(|source| UserNamespaceError::Map { file, source })
}

/// Whether [`become_root_in_user_namespace`] would work for a process with one thread, and a
/// network namespace after it. Tried by a child process, which changes nothing here.
pub fn user_namespace_allowed() -> Result<(), UserNamespaceError> {
    let probe_error = |errno: Errno| UserNamespaceError::Probe { source: errno.into() };
    // SAFETY: the child makes two system calls and allocates nothing, so it needs no lock that
    // another thread of the parent may hold.
    match unsafe { fork() }.map_err(probe_error)? {
        ForkResult::Child => try_and_exit(),
        ForkResult::Parent { child } => match waitpid(child, None).map_err(probe_error)? {
            WaitStatus::Exited(_, 0) => Ok(()),
            WaitStatus::Exited(_, errno) => {
                Err(UserNamespaceError::NotAllowed { source: Errno::from_raw(errno).into() })
            }
            _ => Err(probe_error(Errno::ECHILD)),
        },
    }
}

/// Exits with the error number, 0 if there was none.
fn try_and_exit() -> ! {
    let result = unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET);
    let status = result.err().map_or(0, |errno| errno as i32);
    // SAFETY: ends the child at once, without running any code of the parent's (exit handlers,
    // destructors).
    unsafe { libc::_exit(status) }
}
