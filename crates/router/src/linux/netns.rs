//! Network namespaces, which this thread enters temporarily, and user and mount namespaces, which
//! it enters permanently.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{Gid, Uid};

use super::Failure;

/// The network namespace of this thread.
pub(crate) const OWN: &str = "/proc/self/ns/net";

/// The namespace to which this thread returns.
pub(crate) struct HomeNetns {
    file: File,
}

impl HomeNetns {
    /// Opens the current namespace.
    pub(crate) fn open() -> io::Result<HomeNetns> {
        Ok(HomeNetns { file: File::open(OWN)? })
    }

    /// Another handle to the same namespace.
    pub(crate) fn try_clone(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Calls `act` in another namespace; sockets opened there stay there.
    pub(crate) fn within<T>(
        &self,
        netns: &File,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        setns(netns, CloneFlags::CLONE_NEWNET)?;
        let result = act();
        setns(&self.file, CloneFlags::CLONE_NEWNET)?;
        result
    }

    /// Creates a namespace and calls `act` in it. The namespace ends with its last process and
    /// handle.
    pub(crate) fn create(&self, act: impl FnOnce() -> io::Result<()>) -> io::Result<File> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        act()?;
        let file = File::open(OWN)?;
        setns(&self.file, CloneFlags::CLONE_NEWNET)?;
        Ok(file)
    }
}

/// Enters a user namespace in which this user is root, and the namespaces in `more`, unless this
/// process is root already. The namespaces include a new network namespace, because the process
/// could not enter the machine's again.
///
/// # Errors
///
/// Returns a sentence if the kernel does not permit it.
pub(crate) fn become_root(more: CloneFlags) -> Result<(), Failure> {
    let (uid, gid) = (Uid::effective(), Gid::effective());
    if uid.is_root() {
        return unshare(more).map_err(|e| format!("namespaces: {e}"));
    }
    let enter = || -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET | more)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
        fs::write("/proc/self/gid_map", format!("0 {gid} 1"))
    };
    enter().map_err(|e| format!("user namespace: {e}; run as root"))
}

/// Enters a mount namespace in which `folder` is mounted at `/run`, inside a user namespace unless
/// this process is root. A run on a host then sees the same paths as in a guest.
///
/// # Errors
/// Returns a sentence if the kernel does not permit it.
pub(crate) fn enter_private(folder: &Path) -> Result<(), Failure> {
    become_root(CloneFlags::CLONE_NEWNS)?;
    let none = None::<&str>;
    let alone = mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none);
    alone
        .and_then(|()| mount(Some(folder), "/run", none, MsFlags::MS_BIND, none))
        .map_err(|e| format!("{} at /run: {e}", folder.display()))
}
