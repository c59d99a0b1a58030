/* SPDX-License-Identifier: GPL-2.0-only */
#include "net/sched/sch_fq_codel.c"
#include "law.h"

struct Qdisc_ops *shim_ops(void) { return &fq_codel_qdisc_ops; }

struct nlattr *shim_options(void)
{
	shim_u32(TCA_FQ_CODEL_LIMIT, "limit");
	shim_u32(TCA_FQ_CODEL_FLOWS, "flows");
	shim_u32(TCA_FQ_CODEL_TARGET, "target_us");
	shim_u32(TCA_FQ_CODEL_INTERVAL, "interval_us");
	shim_u32(TCA_FQ_CODEL_CE_THRESHOLD, "ce_threshold_us");
	shim_u32(TCA_FQ_CODEL_QUANTUM, "quantum");
	shim_u32(TCA_FQ_CODEL_DROP_BATCH_SIZE, "drop_batch");
	shim_u32(TCA_FQ_CODEL_MEMORY_LIMIT, "memory_limit");
	shim_u32(TCA_FQ_CODEL_ECN, "ecn");
	return SHIM_SOME;
}
