/* PIE of RFC 8033 as a law in C, with the same decisions as the built-in `pie`. */
#include <math.h>

#include "sojourn_law.h"

/* The accumulator counts in units of 2^-56, so that 0.85 and 8.5 are met exactly. */
#define ONE (UINT64_C(1) << 56)
#define LOW (ONE / 100 * 85 - (1 << 16))
#define HIGH (ONE / 10 * 85 - (1 << 16))

struct pie {
    uint64_t target_ns, tupdate_ns, max_burst_ns, exempt_bytes, ecn;
    uint64_t delay_ns, old_ns, burst_ns, due_ns, sum, scaled;
    double alpha, beta, drop_prob;
};

static const struct sojourn_law_param params[] = {
    { "target", "Queue delay aimed at", "time", NULL, NULL, "positive", "15ms",
      "RFC 8033 section 4.2" },
    { "tupdate", "Time between two updates", "time", NULL, NULL, "positive", "15ms",
      "RFC 8033 section 4.2" },
    { "alpha", "Integral gain", "frequency", NULL, NULL, "not negative", "0.125hz",
      "RFC 8033 section 4.2" },
    { "beta", "Proportional gain", "frequency", NULL, NULL, "not negative", "1.25hz",
      "RFC 8033 section 4.2" },
    { "max_burst", "How long a burst may last", "time", NULL, NULL, "any", "150ms",
      "RFC 8033 section 4.4" },
    { "ecn", "Whether packets that can be marked are marked", "bool", NULL, NULL, "any", "false",
      "RFC 8033 section 5.1" },
};

static const struct sojourn_law_var vars[] = {
    { "drop_prob", "1", "Probability in the controller" },
    { "delay", "s", "Queue delay known to the controller" },
};

static void start(void *of, const struct sojourn_law_value *values,
                  const struct sojourn_law_env *env)
{
    struct pie *p = of;
    p->target_ns = values[0].whole;
    p->tupdate_ns = p->due_ns = values[1].whole;
    p->alpha = values[2].number;
    p->beta = values[3].number;
    p->max_burst_ns = p->burst_ns = values[4].whole;
    p->ecn = values[5].whole;
    p->exempt_bytes = 2 * (uint64_t)env->mtu_bytes;
}

/* RFC 8033 section 5.4: derandomised, with one draw at most. */
static int selects(struct pie *p, struct sojourn_law_random *random)
{
    if (p->drop_prob == 0.0) {
        p->sum = 0;
        return 0;
    }
    p->sum = p->sum > UINT64_MAX - p->scaled ? UINT64_MAX : p->sum + p->scaled;
    if (p->sum < LOW)
        return 0;
    return p->sum >= HIGH || sojourn_law_uniform(random) < p->drop_prob;
}

static uint32_t on_enqueue(void *of, uint64_t now, const struct sojourn_law_head *head,
                           const struct sojourn_law_queue *queue,
                           struct sojourn_law_random *random)
{
    struct pie *p = of;
    int calm_before = 2 * p->old_ns < p->target_ns;

    (void)now;
    if (p->drop_prob == 0.0 && calm_before && 2 * p->delay_ns < p->target_ns)
        p->burst_ns = p->max_burst_ns;
    if (p->burst_ns > 0 || (p->drop_prob < 0.2 && calm_before) || queue->bytes <= p->exempt_bytes)
        return SOJOURN_PASS;
    if (!selects(p, random))
        return SOJOURN_PASS;
    p->sum = 0;
    if (p->ecn && p->drop_prob < 0.1 && sojourn_law_can_mark(head))
        return SOJOURN_MARK_RANDOM;
    return SOJOURN_DROP_RANDOM;
}

static void on_overflow(void *of, uint64_t now, const struct sojourn_law_queue *queue)
{
    struct pie *p = of;
    (void)now;
    p->sum = 0;
    if (queue->packets == 0)
        p->delay_ns = 0;
}

static uint32_t on_dequeue(void *of, uint64_t now, const struct sojourn_law_head *head,
                           const struct sojourn_law_queue *queue,
                           struct sojourn_law_random *random)
{
    struct pie *p = of;
    (void)random;
    p->delay_ns = queue->packets == 0 ? 0 : sojourn_law_sojourn_ns(head, now);
    return SOJOURN_PASS;
}

static uint64_t next_timer(const void *of)
{
    return ((const struct pie *)of)->due_ns;
}

/* RFC 8033 section 4.2: steps shrink while the probability is small. */
static double factor(double p)
{
    return p < 1e-6 ? 1.0 / 2048 : p < 1e-5 ? 1.0 / 512 : p < 1e-4 ? 1.0 / 128
         : p < 1e-3 ? 1.0 / 32 : p < 0.01 ? 1.0 / 8 : p < 0.1 ? 1.0 / 2 : 1.0;
}

static void on_timer(void *of, uint64_t now, const struct sojourn_law_queue *queue)
{
    struct pie *p = of;
    double delay = sojourn_law_seconds(p->delay_ns), old = sojourn_law_seconds(p->old_ns);
    double target = sojourn_law_seconds(p->target_ns), prob = p->drop_prob;
    double step = (p->alpha * (delay - target) + p->beta * (delay - old)) * factor(prob);

    (void)queue;
    prob += prob >= 0.1 && step > 0.02 ? 0.02 : step; /* RFC 8033 section 5.5 */
    if (p->delay_ns == 0 && p->old_ns == 0)
        prob *= 0.98;
    p->drop_prob = prob < 0.0 ? 0.0 : prob > 1.0 ? 1.0 : prob;
    p->scaled = (uint64_t)round(p->drop_prob * (double)ONE);
    p->old_ns = p->delay_ns;
    p->burst_ns = p->burst_ns > p->tupdate_ns ? p->burst_ns - p->tupdate_ns : 0;
    p->due_ns += p->tupdate_ns * ((now - p->due_ns) / p->tupdate_ns + 1);
}

static void observe(const void *of, double *values)
{
    const struct pie *p = of;
    values[0] = p->drop_prob;
    values[1] = sojourn_law_seconds(p->delay_ns);
}

static const struct sojourn_law table = {
    .abi = SOJOURN_LAW_ABI,
    .size = sizeof(struct sojourn_law),
    .name = "pie_c",
    .doc = "Drops arrivals with a probability from a PI controller of queue delay (RFC 8033)",
    .params = params,
    .vars = vars,
    .param_count = sizeof params / sizeof *params,
    .var_count = sizeof vars / sizeof *vars,
    .state_bytes = sizeof(struct pie),
    .start = start,
    .on_enqueue = on_enqueue,
    .on_overflow = on_overflow,
    .on_dequeue = on_dequeue,
    .next_timer = next_timer,
    .on_timer = on_timer,
    .observe = observe,
};

const struct sojourn_law *sojourn_law(void)
{
    return &table;
}
