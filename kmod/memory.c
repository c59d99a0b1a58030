// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host functions of the library in Rust (crates/capi/src/host.rs): memory and termination.
 *
 * The library cannot continue if an allocation fails, and its stack cannot be unwound. A
 * configuration is therefore created in a separate thread, which ends if memory runs out; its
 * memory is then freed and the change fails (sojourn_attempt). The packet path has a reserve.
 */

#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "memory.h"

/* Memory of a queue of 131,072 packets, which exceeds the limit of kmalloc. */
#define LARGE_BYTES (8 << 20)
/* The rest of the reserve is for pieces up to this size. */
#define SMALL_PIECE (64 << 10)
#define RESERVE_BYTES (LARGE_BYTES + (1 << 20))
/* Initial size of the record of an attempt. */
#define FIRST_PIECES 256

void *sojourn_host_alloc(size_t size, size_t align);
void sojourn_host_free(void *memory, size_t size, size_t align);
void __noreturn sojourn_host_panic(const unsigned char *text, size_t length);

/* The current attempt: its thread, and the memory that it holds. */
static struct {
	struct task_struct *task;
	struct completion done;
	void (*work)(void *context);
	void *context;
	void **pieces;
	size_t count, room;
	int err;
} attempt;
static DEFINE_MUTEX(attempts);

static bool is_attempt(void)
{
	return READ_ONCE(attempt.task) == current && in_task();
}

static void __noreturn end_attempt(int err)
{
	attempt.err = err;
	WRITE_ONCE(attempt.task, NULL);
	kthread_complete_and_exit(&attempt.done, 0);
}

static int attempt_thread(void *unused)
{
	WRITE_ONCE(attempt.task, current);
	attempt.work(attempt.context);
	end_attempt(0);
}

int sojourn_attempt(void (*work)(void *context), void *context)
{
	struct task_struct *task;
	int err;

	mutex_lock(&attempts);
	init_completion(&attempt.done);
	attempt.work = work;
	attempt.context = context;
	task = kthread_run(attempt_thread, NULL, "sojourn");
	if (IS_ERR(task)) {
		err = PTR_ERR(task);
	} else {
		wait_for_completion(&attempt.done);
		err = attempt.err;
	}
	while (err && attempt.count)
		kvfree(attempt.pieces[--attempt.count]);
	kvfree(attempt.pieces);
	attempt.pieces = NULL;
	attempt.count = 0;
	attempt.room = 0;
	mutex_unlock(&attempts);
	return err;
}

static bool has_room(void)
{
	size_t room = attempt.room ? 2 * attempt.room : FIRST_PIECES;
	void **pieces;

	if (attempt.count < attempt.room)
		return true;
	pieces = kvmalloc_array(room, sizeof(*pieces), GFP_KERNEL | __GFP_NOWARN);
	if (!pieces)
		return false;
	if (attempt.count)
		memcpy(pieces, attempt.pieces, attempt.count * sizeof(*pieces));
	kvfree(attempt.pieces);
	attempt.pieces = pieces;
	attempt.room = room;
	return true;
}

static void *alloc_in_attempt(size_t bytes)
{
	/* Without the flag the kernel would kill processes before the allocation fails. */
	gfp_t flags = GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	void *memory = has_room() ? kvmalloc(bytes, flags) : NULL;

	if (!memory)
		end_attempt(-ENOMEM);
	attempt.pieces[attempt.count++] = memory;
	return memory;
}

/* Most pieces are freed soon. */
static void forget(const void *memory)
{
	size_t i = attempt.count;

	while (i-- > 0) {
		if (attempt.pieces[i] == memory) {
			attempt.pieces[i] = attempt.pieces[--attempt.count];
			return;
		}
	}
}

/* The packet path uses this reserve if the kernel has no memory. The discipline then accepts no
 * more packets than it holds (glue.c, note_reserve), and no other discipline grows beyond its
 * largest queue so far (glue.c, arrive). It is allocated from beginning to end, and reused once
 * everything has been freed.
 */
static struct {
	spinlock_t lock;
	char *bytes;
	size_t used;
	size_t pieces;
} reserve = { .lock = __SPIN_LOCK_UNLOCKED(reserve.lock) };

/* Whether a call of the library on this CPU has used the reserve since the last query. */
static DEFINE_PER_CPU(bool, took_reserve);

bool sojourn_took_reserve(void)
{
	bool took = this_cpu_read(took_reserve);

	if (unlikely(took))
		this_cpu_write(took_reserve, false);
	return took;
}

bool sojourn_reserve_is_taken(void)
{
	return READ_ONCE(reserve.pieces);
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
	size_t end = size > SMALL_PIECE ? LARGE_BYTES : RESERVE_BYTES;
	void *memory = NULL;
	unsigned long flags;
	size_t at;

	spin_lock_irqsave(&reserve.lock, flags);
	at = ALIGN(reserve.used, max_t(size_t, align, ARCH_KMALLOC_MINALIGN));
	if (size <= end && at <= end - size) {
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

	if (is_attempt())
		return alloc_in_attempt(bytes);
	if (in_softirq() || irqs_disabled())
		memory = kmalloc(bytes, GFP_ATOMIC | __GFP_NOWARN);
	else
		memory = kvmalloc(bytes, GFP_KERNEL | __GFP_NOWARN);
	return memory ? memory : from_reserve(size, align);
}

void sojourn_host_free(void *memory, size_t size, size_t align)
{
	unsigned long flags;

	if (is_attempt())
		forget(memory);
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
	if (is_attempt()) {
		pr_err("sojourn: %.*s\n", (int)length, text);
		end_attempt(-ENOTRECOVERABLE);
	}
	panic("sojourn: %.*s", (int)length, text);
}
