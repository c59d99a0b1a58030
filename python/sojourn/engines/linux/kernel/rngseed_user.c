// SPDX-License-Identifier: GPL-2.0
/*
 * Random numbers from a seed, for a guest that runs the same way twice.
 *
 * This file is compiled into a User-Mode Linux kernel and is therefore under the GPL, version 2,
 * unlike the rest of Sojourn. With the boot option rngseed=N the kernel asks this generator
 * (splitmix64) wherever it would ask its host for random bytes. Without the option it asks the host.
 */

#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>
#include <init.h>
#include <os.h>

static unsigned long long state;
static int seeded;

static int __init rngseed_setup(char *text, int *add)
{
	state = strtoull(text, NULL, 0);
	seeded = 1;
	return 0;
}

__uml_setup("rngseed=", rngseed_setup,
"rngseed=N\n"
"    Draw the kernel's random numbers from the seed N instead of the host.\n\n"
);

static unsigned char next_byte(void)
{
	unsigned long long x = (state += 0x9e3779b97f4a7c15ull);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return (x ^ (x >> 31)) & 0xff;
}

ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)
{
	unsigned char *bytes = buf;
	size_t i;

	if (!seeded)
		return getrandom(buf, len, flags);
	for (i = 0; i < len; i++)
		bytes[i] = next_byte();
	return len;
}
