/* SPDX-License-Identifier: GPL-2.0-only */
#include "cake.h"
#include "net/sched/sch_cake.c"
#include "law.h"

struct Qdisc_ops *shim_ops(void) { return &cake_qdisc_ops; }

struct nlattr *shim_options(void)
{
	u64 rate = shim_arg("bytes_per_sec", 0);
	u32 modes[] = { shim_arg("diffserv_mode", CAKE_DIFFSERV_BESTEFFORT),
			shim_arg("flow_mode", CAKE_FLOW_TRIPLE) };

	shim_attribute(TCA_CAKE_DIFFSERV_MODE, &modes[0], sizeof(u32));
	shim_attribute(TCA_CAKE_FLOW_MODE, &modes[1], sizeof(u32));
	if (rate)
		shim_attribute(TCA_CAKE_BASE_RATE64, &rate, sizeof(rate));
	shim_u32(TCA_CAKE_RTT, "rtt_us");
	shim_u32(TCA_CAKE_TARGET, "target_us");
	shim_u32(TCA_CAKE_MEMORY, "memory");
	shim_u32(TCA_CAKE_OVERHEAD, "overhead");
	shim_u32(TCA_CAKE_MPU, "mpu");
	shim_u32(TCA_CAKE_ATM, "atm_mode");
	shim_u32(TCA_CAKE_WASH, "wash");
	shim_u32(TCA_CAKE_INGRESS, "ingress");
	shim_u32(TCA_CAKE_AUTORATE, "autorate");
	shim_u32(TCA_CAKE_ACK_FILTER, "ack_filter");
	return SHIM_SOME;
}
