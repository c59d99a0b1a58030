//! What segments take of Linux's buffers, in bytes of memory (fact tcp-31).

/// Room for headers in the guest's kernel (Linux `MAX_TCP_HEADER` where wireless LAN is
/// configured), `struct sk_buff` and `struct skb_shared_info`, in whole cache lines.
pub(super) const HEADERS: u32 = 256;
pub(super) const SK_BUFF: u32 = 256;
pub(super) const SHARED_INFO: u32 = 320;
/// Headers of IPv4 and TCP without options, which no segment size counts (RFC 6691 §2).
pub(super) const IP_AND_TCP: u32 = 40;
/// What a buffer of segments takes beside its payload: `tcp_stream_alloc_skb` takes headers and
/// shared information from the allocator, which gives 1024 B.
pub(super) const OVERHEAD: u32 = SK_BUFF + 1024;
