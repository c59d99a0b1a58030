//! The process of one end, and the messages between it and the host.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use sojourn_aqm::Time;
use sojourn_law::signals;

use super::ProcessCommand;
use super::wire::{self, Item, Request};

/// The first message of a process: it identifies the program and its version of the messages.
const MAGIC: u32 = 0x534a_4550;
const PROTOCOL: u32 = 2;
/// The longest answer: many times what a process sends before it pauses.
const MOST_ANSWER: u32 = 64 << 20;

pub(super) const MALFORMED: &str =
    "its process gave an answer that is not in the form of sojourn_process.c";

/// Variables of the environment that decide which libraries are found.
const KEPT: [&str; 2] = ["PATH", "LD_LIBRARY_PATH"];
/// Keeps OpenSSL and BoringSSL from using the CPU's random numbers: bit 62 is RDRAND, bit 18 of the
/// second word RDSEED (OPENSSL_ia32cap(3)).
const NO_RANDOM_INSTRUCTIONS: (&str, &str) = ("OPENSSL_ia32cap", "~0x4000000000000000:~0x40000");

/// A process that answers requests. Dropping this value ends it.
pub(super) struct Channel {
    process: Child,
    stream: UnixStream,
    limit: Duration,
}

impl Channel {
    /// Starts a process.
    ///
    /// # Errors
    /// A sentence, if it cannot be started, or is not such a process.
    pub(super) fn start(command: &ProcessCommand, limit: Duration) -> Result<Channel, String> {
        let failed = |error: io::Error| format!("its process cannot be started ({error})");
        let (stream, other) = UnixStream::pair().map_err(failed)?;
        stream.set_read_timeout(Some(limit)).map_err(failed)?;
        stream.set_write_timeout(Some(limit)).map_err(failed)?;
        let kept = KEPT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut start = Command::new(&command.program);
        start.args(&command.library).env_clear().envs(kept).env("TZ", "UTC0");
        start.env(NO_RANDOM_INSTRUCTIONS.0, NO_RANDOM_INSTRUCTIONS.1);
        // Ctrl-C stops the run, which ends its processes.
        start.stdin(Stdio::from(OwnedFd::from(other))).process_group(0);
        let process = start.spawn().map_err(failed)?;
        drop(start); // the child's end of the stream
        let mut channel = Channel { process, stream, limit };
        let hello = channel.receive()?;
        match <[u8; 8]>::try_from(&hello[..]).map(u64::from_ne_bytes) {
            Ok(word) if word as u32 != MAGIC => Err(MALFORMED.to_owned()),
            Ok(word) if (word >> 32) as u32 != PROTOCOL => Err(format!(
                "speaks version {} of the messages of sojourn_process.c, this is version \
                 {PROTOCOL}; build it again",
                word >> 32
            )),
            Ok(_) => Ok(channel),
            Err(_) => Err(MALFORMED.to_owned()),
        }
    }

    /// Sends a request; returns the parts of the answer.
    ///
    /// # Errors
    /// A sentence, if the process has ended, does not answer, or answers in an unknown form.
    pub(super) fn ask(
        &mut self,
        now: Time,
        request: &Request<'_>,
    ) -> Result<VecDeque<Item>, String> {
        let message = wire::message(now, request);
        if let Err(error) = self.stream.write_all(&message) {
            return Err(self.end_of(&error));
        }
        wire::items(&self.receive()?).ok_or_else(|| MALFORMED.to_owned())
    }

    fn receive(&mut self) -> Result<Vec<u8>, String> {
        let mut length = [0; 4];
        let mut body = Vec::new();
        let stream = &mut self.stream;
        let received = stream.read_exact(&mut length).and_then(|()| {
            let length = u32::from_ne_bytes(length);
            if length > MOST_ANSWER {
                return Ok(false);
            }
            body.resize(length as usize, 0);
            stream.read_exact(&mut body).map(|()| true)
        });
        match received {
            Ok(true) => Ok(body),
            Ok(false) => Err(MALFORMED.to_owned()),
            Err(error) => Err(self.end_of(&error)),
        }
    }

    /// Ends the process after an error of the stream, and returns the reason.
    fn end_of(&mut self, error: &io::Error) -> String {
        if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) {
            let _ = self.process.kill();
            return format!("its process has said nothing for {} s", self.limit.as_secs());
        }
        // The stream is closed, so the process is ending.
        for _ in 0..100 {
            match self.process.try_wait() {
                Ok(Some(status)) => return how_it_ended(status),
                Ok(None) => thread::sleep(Duration::from_millis(10)),
                Err(error) => return format!("its process cannot be reached ({error})"),
            }
        }
        let _ = self.process.kill();
        "its process has closed its standard input, over which it is asked".to_owned()
    }
}

fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("its process ended with code {code}"),
        (None, Some(signal)) => match signals::cause(signal) {
            Some(cause) => format!("its process ended: {cause}"),
            None => format!("its process was ended by signal {signal}"),
        },
        (None, None) => format!("its process ended ({status})"),
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // The process first frees its library. Whether it answers no longer matters.
        if matches!(self.process.try_wait(), Ok(None)) {
            let _ = self.stream.set_read_timeout(Some(Duration::from_secs(1)));
            let _ = self.stream.write_all(&wire::message(Time::ZERO, &Request::End));
            let _ = self.stream.read(&mut [0; 64]);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
