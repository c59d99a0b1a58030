//! TUN devices: one end is an interface of a network namespace, the other is a file of this
//! process.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;

use crate::linux::sys;

/// The device file.
pub(crate) const DEVICE: &str = "/dev/net/tun";
/// The largest packet, bytes.
pub(crate) const LARGEST: usize = 1 << 16;

/// Creates a device in the network namespace of this thread. It passes single packets: without a
/// `virtio_net_hdr` the kernel segments GSO packets before they reach the device.
///
/// # Errors
/// The error of the system call.
pub(crate) fn open(name: &str) -> io::Result<File> {
    let flags = libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(DEVICE)?;
    sys::make_tun(file.as_fd(), name)?;
    Ok(file)
}

/// Reads the next packet into `buffer` and returns its length; `None` if no packet is available.
///
/// # Errors
/// The error of the system call.
pub(crate) fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match file.read(buffer) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
