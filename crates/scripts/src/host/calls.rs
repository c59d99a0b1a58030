//! Calls of the application.

use sojourn_aqm::Time;

use super::{Stage, StepError, TestedHost};
use crate::read::{Argument, Call};

/// The return value of a call, and its error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Returned {
    pub(crate) value: i64,
    pub(crate) error: Option<&'static str>,
}

impl Returned {
    const fn of(value: i64) -> Returned {
        Returned { value, error: None }
    }

    const fn failed(error: &'static str) -> Returned {
        Returned { value: -1, error: Some(error) }
    }
}

/// Socket options without effect here: they belong to other layers, or set limits that no script
/// reaches.
const OPTIONS_WITHOUT_EFFECT: [&str; 5] =
    ["SO_REUSEADDR", "SO_SNDBUF", "SO_RCVLOWAT", "SO_ERROR", "IP_TOS"];

impl TestedHost {
    /// Performs a call. `None` means that the call blocks until something arrives.
    ///
    /// # Errors
    /// [`StepError`] for calls that the host does not support.
    pub(crate) fn call(&mut self, now: Time, call: &Call) -> Result<Option<Returned>, StepError> {
        let first = call.args.first();
        if call.errno.as_deref() == Some("EFAULT") {
            return Err(StepError::not_modelled("wrong addresses as arguments"));
        }
        let done = Ok(Some(Returned::of(0)));
        match call.name.as_str() {
            "socket" => self.socket(call),
            "bind" => done,
            "fcntl" => Ok(Some(Returned::of(call.result.unwrap_or_default()))),
            "listen" => {
                self.stage = Stage::Listening;
                done
            }
            "connect" => self.call_connect(now, call),
            "accept" => self.accept(call),
            "setsockopt" => self.set_option(call).map(|()| Some(Returned::of(0))),
            "getsockopt" => match option_of(call) {
                "SO_ERROR" => done,
                name => Err(StepError::not_modelled(format!("getsockopt {name}"))),
            },
            "write" | "send" | "sendto" => self.write(now, call),
            "read" | "recv" => self.read(call),
            "close" if self.is_connection(first) => {
                self.close(now);
                done
            }
            "close" => done,
            "shutdown" => match call.args.get(1) {
                Some(Argument::Name(how)) if how == "SHUT_WR" || how == "SHUT_RDWR" => {
                    self.close(now);
                    done
                }
                _ => Err(StepError::not_modelled("shutdown for reading alone")),
            },
            name => Err(StepError::not_modelled(format!("the call {name}"))),
        }
    }

    /// Creates the socket; the script's result of the call is the socket's number.
    fn socket(&mut self, call: &Call) -> Result<Option<Returned>, StepError> {
        if !self.sockets.is_empty() && !matches!(self.stage, Stage::Closed) {
            return Err(StepError::not_modelled("a second connection"));
        }
        let kind = call.args.get(1);
        if !matches!(kind, Some(Argument::Name(kind)) if kind.contains("SOCK_STREAM")) {
            return Err(StepError::not_modelled("a socket that is not of TCP"));
        }
        let number = call.result.unwrap_or(3);
        self.sockets.push(number);
        Ok(Some(Returned::of(number)))
    }

    /// Whether an argument is the connection's socket rather than the listening socket.
    fn is_connection(&self, socket: Option<&Argument>) -> bool {
        let listens = self.sockets.len() > 1;
        let number = self.sockets.last().copied();
        matches!(self.stage, Stage::Open(_))
            && matches!(socket, Some(Argument::Number(found)) if Some(*found) == number)
            && (listens || matches!(&self.stage, Stage::Open(ends) if ends.accepted))
    }

    fn call_connect(&mut self, now: Time, call: &Call) -> Result<Option<Returned>, StepError> {
        match &self.stage {
            Stage::Closed => {
                self.connect(now);
                let blocks = call.blocks || call.result == Some(0);
                Ok((!blocks).then_some(Returned::failed("EINPROGRESS")))
            }
            Stage::Opening(_) => Ok(None),
            Stage::Open(_) => Ok(Some(Returned::of(0))),
            Stage::Listening | Stage::Reset => Err(StepError::not_modelled("connect here")),
        }
    }

    fn accept(&mut self, call: &Call) -> Result<Option<Returned>, StepError> {
        match &mut self.stage {
            Stage::Open(ends) if !ends.accepted => {
                ends.accepted = true;
                let number = call.result.unwrap_or(4);
                self.sockets.push(number);
                Ok(Some(Returned::of(number)))
            }
            Stage::Listening | Stage::Opening(_) if call.blocks => Ok(None),
            Stage::Listening | Stage::Opening(_) => Ok(Some(Returned::failed("EAGAIN"))),
            Stage::Closed | Stage::Open(_) | Stage::Reset => {
                Err(StepError::not_modelled("a second connection"))
            }
        }
    }

    fn set_option(&mut self, call: &Call) -> Result<(), StepError> {
        let value = match call.args.get(3) {
            Some(Argument::List(values)) => values.first(),
            other => other,
        };
        match (option_of(call), value) {
            (name, _) if OPTIONS_WITHOUT_EFFECT.contains(&name) => {}
            // Linux 7.2 `sk_setsockopt` doubles the value.
            ("SO_RCVBUF", Some(Argument::Number(bytes))) => {
                self.settings.receive_buffer = u32::try_from(2 * *bytes).unwrap_or(u32::MAX);
            }
            ("TCP_NODELAY", Some(Argument::Number(value))) => {
                if let Stage::Open(ends) = &mut self.stage {
                    ends.outgoing.nodelay = *value != 0;
                }
            }
            ("TCP_CONGESTION", Some(Argument::Text(cc)))
                if sojourn_sim::cc::configure(cc).is_ok() && !self.is_open() =>
            {
                self.settings.cc.clone_from(cc);
            }
            (name, _) => return Err(StepError::not_modelled(format!("setsockopt {name}"))),
        }
        Ok(())
    }

    fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open(_))
    }

    fn write(&mut self, now: Time, call: &Call) -> Result<Option<Returned>, StepError> {
        let Stage::Open(ends) = &mut self.stage else {
            return Err(StepError::not_modelled("writing without a connection"));
        };
        let Some(Argument::Number(bytes)) = call.args.get(2) else {
            return Err(StepError::not_modelled(format!("this form of {}", call.name)));
        };
        if let Some(Argument::Name(flags)) = call.args.get(3) {
            return Err(StepError::not_modelled(format!("{} with {flags}", call.name)));
        }
        let (una, nxt) = ends.sender.unacknowledged();
        ends.outgoing.write(*bytes as u32, nxt);
        ends.sender.append(ends.outgoing.released(una, nxt));
        self.step(now, |sender, out| sender.send(now, &mut |packet| out.push(packet)));
        Ok(Some(Returned::of(*bytes)))
    }

    fn read(&mut self, call: &Call) -> Result<Option<Returned>, StepError> {
        let arrived = self.incoming.byte(self.receiver.next());
        let Stage::Open(ends) = &mut self.stage else {
            return Err(StepError::not_modelled("reading without a connection"));
        };
        let Some(Argument::Number(most)) = call.args.get(2) else {
            return Err(StepError::not_modelled(format!("this form of {}", call.name)));
        };
        let bytes = (arrived - ends.read).min(*most as u32);
        if bytes == 0 && !ends.peer_fin {
            return Ok((!call.blocks).then_some(Returned::failed("EAGAIN")));
        }
        ends.read += bytes;
        Ok(Some(Returned::of(i64::from(bytes))))
    }

    fn close(&mut self, now: Time) {
        let Stage::Open(ends) = &mut self.stage else { return };
        let (una, nxt) = ends.sender.unacknowledged();
        ends.outgoing.close(nxt);
        ends.sender.append(ends.outgoing.released(una, nxt));
        self.step(now, |sender, out| sender.send(now, &mut |packet| out.push(packet)));
    }
}

fn option_of(call: &Call) -> &str {
    match call.args.get(2) {
        Some(Argument::Name(name)) => name,
        _ => "of an unknown kind",
    }
}
