/* SPDX-License-Identifier: GPL-2.0-only */
#include "htb.h"

/* What sch_hfsc.c needs in addition to htb.h. */
#define PSCHED_NS2TICKS(x) ((u64)(x) >> PSCHED_SHIFT)
#define PSCHED_TICKS_PER_SEC PSCHED_NS2TICKS(NSEC_PER_SEC)
#define psched_get_time() PSCHED_NS2TICKS(shim_now)
#define qdisc_watchdog_schedule(watchdog, at) ((void)(watchdog), (void)(at))
#define nla_len(attr) ((attr)->nla_len - nla_attr_size(0))
#define EEXIST 17
static inline unsigned int qdisc_peek_len(struct Qdisc *sch)
{
	struct sk_buff *skb = sch->ops->peek(sch);

	return skb ? qdisc_pkt_len(skb) : 0;
}

#include "net/sched/sch_hfsc.c"
#include "lib/rbtree.c"
#include "law.h"

#define TREE_OPS hfsc_qdisc_ops
#define TREE_INIT hfsc_init_qdisc
#include "tree.h"

/* MINOR,PARENT, then M1,D,M2 of rt, ls and ul, and a semicolon, with rates in bytes per second and
 * times in microseconds; zeros for no curve. */
static const char *add_class(struct Qdisc *sch, const char *text, struct nlattr **tca)
{
	struct tc_service_curve rt, ls, ul;
	unsigned int minor, parent;
	unsigned long arg = 0;
	int used;

	if (sscanf(text, "%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u;%n", &minor, &parent, &rt.m1, &rt.d,
		   &rt.m2, &ls.m1, &ls.d, &ls.m2, &ul.m1, &ul.d, &ul.m2, &used) != 11)
		return NULL;
	shim_attribute(TCA_HFSC_RSC, &rt, sizeof(rt));
	shim_attribute(TCA_HFSC_FSC, &ls, sizeof(ls));
	shim_attribute(TCA_HFSC_USC, &ul, sizeof(ul));
	if (hfsc_change_class(sch, HANDLE | minor, parent ? HANDLE | parent : 0, tca, &arg, NULL))
		abort();
	return text + used;
}

struct nlattr *shim_options(void)
{
	static struct tc_hfsc_qopt opt;
	static struct nlattr attribute = { .data = &opt };

	attribute.nla_len = nla_attr_size(sizeof(opt));
	return &attribute;
}
