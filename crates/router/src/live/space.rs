//! The name spaces of both ends. Those made here have no name, so they are gone with the last process in
//! them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{Gid, Uid};

use super::{Failure, Place};

const OWN: &str = "/proc/self/ns/net";

/// Both ends.
pub struct Ends {
    own: File,
    ends: [File; 2],
}

impl Ends {
    /// Makes or joins them.
    pub fn open(places: &[Place; 2]) -> Result<Ends, Failure> {
        let own = File::open(OWN).map_err(|e| format!("{OWN}: {e}"))?;
        let [near, far] = places;
        let ends = [end("near", near, &own)?, end("far", far, &own)?];
        Ok(Ends { own, ends })
    }

    /// Does something in one of them.
    pub fn within<T>(&self, end: usize, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        setns(&self.ends[end], CloneFlags::CLONE_NEWNET)?;
        let result = act();
        setns(&self.own, CloneFlags::CLONE_NEWNET)?;
        result
    }
}

fn end(option: &str, place: &Place, own: &File) -> Result<File, Failure> {
    match place {
        Place::Host => own.try_clone().map_err(|e| format!("--{option} host: {e}")),
        Place::Join(path) => {
            let file = File::open(path).map_err(|e| format!("--{option} {path}: {e}"))?;
            let joined = setns(&file, CloneFlags::CLONE_NEWNET)
                .and_then(|()| setns(own, CloneFlags::CLONE_NEWNET));
            joined.map_err(|e| {
                format!("--{option} {path}: {e}; it must be a network name space, joined as root")
            })?;
            Ok(file)
        }
        Place::New => made(own).map_err(|e| format!("--{option} new: {e}")),
    }
}

fn made(own: &File) -> io::Result<File> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    let file = File::open(OWN)?;
    setns(own, CloneFlags::CLONE_NEWNET)?;
    Ok(file)
}

/// Enters a user name space in which this user is root, and with it `more`, unless this process is root
/// already. It comes with a network name space of its own, because the machine's could not be entered
/// again.
///
/// # Errors
/// A sentence, where the kernel does not permit it.
pub fn become_root(more: CloneFlags) -> Result<(), Failure> {
    let (uid, gid) = (Uid::effective(), Gid::effective());
    if uid.is_root() {
        return unshare(more).map_err(|e| format!("name spaces: {e}"));
    }
    let enter = || -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET | more)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
        fs::write("/proc/self/gid_map", format!("0 {gid} 1"))
    };
    enter().map_err(|e| format!("user name space: {e}; run as root"))
}

/// Enters a mount name space in which `folder` is at `/run`, in a user name space unless this is root:
/// what a run of a scenario needs to find on a host what it finds in a guest.
///
/// # Errors
/// A sentence, where the kernel does not permit it.
pub fn enter_private(folder: &Path) -> Result<(), Failure> {
    use nix::mount::{MsFlags, mount};

    become_root(CloneFlags::CLONE_NEWNS)?;
    let none = None::<&str>;
    let alone = mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none);
    alone
        .and_then(|()| mount(Some(folder), "/run", none, MsFlags::MS_BIND, none))
        .map_err(|e| format!("{} at /run: {e}", folder.display()))
}
