//! Behind the door: the discipline of a handle, and its caller as a sink.

use std::ffi::{CString, c_char, c_void};

use sojourn_aqm::{
    Cause, Ecn, Env, Limit, Packet as AqmPacket, Qdisc, QdiscSpec, Rate, Rng, Sink, Stage, Time,
    registry,
};

use crate::{DroppedFn, MarkedFn, Packet, Setup};

/// What a handle points to.
pub struct Entry {
    pub qdisc: Box<dyn Qdisc<Legal>>,
    pub rng: Rng,
    pub caller: Caller,
    pub names: Vec<CString>,
    pub values: Vec<f64>,
}

/// A packet whose fields have been checked.
#[derive(Clone, Copy)]
pub struct Legal(pub Packet);

/// The callbacks of the caller.
pub struct Caller {
    context: *mut c_void,
    dropped: Option<DroppedFn>,
    marked: Option<MarkedFn>,
}

impl Entry {
    pub fn new(text: &str, setup: &Setup) -> Result<Entry, String> {
        if setup.mtu_bytes == 0 {
            return Err("mtu_bytes must be positive".to_owned());
        }
        let spec = QdiscSpec::parse(text).map_err(|error| error.to_string())?;
        let salt = Rng::stream(setup.seed, "hash", 0).next_u64();
        let rate = (setup.rate_bps > 0).then(|| Rate::from_bps(setup.rate_bps));
        // Every discipline has a limit of its own, which takes the place of this one.
        let env = Env { limit: Limit::Packets(1000), mtu_bytes: setup.mtu_bytes, rate, salt };
        let qdisc = registry::build::<Legal>(&spec, &env).map_err(|error| error.to_string())?;
        let name = |name: &str| CString::new(name).expect("names hold no zero");
        Ok(Entry {
            names: qdisc.vars().iter().map(|var| name(var.name)).collect(),
            values: vec![0.0; qdisc.vars().len()],
            qdisc,
            rng: Rng::stream(setup.seed, "queue", 0),
            caller: Caller { context: setup.context, dropped: setup.dropped, marked: setup.marked },
        })
    }
}

impl Caller {
    /// The packet, if its fields are legal.
    pub fn legal(packet: Packet) -> Option<Legal> {
        let legal = packet.bytes > 0 && packet.ecn <= 3 && packet.dscp <= 63;
        legal.then_some(Legal(packet))
    }
}

impl AqmPacket for Legal {
    fn bytes(&self) -> u32 {
        self.0.bytes
    }
    fn ecn(&self) -> Ecn {
        [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(self.0.ecn)]
    }
    fn set_ce(&mut self) {
        self.0.ecn = crate::CE;
    }
    fn flow(&self) -> u64 {
        self.0.flow
    }
    fn src_host(&self) -> u64 {
        self.0.src_host
    }
    fn dst_host(&self) -> u64 {
        self.0.dst_host
    }
    fn dscp(&self) -> u8 {
        self.0.dscp
    }
}

impl Sink<Legal> for Caller {
    fn dropped(&mut self, packet: Legal, enqueued: Time, stage: Stage, cause: Cause) {
        if let Some(dropped) = self.dropped {
            let (at, stage, cause) = (enqueued.as_nanos(), stage as u8, cause as u8);
            // SAFETY: the caller of `sojourn_new` gave a function and the context it wants.
            unsafe { dropped(self.context, &packet.0, at, stage, cause) };
        }
    }

    fn marked(&mut self, packet: &mut Legal, stage: Stage, cause: Cause) {
        if let Some(marked) = self.marked {
            // SAFETY: the caller of `sojourn_new` gave a function and the context it wants.
            unsafe { marked(self.context, &packet.0, stage as u8, cause as u8) };
        }
    }
}

/// Copies a sentence into the room of a caller, cut off where it ends.
///
/// # Safety
/// `error` points to `size` bytes or is null.
pub unsafe fn write_error(error: *mut c_char, size: usize, why: &str) {
    if error.is_null() || size == 0 {
        return;
    }
    let text = why.as_bytes();
    let length = text.len().min(size - 1);
    // SAFETY: `length` + 1 bytes fit into `size`.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast::<c_char>(), error, length);
        *error.add(length) = 0;
    }
}
