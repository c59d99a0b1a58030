/* SPDX-License-Identifier: GPL-2.0-only */
#include "net/sched/sch_sfb.c"
#include "law.h"

struct Qdisc_ops *shim_ops(void) { return &sfb_qdisc_ops; }

struct nlattr *shim_options(void)
{
	struct tc_sfb_qopt opt = sfb_default_ops;

	opt.limit = shim_arg("limit", opt.limit);
	opt.rehash_interval = shim_arg("rehash_ms", opt.rehash_interval);
	opt.warmup_time = shim_arg("warmup_ms", opt.warmup_time);
	opt.max = shim_arg("bin_max", opt.max);
	opt.bin_size = shim_arg("bin_target", opt.bin_size);
	opt.increment = shim_arg("increment", opt.increment);
	opt.decrement = shim_arg("decrement", opt.decrement);
	opt.penalty_rate = shim_arg("penalty_rate", opt.penalty_rate);
	opt.penalty_burst = shim_arg("penalty_burst", opt.penalty_burst);
	shim_attribute(TCA_SFB_PARMS, &opt, sizeof(opt));
	return SHIM_SOME;
}
