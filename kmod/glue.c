// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queueing discipline "sojourn": an AQM of Sojourn's registry, named by its text, in a kernel.
 *
 * The library in Rust holds descriptions of packets and decides; this file holds the packets. It
 * describes each arrival to the library, and carries out the drops and marks that the library
 * reports by callbacks. Packets are also in a list here, in the order of arrival, so that they can
 * be freed or enqueued again without calling the library.
 *
 * Longer than 400 lines: one discipline, whose parts call each other.
 */

#include <linux/ctype.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <net/flow_dissector.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif

#include "memory.h"
#include "sojourn_aqm.h"
#include "sojourn_netlink.h"

#define TEXT_BYTES 1024
#define ERROR_BYTES 256
#define SETTING_BYTES 32
#define VARS 64
/* CAKE has fewer. */
#define CAKE_VARS 8
/*
 * The library counts time from an instant shortly before the discipline was created. That instant
 * is a multiple of CoDel's tick of 1024 ns and of a jiffy, so that both have the same phase as in
 * the kernel's disciplines.
 */
#define ORIGIN_STEP_NS (80 * NSEC_PER_MSEC)
/* When PIE's timer is set first (sch_pie.c, pie_init, and sch_fq_pie.c, fq_pie_init). */
#define FIRST_UPDATE_JIFFIES (HZ / 2)
/* More frequent updates would occupy a CPU completely. */
#define LEAST_PERIOD_NS NSEC_PER_MSEC
/* Constants of the kernel's timer wheel (kernel/time/timer.c, LVL_START and LVL_CLK_SHIFT). */
#define WHEEL_LEVEL_JIFFIES 63
#define WHEEL_LEVEL_SHIFT 3

/* Any value except 0; number_of inverts the hash under it. */
#define SALT 1

/* How an AQM maps the 64 bits of a flow's hash to a queue or bin. */
enum hash_form {
	/* In the lower 32 bits, as SFB and SFQ do. */
	HASH_LOW,
	/* The upper 64 bits of the product with the number of queues, as FQ disciplines do. */
	HASH_HIGH,
	/* The upper 10 bits, as CAKE does with its 1024 queues. */
	HASH_CAKE,
};

/* The settings of a text. A change creates new ones. */
struct aqm {
	sojourn_qdisc *handle;
	u64 origin_ns;
	u64 seed;
	u64 rate_bps;
	u32 mtu_bytes;
	/* CAKE gets addresses (Linux 6.1 sch_cake.c, cake_hash). */
	bool is_cake;
	/*
	 * CAKE and DualPI2 get the segments of a large packet (Linux 6.1 sch_cake.c, cake_enqueue,
	 * and Linux 7.2 sch_dualpi2.c, dualpi2_qdisc_enqueue).
	 */
	bool splits_gso;
	/*
	 * SFB and SFQ hash the headers of a packet with their own secret (sch_sfb.c, sfb_enqueue, and
	 * sch_sfq.c, sfq_hash). The hash that a packet carries is drawn by its socket, and again after a
	 * timeout.
	 */
	bool hashes_headers;
	siphash_key_t hash_key;
	enum hash_form hash_form;
	/* PIE draws 64 bits (sch_pie.c, pie_drop_early), the others 32. */
	bool is_pie;
	/* PIE: when the next update is due, and the update interval; 0 without updates. */
	u64 update_ns;
	u64 period_ns;
	/* DualPI2 has updates at exact times, counted from its creation. */
	bool is_dualpi2;
	/* CAKE: its target, and which state variable counts its decaying queues. */
	u64 target_ns;
	size_t decaying;
	char text[TEXT_BYTES];
};

struct sojourn_sched_data {
	struct aqm *aqm;
	struct sk_buff_head waiting;
	struct qdisc_watchdog watchdog;
	/* PIE's updates, by a timer of jiffies as in sch_pie.c, pie_timer. */
	struct timer_list updates;
	/* DualPI2's timer, as in Linux 7.2 sch_dualpi2.c, dualpi2_timer. */
	struct hrtimer exact_updates;
	struct Qdisc *sch;
	struct tc_sojourn_xstats stats;
	/* For the callbacks of one call: the arriving packet, if any, and what left the queue. */
	struct sk_buff *arriving;
	struct sk_buff **to_free;
	bool arrival_is_dropped;
	u32 left_packets;
	u32 left_bytes;
	/* Limit of queued packets after memory ran out; 0 otherwise. */
	u32 most_packets;
	/* The largest backlog in packets since the AQM was created. */
	u32 peak_packets;
};

/* ---- Packets. ---- */

static struct sk_buff *packet_of(const sojourn_packet *packet)
{
	return (struct sk_buff *)(uintptr_t)packet->id;
}

static void take_out(struct sojourn_sched_data *q, struct Qdisc *sch, struct sk_buff *skb)
{
	__skb_unlink(skb, &q->waiting);
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
}

static void on_dropped(void *context, const sojourn_packet *packet, uint64_t enqueued_ns,
		       uint8_t stage, uint8_t cause)
{
	struct Qdisc *sch = context;
	struct sojourn_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = packet_of(packet);

	q->stats.drops[min_t(u8, cause, SOJOURN_CAUSES - 1)]++;
	if (skb == q->arriving) {
		q->arrival_is_dropped = true;
		return;
	}
	q->left_packets++;
	q->left_bytes += qdisc_pkt_len(skb);
	take_out(q, sch, skb);
	if (q->to_free) {
		qdisc_drop(skb, sch, q->to_free);
	} else {
		qdisc_qstats_drop(sch);
		kfree_skb(skb);
	}
}

static void on_marked(void *context, const sojourn_packet *packet, uint64_t enqueued_ns,
		      uint8_t stage, uint8_t cause)
{
	struct Qdisc *sch = context;
	struct sojourn_sched_data *q = qdisc_priv(sch);

	q->stats.marks[min_t(u8, cause, SOJOURN_CAUSES - 1)]++;
	INET_ECN_set_ce(packet_of(packet));
}

static uint64_t draw_long(void *context)
{
	u64 bits;

	get_random_bytes(&bits, sizeof(bits));
	return bits;
}

static uint64_t draw_short(void *context)
{
	return (u64)get_random_u32() << 32;
}

/* The kernel's hash of a single address. */
static u32 hash_of_host(const struct flow_keys *keys, bool is_source)
{
	struct flow_keys alone = { .control.addr_type = keys->control.addr_type };

	if (keys->control.addr_type == FLOW_DISSECTOR_KEY_IPV4_ADDRS) {
		if (is_source)
			alone.addrs.v4addrs.src = keys->addrs.v4addrs.src;
		else
			alone.addrs.v4addrs.dst = keys->addrs.v4addrs.dst;
	} else if (keys->control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS) {
		if (is_source)
			alone.addrs.v6addrs.src = keys->addrs.v6addrs.src;
		else
			alone.addrs.v6addrs.dst = keys->addrs.v6addrs.dst;
	}
	return flow_hash_from_keys(&alone);
}

/* The hash of the library for numbers without a salt (crates/aqm/src/rng.rs, splitmix). */
static u64 mixed(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* The preimage of x: its multipliers are odd, and its shifts are repeated until nothing is left. */
static u64 unmixed(u64 x)
{
	x = (x ^ (x >> 31) ^ (x >> 62)) * 0x319642b2d24d8ec3ull;
	x = (x ^ (x >> 27) ^ (x >> 54)) * 0x96de1b173f119089ull;
	return x ^ (x >> 30) ^ (x >> 60);
}

/*
 * The number that the library hashes to the queue that the kernel's own discipline would select
 * (reciprocal_scale, and the lower bits).
 */
static u64 number_of(const struct aqm *aqm, u32 hash, u64 salt)
{
	switch (aqm->hash_form) {
	case HASH_HIGH:
		return unmixed((u64)hash << 32) ^ salt;
	case HASH_CAKE:
		return unmixed((u64)hash << 54 | hash) ^ salt;
	default:
		return unmixed(hash) ^ salt;
	}
}

static sojourn_packet describe(const struct aqm *aqm, struct sk_buff *skb)
{
	int dsfield = skb_get_dsfield(skb);
	u32 hash = aqm->hashes_headers ? skb_get_hash_perturb(skb, &aqm->hash_key) :
					 skb_get_hash(skb);
	sojourn_packet packet = {
		.id = (uintptr_t)skb,
		.flow = number_of(aqm, hash, aqm->is_cake ? mixed(SALT) : SALT),
		.bytes = qdisc_pkt_len(skb),
		.ecn = dsfield < 0 ? SOJOURN_NOT_ECT : dsfield & INET_ECN_MASK,
		.dscp = dsfield < 0 ? 0 : dsfield >> 2,
	};

	if (aqm->is_cake) {
		struct flow_keys keys;

		skb_flow_dissect_flow_keys(skb, &keys, FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL);
		/* The salts of its three tables (crates/aqm/src/qdiscs/cake). */
		packet.src_host = number_of(aqm, hash_of_host(&keys, true), mixed(SALT ^ 1));
		packet.dst_host = number_of(aqm, hash_of_host(&keys, false), mixed(SALT ^ 2));
	}
	return packet;
}

/* PIE's origin may be some jiffies ahead; until then it is time zero. */
static u64 now_of(const struct aqm *aqm)
{
	u64 now = ktime_get_ns();

	return now > aqm->origin_ns ? now - aqm->origin_ns : 0;
}

/* Run timers that became due meanwhile, each at its due time, because nothing else calls them. */
static void catch_up(struct sojourn_sched_data *q, struct Qdisc *sch, u64 now)
{
	u64 due;

	if (q->aqm->period_ns || q->aqm->is_dualpi2)
		return;
	while (sch->q.qlen && (due = sojourn_next_timer(q->aqm->handle)) <= now)
		sojourn_on_timer(q->aqm->handle, due);
}

static void on_update(struct timer_list *timer)
{
	struct sojourn_sched_data *q = container_of(timer, struct sojourn_sched_data, updates);
	spinlock_t *root_lock;
	struct aqm *aqm;
	u64 due;

	/* The root is read under RCU (Linux 7.2 sch_pie.c, pie_timer). */
	rcu_read_lock();
	root_lock = qdisc_lock(qdisc_root_sleeping(q->sch));
	spin_lock(root_lock);
	aqm = q->aqm;
	if (aqm->period_ns) {
		/* Flow queues have no timer while they are empty; they catch up. */
		while ((due = sojourn_next_timer(aqm->handle)) <= aqm->update_ns)
			sojourn_on_timer(aqm->handle, due);
		aqm->update_ns += aqm->period_ns;
		/* The timer expires a step of the kernel's timer wheel later (find_updates). */
		mod_timer(&q->updates, jiffies + nsecs_to_jiffies(aqm->period_ns) - 1);
	}
	spin_unlock(root_lock);
	rcu_read_unlock();
}

static ktime_t next_exact_update(const struct aqm *aqm)
{
	return ns_to_ktime(sojourn_next_timer(aqm->handle) + aqm->origin_ns);
}

/* As Linux 7.2 sch_dualpi2.c, dualpi2_timer: the next update is relative to the time of this one.
 * */
static enum hrtimer_restart on_exact_update(struct hrtimer *timer)
{
	struct sojourn_sched_data *q =
		container_of(timer, struct sojourn_sched_data, exact_updates);
	enum hrtimer_restart again = HRTIMER_NORESTART;
	spinlock_t *root_lock;

	rcu_read_lock();
	root_lock = qdisc_lock(qdisc_root_sleeping(q->sch));
	spin_lock(root_lock);
	/* A change of the AQM, for which this callback has waited, may have set the timer again. */
	if (q->aqm->is_dualpi2 && !hrtimer_is_queued(timer)) {
		sojourn_on_timer(q->aqm->handle, now_of(q->aqm));
		hrtimer_set_expires(timer, next_exact_update(q->aqm));
		again = HRTIMER_RESTART;
	}
	spin_unlock(root_lock);
	rcu_read_unlock();
	return again;
}

static void prepare_exact_updates(struct hrtimer *timer)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, on_exact_update, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
	timer->function = on_exact_update;
#endif
}

/* Parents count the packets of their children. */
static void tell_parents(struct sojourn_sched_data *q, struct Qdisc *sch)
{
	u32 packets = q->left_packets, bytes = q->left_bytes;

	q->left_packets = 0;
	q->left_bytes = 0;
	if (packets)
		qdisc_tree_reduce_backlog(sch, packets, bytes);
}

/* The library's part of the reserve suffices for the packets queued now, but perhaps no more. */
static void note_reserve(struct sojourn_sched_data *q, const struct Qdisc *sch)
{
	if (likely(!sojourn_took_reserve()))
		return;
	q->most_packets = max(sch->q.qlen, 1u);
	pr_warn_ratelimited("sojourn: memory is short; no more than %u packets wait\n",
			    q->most_packets);
}

static bool arrive(struct sojourn_sched_data *q, struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	sojourn_packet packet = describe(q->aqm, skb);
	u32 most = q->most_packets;

	if (unlikely(!most && sojourn_reserve_is_taken()))
		most = max(q->peak_packets, 1u);
	if (unlikely(most && sch->q.qlen >= most)) {
		q->stats.drops[SOJOURN_CAUSE_OVERFLOW]++;
		return false;
	}
	q->arriving = skb;
	q->arrival_is_dropped = false;
	if (sojourn_enqueue(q->aqm->handle, now, &packet))
		q->arrival_is_dropped = true;
	q->arriving = NULL;
	if (q->arrival_is_dropped)
		return false;
	__skb_queue_tail(&q->waiting, skb);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	q->peak_packets = max(q->peak_packets, sch->q.qlen);
	note_reserve(q, sch);
	return true;
}

static int enqueue_one(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct sojourn_sched_data *q = qdisc_priv(sch);
	u64 now = now_of(q->aqm);
	bool stays;

	catch_up(q, sch, now);
	q->to_free = to_free;
	stays = arrive(q, sch, skb, now);
	q->to_free = NULL;
	tell_parents(q, sch);
	return stays ? NET_XMIT_SUCCESS : qdisc_drop(skb, sch, to_free);
}

/* As sch_cake.c, cake_enqueue: the segments of a large packet arrive one by one. */
static int enqueue_segments(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	struct sk_buff *segments = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	unsigned int bytes = qdisc_pkt_len(skb), kept = 0, kept_bytes = 0;
	struct sk_buff *segment, *next;

	if (IS_ERR_OR_NULL(segments))
		return qdisc_drop(skb, sch, to_free);
	skb_list_walk_safe(segments, segment, next) {
		skb_mark_not_on_list(segment);
		qdisc_skb_cb(segment)->pkt_len = segment->len;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
		qdisc_skb_cb(segment)->pkt_segs = 1;
#endif
		if (enqueue_one(segment, sch, to_free) == NET_XMIT_SUCCESS) {
			kept++;
			kept_bytes += segment->len;
		}
	}
	consume_skb(skb);
	/* The parent will count one packet of the old size. */
	if (kept)
		qdisc_tree_reduce_backlog(sch, 1 - kept, bytes - kept_bytes);
	return kept ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}

static int sojourn_qdisc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct sojourn_sched_data *q = qdisc_priv(sch);

	if (q->aqm->splits_gso && skb_is_gso(skb))
		return enqueue_segments(skb, sch, to_free);
	return enqueue_one(skb, sch, to_free);
}

/*
 * As sch_cake.c, cake_dequeue: an empty CAKE is polled again a target later if queues decay. It
 * does nothing then, but the expiring timer is visible to other code.
 */
static void wake_decaying(struct sojourn_sched_data *q, u64 now)
{
	/* The bytes of doubles: the bits of 0.0 are 0. */
	u64 values[CAKE_VARS] = { 0 };

	sojourn_observe(q->aqm->handle, (double *)values, CAKE_VARS);
	if (values[q->aqm->decaying])
		qdisc_watchdog_schedule_ns(&q->watchdog,
					   now + q->aqm->target_ns + q->aqm->origin_ns);
}

static struct sk_buff *sojourn_qdisc_dequeue(struct Qdisc *sch)
{
	struct sojourn_sched_data *q = qdisc_priv(sch);
	u64 now = now_of(q->aqm), until;
	struct sk_buff *skb = NULL;
	sojourn_departure departure;

	catch_up(q, sch, now);
	/* An empty queue is polled too, because some laws need to know that it is empty. */
	if (sojourn_dequeue(q->aqm->handle, now, &departure) == 1) {
		skb = packet_of(&departure.packet);
		take_out(q, sch, skb);
		qdisc_bstats_update(sch, skb);
		if (q->aqm->is_cake && !sch->q.qlen)
			wake_decaying(q, now);
	} else if ((until = sojourn_held_until(q->aqm->handle)) != SOJOURN_NEVER) {
		qdisc_watchdog_schedule_ns(&q->watchdog, until + q->aqm->origin_ns);
	}
	tell_parents(q, sch);
	return skb;
}

/* ---- Configuration. ---- */

static const struct nla_policy sojourn_policy[TCA_SOJOURN_MAX + 1] = {
	[TCA_SOJOURN_AQM] = { .type = NLA_NUL_STRING, .len = TEXT_BYTES - 1 },
	[TCA_SOJOURN_SEED] = { .type = NLA_U64 },
	[TCA_SOJOURN_RATE] = { .type = NLA_U64 },
	[TCA_SOJOURN_MTU] = { .type = NLA_U32 },
};

static bool is_kind(const char *text, const char *kind)
{
	size_t length = strlen(kind);

	return !strncmp(text, kind, length) && (!text[length] || strchr("@:", text[length]));
}

static void refuse(struct netlink_ext_ack *extack, const char *reason)
{
	/* Changes are serialised: netlink's lock is held until the answer is complete. */
	static char kept[ERROR_BYTES];

	strscpy(kept, reason, sizeof(kept));
	pr_info_ratelimited("sojourn: %s\n", kept);
	if (extack)
		extack->_msg = kept;
}

static void start_clock(struct aqm *aqm, u64 now)
{
	aqm->origin_ns = aqm->is_dualpi2 ? now : now - now % ORIGIN_STEP_NS;
}

/*
 * Expiry of a timer that is set `ahead` jiffies ahead: the kernel's wheel rounds up, past the time
 * asked for, to steps that grow with the distance (kernel/time/timer.c, calc_wheel_index).
 */
static unsigned long expires_in(unsigned long ahead)
{
	unsigned long first = WHEEL_LEVEL_JIFFIES;
	unsigned int shift = 0;

	for (; ahead >= first; first <<= WHEEL_LEVEL_SHIFT)
		shift += WHEEL_LEVEL_SHIFT;
	return ((((jiffies + ahead) >> shift) + 1) << shift) - jiffies;
}

/*
 * The time between two updates; 0 without updates. The library allows updates every nanosecond, but
 * a kernel must not run them. A discipline shows its times once it has a packet.
 *
 * PIE's timer continues in the kernel while the queue is empty (sch_fq_pie.c, fq_pie_timer), and so
 * does ours. Time is counted so that the first update is due when the timer expires, because empty
 * queues catch up by the clock.
 */
static u64 find_updates(struct aqm *aqm, sojourn_qdisc *probe)
{
	sojourn_packet packet = { .id = 1, .bytes = 1 };
	u64 first, period, now = aqm->is_pie ? ktime_get_ns() : 0;

	sojourn_enqueue(probe, 0, &packet);
	first = sojourn_next_timer(probe);
	if (first == SOJOURN_NEVER)
		return 0;
	sojourn_on_timer(probe, first);
	period = sojourn_next_timer(probe) - first;
	if (aqm->is_pie) {
		aqm->update_ns = first;
		aqm->period_ns = period;
		aqm->origin_ns = now - now % (NSEC_PER_SEC / HZ) - first +
				 expires_in(FIRST_UPDATE_JIFFIES) * (NSEC_PER_SEC / HZ);
	}
	return max(period, 1ull);
}

/* A time as the library writes it: digits, perhaps with a point and more digits, and a unit. */
static u64 time_of(const char *text)
{
	static const struct { const char *name; u64 ns; } units[] = {
		{ "ns", 1 }, { "us", NSEC_PER_USEC }, { "ms", NSEC_PER_MSEC }, { "s", NSEC_PER_SEC },
	};
	u64 digits = 0, divisor = 1;
	bool is_fraction = false;
	size_t i;

	for (; isdigit(*text) || *text == '.'; text++) {
		if (*text == '.') {
			is_fraction = true;
			continue;
		}
		digits = digits * 10 + (*text - '0');
		divisor *= is_fraction ? 10 : 1;
	}
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(text, units[i].name))
			return div64_u64(digits * units[i].ns, divisor);
	return 0;
}

static void find_decay(struct aqm *aqm)
{
	char target[SETTING_BYTES] = "";
	const char *name;

	sojourn_setting(aqm->handle, "target", target, sizeof(target));
	aqm->target_ns = time_of(target);
	while ((name = sojourn_var_name(aqm->handle, aqm->decaying)) &&
	       strcmp(name, "decaying_flows"))
		aqm->decaying++;
}

/* The AQM to create, in a thread that may end (memory.h). */
struct making {
	struct aqm *aqm;
	sojourn_setup setup;
	char error[ERROR_BYTES];
};

/* Whether a kernel can run a configuration that the library allows. */
static bool is_moderate(struct making *making)
{
	sojourn_setup alone = making->setup;
	sojourn_qdisc *probe;
	u64 period;

	alone.dropped = NULL;
	alone.marked = NULL;
	probe = sojourn_new(making->aqm->text, &alone, making->error, ERROR_BYTES);
	if (!probe)
		return false;
	period = find_updates(making->aqm, probe);
	if (period && period < LEAST_PERIOD_NS)
		scnprintf(making->error, ERROR_BYTES,
			  "updates %llu ns apart: a kernel needs %lu ns at least", period,
			  (unsigned long)LEAST_PERIOD_NS);
	sojourn_free(probe);
	return !making->error[0];
}

static void make(void *context)
{
	struct making *making = context;
	struct aqm *aqm = making->aqm;

	if (!is_moderate(making))
		return;
	aqm->handle = sojourn_new(aqm->text, &making->setup, making->error, ERROR_BYTES);
	if (aqm->handle && aqm->is_cake)
		find_decay(aqm);
}

static int make_handle(struct aqm *aqm, struct Qdisc *sch, struct netlink_ext_ack *extack)
{
	struct making *making = kzalloc(sizeof(*making), GFP_KERNEL);
	int err;

	if (!making)
		return -ENOMEM;
	making->aqm = aqm;
	making->setup = (sojourn_setup){
		.mtu_bytes = aqm->mtu_bytes,
		.rate_bps = aqm->rate_bps,
		.seed = aqm->seed,
		.salt = SALT,
		.context = sch,
		.dropped = on_dropped,
		.marked = on_marked,
		.bits = aqm->is_pie ? draw_long : draw_short,
	};
	err = sojourn_attempt(make, making);
	if (err) {
		/* Its target has been freed. */
		aqm->handle = NULL;
		refuse(extack, err == -ENOMEM ? "there is not enough memory for this AQM" :
						"the AQM cannot be made; see the kernel's log");
	} else if (!aqm->handle) {
		refuse(extack, making->error);
		err = -EINVAL;
	}
	kfree(making);
	return err;
}

static void free_aqm(struct aqm *aqm)
{
	if (aqm)
		sojourn_free(aqm->handle);
	kfree(aqm);
}

static int read_aqm(struct aqm *aqm, struct Qdisc *sch, struct nlattr *opt, u64 now,
		    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_SOJOURN_MAX + 1];
	/* Like the disciplines of tc, which does not flag its options as nested. */
	int err = nla_parse_nested_deprecated(tb, TCA_SOJOURN_MAX, opt, sojourn_policy, extack);

	if (err < 0)
		return err;
	if (!tb[TCA_SOJOURN_AQM]) {
		refuse(extack, "the AQM is missing; give its text, such as codel@linux");
		return -EINVAL;
	}
	nla_strscpy(aqm->text, tb[TCA_SOJOURN_AQM], sizeof(aqm->text));
	aqm->is_cake = is_kind(aqm->text, "cake");
	aqm->is_dualpi2 = is_kind(aqm->text, "dualpi2");
	aqm->splits_gso = aqm->is_cake || aqm->is_dualpi2;
	aqm->hashes_headers = is_kind(aqm->text, "sfb") || is_kind(aqm->text, "sfq");
	aqm->hash_form = aqm->is_cake			  ? HASH_CAKE :
			 !strncmp(aqm->text, "fq", 2) ? HASH_HIGH :
							HASH_LOW;
	get_random_bytes(&aqm->hash_key, sizeof(aqm->hash_key));
	aqm->is_pie = is_kind(aqm->text, "pie") || is_kind(aqm->text, "fq_pie");
	aqm->seed = tb[TCA_SOJOURN_SEED] ? nla_get_u64(tb[TCA_SOJOURN_SEED]) : get_random_u64();
	aqm->rate_bps = tb[TCA_SOJOURN_RATE] ? nla_get_u64(tb[TCA_SOJOURN_RATE]) : 0;
	aqm->mtu_bytes = tb[TCA_SOJOURN_MTU] ? nla_get_u32(tb[TCA_SOJOURN_MTU]) :
					       psched_mtu(qdisc_dev(sch));
	start_clock(aqm, now);
	return make_handle(aqm, sch, extack);
}

/* Enqueues the queued packets again, in the order of their arrival. */
static void replace(struct sojourn_sched_data *q, struct Qdisc *sch, struct aqm *aqm)
{
	struct sk_buff_head before;
	struct sk_buff *skb;

	__skb_queue_head_init(&before);
	/* A packet that the parent has peeked at is counted, and stays. */
	while ((skb = skb_peek(&q->waiting))) {
		take_out(q, sch, skb);
		__skb_queue_tail(&before, skb);
	}
	q->most_packets = 0;
	q->peak_packets = 0;
	swap(q->aqm, aqm);
	while ((skb = __skb_dequeue(&before))) {
		if (arrive(q, sch, skb, now_of(q->aqm)))
			continue;
		q->left_packets++;
		q->left_bytes += qdisc_pkt_len(skb);
		rtnl_qdisc_drop(skb, sch);
	}
	tell_parents(q, sch);
	free_aqm(aqm);
}

static int sojourn_qdisc_change(struct Qdisc *sch, struct nlattr *opt,
				struct netlink_ext_ack *extack)
{
	struct sojourn_sched_data *q = qdisc_priv(sch);
	/*
	 * Read first, because DualPI2's timer counts from here, and every reading and every random number
	 * advances the clock of a guest in virtual time.
	 */
	u64 now = ktime_get_ns();
	struct aqm *aqm;
	int err;

	if (!opt) {
		refuse(extack, "the AQM is missing; give its text, such as codel@linux");
		return -EINVAL;
	}
	aqm = kzalloc(sizeof(*aqm), GFP_KERNEL);
	if (!aqm)
		return -ENOMEM;
	err = read_aqm(aqm, sch, opt, now, extack);
	if (err) {
		free_aqm(aqm);
		return err;
	}
	sch_tree_lock(sch);
	replace(q, sch, aqm);
	if (q->aqm->period_ns)
		mod_timer(&q->updates, jiffies + FIRST_UPDATE_JIFFIES);
	if (q->aqm->is_dualpi2)
		hrtimer_start(&q->exact_updates, next_exact_update(q->aqm),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
	sch_tree_unlock(sch);
	return 0;
}

static int sojourn_qdisc_init(struct Qdisc *sch, struct nlattr *opt,
			      struct netlink_ext_ack *extack)
{
	struct sojourn_sched_data *q = qdisc_priv(sch);

	__skb_queue_head_init(&q->waiting);
	qdisc_watchdog_init(&q->watchdog, sch);
	timer_setup(&q->updates, on_update, 0);
	prepare_exact_updates(&q->exact_updates);
	q->sch = sch;
	return sojourn_qdisc_change(sch, opt, extack);
}

/*
 * Frees all packets. If a shaper of the library holds them back, it is polled at their release
 * time; its clock jumps there and continues from there.
 */
static void sojourn_qdisc_reset(struct Qdisc *sch)
{
	struct sojourn_sched_data *q = qdisc_priv(sch);
	sojourn_departure departure;
	struct sk_buff *skb;
	u64 now, until;

	qdisc_watchdog_cancel(&q->watchdog);
	while (q->aqm && sch->q.qlen) {
		now = now_of(q->aqm);
		if (sojourn_dequeue(q->aqm->handle, now, &departure) == 1) {
			skb = packet_of(&departure.packet);
			take_out(q, sch, skb);
			rtnl_kfree_skbs(skb, skb);
			continue;
		}
		until = sojourn_held_until(q->aqm->handle);
		if (until == SOJOURN_NEVER)
			break;
		q->aqm->origin_ns -= until > now ? until - now : 0;
	}
	q->left_packets = 0;
	q->left_bytes = 0;
}

static void stop_updates(struct timer_list *updates)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	timer_shutdown_sync(updates);
#else
	del_timer_sync(updates);
#endif
}

static void sojourn_qdisc_destroy(struct Qdisc *sch)
{
	struct sojourn_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	stop_updates(&q->updates);
	hrtimer_cancel(&q->exact_updates);
	free_aqm(q->aqm);
	__skb_queue_purge(&q->waiting);
}

/* ---- Dumps for tc and others. ---- */

static int dump_vars(struct sojourn_sched_data *q, struct Qdisc *sch, struct sk_buff *skb)
{
	struct nlattr *all = nla_nest_start(skb, TCA_SOJOURN_VARS), *one;
	/*
	 * The bytes of doubles, which this file only passes on. Dumps are serialised by netlink's lock.
	 * Not allocated: a dump that fails ends without an error and without the discipline.
	 */
	static u64 values[VARS];
	size_t i, count = 0;
	int err = -EMSGSIZE;

	if (all) {
		sch_tree_lock(sch);
		count = sojourn_observe(q->aqm->handle, (double *)values, VARS);
		sch_tree_unlock(sch);
		err = 0;
	}
	for (i = 0; !err && i < min_t(size_t, count, VARS); i++) {
		one = nla_nest_start(skb, i + 1);
		if (!one || nla_put_string(skb, TCA_SOJOURN_VAR_NAME,
					   sojourn_var_name(q->aqm->handle, i)) ||
		    nla_put(skb, TCA_SOJOURN_VAR_VALUE, sizeof(u64), &values[i]))
			err = -EMSGSIZE;
		else
			nla_nest_end(skb, one);
	}
	if (!err)
		nla_nest_end(skb, all);
	return err;
}

static int sojourn_qdisc_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct sojourn_sched_data *q = qdisc_priv(sch);
	struct nlattr *opts = nla_nest_start(skb, TCA_OPTIONS);

	if (!opts)
		return -EMSGSIZE;
	if (nla_put_string(skb, TCA_SOJOURN_AQM, q->aqm->text) ||
	    nla_put_u64_64bit(skb, TCA_SOJOURN_SEED, q->aqm->seed, TCA_SOJOURN_UNSPEC) ||
	    nla_put_u64_64bit(skb, TCA_SOJOURN_RATE, q->aqm->rate_bps, TCA_SOJOURN_UNSPEC) ||
	    nla_put_u32(skb, TCA_SOJOURN_MTU, q->aqm->mtu_bytes) || dump_vars(q, sch, skb)) {
		nla_nest_cancel(skb, opts);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, opts);
}

static int sojourn_qdisc_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct sojourn_sched_data *q = qdisc_priv(sch);

	return gnet_stats_copy_app(d, &q->stats, sizeof(q->stats));
}

static struct Qdisc_ops sojourn_qdisc_ops __read_mostly = {
	.id = "sojourn",
	.priv_size = sizeof(struct sojourn_sched_data),
	.enqueue = sojourn_qdisc_enqueue,
	.dequeue = sojourn_qdisc_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = sojourn_qdisc_init,
	.reset = sojourn_qdisc_reset,
	.destroy = sojourn_qdisc_destroy,
	.change = sojourn_qdisc_change,
	.dump = sojourn_qdisc_dump,
	.dump_stats = sojourn_qdisc_dump_stats,
	.owner = THIS_MODULE,
};

static int __init sojourn_module_init(void)
{
	int err = sojourn_reserve_init();

	if (err)
		return err;
	err = register_qdisc(&sojourn_qdisc_ops);
	if (err)
		sojourn_reserve_exit();
	return err;
}

static void __exit sojourn_module_exit(void)
{
	unregister_qdisc(&sojourn_qdisc_ops);
	sojourn_reserve_exit();
}

module_init(sojourn_module_init)
module_exit(sojourn_module_exit)

MODULE_AUTHOR("The Sojourn developers");
MODULE_DESCRIPTION("Active queue management of Sojourn's registry");
MODULE_LICENSE("GPL");
