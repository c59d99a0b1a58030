/* SPDX-License-Identifier: GPL-2.0-only */
#include "net/sched/sch_sfq.c"
#include "law.h"

struct Qdisc_ops *shim_ops(void) { return &sfq_qdisc_ops; }

struct nlattr *shim_options(void)
{
	static struct tc_sfq_qopt_v1 opt;
	static struct nlattr attribute = { .data = &opt };

	opt.v0.quantum = shim_arg("quantum", 0);
	opt.v0.perturb_period = shim_arg("perturb", 0);
	opt.v0.limit = shim_arg("limit", 0);
	opt.v0.divisor = shim_arg("divisor", 0);
	opt.v0.flows = shim_arg("flows", 0);
	opt.depth = shim_arg("depth", 0);
	opt.headdrop = shim_arg("headdrop", 0);
	opt.qth_min = shim_arg("min", 0);
	opt.qth_max = shim_arg("max", 0);
	opt.Wlog = shim_arg("wlog", 0);
	opt.max_P = shim_arg("max_p", 0);
	opt.flags = (shim_arg("ecn", 0) ? TC_RED_ECN : 0) |
		    (shim_arg("harddrop", 0) ? TC_RED_HARDDROP : 0);
	attribute.nla_len = nla_attr_size(sizeof(opt));
	return &attribute;
}
