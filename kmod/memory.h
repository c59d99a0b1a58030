/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of a library that cannot continue if an allocation fails (memory.c). */
#ifndef SOJOURN_MEMORY_H
#define SOJOURN_MEMORY_H

#include <linux/types.h>

int sojourn_reserve_init(void);
void sojourn_reserve_exit(void);

/* Whether a call of the library on this CPU has used the reserve since the last query. */
bool sojourn_took_reserve(void);

/* Whether any of the reserve is in use. */
bool sojourn_reserve_is_taken(void);

/*
 * Does work that calls the library and may sleep. Returns 0, or -ENOMEM if memory ran out,
 * -ENOTRECOVERABLE if the library panicked; then everything that it created has been freed.
 */
int sojourn_attempt(void (*work)(void *context), void *context);

#endif
