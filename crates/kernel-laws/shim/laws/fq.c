/* SPDX-License-Identifier: GPL-2.0-only */
#include "shim.h"

/* What sch_fq.c needs in addition to shim.h. */
#define ____cacheline_aligned_in_smp
#define INT_MAX __INT_MAX__
#define GFP_ATOMIC 0
#define __GFP_NOWARN 0
#define __GFP_RETRY_MAYFAIL 0
#define SLAB_HWCACHE_ALIGN 0
#define CLOCK_MONOTONIC 1
#define pr_warn_ratelimited(...) do { } while (0)
#define net_warn_ratelimited(...) do { } while (0)
#define rcu_assign_pointer(p, value) ((p) = (value))
#define ilog2(n) (63 - __builtin_clzll(n))
#define kvmalloc_node(size, flags, node) malloc(size)
#define netdev_queue_numa_node_read(queue) 0
struct kmem_cache { size_t size; };
static inline struct kmem_cache *kmem_cache_create(const char *name, size_t size, int align,
						   int flags, void *make)
{
	static struct kmem_cache cache;

	(void)name, (void)align, (void)flags, (void)make;
	cache.size = size;
	return &cache;
}
#define kmem_cache_destroy(cache) ((void)(cache))
#define kmem_cache_zalloc(cache, flags) calloc(1, (cache)->size)
#define kmem_cache_free(cache, p) free(p)
static inline void kmem_cache_free_bulk(struct kmem_cache *cache, size_t count, void **all)
{
	(void)cache;
	while (count)
		free(all[--count]);
}

struct qdisc_watchdog { struct Qdisc *qdisc; };
#define qdisc_watchdog_init_clockid(watchdog, sch, clock) ((watchdog)->qdisc = (sch))
#define qdisc_watchdog_cancel(watchdog) ((void)(watchdog))
#define qdisc_watchdog_schedule_range_ns(watchdog, at, slack) ((void)(watchdog))

#define skb_rb_first(root) rb_entry_safe(rb_first(root), struct sk_buff, rbnode)
#define rb_to_skb(node) rb_entry_safe(node, struct sk_buff, rbnode)

/* Sockets: connected ones, then one without a connection for each flow. Their keys in our table are
 * numbers in the same order. */
#define SOCKETS 8192
#define TCP_CLOSE 7
enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
struct sock {
	int sk_state;
	u32 sk_hash, sk_pacing_status;
	unsigned long sk_pacing_rate, sk_max_pacing_rate;
};
static struct sock shim_sockets[2][SOCKETS];
#define sk_listener(sk) false
#define sk_listener_or_tw(sk) false
#define sk_fullsock(sk) true
#define sk_is_tcp(sk) false
#define shim_hash_ptr(p, bits) \
	((((u64)(p) & 1 ? (u64)(p) : 1ULL << 63 | (u64)((p) - shim_sockets[0]) << 1) * \
	  0x61C8864680B583EBULL) >> (64 - (bits)))
#define hash_ptr shim_hash_ptr

/* Linux 6.12 and later. */
#define MODULE_ALIAS_NET_SCH(name)
#define NLA_POLICY_EXACT_LEN(bytes) { .type = NLA_U32 }
#define NL_SET_ERR_MSG_FMT_MOD(ack, ...) ((void)(ack))
#define qdisc_drop_reason(skb, sch, to_free, reason) qdisc_drop(skb, sch, to_free)
#define qdisc_qlen_inc(sch) ((sch)->q.qlen++)
#define qdisc_qlen_dec(sch) ((sch)->q.qlen--)
#define TIME_UPTIME_SEC_MAX (30LL * 365 * 24 * 3600)
enum { SKB_CLOCK_REALTIME, SKB_CLOCK_MONOTONIC, SKB_CLOCK_TAI };
#define TK_OFFS_TAI 0
#define ktime_mono_to_any(at, offset) (at)
#define ktime_mono_to_real(at) (at)
static const u8 sch_default_prio2band[] = { 1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 };

#include "net/sched/sch_fq.c"
#include "lib/rbtree.c"
#include "law.h"

/* Gives a packet its socket, as `struct operation` describes it. */
static int enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	bool connected = skb->socket;
	u64 number = connected ? skb->socket : skb->flow;

	BUG_ON(number >= SOCKETS);
	skb->tstamp_type = SKB_CLOCK_MONOTONIC;
	if (connected || skb->pacing) {
		struct sock *sk = &shim_sockets[!connected][number];

		sk->sk_state = connected ? 1 : TCP_CLOSE;
		sk->sk_pacing_rate = sk->sk_max_pacing_rate = skb->pacing ? skb->pacing : ~0UL;
		skb->sk = sk;
	}
	return fq_enqueue(skb, sch, to_free);
}

struct Qdisc_ops *shim_ops(void)
{
	static struct Qdisc_ops ops;

	fq_module_init();
	ops = fq_qdisc_ops;
	ops.enqueue = enqueue;
	return &ops;
}

#ifdef FQ_BANDS
static void bands(void)
{
	struct tc_prio_qopt map = { .bands = FQ_BANDS };
	s32 weights[] = { shim_arg("weight0", 0), shim_arg("weight1", 0), shim_arg("weight2", 0) };
	const char *digits = shim_text("priomap");

	for (int i = 0; digits && i <= TC_PRIO_MAX; i++)
		map.priomap[i] = digits[i] - '0';
	if (digits)
		shim_attribute(TCA_FQ_PRIOMAP, &map, sizeof(map));
	if (weights[0])
		shim_attribute(TCA_FQ_WEIGHTS, weights, sizeof(weights));
}
#else
static void bands(void) { }
#endif

struct nlattr *shim_options(void)
{
	u8 drop = shim_arg("horizon_drop", 1);

	shim_u32(TCA_FQ_PLIMIT, "limit");
	shim_u32(TCA_FQ_FLOW_PLIMIT, "flow_limit");
	shim_u32(TCA_FQ_QUANTUM, "quantum");
	shim_u32(TCA_FQ_INITIAL_QUANTUM, "initial_quantum");
	shim_u32(TCA_FQ_RATE_ENABLE, "pacing");
	shim_u32(TCA_FQ_FLOW_MAX_RATE, "maxrate");
	shim_u32(TCA_FQ_BUCKETS_LOG, "buckets_log");
	shim_u32(TCA_FQ_FLOW_REFILL_DELAY, "refill_delay_us");
	shim_u32(TCA_FQ_ORPHAN_MASK, "orphan_mask");
	shim_u32(TCA_FQ_LOW_RATE_THRESHOLD, "low_rate_threshold");
	shim_u32(TCA_FQ_CE_THRESHOLD, "ce_threshold_us");
	shim_u32(TCA_FQ_TIMER_SLACK, "timer_slack_ns");
	shim_u32(TCA_FQ_HORIZON, "horizon_us");
	shim_attribute(TCA_FQ_HORIZON_DROP, &drop, 1);
	bands();
	return SHIM_SOME;
}
