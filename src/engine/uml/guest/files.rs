//! The guest's files: the host's, under an overlay in memory that takes every change, and the file
//! systems that a kernel keeps itself.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, pivot_root};

use super::error::{GuestError, step};
use crate::engine::uml::job;

/// A folder that every host has, empty until something is mounted there.
const STAGE: &str = "/proc";

/// Gives the guest its files, with the job's folder at `folder`, and enters that.
pub fn set_up(folder: &Path) -> Result<(), GuestError> {
    // First, so that whatever fails after it can be said on the kernel's console.
    mount_at("devtmpfs", "/dev", None, MsFlags::empty())?;
    mount_at("tmpfs", STAGE, Some("mode=755"), MsFlags::empty())?;
    let [changes, work, root] = ["changes", "work", "root"].map(|name| Path::new(STAGE).join(name));
    for path in [&changes, &work, &root] {
        make(path)?;
    }
    let layers = format!("lowerdir=/,upperdir={},workdir={}", changes.display(), work.display());
    mount_at("overlay", &root, Some(&layers), MsFlags::empty())?;
    enter(&root)?;
    kernels_own()?;
    make(folder)?;
    host_folder(job::FOLDER_FROM_INSIDE, folder)?;
    step(|| format!("enter {}", folder.display()), chdir(folder))
}

/// Makes a folder of the host, as the guest's kernel finds it, writable at a place of the guest.
pub fn host_folder(outside: &str, inside: &Path) -> Result<(), GuestError> {
    mount_at("hostfs", inside, Some(outside), MsFlags::empty())
}

/// The new root takes the place of the old one, which nothing uses any more.
fn enter(root: &Path) -> Result<(), GuestError> {
    step(|| "enter the overlay".to_owned(), chdir(root))?;
    step(|| "make the overlay the root".to_owned(), pivot_root(".", "."))?;
    step(|| "leave the host's root".to_owned(), umount2(".", MntFlags::MNT_DETACH))?;
    step(|| "enter the root".to_owned(), chdir("/"))
}

fn kernels_own() -> Result<(), GuestError> {
    let nothing = MsFlags::empty();
    mount_at("proc", "/proc", None, nothing)?;
    mount_at("sysfs", "/sys", None, nothing)?;
    mount_at("devtmpfs", "/dev", None, nothing)?;
    for (name, target) in [("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")]
    {
        let link = PathBuf::from("/dev").join(name);
        let made = symlink(Path::new("/proc/self").join(target), &link);
        step(|| format!("make {}", link.display()), made)?;
    }
    make(Path::new("/dev/pts"))?;
    mount_at("devpts", "/dev/pts", Some("ptmxmode=666,newinstance"), nothing)?;
    make(Path::new("/dev/shm"))?;
    mount_at("tmpfs", "/dev/shm", Some("mode=1777"), nothing)?;
    make(Path::new("/run"))?;
    mount_at("tmpfs", "/run", Some("mode=755"), nothing)?;
    // Programs that keep track of their processes like to have it; the folder is the kernel's.
    mount_at("cgroup2", "/sys/fs/cgroup", None, nothing)
}

fn mount_at(
    kind: &str,
    at: impl AsRef<Path>,
    options: Option<&str>,
    flags: MsFlags,
) -> Result<(), GuestError> {
    let at = at.as_ref();
    let what = || format!("mount {kind} at {}", at.display());
    step(what, mount(Some(kind), at, Some(kind), flags, options))
}

fn make(path: &Path) -> Result<(), GuestError> {
    step(|| format!("make {}", path.display()), fs::create_dir_all(path))
}
