/* An AQM law in a separate library, for Sojourn. In C and C++.
 *
 * A library exports one function, sojourn_law(), which returns a table: what the law declares,
 * how many bytes of state one queue needs, and its hooks. The host owns the state, one block per
 * queue, zeroed and aligned to 16 bytes; no hook needs to allocate. A hook that is NULL does
 * nothing. Times are nanoseconds of simulated time. Pointers passed to a hook are valid until it
 * returns.
 *
 * The words are those of the trait Aqm in crates/aqm/src/law.rs; the rules of the contract are in
 * docs/how-to/own-aqm.md. A library is loaded only if its abi and size are those of the host.
 */
#ifndef SOJOURN_LAW_H
#define SOJOURN_LAW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented whenever a structure below changes. */
#define SOJOURN_LAW_ABI 2u

/* No timer; no packet. */
#define SOJOURN_LAW_NEVER UINT64_MAX

/* The ECN field (RFC 3168 section 5). */
enum { SOJOURN_NOT_ECT = 0, SOJOURN_ECT1 = 1, SOJOURN_ECT0 = 2, SOJOURN_CE = 3 };

/* What on_enqueue and on_dequeue return. Only packets that are ECN-capable are marked. */
enum {
    SOJOURN_PASS = 0,
    SOJOURN_MARK_RANDOM = 0x11,
    SOJOURN_MARK_DETERMINISTIC = 0x12,
    SOJOURN_DROP_RANDOM = 0x21,
    SOJOURN_DROP_DETERMINISTIC = 0x22
};

/* The packet being handled. */
struct sojourn_law_head {
    uint64_t enqueued_ns; /* when it was accepted; on arrival: now */
    uint32_t bytes;
    uint8_t ecn;
    uint8_t unused[3];
};

/* The backlog without the packet being handled. */
struct sojourn_law_queue {
    uint64_t bytes;      /* in this law's queue */
    uint64_t link_bytes; /* in all queues of the discipline */
    uint32_t packets;    /* in this law's queue */
    uint32_t unused;
};

/* The random numbers of a queue: xoshiro256++ (Blackman and Vigna 2019), or those of a host with
 * its own source: uniform(context) in [0, 1). Draw with the functions at the end of this file. */
struct sojourn_law_random {
    uint64_t state[4];
    double (*uniform)(size_t context); /* NULL: draw from `state` */
    size_t context;
};

/* The value of a parameter: a time in ns, bytes, bit/s, an integer, 0 or 1, or the index of a word
 * are in `whole`; a frequency in 1/s or a pure number is in `number`. */
struct sojourn_law_value {
    const char *text;
    uint64_t whole;
    double number;
    uint64_t is_absent; /* 1 if the value is `off` or `auto` */
};

/* The queue and link that a law is created for. */
struct sojourn_law_env {
    uint64_t limit_packets; /* 0 if the limit is in bytes */
    uint64_t limit_bytes;   /* 0 if the limit is in packets */
    uint64_t rate_bps;      /* of the link at the start; 0 where it is not known */
    uint64_t salt;          /* for hashing */
    uint32_t mtu_bytes;     /* largest packet, as the link accounts it */
    uint32_t reserved;
};

/* A parameter. */
struct sojourn_law_param {
    const char *name;
    const char *doc;           /* its meaning, one line */
    const char *kind;          /* time, frequency, number, whole number, bytes, rate, bool, word */
    const char *absent;        /* off or auto where that is a value too, else NULL */
    const char *words;         /* for kind word: the words, separated by spaces; else NULL */
    const char *rule;          /* any, positive, not negative, probability, fraction */
    const char *default_value; /* text with unit, such as "5ms" */
    const char *source;        /* where the default comes from */
};

/* A state variable. */
struct sojourn_law_var {
    const char *name;
    const char *unit; /* 1 for pure numbers */
    const char *doc;
};

/* The discipline asks on_enqueue before it tests its limit. */
#define SOJOURN_LAW_LIMIT_LAST 1u

struct sojourn_law {
    uint32_t abi;  /* SOJOURN_LAW_ABI */
    uint32_t size; /* sizeof(struct sojourn_law) */
    const char *name;
    const char *doc;
    const struct sojourn_law_param *params;
    const struct sojourn_law_var *vars;
    uint32_t param_count;
    uint32_t var_count;
    uint32_t flags;
    uint32_t reserved;
    size_t state_bytes;

    /* NULL if the values are compatible, else an error message. */
    const char *(*check)(const struct sojourn_law_value *values);
    void (*start)(void *state, const struct sojourn_law_value *values,
                  const struct sojourn_law_env *env);
    void (*stop)(void *state);

    uint32_t (*on_enqueue)(void *state, uint64_t now_ns, const struct sojourn_law_head *head,
                           const struct sojourn_law_queue *queue,
                           struct sojourn_law_random *random);
    void (*on_overflow)(void *state, uint64_t now_ns, const struct sojourn_law_queue *queue);
    void (*on_eviction)(void *state, uint64_t now_ns, const struct sojourn_law_queue *queue);
    uint32_t (*on_dequeue)(void *state, uint64_t now_ns, const struct sojourn_law_head *head,
                           const struct sojourn_law_queue *queue,
                           struct sojourn_law_random *random);
    void (*on_empty)(void *state, uint64_t now_ns);
    /* Changes in on_timer, on_idle_timers and on_rate only. */
    uint64_t (*next_timer)(const void *state);
    void (*on_head)(void *state, uint64_t enqueued_ns);
    void (*on_timer)(void *state, uint64_t now_ns, const struct sojourn_law_queue *queue);
    void (*on_idle_timers)(void *state, uint64_t now_ns);
    void (*on_rate)(void *state, uint64_t now_ns, uint64_t rate_bps);
    /* One value for each variable. */
    void (*observe)(const void *state, double *values);
};

#if defined(_WIN32)
#define SOJOURN_LAW_EXPORT __declspec(dllexport)
#else
#define SOJOURN_LAW_EXPORT __attribute__((visibility("default")))
#endif

/* What the library exports. */
SOJOURN_LAW_EXPORT const struct sojourn_law *sojourn_law(void);

/* How long a packet has waited. */
static inline uint64_t sojourn_law_sojourn_ns(const struct sojourn_law_head *head, uint64_t now_ns)
{
    return now_ns - head->enqueued_ns;
}

/* Whether a mark reaches the sender: ECT(0), ECT(1) or already CE. */
static inline int sojourn_law_can_mark(const struct sojourn_law_head *head)
{
    return head->ecn != SOJOURN_NOT_ECT;
}

/* A time in seconds, rounded once, as in laws in Rust. */
static inline double sojourn_law_seconds(uint64_t ns)
{
    return (double)ns / 1000000000.0;
}

/* The next 64 random bits; of a host's own source at most 53. */
static inline uint64_t sojourn_law_next(struct sojourn_law_random *random)
{
    uint64_t *s = random->state;
    if (random->uniform)
        return (uint64_t)(random->uniform(random->context) * 9007199254740992.0) << 11;
    uint64_t sum = s[0] + s[3];
    uint64_t out = ((sum << 23) | (sum >> 41)) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return out;
}

/* A uniform number in [0, 1) with 53 random bits. */
static inline double sojourn_law_uniform(struct sojourn_law_random *random)
{
    return (double)(sojourn_law_next(random) >> 11) * (1.0 / 9007199254740992.0);
}

#ifdef __cplusplus
}
#endif

#endif
