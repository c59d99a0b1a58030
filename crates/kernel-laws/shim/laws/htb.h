/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sch_htb.c needs in addition to shim.h. A filter leads each DSCP to the class that the
 * argument `filters` names. Rates of packets per time are computed as in sch_generic.c and .h.
 */
#ifndef SOJOURN_HTB_H
#define SOJOURN_HTB_H

#include "shim.h"
#include <stdio.h>

#define ____cacheline_aligned_in_smp
#define WARN_ON_ONCE(x) WARN_ON(x)
#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)
#define INT_MAX __INT_MAX__
#define ENODEV 19
#define EBUSY 16
#define EMEDIUMTYPE 124
#define NLA_BINARY 11
#define NLA_F_NESTED 0
#define TC_RTAB_SIZE 1024
#define TC_H_ROOT 0xFFFFFFFFU
#define TC_H_MAKE(major, minor) (TC_H_MAJ(major) | TC_H_MIN(minor))
#define TC_ACT_SHOT 2
#define TC_SETUP_QDISC_HTB 0
enum { TCA_UNSPEC, TCA_KIND, TCA_OPTIONS, TCA_STATS, TCA_XSTATS, TCA_RATE, TCA_MAX = 16 };
#define rcu_assign_pointer(p, value) ((p) = (value))
#define rcu_dereference_raw(p) (p)
static inline unsigned long shim_ffz(unsigned long word) { return __builtin_ctzl(~word); }
#define ffz(x) shim_ffz(x)
#define pr_warn(...) do { } while (0)
#define pr_err(...) do { } while (0)
#define pr_warn_ratelimited(...) do { } while (0)
#define ASSERT_RTNL() do { } while (0)
#define kcalloc(n, size, flags) calloc(n, size)

struct work_struct { int unused; };
#define INIT_WORK(work, f) ((void)(work), (void)(f))
#define schedule_work(work) ((void)(work))
#define cancel_work_sync(work) ((void)(work))
#define __netif_schedule(sch) ((void)(sch))
#define qdisc_root(sch) (sch)
struct qdisc_watchdog { struct Qdisc *qdisc; };
#define qdisc_watchdog_init(watchdog, sch) ((watchdog)->qdisc = (sch))
#define qdisc_watchdog_cancel(watchdog) ((void)(watchdog))
#define qdisc_watchdog_schedule_ns(watchdog, at) ((void)(watchdog), (void)(at))

struct Qdisc_class_common { u32 classid; struct hlist_node hnode; };
struct Qdisc_class_hash { struct hlist_head *hash; unsigned int hashsize, hashmask, hashelems; };
static inline int qdisc_class_hash_init(struct Qdisc_class_hash *hash)
{
	*hash = (struct Qdisc_class_hash){ calloc(1, sizeof(struct hlist_head)), 1, 0, 0 };
	return 0;
}
static inline void qdisc_class_hash_insert(struct Qdisc_class_hash *hash,
					   struct Qdisc_class_common *class)
{
	hlist_add_head(&class->hnode, hash->hash);
}
static inline struct Qdisc_class_common *qdisc_class_find(const struct Qdisc_class_hash *hash,
							  u32 id)
{
	struct Qdisc_class_common *class;

	hlist_for_each_entry(class, hash->hash, hnode)
		if (id && class->classid == id)
			return class;
	return NULL;
}
#define qdisc_class_hash_grow(sch, hash) ((void)(hash))
#define qdisc_class_hash_remove(hash, class) hlist_del(&(class)->hnode)
#define qdisc_class_hash_destroy(hash) ((void)(hash))

/* Rates (sch_generic.c, psched_ratecfg_precompute__; sch_generic.h, psched_l2t_ns). */
#define TC_LINKLAYER_MASK 0x0F
#define TC_LINKLAYER_UNAWARE 0
#define TC_LINKLAYER_ATM 2
struct psched_ratecfg { u64 rate_bytes_ps; u32 mult; u16 overhead, mpu; u8 linklayer, shift; };
static inline void psched_ratecfg_precompute(struct psched_ratecfg *r,
					     const struct tc_ratespec *conf, u64 rate64)
{
	u64 factor = NSEC_PER_SEC;

	*r = (struct psched_ratecfg){ max_t(u64, conf->rate, rate64), 1, conf->overhead, conf->mpu,
				      conf->linklayer & TC_LINKLAYER_MASK, 0 };
	while (1) {
		r->mult = factor / r->rate_bytes_ps;
		if (r->mult & (1U << 31) || factor & (1ULL << 63))
			return;
		factor <<= 1;
		r->shift++;
	}
}
static inline u64 psched_l2t_ns(const struct psched_ratecfg *r, unsigned int len)
{
	len = max_t(unsigned int, len + r->overhead, r->mpu);
	if (r->linklayer == TC_LINKLAYER_ATM)
		len = DIV_ROUND_UP(len, 48) * 53;
	return ((u64)len * r->mult) >> r->shift;
}
#define psched_ratecfg_getrate(res, r) ((void)(res), (void)(r))
#define qdisc_get_rtab(rate, table, ack) NULL
#define qdisc_put_rtab(table) do { } while (0)

/* Offloading, which no case has. */
enum { TCQ_F_BUILTIN = 1, TCQ_F_MQROOT = 8, TCQ_F_ONETXQUEUE = 16, TCQ_F_NOPARENT = 64,
       IFF_UP = 1 };
enum { TC_HTB_CREATE, TC_HTB_DESTROY, TC_HTB_LEAF_ALLOC_QUEUE, TC_HTB_LEAF_TO_INNER,
       TC_HTB_LEAF_DEL, TC_HTB_LEAF_DEL_LAST, TC_HTB_LEAF_DEL_LAST_FORCE, TC_HTB_NODE_MODIFY,
       TC_HTB_LEAF_QUERY_QUEUE };
#define TC_HTB_CLASSID_ROOT 0
struct tc_htb_qopt_offload {
	struct netlink_ext_ack *extack;
	int command;
	u32 parent_classid, qid;
	u16 classid;
	u64 rate, ceil;
};
struct netdev_queue { struct net_device *dev; struct Qdisc *qdisc_sleeping; };
#define netdev_get_tx_queue(dev, i) ((struct netdev_queue *)NULL)
#define dev_graft_qdisc(queue, sch) ((struct Qdisc *)NULL)
#define dev_activate(dev) ((void)(dev))
#define dev_deactivate(dev) ((void)(dev))

/* Statistics and filters. */
struct net_rate_estimator { int unused; };
struct gnet_estimator { s8 interval; u8 ewma_log; };
#define gnet_stats_basic_sync_init(b) memset(b, 0, sizeof(*(b)))
#define bstats_update(b, skb) ((void)(skb))
#define _bstats_update(b, bytes, packets) ((void)(b))
#define u64_stats_read(x) (*(x))
#define gen_new_estimator(...) 0
#define gen_replace_estimator(...) 0
#define gen_kill_estimator(est) ((void)(est))
#define gnet_stats_copy_basic(...) 0
#define gnet_stats_copy_rate_est(...) 0
#define gnet_stats_add_basic(...) do { } while (0)
#define qdisc_qstats_qlen_backlog(sch, qlen, backlog) ((void)(qlen), (void)(backlog))
#define qdisc_warn_nonwc(text, sch) ((void)(sch))
#define qdisc_refcount_inc(sch) ((void)(sch))
#define tcf_destroy_chain(list) do { } while (0)
#define nla_get_flag(attr) ((attr) != NULL)
#define tc_qdisc_stats_dump(sch, i, arg) true

static struct tcf_proto shim_filter;
static u32 shim_class_of[64];
#undef tcf_block_get
#define tcf_block_get(block, filters, sch, ack) (*(filters) = &shim_filter, 0)
#undef tcf_classify_qdisc
#define tcf_classify_qdisc(skb, filter, res, compat) shim_classify(skb, res)
static inline int shim_classify(struct sk_buff *skb, struct tcf_result *res)
{
	*res = (struct tcf_result){ 0, shim_class_of[skb->dscp] };
	return res->classid ? 0 : -1;
}
#undef qdisc_create_dflt
#define qdisc_create_dflt(queue, ops, handle, ack) shim_child(ops, shim_arg("limit", 1000))
static inline void __qdisc_enqueue_tail(struct sk_buff *skb, struct qdisc_skb_head *q)
{
	skb->next = NULL;
	if (q->tail)
		q->tail->next = skb;
	else
		q->head = skb;
	q->tail = skb;
	q->qlen++;
}
#define __qdisc_reset_queue(q) ((void)(q))

#endif
