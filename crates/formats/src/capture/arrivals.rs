//! Bytes over time, in bounded memory regardless of the length of the capture.

/// Number of bins at which their width is doubled.
const MOST_BINS: usize = 1 << 15;
const FIRST_WIDTH_NS: u64 = 100_000_000;
/// A packet of at least this size belongs to a transfer, not to requests, calls or ACKs.
const LARGE_BYTES: u32 = 1_000;

/// Arrivals in bins of equal width.
pub(super) struct Arrivals {
    pub(super) width_ns: u64,
    pub(super) bytes: Vec<u64>,
    /// Packets of `LARGE_BYTES` or more; one that offload joined counts as several.
    pub(super) large: Vec<u64>,
}

impl Arrivals {
    pub(super) const fn new() -> Arrivals {
        Arrivals { width_ns: FIRST_WIDTH_NS, bytes: Vec::new(), large: Vec::new() }
    }

    /// A packet, at a time since the start of the capture.
    pub(super) fn add(&mut self, t_ns: u64, bytes: u32) {
        while (t_ns / self.width_ns) as usize >= MOST_BINS {
            self.bytes = self.bytes.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.large = self.large.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.width_ns *= 2;
        }
        let bin = (t_ns / self.width_ns) as usize;
        if bin >= self.bytes.len() {
            self.bytes.resize(bin + 1, 0);
            self.large.resize(bin + 1, 0);
        }
        self.bytes[bin] += u64::from(bytes);
        self.large[bin] += u64::from(bytes / LARGE_BYTES);
    }
}
