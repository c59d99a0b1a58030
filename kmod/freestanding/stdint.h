/* SPDX-License-Identifier: GPL-2.0-only */
/* For sojourn_aqm.h, because the kernel defines these types elsewhere. */
#include <linux/types.h>
#ifndef UINT64_MAX
#define UINT64_MAX U64_MAX
#endif
