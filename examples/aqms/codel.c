/* CoDel of RFC 8289 as a law in C, with the same decisions as the built-in `codel`.
 *
 *     sojourn build codel.c && sojourn compare traffic-mix --aqm codel,libcodel_c.so --seeds 3
 */
#include <math.h>

#include "sojourn_law.h"

enum state { QUIET, ENTERED, DROPPING, DROPPED };

struct codel {
    uint64_t target_ns, interval_ns, mtu_bytes, ecn;
    uint64_t first_above_ns, drop_next_ns, sojourn_ns;
    uint32_t count, last_count;
    enum state state;
};

static const struct sojourn_law_param params[] = {
    { "target", "Sojourn time that is acceptable as a standing delay", "time", NULL, NULL,
      "positive", "5ms", "RFC 8289 section 4.3" },
    { "interval", "Time above target before the first drop; a worst-case RTT", "time", NULL, NULL,
      "positive", "100ms", "RFC 8289 section 4.2" },
    { "ecn", "Whether packets that can be marked are marked instead of dropped", "bool", NULL, NULL,
      "any", "false", "RFC 8289 has no ECN" },
};

static const struct sojourn_law_var vars[] = {
    { "dropping", "1", "1 in the dropping state, else 0" },
    { "count", "1", "Signals in this or the last dropping state" },
    { "sojourn", "s", "Sojourn time of the last packet at the head" },
};

static void start(void *of, const struct sojourn_law_value *values,
                  const struct sojourn_law_env *env)
{
    struct codel *c = of;
    c->target_ns = values[0].whole;
    c->interval_ns = values[1].whole;
    c->ecn = values[2].whole;
    c->mtu_bytes = env->mtu_bytes;
    c->first_above_ns = SOJOURN_LAW_NEVER;
    c->drop_next_ns = SOJOURN_LAW_NEVER;
}

/* The control law of RFC 8289 section 5.6: interval / sqrt(count). */
static uint64_t spacing(const struct codel *c)
{
    return (uint64_t)((double)c->interval_ns / sqrt((double)c->count));
}

/* RFC 8289 section 5.6, dodequeue: whether a drop is allowed now. */
static int is_above(struct codel *c, uint64_t now, uint64_t link_bytes)
{
    if (c->sojourn_ns < c->target_ns || link_bytes <= c->mtu_bytes) {
        c->first_above_ns = SOJOURN_LAW_NEVER;
        return 0;
    }
    if (c->first_above_ns == SOJOURN_LAW_NEVER)
        c->first_above_ns = now + c->interval_ns;
    return now >= c->first_above_ns;
}

/* RFC 8289 section 5.5: at the rate that worked last time, if that was recent. */
static uint32_t enter(struct codel *c, uint64_t now, int can_mark)
{
    uint64_t since = now > c->drop_next_ns ? now - c->drop_next_ns : 0;
    int recent = c->drop_next_ns != SOJOURN_LAW_NEVER && since < 16 * c->interval_ns;
    uint32_t grown = c->count - c->last_count;
    c->count = c->last_count = grown > 1 && recent ? grown : 1;
    c->drop_next_ns = now + spacing(c);
    c->state = can_mark ? DROPPING : ENTERED;
    return can_mark ? SOJOURN_MARK_DETERMINISTIC : SOJOURN_DROP_DETERMINISTIC;
}

static uint32_t continue_dropping(struct codel *c, uint64_t now, int can_mark)
{
    if (now < c->drop_next_ns) {
        c->state = DROPPING;
        return SOJOURN_PASS;
    }
    c->count++;
    if (can_mark)
        c->drop_next_ns += spacing(c);
    c->state = can_mark ? DROPPING : DROPPED;
    return can_mark ? SOJOURN_MARK_DETERMINISTIC : SOJOURN_DROP_DETERMINISTIC;
}

static uint32_t on_dequeue(void *of, uint64_t now, const struct sojourn_law_head *head,
                           const struct sojourn_law_queue *queue,
                           struct sojourn_law_random *random)
{
    struct codel *c = of;
    int can_mark = c->ecn && sojourn_law_can_mark(head);
    int above;

    (void)random;
    c->sojourn_ns = sojourn_law_sojourn_ns(head, now);
    above = is_above(c, now, queue->link_bytes);
    if (c->state == QUIET)
        return above ? enter(c, now, can_mark) : SOJOURN_PASS;
    if (c->state == ENTERED || !above) {
        c->state = c->state == ENTERED ? DROPPING : QUIET;
        return SOJOURN_PASS;
    }
    if (c->state == DROPPED)
        c->drop_next_ns += spacing(c);
    return continue_dropping(c, now, can_mark);
}

static void on_empty(void *of, uint64_t now)
{
    struct codel *c = of;
    (void)now;
    c->first_above_ns = SOJOURN_LAW_NEVER;
    if (c->state != QUIET)
        c->state = c->state == ENTERED ? DROPPING : QUIET;
}

static void observe(const void *of, double *values)
{
    const struct codel *c = of;
    values[0] = c->state == QUIET ? 0 : 1;
    values[1] = c->count;
    values[2] = sojourn_law_seconds(c->sojourn_ns);
}

static const struct sojourn_law table = {
    .abi = SOJOURN_LAW_ABI,
    .size = sizeof(struct sojourn_law),
    .name = "codel_c",
    .doc = "Controlled delay: drops at the head once sojourn times stay above a target (RFC 8289)",
    .params = params,
    .vars = vars,
    .param_count = sizeof params / sizeof *params,
    .var_count = sizeof vars / sizeof *vars,
    .state_bytes = sizeof(struct codel),
    .start = start,
    .on_dequeue = on_dequeue,
    .on_empty = on_empty,
    .observe = observe,
};

const struct sojourn_law *sojourn_law(void)
{
    return &table;
}
