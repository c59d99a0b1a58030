// SPDX-License-Identifier: GPL-2.0
/*
 * ptrace as a guest of Linux 6.1 needs it on the machines of today.
 *
 * This file is compiled into a User-Mode Linux kernel and is therefore under the GPL, version 2,
 * unlike the rest of Sojourn. Two calls are changed:
 *
 * PTRACE_SETREGSET. 6.1 has room for 2696 bytes of a processor's registers (AVX-512 and protection
 * keys). A processor with AMX has 11008; their beginning can be read, but only all can be written
 * ("ptrace set fp regs failed"). What lies beyond is written as unused: no program of a guest asks
 * for AMX.
 *
 * PTRACE_OLDSETOPTIONS. The processes in which programs of the guest run die with its kernel.
 * Otherwise one that computes would go on for ever when the kernel is killed.
 */

#include <cpuid.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <asm/ptrace-abi.h>

#define MOST_BYTES 65536
/* Intel SDM 13.4: the components that are in use, as bits, are the first of the area's header. */
#define HEADER_BYTES 512
#define MOST_COMPONENTS 63
#define STATE_LEAF 13

static unsigned char whole[MOST_BYTES] __attribute__((aligned(64)));
static size_t whole_bytes;
static unsigned long long components;

/* How large the host's registers are, and which of their components lie within the first bytes. */
static int measure(pid_t pid, void *kind, size_t bytes)
{
	struct iovec all = { whole, sizeof(whole) };
	unsigned int size, offset, c, d, i;

	if (ptrace(PTRACE_GETREGSET, pid, kind, &all) < 0)
		return -1;
	whole_bytes = all.iov_len;
	components = 3; /* x87 and SSE */
	for (i = 2; i < MOST_COMPONENTS; i++) {
		__cpuid_count(STATE_LEAF, i, size, offset, c, d);
		if (size && !(c & 1) && offset + size <= bytes)
			components |= 1ull << i;
	}
	return 0;
}

static long set_registers(pid_t pid, void *kind, struct iovec *part)
{
	struct iovec all = { whole, 0 };

	if (!whole_bytes && measure(pid, kind, part->iov_len) < 0)
		return -1;
	if (whole_bytes <= part->iov_len)
		return ptrace(PTRACE_SETREGSET, pid, kind, part);
	all.iov_len = whole_bytes;
	memcpy(whole, part->iov_base, part->iov_len);
	memset(whole + part->iov_len, 0, whole_bytes - part->iov_len);
	*(unsigned long long *)(whole + HEADER_BYTES) &= components;
	return ptrace(PTRACE_SETREGSET, pid, kind, &all);
}

long ptrace_whole(enum __ptrace_request request, ...)
{
	va_list rest;
	void *address, *data;
	pid_t pid;

	va_start(rest, request);
	pid = va_arg(rest, pid_t);
	address = va_arg(rest, void *);
	data = va_arg(rest, void *);
	va_end(rest);
	if (request == PTRACE_SETREGSET)
		return set_registers(pid, address, data);
	if ((int)request == PTRACE_OLDSETOPTIONS)
		data = (void *)((unsigned long)data | PTRACE_O_EXITKILL);
	return ptrace(request, pid, address, data);
}
