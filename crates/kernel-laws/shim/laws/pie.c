/* SPDX-License-Identifier: GPL-2.0-only */
#include "net/sched/sch_pie.c"
#include "law.h"

struct Qdisc_ops *shim_ops(void) { return &pie_qdisc_ops; }

struct nlattr *shim_options(void)
{
	shim_u32(TCA_PIE_LIMIT, "limit");
	shim_u32(TCA_PIE_TARGET, "target_us");
	shim_u32(TCA_PIE_TUPDATE, "tupdate_us");
	shim_u32(TCA_PIE_ALPHA, "alpha");
	shim_u32(TCA_PIE_BETA, "beta");
	shim_u32(TCA_PIE_ECN, "ecn");
	shim_u32(TCA_PIE_BYTEMODE, "bytemode");
	shim_u32(TCA_PIE_DQ_RATE_ESTIMATOR, "dq_rate_estimator");
	return SHIM_SOME;
}
