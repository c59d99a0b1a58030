/* SPDX-License-Identifier: GPL-2.0-only */
#include "htb.h"

/* What sch_ets.c needs in addition to htb.h: a queue peeks at its head, and bands come from the
 * arguments `strict` and `classes` instead of nested attributes. */
#define READ_ONCE(x) (x)
#define NLA_NESTED 8
#define NL_VALIDATE_STRICT 0
#define TC_SETUP_QDISC_ETS 0
#define tc_can_offload(dev) false
#define qdisc_offload_graft_helper(...) do { } while (0)
#define qdisc_offload_dump_helper(...) 0
#define qdisc_qstats_copy(d, sch) 0
#define qdisc_hash_add(sch, invisible) ((void)(sch))
#define __nla_validate_nested(...) 0
#define nla_type(attr) ((attr)->nla_type)
#define nla_for_each_nested(attr, list, rest) \
	for ((rest) = 0, (attr) = (list)->data; (rest) < (int)(list)->nla_len; (rest)++, (attr)++)
enum { TC_ETS_REPLACE, TC_ETS_DESTROY, TC_ETS_STATS, TC_ETS_GRAFT };
struct tc_ets_qopt_offload {
	int command;
	u32 handle, parent;
	struct {
		unsigned int bands, quanta[16], weights[16];
		u8 priomap[16];
		struct gnet_stats_queue *qstats;
	} replace_params;
	struct { void *bstats, *qstats; } stats;
	struct { u8 band; u32 child_handle; } graft_params;
};

#include "net/sched/sch_ets.c"
#include "law.h"

#define TREE_OPS ets_qdisc_ops
#define TREE_INIT ets_qdisc_init
#include "tree.h"

/* The bands are options of the discipline. */
static const char *add_class(struct Qdisc *sch, const char *text, struct nlattr **tca)
{
	(void)sch, (void)text, (void)tca;
	return NULL;
}

/* MINOR,PARENT,QUANTUM and a semicolon for each band, with a quantum of 0 for the strict ones. */
struct nlattr *shim_options(void)
{
	static u32 quanta[16];
	static struct nlattr turns[16], list = { .data = turns };
	const char *text = shim_text("classes");
	unsigned int minor, parent, quantum;
	u8 bands = 0, strict = 0;
	int used;

	for (; sscanf(text, "%u,%u,%u;%n", &minor, &parent, &quantum, &used) == 3; text += used) {
		bands++;
		if (!quantum) {
			strict++;
			continue;
		}
		quanta[list.nla_len] = quantum;
		turns[list.nla_len] = (struct nlattr){ nla_attr_size(4), TCA_ETS_QUANTA_BAND,
						       &quanta[list.nla_len] };
		list.nla_len++;
	}
	shim_attribute(TCA_ETS_NBANDS, &bands, 1);
	shim_attribute(TCA_ETS_NSTRICT, &strict, 1);
	shim_nest(TCA_ETS_QUANTA, &list);
	return SHIM_SOME;
}
