/* SPDX-License-Identifier: GPL-2.0-only */
#include "htb.h"
#include "lib/rbtree.c"
#include "net/sched/sch_htb.c"
#include "law.h"

#define HANDLE 0x10000U

/* The classes: for each MINOR,PARENT,RATE,CEIL,BUFFER,CBUFFER,QUANTUM,PRIO and a semicolon, with
 * rates in bytes per second and buffers in ticks. */
static void add_classes(struct Qdisc *sch)
{
	struct nlattr attribute = { 0 }, *tca[TCA_MAX + 1] = { [TCA_OPTIONS] = &attribute };
	unsigned int minor, parent, rate, ceil, buffer, cbuffer, quantum, prio;
	int used;

	for (const char *text = shim_text("classes");
	     sscanf(text, "%u,%u,%u,%u,%u,%u,%u,%u;%n", &minor, &parent, &rate, &ceil, &buffer,
		    &cbuffer, &quantum, &prio, &used) == 8;
	     text += used) {
		struct tc_htb_opt opt = { .buffer = buffer, .cbuffer = cbuffer, .quantum = quantum,
					  .prio = prio };
		struct tc_ratespec spec = { .linklayer = shim_arg("atm", 0) ? TC_LINKLAYER_ATM : 1,
					    .overhead = shim_arg("overhead", 0) };
		unsigned long arg = 0;

		opt.rate = opt.ceil = spec;
		opt.rate.rate = rate;
		opt.ceil.rate = ceil;
		shim_attribute(TCA_HTB_PARMS, &opt, sizeof(opt));
		if (htb_change_class(sch, HANDLE | minor, parent ? HANDLE | parent : TC_H_ROOT, tca,
				     &arg, NULL))
			abort();
	}
}

/* The minor number of the class of each DSCP, with commas; 0 for none. */
static void add_filters(void)
{
	const char *text = shim_text("filters");

	for (int dscp = 0, used; dscp < 64; dscp++, text += used) {
		unsigned int minor;

		if (sscanf(text, "%u,%n", &minor, &used) != 1)
			abort();
		shim_class_of[dscp] = minor ? HANDLE | minor : 0;
	}
}

static int init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *ack)
{
	int err;

	sch->handle = HANDLE;
	add_filters();
	err = htb_init(sch, opt, ack);
	if (!err)
		add_classes(sch);
	return err;
}

struct Qdisc_ops *shim_ops(void)
{
	static struct Qdisc_ops ops;

	ops = htb_qdisc_ops;
	ops.init = init;
	return &ops;
}

struct nlattr *shim_options(void)
{
	struct tc_htb_glob glob = { .version = HTB_VER >> 16, .rate2quantum = 10 };

	shim_attribute(TCA_HTB_INIT, &glob, sizeof(glob));
	return SHIM_SOME;
}
