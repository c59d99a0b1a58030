//! The hosts of a run: its network namespaces, named for `ip netns`, and the epoll instance of its
//! event loop.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};

use super::Failure;
use super::netns::{HomeNetns, OWN};
use crate::plan::Netns;

/// The folder in which `ip netns` looks for names.
const NAMES: &str = "/run/netns";

/// The role of a flow's socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SocketRole {
    /// Accepts connections.
    Listener,
    /// Sends data.
    Sender,
    /// Receives data.
    Receiver,
    /// Receives requests.
    Server,
}

impl SocketRole {
    /// All roles, in the order of their numbers.
    const ALL: [SocketRole; 4] =
        [SocketRole::Listener, SocketRole::Sender, SocketRole::Receiver, SocketRole::Server];
}

/// Identifies a flow's socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SocketKey {
    /// The flow.
    pub(crate) flow: u32,
    /// Which of its connections.
    pub(crate) lane: u8,
    /// The role of the socket.
    pub(crate) role: SocketRole,
}

impl SocketKey {
    /// The key as an epoll token.
    fn token(self) -> u64 {
        u64::from(self.flow) << 16 | u64::from(self.lane) << 8 | self.role as u64
    }

    /// The key of a token.
    pub(crate) fn of(token: u64) -> SocketKey {
        let role = SocketRole::ALL[(token & 3) as usize];
        SocketKey { flow: (token >> 16) as u32, lane: (token >> 8) as u8, role }
    }
}

/// The namespaces and the epoll instance of a run.
pub(crate) struct Hosts {
    home: HomeNetns,
    namespaces: Vec<File>,
    epoll: Epoll,
}

impl Hosts {
    /// Creates the namespaces that a plan needs. `folder` is mounted at `/run`.
    pub(crate) fn open(folder: &Path, needed: &[Netns]) -> Result<Hosts, Failure> {
        let (home, namespaces) = named(folder, needed).map_err(|e| format!("namespaces: {e}"))?;
        let epoll =
            Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(|e| format!("epoll: {e}"))?;
        Ok(Hosts { home, namespaces, epoll })
    }

    /// Calls `act` in a namespace; sockets opened there stay there.
    pub(crate) fn within<T>(
        &self,
        netns: Netns,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.home.within(&self.namespaces[netns as usize], act)
    }

    /// Calls `act` in a namespace created by [`Hosts::add`].
    pub(crate) fn within_added<T>(
        &self,
        netns: &File,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.home.within(netns, act)
    }

    /// Creates another namespace with this name.
    pub(crate) fn add(&self, name: &str) -> io::Result<File> {
        create(&self.home, name)
    }

    /// Makes readiness of a socket call the program of `key`.
    pub(crate) fn watch(&self, socket: &impl AsFd, key: SocketKey) -> io::Result<()> {
        self.watch_token(socket, key.token())
    }

    /// Makes readiness of a file wake the event loop with a token.
    pub(crate) fn watch_token(&self, file: &impl AsFd, token: u64) -> io::Result<()> {
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        self.epoll.add(file, EpollEvent::new(flags, token))?;
        Ok(())
    }

    /// Waits until files are ready; returns how many of `events` were filled in.
    pub(crate) fn wait(&self, events: &mut [EpollEvent]) -> io::Result<usize> {
        Ok(self.epoll.wait(events, None::<u16>)?)
    }
}

fn named(folder: &Path, needed: &[Netns]) -> io::Result<(HomeNetns, Vec<File>)> {
    debug_assert!(Path::new(NAMES).starts_with(folder), "names are made in the scratch folder");
    let home = HomeNetns::open()?;
    fs::create_dir_all(NAMES)?;
    let namespaces = needed.iter().map(|netns| create(&home, netns.name()));
    let namespaces = namespaces.collect::<io::Result<_>>()?;
    Ok((home, namespaces))
}

fn create(home: &HomeNetns, name: &str) -> io::Result<File> {
    home.create(|| {
        let name = PathBuf::from(NAMES).join(name);
        File::create(&name)?;
        mount(Some(OWN), &name, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_of_a_socket_gives_its_key_back() {
        for role in SocketRole::ALL {
            let key = SocketKey { flow: 20_000, lane: 254, role };
            assert_eq!(SocketKey::of(key.token()), key);
        }
    }
}
