/* SPDX-License-Identifier: GPL-2.0-only */
#include "net/sched/sch_choke.c"
#include "law.h"
#include "red.h"

struct Qdisc_ops *shim_ops(void) { return &choke_qdisc_ops; }

struct nlattr *shim_options(void)
{
	shim_red(TCA_CHOKE_PARMS, TCA_CHOKE_STAB, TCA_CHOKE_MAX_P, shim_red_flags());
	return SHIM_SOME;
}
