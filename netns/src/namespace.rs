//! A network namespace that nothing but a file descriptor keeps alive, and code that runs inside
//! it. Knows nothing of what links are laid in it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, setns, unshare};
use thiserror::Error;

use crate::netlink::NetlinkError;
use crate::{loopback, sysctl};

/// A network namespace of one's own, with loopback up and everything off that sends packets
/// unasked.
///
/// No name is registered anywhere and no process lives in it: the kernel frees it, and every link
/// that ends in it, when the last clone is dropped and the last thread, socket and program inside
/// has gone, however the process ends.
#[derive(Debug, Clone)]
pub struct Namespace {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    name: String,
    handle: OwnedFd,
}

/// Why a namespace could not be made or entered.
#[derive(Debug, Error)]
pub enum NamespaceError {
    /// Not root there, or the kernel's limit is reached.
    #[error("cannot create network namespace {namespace}: {source}{}", hint(.source))]
    Create {
        /// The name given to it.
        namespace: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The thread could not be moved into the namespace.
    #[error("cannot enter network namespace {namespace}: {source}")]
    Enter {
        /// The name given to it.
        namespace: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// No thread could be started.
    #[error("cannot start a thread for network namespace {namespace}: {source}")]
    Thread {
        /// The name given to it.
        namespace: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A kernel setting could not be written or read.
    #[error("cannot set {key} in network namespace {namespace}: {source}")]
    Sysctl {
        /// The name given to it.
        namespace: String,
        /// As under `/proc/sys`.
        key: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// Loopback could not be brought up.
    #[error(transparent)]
    Netlink(#[from] NetlinkError),
}

fn hint(source: &io::Error) -> &'static str {
    match source.raw_os_error() {
        Some(libc::EPERM) => " (it takes root, or a user namespace to be root in)",
        Some(libc::ENOSPC) => " (the limit in /proc/sys/user/max_net_namespaces is reached)",
        _ => "",
    }
}

impl Namespace {
    /// Makes a namespace. `name` only serves messages and thread names; the kernel never sees it.
    pub fn new(name: &str) -> Result<Self, NamespaceError> {
        let handle = on_scratch_thread(name, || create(name))??;
        Ok(Self { shared: Arc::new(Shared { name: name.to_owned(), handle }) })
    }

    /// The name given to [`Namespace::new`].
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Moves the calling thread into the namespace, for good. Sockets that it opens from then on
    /// belong there, and go on doing so when they are used by other threads. For a thread of your
    /// own: see [`Namespace::spawn`] and [`Namespace::run`].
    pub fn enter(&self) -> Result<(), NamespaceError> {
        setns(&self.shared.handle, CloneFlags::CLONE_NEWNET).map_err(|errno| {
            NamespaceError::Enter { namespace: self.name().to_owned(), source: errno.into() }
        })
    }

    /// Runs `body` inside, on a scratch thread, and waits for it. A panic in `body` goes on in the
    /// caller.
    pub fn run<T: Send>(&self, body: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        on_scratch_thread(self.name(), || self.enter().map(|()| body()))?
    }

    /// Starts a thread that lives inside: its namespace is that of the thread which starts it.
    pub fn spawn<T: Send + 'static>(
        &self,
        thread_name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, NamespaceError> {
        let builder = thread::Builder::new().name(thread_name.to_owned());
        self.run(|| builder.spawn(body))?.map_err(|source| thread_error(self.name(), source))
    }

    /// Writes a kernel setting inside, by its path under `/proc/sys`, such as
    /// `net/ipv4/tcp_congestion_control`.
    pub fn set_sysctl(&self, key: &str, value: &str) -> Result<(), NamespaceError> {
        self.run(|| sysctl::write(key, value))?.map_err(|source| self.sysctl_error(key, source))
    }

    /// Reads a kernel setting inside, by its path under `/proc/sys`.
    pub fn sysctl(&self, key: &str) -> Result<String, NamespaceError> {
        self.run(|| sysctl::read(key))?.map_err(|source| self.sysctl_error(key, source))
    }

    fn sysctl_error(&self, key: &str, source: io::Error) -> NamespaceError {
        let (namespace, key) = (self.name().to_owned(), key.to_owned());
        NamespaceError::Sysctl { namespace, key, source }
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.handle.as_fd()
    }
}

/// Leaves every thread of the process where it is: only the scratch thread moves, and it ends here.
fn create(name: &str) -> Result<OwnedFd, NamespaceError> {
    let error = |source| NamespaceError::Create { namespace: name.to_owned(), source };
    unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| error(errno.into()))?;
    sysctl::silence().map_err(|(key, source)| NamespaceError::Sysctl {
        namespace: name.to_owned(),
        key: key.to_owned(),
        source,
    })?;
    loopback::bring_up(name)?;
    // The standard library opens every file with O_CLOEXEC: no program that is started inherits the
    // namespace by it.
    File::open("/proc/thread-self/ns/net").map(OwnedFd::from).map_err(error)
}

/// Runs `body` on a thread that nothing else runs on, and waits for it.
fn on_scratch_thread<T: Send>(
    name: &str,
    body: impl FnOnce() -> T + Send,
) -> Result<T, NamespaceError> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name(format!("netns {name}"))
            .spawn_scoped(scope, body)
            .map_err(|source| thread_error(name, source))?;
        thread.join().map_or_else(|panic| resume_unwind(panic), Ok)
    })
}

fn thread_error(name: &str, source: io::Error) -> NamespaceError {
    NamespaceError::Thread { namespace: name.to_owned(), source }
}
