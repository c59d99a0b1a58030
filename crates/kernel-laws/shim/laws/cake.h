/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sch_cake.c needs in addition to shim.h. An IP header is the packet itself, with its
 * fields where shim.c writes them; a TCP header is on the wire as it is. Segments are not split.
 */
#ifndef SOJOURN_CAKE_H
#define SOJOURN_CAKE_H

#include "shim.h"

#define BIT(n) (1U << (n))
#define KTIME_MAX INT64_MAX
#define ktime_add_ms(t, ms) ((t) + (s64)(ms) * 1000000)
#define ktime_compare(a, b) (((a) > (b)) - ((a) < (b)))
#define INET_ECN_MASK 3
#define ETH_P_ARP 0x0806
#define IPPROTO_TCP 6
#define IPPROTO_IPV6 41
#define IS_ERR_OR_NULL(p) (!(p))
enum { SKB_GSO_TCPV4 = 1, SKB_GSO_DODGY = 2, SKB_GSO_TCPV6 = 16 };
typedef u64 netdev_features_t;
#define NETIF_F_GSO_MASK 0ULL
#define netif_skb_features(skb) 0ULL
#define skb_gso_segment(skb, features) ((struct sk_buff *)NULL)
#define skb_list_walk_safe(first, skb, next_) \
	for ((skb) = (first); (skb) && ((next_) = (skb)->next, 1); (skb) = (next_))
struct skb_shared_info { unsigned short gso_size, gso_segs; unsigned int gso_type; };
static struct skb_shared_info shim_shared;
#define skb_shinfo(skb) (&shim_shared)
#define skb_network_offset(skb) 14
#define skb_transport_offset(skb) 34
#define skb_transport_header(skb) ((unsigned char *)NULL)
#define skb_mac_header(skb) ((unsigned char *)NULL)
#define skb_header_pointer(skb, offset, len, buffer) \
	((void)(len), (void)(buffer), (offset) < 34 ? (void *)(skb) : (void *)((skb)->header + 20))
#define pskb_may_pull(skb, len) true
#define skb_try_make_writable(skb, len) false
#define ipv4_get_dsfield(iph) skb_get_dsfield((const struct sk_buff *)(iph))
#define ipv6_get_dsfield(iph) 0
#define ipv4_change_dsfield(iph, mask, value) (((struct sk_buff *)(iph))->dscp = 0)
#define ipv6_change_dsfield(iph, mask, value) do { } while (0)
#define ip_hdr(skb) ((struct iphdr *)(skb))
#define ipv6_hdr(skb) ((struct ipv6hdr *)NULL)
#define ntohs(x) ((u16)__builtin_bswap16(x))
#define ntohl(x) ((u32)__builtin_bswap32(x))
#define htonl(x) ((u32)__builtin_bswap32(x))
#define cpu_to_be32(x) htonl(x)
#define get_unaligned_be32(p) ntohl(*(const u32 *)(p))
#define get_unaligned_be16(p) ntohs(*(const u16 *)(p))
#define before(a, b) ((s32)((a) - (b)) < 0)
#define after(a, b) before(b, a)
struct in6_addr { u8 bytes[16]; };
#define ipv6_addr_cmp(a, b) memcmp(a, b, sizeof(struct in6_addr))
struct iphdr { unsigned char before[offsetof(struct sk_buff, header)];
	       u8 ihl : 4, version : 4; u8 protocol; __be16 total; __be32 saddr, daddr; };
struct ipv6hdr { unsigned char before[offsetof(struct sk_buff, header)];
		 u8 priority : 4, version : 4; u8 nexthdr; __be16 payload_len;
		 struct in6_addr saddr, daddr; };
struct tcphdr { __be16 source, dest; __be32 seq, ack_seq; u8 reserved : 4, doff : 4; u8 flags;
		__be16 window, check, urgent; };
struct udphdr { __be16 source, dest; };
#define iph_totlen(skb, iph) ntohs((iph)->total)
#define tcp_flag_word(tcph) (((const __be32 *)(tcph))[3])
#define __tcp_hdrlen(tcph) ((tcph)->doff * 4U)
enum { TCP_FLAG_CWR = 0x8000, TCP_FLAG_ECE = 0x4000, TCP_FLAG_ACK = 0x1000, TCP_FLAG_SYN = 0x0200 };
struct tcp_sack_block_wire { __be32 start_seq, end_seq; };
enum { TCPOPT_NOP = 1, TCPOPT_EOL = 0, TCPOPT_MSS = 2, TCPOPT_WINDOW = 3, TCPOPT_SACK_PERM = 4,
       TCPOPT_SACK = 5, TCPOPT_TIMESTAMP = 8, TCPOPT_MD5SIG = 19, TCPOPT_FASTOPEN = 34,
       TCPOPT_EXP = 254, TCPOPT_MPTCP = 30 };
enum { TCPOLEN_SACK_BASE = 2, TCPOLEN_SACK_PERBLOCK = 8, TCPOLEN_TIMESTAMP = 10, TCPOLEN_MSS = 4,
       TCPOLEN_TSTAMP_ALIGNED = 12 };

/* The keys of a flow are its numbers; their hashes are those of our cake. */
#define FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL 0
#define FLOW_DISSECTOR_KEY_IPV4_ADDRS 1
#define FLOW_DISSECTOR_KEY_IPV6_ADDRS 2
struct cake_flow_keys {
	struct { u16 addr_type; } control;
	struct { u8 ip_proto; } basic;
	struct { u32 flow_label; } tags;
	struct { u32 keyid; } keyid;
	union { u32 ports; struct { __be16 src, dst; }; } ports;
	struct { struct { u32 src, dst; } v4addrs; struct { struct in6_addr src, dst; } v6addrs; } addrs;
	u64 flow;
};
#define flow_keys cake_flow_keys
#define skb_flow_dissect_flow_keys shim_dissect
static inline bool shim_dissect(const struct sk_buff *skb, struct cake_flow_keys *keys,
				unsigned flags)
{
	(void)flags;
	*keys = (struct cake_flow_keys){ .control = { FLOW_DISSECTOR_KEY_IPV4_ADDRS }, .flow = skb->flow };
	keys->addrs.v4addrs.src = skb->src_host + 1;
	keys->addrs.v4addrs.dst = skb->dst_host + 1;
	keys->ports.ports = 1;
	return true;
}

/* Our indices are the upper bits of a hash of 64 bits, the kernel's the lower bits of one of 32:
 * rotated, so that both select the same index. */
static inline u32 shim_place(u64 hash)
{
	return (u32)(hash >> 54) | (u32)((hash >> 32) << 10);
}
static inline u32 flow_hash_from_keys(struct cake_flow_keys *keys)
{
	u64 salt = keys->ports.ports ? 0 : keys->addrs.v4addrs.src ? 1 : 2;
	u64 hosts = keys->addrs.v4addrs.src + keys->addrs.v4addrs.dst - 1;
	u64 number = keys->ports.ports ? keys->flow : hosts;

	return shim_place(shim_hash(number, shim_hash(shim_salt, salt)));
}

struct qdisc_watchdog { struct Qdisc *qdisc; };
#define qdisc_watchdog_init(watchdog, sch) ((watchdog)->qdisc = (sch))
#define qdisc_watchdog_cancel(watchdog) ((void)(watchdog))
#define qdisc_watchdog_schedule_ns(watchdog, at) ((void)(watchdog), (void)(at))

#endif
