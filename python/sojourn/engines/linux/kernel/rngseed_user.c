// SPDX-License-Identifier: GPL-2.0
/*
 * Random numbers from a seed, for a guest that runs the same way twice.
 *
 * This file is compiled into a User-Mode Linux kernel and is therefore under the GPL, version 2,
 * unlike the rest of Sojourn. With the boot option rngseed=N the kernel asks this generator
 * (splitmix64) wherever it would ask its host for random bytes. Without the option it asks the host.
 *
 * With rngseed=N/s every random number of the kernel is drawn from the seed, and the numbers begin
 * anew with each second of its clock. Otherwise they also depend on the times of all interrupts since
 * the start, so that two runs with another set-up draw other numbers for the same packets.
 */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <init.h>
#include <os.h>

static unsigned long long seed, state;
static int seeded;
/* Asked by drivers/char/random.c, as changed by ours, for each random number. */
int rng_restarts;

static int __init rngseed_setup(char *text, int *add)
{
	char *end;

	state = seed = strtoull(text, &end, 0);
	seeded = 1;
	rng_restarts = end[0] == '/' && end[1] == 's';
	return 0;
}

__uml_setup("rngseed=", rngseed_setup,
"rngseed=N[/s]\n"
"    Draw the kernel's random numbers from the seed N instead of the host; with /s all of them,\n"
"    and anew from each second on.\n\n"
);

static unsigned long long next_number(unsigned long long *from)
{
	unsigned long long x = (*from += 0x9e3779b97f4a7c15ull);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/*
 * A number of 16, 32 or 64 bits is the upper part of one draw, so that one who needs 16 bits and
 * draws 32 gets the same.
 */
void rng_of_second(void *buf, size_t len, unsigned long long now_ns)
{
	static unsigned long long second, state_of_second;
	unsigned long long this_second = now_ns / 1000000000, start, number;
	unsigned char *bytes = buf;
	size_t part;

	if (this_second != second) {
		start = seed ^ this_second;
		state_of_second = next_number(&start);
		second = this_second;
	}
	for (; len; bytes += part, len -= part) {
		number = next_number(&state_of_second);
		part = len < sizeof(number) ? len : sizeof(number);
		memcpy(bytes, (unsigned char *)&number + sizeof(number) - part, part);
	}
}

ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)
{
	unsigned char *bytes = buf;
	size_t i;

	if (!seeded)
		return getrandom(buf, len, flags);
	for (i = 0; i < len; i++)
		bytes[i] = next_number(&state) & 0xff;
	return len;
}
