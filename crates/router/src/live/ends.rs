//! The network namespaces of both ends. Namespaces created here have no name, so they disappear
//! with their last process.

use std::fs::File;
use std::io;

use super::plan::EndNetns;
use crate::linux::Failure;
use crate::linux::netns::{HomeNetns, OWN};

/// Both ends.
pub(super) struct Ends {
    home: HomeNetns,
    ends: [File; 2],
}

impl Ends {
    /// Creates or joins the namespaces.
    pub(super) fn open(ends: &[EndNetns; 2]) -> Result<Ends, Failure> {
        let home = HomeNetns::open().map_err(|e| format!("{OWN}: {e}"))?;
        let [near, far] = ends;
        let ends = [open("near", near, &home)?, open("far", far, &home)?];
        Ok(Ends { home, ends })
    }

    /// Calls `act` in the namespace of one end.
    pub(super) fn within<T>(
        &self,
        end: usize,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.home.within(&self.ends[end], act)
    }
}

fn open(option: &str, end: &EndNetns, home: &HomeNetns) -> Result<File, Failure> {
    match end {
        EndNetns::Host => home.try_clone().map_err(|e| format!("--{option} host: {e}")),
        EndNetns::Join(path) => {
            let file = File::open(path).map_err(|e| format!("--{option} {path}: {e}"))?;
            home.within(&file, || Ok(())).map_err(|e| {
                format!("--{option} {path}: {e}; it must be a network namespace, joined as root")
            })?;
            Ok(file)
        }
        EndNetns::New => home.create(|| Ok(())).map_err(|e| format!("--{option} new: {e}")),
    }
}
