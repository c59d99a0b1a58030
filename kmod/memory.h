/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of a library that cannot go on without the memory that it asks for (memory.c). */
#ifndef SOJOURN_MEMORY_H
#define SOJOURN_MEMORY_H

#include <linux/types.h>

int sojourn_reserve_init(void);
void sojourn_reserve_exit(void);

/* Whether a call of the library on this processor took some of it since this was asked last. */
bool sojourn_took_reserve(void);

/* Whether any of it is taken. */
bool sojourn_reserve_is_taken(void);

/*
 * Does work that calls the library and may sleep. Returns 0; or -ENOMEM where memory was short,
 * -ENOTRECOVERABLE where the library panicked: then nothing that it made is left.
 */
int sojourn_attempt(void (*work)(void *context), void *context);

#endif
