//! TUN devices: an end of each is an interface of a name space, the other a file of this process.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;

use crate::sys;

/// Where they come from.
pub const DEVICE: &str = "/dev/net/tun";
/// Room for any packet.
pub const LARGEST: usize = 1 << 16;

/// Makes a device in the name space of this thread. It passes single packets: without a header before
/// them the kernel cannot hand down a burst to be cut later.
///
/// # Errors
/// What the kernel says.
pub fn open(name: &str) -> io::Result<File> {
    let flags = libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(DEVICE)?;
    sys::make_tun(file.as_fd(), name)?;
    Ok(file)
}

/// The length of the next packet, read into `buffer`; none if there is none.
///
/// # Errors
/// What the kernel says.
pub fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match file.read(buffer) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
