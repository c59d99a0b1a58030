// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the library in Rust asks of its host (crates/capi/src/host.rs): memory, and an end.
 */

#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "memory.h"

/* Room for a queue of 131,072 packets, which kmalloc does not give. */
#define RESERVE_BYTES (8 << 20)

void *sojourn_host_alloc(size_t size, size_t align);
void sojourn_host_free(void *memory, size_t size, size_t align);
void __noreturn sojourn_host_panic(const unsigned char *text, size_t length);

/*
 * The library cannot go on without the memory that it asks for. Where the kernel has none, this is
 * taken, and the discipline then takes no more packets than wait in it (glue.c, note_reserve). It
 * is given out from its beginning to its end, and again once all has been freed.
 */
static struct {
	spinlock_t lock;
	char *bytes;
	size_t used;
	size_t pieces;
} reserve = { .lock = __SPIN_LOCK_UNLOCKED(reserve.lock) };

/* Whether a call of the library on this processor took some of it since it was asked last. */
static DEFINE_PER_CPU(bool, took_reserve);

bool sojourn_took_reserve(void)
{
	bool took = this_cpu_read(took_reserve);

	if (unlikely(took))
		this_cpu_write(took_reserve, false);
	return took;
}

int sojourn_reserve_init(void)
{
	reserve.bytes = vmalloc(RESERVE_BYTES);
	return reserve.bytes ? 0 : -ENOMEM;
}

void sojourn_reserve_exit(void)
{
	vfree(reserve.bytes);
}

static void *from_reserve(size_t size, size_t align)
{
	void *memory = NULL;
	unsigned long flags;
	size_t at;

	spin_lock_irqsave(&reserve.lock, flags);
	at = ALIGN(reserve.used, max_t(size_t, align, ARCH_KMALLOC_MINALIGN));
	if (size <= RESERVE_BYTES && at <= RESERVE_BYTES - size) {
		memory = reserve.bytes + at;
		reserve.used = at + size;
		reserve.pieces++;
	}
	spin_unlock_irqrestore(&reserve.lock, flags);
	this_cpu_write(took_reserve, true);
	return memory;
}

static bool is_reserve(const char *memory)
{
	return memory >= reserve.bytes && memory < reserve.bytes + RESERVE_BYTES;
}

/* Packets are handled with softirqs off; everything else may wait for memory. */
void *sojourn_host_alloc(size_t size, size_t align)
{
	size_t bytes = align > ARCH_KMALLOC_MINALIGN ? roundup_pow_of_two(max(size, align)) : size;
	void *memory;

	if (in_softirq() || irqs_disabled())
		memory = kmalloc(bytes, GFP_ATOMIC | __GFP_NOWARN);
	else
		memory = kvmalloc(bytes, GFP_KERNEL);
	return memory ? memory : from_reserve(size, align);
}

void sojourn_host_free(void *memory, size_t size, size_t align)
{
	unsigned long flags;

	if (!is_reserve(memory)) {
		kvfree(memory);
		return;
	}
	spin_lock_irqsave(&reserve.lock, flags);
	if (!--reserve.pieces)
		reserve.used = 0;
	spin_unlock_irqrestore(&reserve.lock, flags);
}

void __noreturn sojourn_host_panic(const unsigned char *text, size_t length)
{
	panic("sojourn: %.*s", (int)length, text);
}
