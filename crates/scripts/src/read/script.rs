//! The contents of a script, as data.

use sojourn_aqm::Span;

/// A script.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// Options of the program that runs it: `--name=value`.
    pub options: Vec<(String, String)>,
    /// Shell commands before the first event.
    pub setup: Vec<Shell>,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// Shell commands, and the line on which they begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shell {
    /// Line of the script.
    pub line: u32,
    /// The text between the backquotes.
    pub text: String,
}

/// One event.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Line of the script.
    pub line: u32,
    /// When it happens.
    pub when: When,
    /// What happens.
    pub action: Action,
}

/// When an event happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// At any time.
    Any,
    /// Between two times since the start.
    At(Span, Span),
    /// Between two times since the previous event.
    After(Span, Span),
}

/// What happens.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A segment arrives, or must be sent.
    Segment(Segment),
    /// The application makes a system call.
    Call(Call),
    /// Shell commands.
    Shell(String),
    /// Assertions about the connection.
    Code(String),
    /// Another protocol than TCP: ICMP, UDP, GRE.
    Foreign(String),
}

/// The direction of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SegmentDirection {
    /// `<`: to the host under test.
    Inbound,
    /// `>`: from the host under test.
    Outbound,
}

/// The ECN field as written in a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    /// Not specified.
    Unsaid,
    /// `[noecn]`.
    NotEct,
    /// `[ect0]`.
    Ect0,
    /// `[ect1]`.
    Ect1,
    /// `[ect01]`: either.
    Ect,
    /// `[ce]`.
    Ce,
}

/// A TCP segment. Sequence numbers count from the initial ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its direction.
    pub direction: SegmentDirection,
    /// The ECN field.
    pub field: Field,
    /// Other properties of the IP header, as written.
    pub ip: Option<String>,
    /// Ports, as written.
    pub ports: Option<String>,
    /// Its flags.
    pub flags: TcpFlags,
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Bytes of data.
    pub payload: u32,
    /// The acknowledgement number.
    pub ack: Option<u32>,
    /// The window, as in the header.
    pub window: Option<u32>,
    /// Options; `None` if they are not compared (`<...>`).
    pub options: Option<Vec<TcpOption>>,
}

/// The flags of the TCP header. `AE`, `CWR` and `ECE` are the field ACE of RFC 9768.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpFlags {
    /// SYN.
    pub syn: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub rst: bool,
    /// PSH.
    pub psh: bool,
    /// ACK.
    pub ack: bool,
    /// URG.
    pub urg: bool,
    /// AE, CWR and ECE as one number.
    pub ace: u8,
}

/// A TCP option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TcpOption {
    /// `nop` or `eol`.
    Padding,
    /// `mss N`.
    Mss(u32),
    /// `wscale N`.
    WindowScale(u32),
    /// `sackOK`.
    SackPermitted,
    /// `sack A:B ...`.
    Sack(Vec<(u32, u32)>),
    /// `TS val N ecr N`.
    Stamps {
        /// The value.
        value: u32,
        /// The echo.
        echo: u32,
    },
    /// `ECN e1b N ceb N e0b N`, in the order written.
    AccEcn(Vec<(Counter, u32)>),
    /// Another option, as written.
    Other(String),
}

/// A byte counter of the AccECN option (RFC 9768 §3.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// Bytes with ECT(0).
    Ect0,
    /// Bytes with ECT(1).
    Ect1,
    /// Bytes with CE.
    Ce,
}

/// A system call.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Whether it blocks for some time.
    pub blocks: bool,
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Argument>,
    /// The required result; `None` if any value is accepted.
    pub result: Option<i64>,
    /// The required error.
    pub errno: Option<String>,
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// `...`: any value.
    Any,
    /// A number.
    Number(i64),
    /// A name, or several joined by `|`.
    Name(String),
    /// A string.
    Text(String),
    /// `[a, b]`.
    List(Vec<Argument>),
    /// `{...}` or anything nested deeper, as written.
    Opaque(String),
}
