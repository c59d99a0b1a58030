/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's queueing disciplines need of the rest of the kernel, for a user-space program:
 * just enough to compile net/sched/sch_*.c unmodified. Written for this purpose; see ../README.md.
 *
 * One thread, virtual time, no netlink, no devices: locks, RCU, offloading and statistics for user
 * space do nothing.
 */
#ifndef SOJOURN_SHIM_H
#define SOJOURN_SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Not <errno.h>: it would find linux/errno.h, which is forwarded here. */
enum { ENOENT = 2, ENOMEM = 12, EINVAL = 22, ENOSYS = 38, EMSGSIZE = 90, EOPNOTSUPP = 95,
       ENOBUFS = 105 };

/* --- types --- */
typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16, __be16;
typedef uint32_t u32, __u32, __be32;
typedef uint64_t u64;
typedef unsigned long long __u64;
typedef int8_t s8, __s8;
typedef int16_t s16, __s16;
typedef int32_t s32, __s32;
typedef int64_t s64;
typedef long long __s64;
typedef s64 ktime_t;
typedef u64 psched_time_t;
typedef long psched_tdiff_t;
typedef unsigned int gfp_t;
typedef unsigned int spinlock_t;
struct list_head { struct list_head *next, *prev; };
struct hlist_head { struct hlist_node *first; };
struct hlist_node { struct hlist_node *next, **pprev; };

/* --- words of the compiler --- */
#define __rcu
#define __init
#define __exit
#define __user
#define __force
#define __read_mostly
#define __always_inline inline
#define fallthrough __attribute__((__fallthrough__))
#define likely(x) (x)
#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define typecheck(type, x) ((void)sizeof((type *)0 == &(__typeof__(x)){ 0 }), 1)
#define prefetch(x) ((void)(x))
#define WARN(x, ...) WARN_ON(x)
#define BUG() abort()
#define BUG_ON(x) do { if (x) abort(); } while (0)
#define BUILD_BUG_ON(x) _Static_assert(!(x), #x)
#define WARN_ON(x) ({ bool w_ = (x); if (w_) abort(); w_; })
#define WARN_ONCE(x, ...) WARN_ON(x)
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define IS_ENABLED(option) 0
#define IS_REACHABLE(option) 0
#define IS_ERR(p) ((p) == NULL)
#define PTR_ERR(p) (-ENOMEM)
#define EXPORT_SYMBOL_GPL(x)
#define EXPORT_SYMBOL(x)
#define MODULE_DESCRIPTION(x)
#define MODULE_AUTHOR(x)
#define MODULE_LICENSE(x)
#define MODULE_ALIAS(x)
#define THIS_MODULE NULL
#define module_init(f) static int (*f##_)(void) __attribute__((unused)) = f;
#define module_exit(f) static void (*f##_)(void) __attribute__((unused)) = f;
#define LIST_POISON1 ((void *)0x100)
#define LIST_POISON2 ((void *)0x122)
#define smp_store_release(p, value) (*(p) = (value))
#define smp_load_acquire(p) (*(p))

/* --- arithmetic --- */
#define U64_MAX UINT64_MAX
#define U32_MAX UINT32_MAX
#define BITS_PER_BYTE 8
#define SZ_32M (32 << 20)
#define min(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp_t(type, x, low, high) min_t(type, max_t(type, x, low), high)
#define clamp(x, low, high) min(max(x, low), high)
#define swap(a, b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)
#define DIV_ROUND_CLOSEST(x, d) (((x) + (d) / 2) / (d))
#define DIV_ROUND_UP(x, d) (((x) + (d) - 1) / (d))
#define div_u64(x, d) ((u64)(x) / (u32)(d))
#define div64_u64(x, d) ((u64)(x) / (u64)(d))
#define div64_ul(x, d) ((u64)(x) / (unsigned long)(d))
#define do_div(n, d) ({ u32 r_ = (n) % (d); (n) /= (d); r_; })
static inline u32 reciprocal_scale(u32 x, u32 range) { return ((u64)x * range) >> 32; }
static inline int fls(u32 x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline bool is_power_of_2(u64 n) { return n && !(n & (n - 1)); }
static inline u64 roundup_pow_of_two(u64 n) { u64 p = 1; while (p < n) p <<= 1; return p; }

/* --- time: `shim_now` in nanoseconds, 250 jiffies per second, psched ticks of 64 ns --- */
extern u64 shim_now;
#define HZ 250
#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_USEC 1000L
#define USEC_PER_SEC 1000000L
#define USEC_PER_MSEC 1000L
#define MSEC_PER_SEC 1000L
#define jiffies ((unsigned long)(shim_now / (NSEC_PER_SEC / HZ)))
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_is_before_jiffies(a) time_after(jiffies, a)
#define msecs_to_jiffies(ms) (((unsigned long)(ms) * HZ + 999) / 1000)
#define jiffies_to_msecs(j) ((unsigned int)((j) * 1000 / HZ))
#define usecs_to_jiffies(us) (((unsigned long)(us) * HZ + 999999) / 1000000)
#define jiffies_to_usecs(j) ((unsigned int)((j) * (1000000 / HZ)))
static inline ktime_t ktime_get(void) { return shim_now; }
static inline u64 ktime_get_ns(void) { return shim_now; }
#define ktime_us_delta(a, b) (((a) - (b)) / 1000)
#define ktime_sub(a, b) ((a) - (b))
#define ktime_add(a, b) ((a) + (b))
#define ktime_add_ns(a, b) ((a) + (s64)(b))
#define ktime_sub_ns(a, b) ((a) - (s64)(b))
#define ktime_to_ns(a) ((s64)(a))
#define ktime_to_us(a) ((s64)(a) / 1000)
#define ns_to_ktime(a) ((ktime_t)(a))
#define ktime_after(a, b) ((a) > (b))
#define ktime_before(a, b) ((a) < (b))
#define us_to_ktime(us) ((ktime_t)(us) * 1000)
#define ms_to_ktime(ms) ((ktime_t)(ms) * 1000000)
#define PSCHED_SHIFT 6
#define PSCHED_TICKS2NS(x) ((s64)(x) << PSCHED_SHIFT)
#define PSCHED_NS2TICKS(x) ((x) >> PSCHED_SHIFT)
#define PSCHED_TICKS_PER_SEC PSCHED_NS2TICKS(NSEC_PER_SEC)
#define PSCHED_PASTPERFECT 0
static inline psched_time_t psched_get_time(void) { return PSCHED_NS2TICKS(ktime_get_ns()); }

/*
 * --- timers: at most one, kept by main.c ---
 * It expires a step of the kernel's timer wheel late: a jiffy, 8 from 63 jiffies on (fact aqm-4),
 * but on time with `exact_timers`.
 */
#define WHEEL_LEVEL_JIFFIES 63
#define WHEEL_LEVEL_SHIFT 3
struct timer_list { void (*function)(struct timer_list *); unsigned long expires; bool pending; };
extern struct timer_list *shim_timer;
#define from_timer(var, t, field) container_of(t, __typeof__(*var), field)
#define TIMER_DEFERRABLE 0
static inline void timer_setup(struct timer_list *t, void (*f)(struct timer_list *), int flags)
{
	(void)flags;
	*t = (struct timer_list){ .function = f };
	shim_timer = t;
}
u64 shim_arg(const char *name, u64 otherwise); /* law.h */
static inline int mod_timer(struct timer_list *t, unsigned long expires)
{
	unsigned int shift = expires - jiffies < WHEEL_LEVEL_JIFFIES ? 0 : WHEEL_LEVEL_SHIFT;

	t->expires = shim_arg("exact_timers", 0) ? expires : ((expires >> shift) + 1) << shift;
	t->pending = true;
	return 0;
}
static inline int del_timer(struct timer_list *t) { t->pending = false; return 0; }
#define del_timer_sync del_timer

/* --- chance: the generator of our crate `aqm`; see main.c --- */
u64 shim_random(void);
typedef struct { u64 key[2]; } siphash_key_t;
void shim_new_key(siphash_key_t *key);
static inline u32 get_random_u32(void) { return shim_random() >> 32; }
static inline u16 get_random_u16(void) { return shim_random() >> 48; }
static inline u32 prandom_u32(void) { return shim_random() >> 32; }
static inline u32 prandom_u32_max(u32 n) { return ((unsigned __int128)shim_random() * n) >> 64; }
#define get_random_u32_below prandom_u32_max
static inline void get_random_bytes(void *to, size_t bytes)
{
	if (bytes == sizeof(siphash_key_t)) {
		shim_new_key(to);
	} else {
		u64 word = shim_random();

		BUG_ON(bytes > sizeof(word));
		memcpy(to, &word, bytes);
	}
}

#include <linux/list.h>
#include <linux/rbtree_types.h>

/* --- packets --- */
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86DD
#define htons(x) ((u16)__builtin_bswap16(x))
struct sock;
struct net_device;
struct sk_buff {
	struct sk_buff *next, *prev;
	/* What fq looks at. */
	struct rb_node rbnode;
	struct sock *sk;
	struct net_device *dev;
	u64 socket;
	u32 pacing;
	u8 tstamp_type;
	u32 len, truesize, priority, mark;
	u16 protocol;
	u8 ecn;
	u8 dscp;
	u64 flow, src_host, dst_host;
	u32 id, hash;
	/* IPv4 (20 bytes, as in cake.h) and TCP. */
	unsigned char header[80] __attribute__((aligned(4)));
	bool l4_hash;
	ktime_t tstamp;
	unsigned char *end;
	char cb[96] __attribute__((aligned(8)));
};
struct sk_buff_head { struct sk_buff *next, *prev; u32 qlen; };
struct qdisc_skb_cb {
	u32 pkt_len;
	u16 slave, tc_classid;
	unsigned char data[64] __attribute__((aligned(8)));
};
static inline struct qdisc_skb_cb *qdisc_skb_cb(const struct sk_buff *skb)
{
	return (struct qdisc_skb_cb *)skb->cb;
}
#define qdisc_cb_private_validate(skb, size) BUILD_BUG_ON((size) > 64)
static inline unsigned int qdisc_pkt_len(const struct sk_buff *skb) { return skb->len; }
#define skb_is_gso(skb) false
#define skb_end_pointer(skb) ((skb)->end)
#define skb_mark_not_on_list(skb) ((skb)->next = NULL)
#define skb_tail_pointer(skb) ((skb)->end)
#define nlmsg_trim(skb, mark) ((void)(mark))
#define skb_orphan(skb) ((void)(skb))
#define skb_set_inner_hash(skb) ((void)(skb))
#define skb_protocol(skb, vlan) ((skb)->protocol)
#define tc_skb_protocol(skb) ((skb)->protocol)
#define skb_get_dsfield(skb) ((skb)->dscp << 2 | (skb)->ecn)
void shim_dropped(struct sk_buff *skb);
void shim_marked(struct sk_buff *skb);
static inline void kfree_skb(struct sk_buff *skb) { shim_dropped(skb); }
#define consume_skb kfree_skb
#define rtnl_kfree_skbs(head, tail) do { BUG_ON(head); (void)(tail); } while (0)
static inline int INET_ECN_set_ce(struct sk_buff *skb)
{
	if (!(skb->ecn & 3))
		return 0;
	skb->ecn = 3;
	shim_marked(skb);
	return 1;
}
u64 shim_hash(u64 flow, u64 salt);
extern u64 shim_salt;
/* The queue that our flow queues choose: there the upper bits of the hash count ... */
static inline u32 skb_get_hash(struct sk_buff *skb)
{
	return shim_hash(skb->flow, shim_salt) >> 32;
}
/* ... and here the lower ones. */
static inline u32 skb_get_hash_perturb(const struct sk_buff *skb, const siphash_key_t *key)
{
	return shim_hash(skb->flow, key->key[0]);
}
#define siphash_1u32(x, with) ((u32)shim_hash(x, (with)->key[0]))
struct flow_keys { u64 flow; };
struct flow_keys_digest { u64 flow; };
static inline bool skb_flow_dissect_flow_keys(const struct sk_buff *skb, struct flow_keys *keys,
					      unsigned int flags)
{
	(void)flags;
	keys->flow = skb->flow;
	return true;
}
static inline void make_flow_keys_digest(struct flow_keys_digest *to, const struct flow_keys *keys)
{
	to->flow = keys->flow;
}

static inline void __skb_queue_head_init(struct sk_buff_head *q)
{
	q->next = q->prev = (struct sk_buff *)q;
	q->qlen = 0;
}
static inline void __skb_queue_tail(struct sk_buff_head *q, struct sk_buff *skb)
{
	skb->next = (struct sk_buff *)q;
	skb->prev = q->prev;
	q->prev->next = skb;
	q->prev = skb;
	q->qlen++;
}
static inline void __skb_queue_head(struct sk_buff_head *q, struct sk_buff *skb)
{
	(void)q;
	(void)skb;
	abort(); /* only a peek would need it */
}
static inline struct sk_buff *__skb_dequeue(struct sk_buff_head *q)
{
	struct sk_buff *skb = q->next;

	if (skb == (struct sk_buff *)q)
		return NULL;
	q->next = skb->next;
	skb->next->prev = (struct sk_buff *)q;
	skb->next = skb->prev = NULL;
	q->qlen--;
	return skb;
}
#define skb_peek(q) ((struct sk_buff *)NULL)

/* --- memory --- */
#define GFP_KERNEL 0
#define kmalloc(size, flags) malloc(size)
#define kzalloc(size, flags) calloc(1, size)
#define kvcalloc(n, size, flags) calloc(n, size)
#define kvmalloc(size, flags) malloc(size)
#define kvzalloc(size, flags) calloc(1, size)
#define kvmalloc_array(n, size, flags) malloc((n) * (size))
#define kfree(p) free(p)
#define kvfree(p) free(p)

/* --- configuration: what netlink would bring --- */
#define NLA_U8 1
#define NLA_U32 3
#define NLA_U64 4
#define NLA_S32 5
#define NLA_FLAG 6
struct nlattr { u16 nla_len, nla_type; const void *data; };
struct nla_policy { int type, len, strict_start_type; const void *range; };
struct netlink_range_validation { u64 min, max; };
struct nla_bitfield32 { u32 value, selector; };
struct netlink_ext_ack { int unused; };
#define NLA_POLICY_BITFIELD32(valid) { .type = NLA_U32 }
#define NLA_POLICY_FULL_RANGE(type_, range_) { .type = type_, .range = range_ }
#define NL_SET_ERR_MSG(ack, text) ((void)(ack))
#define NL_SET_ERR_MSG_MOD(ack, text) ((void)(ack))
#define NL_SET_ERR_MSG_ATTR(ack, attr, text) ((void)(ack))
#define nla_attr_size(payload) ((int)(payload) + 4)
#define nla_data(attr) ((void *)(attr)->data)
#define nla_get_u8(attr) (*(const u8 *)(attr)->data)
#define nla_get_u32(attr) (*(const u32 *)(attr)->data)
#define nla_get_s32(attr) (*(const s32 *)(attr)->data)
#define nla_get_u64(attr) (*(const u64 *)(attr)->data)
static inline struct nla_bitfield32 nla_get_bitfield32(const struct nlattr *attr)
{
	return *(const struct nla_bitfield32 *)attr->data;
}
int shim_parse(struct nlattr **tb, int most, struct nlattr *opt);
#define nla_parse_nested_deprecated(tb, most, opt, policy, ack) shim_parse(tb, most, opt)
#define nla_parse_nested(tb, most, opt, policy, ack) shim_parse(tb, most, opt)
#define nla_nest_start(skb, type) ((struct nlattr *)NULL)
#define nla_nest_start_noflag(skb, type) ((struct nlattr *)NULL)
#define nla_nest_end(skb, start) 0
#define nla_nest_cancel(skb, start) ((void)(start))
#define nla_put(skb, type, len, data) 0
#define nla_put_u8(skb, type, value) 0
#define nla_put_u32(skb, type, value) 0
#define nla_put_s32(skb, type, value) 0
#define nla_put_flag(skb, type) 0
#define nla_put_u64_64bit(skb, type, value, pad) 0
#define nla_put_bitfield32(skb, type, value, selector) 0

/* --- disciplines --- */
#include <uapi/linux/pkt_sched.h>
#define NET_XMIT_SUCCESS 0
#define NET_XMIT_DROP 1
#define NET_XMIT_CN 2
#define __NET_XMIT_STOLEN 0x00010000
#define __NET_XMIT_BYPASS 0x00020000
#define net_xmit_drop_count(e) ((e) & __NET_XMIT_STOLEN ? 0 : 1)
#define TCQ_F_CAN_BYPASS 4
#define TCQ_F_OFFLOADED 0x200
struct net_device_ops { int (*ndo_setup_tc)(struct net_device *, int, void *); };
struct net_device {
	unsigned int mtu;
	unsigned short hard_header_len;
	unsigned int tx_queue_len, num_tx_queues, real_num_tx_queues, flags;
	u64 max_pacing_offload_horizon;
	const struct net_device_ops *netdev_ops;
};
struct gnet_stats_basic_sync { u64 bytes, packets; };
struct gnet_stats_queue { u32 qlen, backlog, drops, requeues, overlimits; };
struct gnet_dump { int unused; };
struct qdisc_skb_head { struct sk_buff *head, *tail; u32 qlen; };
struct netdev_queue;
struct Qdisc_ops;
struct Qdisc {
	struct sk_buff *(*dequeue)(struct Qdisc *);
	struct netdev_queue *dev_queue;
	unsigned int flags;
	u32 limit, handle, parent;
	const struct Qdisc_ops *ops;
	struct sk_buff_head gso_skb;
	struct qdisc_skb_head q;
	struct gnet_stats_basic_sync bstats;
	struct gnet_stats_queue qstats;
	void *priv;
};
struct qdisc_walker {
	int stop, skip, count;
	int (*fn)(struct Qdisc *, unsigned long, struct qdisc_walker *);
};
struct tcf_proto { int unused; };
struct tcf_block { int unused; };
struct tcf_qevent { int unused; };
struct tcf_result { unsigned long class; u32 classid; };
struct tcmsg { u32 tcm_handle, tcm_parent, tcm_info; };
struct Qdisc_class_ops {
	struct netdev_queue *(*select_queue)(struct Qdisc *, struct tcmsg *);
	int (*graft)(struct Qdisc *, unsigned long, struct Qdisc *, struct Qdisc **,
		     struct netlink_ext_ack *);
	struct Qdisc *(*leaf)(struct Qdisc *, unsigned long);
	void (*qlen_notify)(struct Qdisc *, unsigned long);
	unsigned long (*find)(struct Qdisc *, u32);
	int (*change)(struct Qdisc *, u32, u32, struct nlattr **, unsigned long *,
		      struct netlink_ext_ack *);
	int (*delete)(struct Qdisc *, unsigned long, struct netlink_ext_ack *);
	void (*walk)(struct Qdisc *, struct qdisc_walker *);
	struct tcf_block *(*tcf_block)(struct Qdisc *, unsigned long, struct netlink_ext_ack *);
	unsigned long (*bind_tcf)(struct Qdisc *, unsigned long, u32);
	void (*unbind_tcf)(struct Qdisc *, unsigned long);
	int (*dump)(struct Qdisc *, unsigned long, struct sk_buff *, struct tcmsg *);
	int (*dump_stats)(struct Qdisc *, unsigned long, struct gnet_dump *);
};
struct Qdisc_ops {
	const struct Qdisc_class_ops *cl_ops;
	char id[16];
	int priv_size;
	int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
	struct sk_buff *(*dequeue)(struct Qdisc *);
	struct sk_buff *(*peek)(struct Qdisc *);
	int (*init)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	void (*reset)(struct Qdisc *);
	void (*destroy)(struct Qdisc *);
	void (*attach)(struct Qdisc *);
	int (*change)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	int (*dump)(struct Qdisc *, struct sk_buff *);
	int (*dump_stats)(struct Qdisc *, struct gnet_dump *);
	void *owner;
};
#define QDISC_ALIGNTO 64
extern struct net_device shim_device;
extern struct Qdisc noop_qdisc;
extern struct Qdisc_ops bfifo_qdisc_ops, pfifo_qdisc_ops;
static inline void *qdisc_priv(struct Qdisc *sch) { return sch->priv; }
#define qdisc_dev(sch) ((void)(sch), &shim_device)
static inline unsigned int psched_mtu(const struct net_device *dev)
{
	return dev->mtu + dev->hard_header_len;
}
#define qdisc_lock(sch) ((spinlock_t *)NULL)
#define qdisc_root_lock(sch) ((spinlock_t *)NULL)
#define qdisc_root_sleeping_lock(sch) ((spinlock_t *)NULL)
#define qdisc_root_sleeping(sch) (sch)
#define spin_lock(lock) ((void)(lock))
#define spin_unlock(lock) ((void)(lock))
#define rcu_read_lock() do { } while (0)
#define rcu_read_unlock() do { } while (0)
#define sch_tree_lock(sch) ((void)(sch))
#define sch_tree_unlock(sch) ((void)(sch))
#define rcu_dereference_bh(p) (p)
#define rcu_dereference_protected(p, c) (p)
#define register_qdisc(ops) 0
#define unregister_qdisc(ops) ((void)(ops))
#define gnet_stats_copy_app(d, st, len) 0
#define gnet_stats_copy_queue(d, cpu, q, qlen) 0
#define tc_can_offload(dev) false
#define TC_H_MAJ(h) ((h) & 0xFFFF0000U)
#define TC_H_MIN(h) ((h) & 0x0000FFFFU)
#define TC_H_UNSPEC 0
#define tcf_classify_qdisc(skb, filter, res, compat) (-1)
#define tcf_block_get(block, filters, sch, ack) 0
#define tcf_block_put(block) ((void)(block))
#define tcf_qevent_handle(event, sch, skb, to_free, ret) ((void)(ret), skb)
#define tcf_qevent_init(event, sch, type, attr, ack) 0
#define tcf_qevent_validate_change(event, attr, ack) 0
#define tcf_qevent_destroy(event, sch) do { } while (0)
#define tcf_qevent_dump(skb, type, event) 0
#define tc_qdisc_stats_dump(sch, i, arg) true
enum { FLOW_BLOCK_BINDER_TYPE_RED_EARLY_DROP, FLOW_BLOCK_BINDER_TYPE_RED_MARK };
enum { TC_RED_REPLACE, TC_RED_DESTROY, TC_RED_STATS, TC_RED_XSTATS, TC_RED_GRAFT };
enum { TC_SETUP_QDISC_RED };
struct tc_red_qopt_offload {
	int command;
	u32 handle, parent;
	union {
		struct {
			u32 min, max, probability, limit;
			bool is_ecn, is_harddrop, is_nodrop;
			struct gnet_stats_queue *qstats;
		} set;
		struct { struct gnet_stats_basic_sync *bstats; struct gnet_stats_queue *qstats; } stats;
		void *xstats;
		u32 child_handle;
	};
};
#define qdisc_offload_dump_helper(sch, type, opt) 0
#define qdisc_offload_graft_helper(dev, sch, new, old, type, opt, ack) do { } while (0)
struct Qdisc *shim_child(struct Qdisc_ops *ops, u32 limit);
#define fifo_create_dflt(sch, ops, limit, ack) shim_child(ops, limit)
#define qdisc_create_dflt(queue, ops, handle, ack) shim_child(ops, 0)
#define qdisc_hash_add(sch, invisible) do { } while (0)
#define qdisc_put(sch) ((void)(sch))
#define qdisc_reset(sch) ((void)(sch))
#define qdisc_purge_queue(sch) ((void)(sch))
#define qdisc_tree_flush_backlog(sch) ((void)(sch))
#define qdisc_replace(sch, new, old) (new)

#define qdisc_qlen(sch) ((int)(sch)->q.qlen)
#define qdisc_bstats_update(sch, skb) ((void)(skb))
static inline void qdisc_qstats_drop(struct Qdisc *sch) { sch->qstats.drops++; }
static inline void __qdisc_qstats_drop(struct Qdisc *sch, int n) { sch->qstats.drops += n; }
static inline void qdisc_qstats_overlimit(struct Qdisc *sch) { sch->qstats.overlimits++; }
static inline void qdisc_qstats_backlog_inc(struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->qstats.backlog += qdisc_pkt_len(skb);
}
static inline void qdisc_qstats_backlog_dec(struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->qstats.backlog -= qdisc_pkt_len(skb);
}
#define qdisc_tree_reduce_backlog(sch, n, len) ((void)(n), (void)(len))
static inline void __qdisc_drop(struct sk_buff *skb, struct sk_buff **to_free)
{
	(void)to_free;
	shim_dropped(skb);
}
static inline int qdisc_drop(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	__qdisc_drop(skb, to_free);
	qdisc_qstats_drop(sch);
	return NET_XMIT_DROP;
}
#define rtnl_qdisc_drop(skb, sch) qdisc_drop(skb, sch, NULL)
static inline int qdisc_enqueue_tail(struct sk_buff *skb, struct Qdisc *sch)
{
	skb->next = NULL;
	if (sch->q.tail)
		sch->q.tail->next = skb;
	else
		sch->q.head = skb;
	sch->q.tail = skb;
	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	return NET_XMIT_SUCCESS;
}
static inline struct sk_buff *__qdisc_dequeue_head(struct qdisc_skb_head *q)
{
	struct sk_buff *skb = q->head;

	if (skb) {
		q->head = skb->next;
		if (!q->head)
			q->tail = NULL;
		skb->next = NULL;
		q->qlen--;
	}
	return skb;
}
static inline struct sk_buff *qdisc_dequeue_head(struct Qdisc *sch)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&sch->q);

	if (skb)
		qdisc_qstats_backlog_dec(sch, skb);
	return skb;
}
static inline int qdisc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return sch->ops->enqueue(skb, sch, to_free);
}
#define qdisc_dequeue_peeked(sch) ((sch)->ops->dequeue(sch))
#define qdisc_dequeue_internal(sch, direct) ((sch)->ops->dequeue(sch))
#define qdisc_peek_dequeued NULL
#define qdisc_reset_queue(sch) ((void)(sch))

#endif
