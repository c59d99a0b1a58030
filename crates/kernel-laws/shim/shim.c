/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plays a recorded sequence of arrivals and requests for departures to one discipline of the kernel
 * and writes down what it does.
 *
 * Usage: LAW name=value... <operations >outcomes. An operation is `struct operation`, an outcome
 * `struct outcome`, in the byte order of the machine.
 */
#include "shim.h"
#include <stdio.h>
#include "law.h"

/* The clock starts here: the kernel takes a time of zero for "not set". A multiple of a jiffy, of
 * CoDel's 1024 ns and of psched's 64 ns. */
#define START (1024 * (u64)NSEC_PER_SEC)

struct operation { u64 at, flow, src_host, dst_host, departure, socket;
		   u32 kind, id, bytes, ecn, dscp, truesize, payload, priority, pacing;
		   unsigned char tcp[60]; };
struct outcome { u32 operation, kind, id; };
enum { ARRIVAL, DEPARTURE };
enum { DROPPED, MARKED, LEFT };

u64 shim_now = START, shim_salt;
struct timer_list *shim_timer;
struct net_device shim_device = { .hard_header_len = 14, .tx_queue_len = 1000 };
static u32 operation;
static u64 state[4];
static const char *const *args;

/* --- xoshiro256++ (Blackman and Vigna, public domain), seeded as crates/aqm/src/rng.rs --- */
static u64 splitmix(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static u64 rotated(u64 x, int bits) { return x << bits | x >> (64 - bits); }

static void seed(u64 number, const char *purpose)
{
	u64 name = 0xcbf29ce484222325, x;

	for (; *purpose; purpose++)
		name = (name ^ (u8)*purpose) * 0x100000001b3;
	x = splitmix(number) ^ rotated(splitmix(name), 21) ^ splitmix(~(u64)0);
	for (int i = 0; i < 4; i++) {
		x += 0x9e3779b97f4a7c15;
		state[i] = splitmix(x);
	}
}

u64 shim_random(void)
{
	u64 out = rotated(state[0] + state[3], 23) + state[0], t = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= t;
	state[3] = rotated(state[3], 45);
	return out;
}

u64 shim_hash(u64 flow, u64 salt) { return splitmix(flow ^ salt); }

/* The keys of flow hashes are the salts of our disciplines: `salt` for as many keys as are drawn
 * before the first packet (`same_keys`), or `salt` and `splitmix(~salt)` for two tables
 * (`two_keys`), where each later one goes on from the one it replaces. Without `two_keys` a later
 * one is counted from `salt`. */
void shim_new_key(siphash_key_t *key)
{
	const u64 step = 0x9e3779b97f4a7c15;
	static u64 drawn;
	bool two = shim_arg("two_keys", 0);
	u64 same = two ? 1 : shim_arg("same_keys", 1), next;

	if (drawn < same)
		next = shim_salt;
	else if (two && drawn == 1)
		next = splitmix(~shim_salt);
	else if (two)
		next = splitmix(key->key[0] + step);
	else
		next = splitmix(shim_salt + (drawn - same + 1) * step);
	drawn++;
	*key = (siphash_key_t){ { next, 0 } };
}

/* --- outcomes --- */
static void report(u32 kind, const struct sk_buff *skb)
{
	struct outcome outcome = { operation, kind, skb->id };

	if (fwrite(&outcome, sizeof(outcome), 1, stdout) != 1)
		abort();
}

void shim_dropped(struct sk_buff *skb)
{
	report(DROPPED, skb);
	memset(skb, 0xdd, sizeof(*skb));
	free(skb);
}

void shim_marked(struct sk_buff *skb) { report(MARKED, skb); }

/* --- configuration --- */
const char *shim_text(const char *name)
{
	size_t length = strlen(name);

	for (const char *const *arg = args; *arg; arg++)
		if (!strncmp(*arg, name, length) && (*arg)[length] == '=')
			return *arg + length + 1;
	return NULL;
}

u64 shim_arg(const char *name, u64 otherwise)
{
	const char *text = shim_text(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static struct nlattr attributes[64];
static int attribute_count;

void shim_attribute(int type, const void *data, size_t bytes)
{
	void *copy = malloc(bytes);

	BUG_ON(attribute_count == 64);
	memcpy(copy, data, bytes);
	attributes[attribute_count++] = (struct nlattr){ nla_attr_size(bytes), type, copy };
}

void shim_nest(int type, const struct nlattr *list)
{
	BUG_ON(attribute_count == 64);
	attributes[attribute_count] = *list;
	attributes[attribute_count++].nla_type = type;
}

void shim_u32(int type, const char *name)
{
	u32 value = shim_arg(name, 0);

	if (shim_text(name))
		shim_attribute(type, &value, sizeof(value));
}

int shim_parse(struct nlattr **tb, int most, struct nlattr *opt)
{
	(void)opt;
	memset(tb, 0, (most + 1) * sizeof(*tb));
	for (int i = 0; i < attribute_count; i++)
		tb[attributes[i].nla_type] = &attributes[i];
	return 0;
}

/* --- a child queue: the kernel's pfifo and bfifo of sch_fifo.c --- */
static int fifo_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	bool in_bytes = sch->ops == &bfifo_qdisc_ops;
	u32 after = in_bytes ? sch->qstats.backlog + skb->len : sch->q.qlen + 1;

	return after <= sch->limit ? qdisc_enqueue_tail(skb, sch) : qdisc_drop(skb, sch, to_free);
}

static struct sk_buff *fifo_peek(struct Qdisc *sch) { return sch->q.head; }

struct Qdisc_ops bfifo_qdisc_ops = { .enqueue = fifo_enqueue, .dequeue = qdisc_dequeue_head,
				     .peek = fifo_peek };
struct Qdisc_ops pfifo_qdisc_ops = { .enqueue = fifo_enqueue, .dequeue = qdisc_dequeue_head,
				     .peek = fifo_peek };
struct Qdisc noop_qdisc = { .ops = &pfifo_qdisc_ops };

struct Qdisc *shim_child(struct Qdisc_ops *ops, u32 limit)
{
	struct Qdisc *child = calloc(1, sizeof(*child));

	child->ops = ops;
	child->dequeue = ops->dequeue;
	child->limit = limit;
	return child;
}

/* --- the loop --- */
static void run_timers(u64 until)
{
	u64 tick = NSEC_PER_SEC / HZ;

	while (shim_timer && shim_timer->pending && shim_timer->expires * tick <= until) {
		shim_now = max(shim_now, shim_timer->expires * tick);
		shim_timer->pending = false;
		shim_timer->function(shim_timer);
	}
	shim_now = until;
}

/* The fields of cake.h's iphdr: version and length, protocol, total length. Without a TCP header it
 * is UDP. */
static void write_header(struct sk_buff *skb, const struct operation *op)
{
	u32 tcp = op->tcp[12] >> 4 << 2, total = 20 + tcp + op->payload;

	skb->header[0] = 0x45;
	skb->header[1] = tcp ? 6 : 17;
	skb->header[2] = total >> 8;
	skb->header[3] = total;
	memcpy(skb->header + 20, op->tcp, sizeof(op->tcp));
}

static struct sk_buff *packet(const struct operation *op)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));

	skb->len = op->bytes;
	skb->truesize = op->truesize;
	skb->protocol = htons(ETH_P_IP);
	skb->ecn = op->ecn;
	skb->dscp = op->dscp;
	skb->flow = op->flow;
	skb->src_host = op->src_host;
	skb->dst_host = op->dst_host;
	skb->id = op->id;
	skb->tstamp = op->departure ? START + op->departure : 0;
	skb->socket = op->socket;
	skb->priority = op->priority;
	skb->pacing = op->pacing;
	write_header(skb, op);
	return skb;
}

int main(int argc, const char *argv[])
{
	struct Qdisc *sch = calloc(1, sizeof(*sch));
	struct operation op;
	struct nlattr *options;

	(void)argc;
	args = argv + 1;
	shim_device.mtu = shim_arg("mtu", 1514) - shim_device.hard_header_len;
	shim_salt = shim_arg("salt", 0);
	sch->ops = shim_ops();
	/* With the handle 0, cake would take a packet's priority for the number of a tin. */
	sch->handle = 1 << 16;
	sch->priv = calloc(1, sch->ops->priv_size);
	__skb_queue_head_init(&sch->gso_skb);
	options = shim_options();
	if (sch->ops->init && sch->ops->init(sch, options, NULL)) {
		fprintf(stderr, "the discipline refuses its options\n");
		return 1;
	}
	seed(shim_arg("seed", 1), "law");
	for (operation = 0; fread(&op, sizeof(op), 1, stdin) == 1; operation++) {
		run_timers(START + op.at);
		if (op.kind == ARRIVAL) {
			struct sk_buff *to_free = NULL;

			sch->ops->enqueue(packet(&op), sch, &to_free);
		} else {
			struct sk_buff *skb = sch->ops->dequeue(sch);

			if (skb) {
				report(LEFT, skb);
				free(skb);
			}
		}
	}
	return fflush(stdout) ? 1 : 0;
}
