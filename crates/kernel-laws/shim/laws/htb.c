/* SPDX-License-Identifier: GPL-2.0-only */
#include "htb.h"
#include "lib/rbtree.c"
#include "net/sched/sch_htb.c"
#include "law.h"

#define TREE_OPS htb_qdisc_ops
#define TREE_INIT htb_init
#include "tree.h"

/* MINOR,PARENT,RATE,CEIL,BUFFER,CBUFFER,QUANTUM,PRIO and a semicolon, with rates in bytes per
 * second and buffers in ticks. */
static const char *add_class(struct Qdisc *sch, const char *text, struct nlattr **tca)
{
	unsigned int minor, parent, rate, ceil, buffer, cbuffer, quantum, prio;
	struct tc_ratespec spec = { .linklayer = shim_arg("atm", 0) ? TC_LINKLAYER_ATM : 1,
				    .overhead = shim_arg("overhead", 0) };
	struct tc_htb_opt opt = { .rate = spec, .ceil = spec };
	unsigned long arg = 0;
	int used;

	if (sscanf(text, "%u,%u,%u,%u,%u,%u,%u,%u;%n", &minor, &parent, &rate, &ceil, &buffer,
		   &cbuffer, &quantum, &prio, &used) != 8)
		return NULL;
	opt.rate.rate = rate;
	opt.ceil.rate = ceil;
	opt.buffer = buffer;
	opt.cbuffer = cbuffer;
	opt.quantum = quantum;
	opt.prio = prio;
	shim_attribute(TCA_HTB_PARMS, &opt, sizeof(opt));
	if (htb_change_class(sch, HANDLE | minor, parent ? HANDLE | parent : TC_H_ROOT, tca, &arg,
			     NULL))
		abort();
	return text + used;
}

struct nlattr *shim_options(void)
{
	struct tc_htb_glob glob = { .version = HTB_VER >> 16, .rate2quantum = 10 };

	shim_attribute(TCA_HTB_INIT, &glob, sizeof(glob));
	return SHIM_SOME;
}
