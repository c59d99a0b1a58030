/* SPDX-License-Identifier: GPL-2.0-only */
/* The reserve of memory for a library that cannot go on without (memory.c). */
#ifndef SOJOURN_MEMORY_H
#define SOJOURN_MEMORY_H

#include <linux/types.h>

int sojourn_reserve_init(void);
void sojourn_reserve_exit(void);

/* Whether a call of the library on this processor took some of it since this was asked last. */
bool sojourn_took_reserve(void);

#endif
