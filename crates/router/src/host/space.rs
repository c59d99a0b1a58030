//! Network name spaces: made, named for `ip`, and entered by this thread for a moment.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};

use crate::plan::Space;

/// Where `ip` looks for names.
const NAMES: &str = "/run/netns";
const OWN: &str = "/proc/self/ns/net";

/// The name spaces of a run.
pub struct Spaces {
    own: File,
    spaces: Vec<File>,
}

impl Spaces {
    /// Makes those that a plan needs. `folder` is mounted at `/run`.
    pub fn open(folder: &Path, needed: &[Space]) -> io::Result<Spaces> {
        debug_assert!(Path::new(NAMES).starts_with(folder), "names are made in the scratch folder");
        let own = File::open(OWN)?;
        fs::create_dir_all(NAMES)?;
        let mut spaces = Vec::new();
        for space in needed {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let name = PathBuf::from(NAMES).join(space.name());
            File::create(&name)?;
            mount(Some(OWN), &name, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
            spaces.push(File::open(OWN)?);
        }
        setns(&own, CloneFlags::CLONE_NEWNET)?;
        Ok(Spaces { own, spaces })
    }

    /// Does something in one of them.
    pub fn within<T>(&self, space: Space, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        setns(&self.spaces[space as usize], CloneFlags::CLONE_NEWNET)?;
        let result = act();
        setns(&self.own, CloneFlags::CLONE_NEWNET)?;
        result
    }
}
