/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* The netlink attributes of the queueing discipline "sojourn", within TCA_OPTIONS. */
#ifndef SOJOURN_NETLINK_H
#define SOJOURN_NETLINK_H

enum {
	TCA_SOJOURN_UNSPEC,
	/* The AQM as text, such as "codel@linux:target=10ms"; required, and dumped. */
	TCA_SOJOURN_AQM,
	/* u64: seeds the hashes of flows; random if absent. */
	TCA_SOJOURN_SEED,
	/* u64, bit/s: the rate of the link, if known. */
	TCA_SOJOURN_RATE,
	/* u32: the largest packet; by default the device's, with its header. */
	TCA_SOJOURN_MTU,
	/* Dumped only: state variables, one nest each. */
	TCA_SOJOURN_VARS,
	__TCA_SOJOURN_MAX,
};

#define TCA_SOJOURN_MAX (__TCA_SOJOURN_MAX - 1)

/* Within a state variable: its name, and its value as the eight bytes of a double. */
enum {
	TCA_SOJOURN_VAR_UNSPEC,
	TCA_SOJOURN_VAR_NAME,
	TCA_SOJOURN_VAR_VALUE,
};

/* TCA_STATS_APP: drops by cause (SOJOURN_CAUSE_... of sojourn_aqm.h), then marks by cause. */
#define SOJOURN_CAUSES 15

struct tc_sojourn_xstats {
	__u64 drops[SOJOURN_CAUSES];
	__u64 marks[SOJOURN_CAUSES];
};

#endif
