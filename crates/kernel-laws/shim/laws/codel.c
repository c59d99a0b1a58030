/* SPDX-License-Identifier: GPL-2.0-only */
#include "net/sched/sch_codel.c"
#include "law.h"

struct Qdisc_ops *shim_ops(void) { return &codel_qdisc_ops; }

struct nlattr *shim_options(void)
{
	shim_u32(TCA_CODEL_LIMIT, "limit");
	shim_u32(TCA_CODEL_TARGET, "target_us");
	shim_u32(TCA_CODEL_INTERVAL, "interval_us");
	shim_u32(TCA_CODEL_CE_THRESHOLD, "ce_threshold_us");
	shim_u32(TCA_CODEL_ECN, "ecn");
	return SHIM_SOME;
}
