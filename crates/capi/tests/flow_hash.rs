//! A host with its own hash knows which flows share a queue, as `kmod/glue.c` requires.

// Safety of every call of the header's functions here follows from the handle and the structures
// created above it.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::ffi::CString;
use std::ptr;

use sojourn_aqm_c as c;

const SALT: u64 = 1;

/// The inverse of the library's hash for numbers without a salt, as in `kmod/glue.c`.
fn unmixed(x: u64) -> u64 {
    let x = (x ^ (x >> 31) ^ (x >> 62)).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let x = (x ^ (x >> 27) ^ (x >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    x ^ (x >> 30) ^ (x >> 60)
}

/// The kernel's `reciprocal_scale` (Linux 6.1 sch_fq_codel.c, fq_codel_hash).
fn queue_in_the_kernel(hash: u32, queues: u64) -> u64 {
    (u64::from(hash) * queues) >> 32
}

/// The numbers of the packets as they leave; the first two belong to one flow.
fn order(text: &str, hashes: [u32; 2], seed: u64) -> Vec<u64> {
    let text = CString::new(text).unwrap();
    let setup = c::Setup {
        mtu_bytes: 1514,
        rate_bps: 0,
        seed,
        context: ptr::null_mut(),
        dropped: None,
        marked: None,
        uniform: None,
        bits: None,
        salt: SALT,
    };
    let handle = unsafe { c::sojourn_new(text.as_ptr(), &setup, ptr::null_mut(), 0) };
    assert!(!handle.is_null());
    for (id, hash) in [hashes[0], hashes[0], hashes[1]].into_iter().enumerate() {
        let flow = unmixed(u64::from(hash) << 32) ^ SALT;
        let (src_host, dst_host) = (1, 2);
        let id = id as u64;
        let packet = c::Packet { id, flow, src_host, dst_host, bytes: 1514, ecn: 0, dscp: 0 };
        assert_eq!(unsafe { c::sojourn_enqueue(handle, 0, &packet) }, 0);
    }
    let mut left = Vec::new();
    let mut departure = std::mem::MaybeUninit::<c::Departure>::uninit();
    while unsafe { c::sojourn_dequeue(handle, 0, departure.as_mut_ptr()) } == 1 {
        left.push(unsafe { departure.assume_init_ref() }.packet.id);
    }
    unsafe { c::sojourn_free(handle) };
    left
}

#[test]
fn flows_share_a_queue_where_the_kernels_hash_has_them_share_one() {
    const QUEUES: u64 = 16;
    let mut shared = 0;
    for n in 0..400u32 {
        let hashes = [n.wrapping_mul(0x9e37_79b9), n.wrapping_mul(0x85eb_ca6b) ^ 0x1234_5678];
        let [one, other] = hashes.map(|hash| queue_in_the_kernel(hash, QUEUES));
        let expected = if one == other { [0, 1, 2] } else { [0, 2, 1] };
        for seed in [1, 2] {
            assert_eq!(order("fq_codel@linux:flows=16", hashes, seed), expected, "{hashes:?}");
        }
        shared += u32::from(one == other);
    }
    assert!(shared > 5, "{shared}");
}
