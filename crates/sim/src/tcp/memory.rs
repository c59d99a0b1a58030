//! Memory used by segments in Linux's buffers, in bytes, and the share of it that counts as window
//! (facts tcp-31 and tcp-45).

use super::profile::BufferRule;

/// Room for headers: Linux `MAX_TCP_HEADER` in a kernel with wireless LAN, such as the guest's.
pub(super) const HEADERS: u32 = 256;
/// Size of `struct sk_buff`, rounded up to cache lines.
pub(super) const SK_BUFF: u32 = 256;
/// Size of `struct skb_shared_info`, rounded up to cache lines.
pub(super) const SHARED_INFO: u32 = 320;
/// Headers of IPv4 and TCP without options; segment sizes do not include them (RFC 6691 §2).
pub(super) const IP_AND_TCP: u32 = 40;

impl BufferRule {
    /// Memory of a buffer of segments without its payload: `tcp_stream_alloc_skb` allocates headers
    /// and shared information, which takes 1024 B, or 640 B since they have a dedicated cache
    /// (Linux 6.3, `skbuff_small_head`).
    pub(super) const fn overhead(self) -> u32 {
        SK_BUFF
            + match self {
                BufferRule::Half => 1024,
                BufferRule::Payload => 640,
            }
    }

    /// Linux `sysctl_rmem_max`, one input to the window scale (`tcp_select_initial_window`).
    pub(super) const fn rmem_max(self) -> u32 {
        match self {
            BufferRule::Half => 212_992,
            BufferRule::Payload => 4 << 20,
        }
    }
}

/// The share of the memory that counts as window (Linux `tcp_win_from_space`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// In 256ths.
    of_256: u8,
    rounding: u8,
}

impl Share {
    /// A half, rounded up in 6.1 (`tcp_adv_win_scale` = 1), down in 7.2
    /// (`TCP_DEFAULT_SCALING_RATIO`).
    pub(super) fn half(rule: BufferRule) -> Share {
        let rounding = if rule == BufferRule::Half { 128 } else { 0 };
        Share { of_256: 128, rounding }
    }

    /// The share of `payload` bytes in `memory` bytes (Linux 7.2 `tcp_measure_rcv_mss`).
    pub(super) fn of_payload(payload: u32, memory: u32) -> Share {
        Share { of_256: ((payload << 8) / memory).max(1) as u8, rounding: 0 }
    }

    #[inline]
    pub(super) fn window_of(self, memory: u32) -> u32 {
        let of_256 = u64::from(memory) * u64::from(self.of_256);
        ((of_256 + u64::from(self.rounding)) >> 8) as u32
    }

    /// The memory for a window (Linux 7.2 `tcp_space_from_win`).
    pub(super) fn memory_for(self, window: u64) -> u64 {
        window.saturating_mul(256) / u64::from(self.of_256)
    }
}
