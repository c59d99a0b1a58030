// SPDX-License-Identifier: GPL-2.0
/*
 * Random numbers from a seed, for a guest that runs the same way twice.
 *
 * This file is compiled into a User-Mode Linux kernel and is therefore under the GPL, version 2,
 * unlike the rest of Sojourn. With the boot option rngseed=N every random number of the kernel is
 * drawn from the seed N (splitmix64), and the numbers restart with each second of its clock.
 * Without the option the kernel asks its host.
 *
 * The kernel's own generator takes in the times of all interrupts since the start. They depend on
 * what programs do before a run, so that another version of a program would give other numbers.
 */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <init.h>
#include <os.h>

static unsigned long long seed, state;
/* Asked by drivers/char/random.c, as changed by ours, for each random number. */
int rng_seeded;

static int __init rngseed_setup(char *text, int *add)
{
	state = seed = strtoull(text, NULL, 0);
	rng_seeded = 1;
	/* Programs inherit that reading the cycle counter faults; trap.c, as changed by ours, answers. */
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	return 0;
}

__uml_setup("rngseed=", rngseed_setup,
"rngseed=N\n"
"    Draw all random numbers from the seed N instead of the host, restarting every second.\n\n"
);

static unsigned long long next_number(unsigned long long *from)
{
	unsigned long long x = (*from += 0x9e3779b97f4a7c15ull);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/*
 * The next bytes of this second's numbers. Those for programs are others than the kernel's own, so
 * that what programs draw moves none of the kernel's. The seed is mixed before the second is
 * combined with it: no two seeds draw the same numbers in different seconds.
 *
 * A number of 16, 32 or 64 bits is the upper part of one draw, so that one who needs 16 bits and
 * draws 32 gets the same.
 */
void rng_of_second(void *buf, size_t len, unsigned long long now_ns, int for_programs)
{
	static unsigned long long second = -1ull, states[2];
	unsigned long long this_second = now_ns / 1000000000, start = seed, number;
	unsigned char *bytes = buf;
	size_t part;

	if (this_second != second) {
		start = next_number(&start) ^ this_second;
		states[0] = next_number(&start);
		states[1] = next_number(&start);
		second = this_second;
	}
	for (; len; bytes += part, len -= part) {
		number = next_number(&states[!!for_programs]);
		part = len < sizeof(number) ? len : sizeof(number);
		memcpy(bytes, (unsigned char *)&number + sizeof(number) - part, part);
	}
}

ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)
{
	unsigned char *bytes = buf;
	size_t i;

	if (!rng_seeded)
		return getrandom(buf, len, flags);
	for (i = 0; i < len; i++)
		bytes[i] = next_number(&state) & 0xff;
	return len;
}
