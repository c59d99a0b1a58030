/* Random early detection of one virtual queue, after the design of Linux sch_gred.c and sch_red.c
 * (Floyd and Jacobson 1993): an average of the backlog in bytes, kept as an integer scaled by
 * 2^wlog, is compared with two thresholds; between them packets are signalled with a probability
 * that rises to max_p, spaced by the count since the last signal.
 *
 * An example of porting a kernel qdisc's design: its enqueue becomes on_enqueue, its private
 * structure struct gred, skb->len head->bytes, and net_xmit's verdict the returned value. The
 * kernel's computation with its idle timestamp becomes on_empty and the next arrival. Written
 * independently from the paper and the kernel's behaviour; it contains none of its code.
 *
 *     sojourn build examples/aqms/gred.c
 *     sojourn compare traffic-mix --aqm red,examples/aqms/libgred.so --seeds 10
 */
#include "sojourn_law.h"

struct gred {
    uint64_t min_bytes, max_bytes, wlog, ecn;
    double max_p;
    uint64_t scaled_average; /* average backlog times 2^wlog */
    uint64_t idle_since_ns;  /* SOJOURN_LAW_NEVER while busy */
    uint64_t packet_ns;      /* time to send a packet of mtu_bytes, for the decay while idle */
    int64_t count;           /* packets since the last signal; -1 below the lower threshold */
};

static const struct sojourn_law_param params[] = {
    { "min_th", "Average backlog from which packets are signalled", "bytes", NULL, NULL, "positive",
      "30kB", "our choice: 24 ms at 10 Mbit/s" },
    { "max_th", "Average backlog from which every packet is signalled", "bytes", NULL, NULL,
      "positive", "90kB", "Floyd and Jacobson 1993: at least twice the lower one" },
    { "max_p", "Probability just below the upper threshold", "number", NULL, NULL, "fraction",
      "0.02", "Floyd and Jacobson 1993: 1/50" },
    { "wlog", "Weight of the average as a power of two: 2^-wlog", "whole number", NULL, NULL,
      "positive", "9", "Floyd and Jacobson 1993: 0.002" },
    { "ecn", "Whether packets that can be marked are marked", "bool", NULL, NULL, "any", "false",
      "Linux sch_gred.c: off" },
};

static const struct sojourn_law_var vars[] = {
    { "average", "bytes", "Average backlog" },
};

static const char *check(const struct sojourn_law_value *values)
{
    if (values[1].whole <= values[0].whole)
        return "max_th must be above min_th (Floyd and Jacobson 1993)";
    if (values[3].whole > 30)
        return "wlog must be at most 30 (tc-gred)";
    return NULL;
}

static void start(void *of, const struct sojourn_law_value *values,
                  const struct sojourn_law_env *env)
{
    struct gred *g = of;
    uint64_t rate_bps = env->rate_bps ? env->rate_bps : 10000000;

    g->min_bytes = values[0].whole;
    g->max_bytes = values[1].whole;
    g->max_p = values[2].number;
    g->wlog = values[3].whole;
    g->ecn = values[4].whole;
    g->packet_ns = 8000000000u * (uint64_t)env->mtu_bytes / rate_bps;
    g->idle_since_ns = 0;
    g->count = -1;
}

/* Floyd and Jacobson 1993 section 4: as if m small packets had arrived at the idle queue. */
static void decay_idle(struct gred *g, uint64_t now)
{
    uint64_t missed = g->packet_ns ? (now - g->idle_since_ns) / g->packet_ns : 0;

    for (; missed > 0 && g->scaled_average > 0; missed--) {
        uint64_t step = g->scaled_average >> g->wlog;
        if (step == 0) { /* less than a byte is left */
            g->scaled_average = 0;
            break;
        }
        g->scaled_average -= step;
    }
    g->idle_since_ns = SOJOURN_LAW_NEVER;
}

static uint32_t on_enqueue(void *of, uint64_t now, const struct sojourn_law_head *head,
                           const struct sojourn_law_queue *queue,
                           struct sojourn_law_random *random)
{
    struct gred *g = of;
    uint64_t average;
    int can_mark = g->ecn && sojourn_law_can_mark(head);
    double p;

    if (g->idle_since_ns != SOJOURN_LAW_NEVER)
        decay_idle(g, now);
    g->scaled_average += queue->bytes - (g->scaled_average >> g->wlog);
    average = g->scaled_average >> g->wlog;
    if (average < g->min_bytes) {
        g->count = -1;
        return SOJOURN_PASS;
    }
    if (average >= g->max_bytes) {
        g->count = 0;
        return SOJOURN_DROP_DETERMINISTIC;
    }
    g->count++;
    p = g->max_p * (double)(average - g->min_bytes) / (double)(g->max_bytes - g->min_bytes);
    /* p / (1 - count p): signals are spaced evenly. */
    p = (double)g->count * p < 1.0 ? p / (1.0 - (double)g->count * p) : 1.0;
    if (sojourn_law_uniform(random) >= p)
        return SOJOURN_PASS;
    g->count = 0;
    return can_mark ? SOJOURN_MARK_RANDOM : SOJOURN_DROP_RANDOM;
}

static void on_empty(void *of, uint64_t now)
{
    struct gred *g = of;
    if (g->idle_since_ns == SOJOURN_LAW_NEVER)
        g->idle_since_ns = now;
}

static void observe(const void *of, double *values)
{
    const struct gred *g = of;
    values[0] = (double)(g->scaled_average >> g->wlog);
}

static const struct sojourn_law table = {
    .abi = SOJOURN_LAW_ABI,
    .size = sizeof(struct sojourn_law),
    .name = "gred",
    .doc = "Random early detection in the integers of a kernel (Floyd and Jacobson 1993)",
    .params = params,
    .vars = vars,
    .param_count = sizeof params / sizeof *params,
    .var_count = sizeof vars / sizeof *vars,
    .flags = SOJOURN_LAW_LIMIT_LAST,
    .state_bytes = sizeof(struct gred),
    .check = check,
    .start = start,
    .on_enqueue = on_enqueue,
    .on_empty = on_empty,
    .observe = observe,
};

const struct sojourn_law *sojourn_law(void)
{
    return &table;
}
