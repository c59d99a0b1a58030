/* SPDX-License-Identifier: GPL-2.0-only */
#include "net/sched/sch_red.c"
#include "law.h"
#include "red.h"

struct Qdisc_ops *shim_ops(void) { return &red_qdisc_ops; }

struct nlattr *shim_options(void)
{
	shim_red(TCA_RED_PARMS, TCA_RED_STAB, TCA_RED_MAX_P, shim_red_flags());
	return SHIM_SOME;
}
