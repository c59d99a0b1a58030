/* SPDX-License-Identifier: GPL-2.0-only */
/* sch_fq_pie.c calls functions that sch_pie.c exports. */
#include "net/sched/sch_pie.c"
#include "net/sched/sch_fq_pie.c"
#include "law.h"

struct Qdisc_ops *shim_ops(void) { return &fq_pie_qdisc_ops; }

struct nlattr *shim_options(void)
{
	shim_u32(TCA_FQ_PIE_LIMIT, "limit");
	shim_u32(TCA_FQ_PIE_FLOWS, "flows");
	shim_u32(TCA_FQ_PIE_TARGET, "target_us");
	shim_u32(TCA_FQ_PIE_TUPDATE, "tupdate_us");
	shim_u32(TCA_FQ_PIE_ALPHA, "alpha");
	shim_u32(TCA_FQ_PIE_BETA, "beta");
	shim_u32(TCA_FQ_PIE_QUANTUM, "quantum");
	shim_u32(TCA_FQ_PIE_MEMORY_LIMIT, "memory_limit");
	shim_u32(TCA_FQ_PIE_ECN_PROB, "ecn_prob");
	shim_u32(TCA_FQ_PIE_ECN, "ecn");
	shim_u32(TCA_FQ_PIE_BYTEMODE, "bytemode");
	shim_u32(TCA_FQ_PIE_DQ_RATE_ESTIMATOR, "dq_rate_estimator");
	return SHIM_SOME;
}
