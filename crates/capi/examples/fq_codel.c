/* Drives FQ-CoDel from C: three flows offer 15 Mb/s to a link of 10 Mb/s for five seconds. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sojourn_aqm.h"

struct tally {
    uint64_t dropped;
    uint64_t marked;
};

static void on_drop(void *context, const sojourn_packet *packet, uint64_t enqueued_ns,
                    uint8_t stage, uint8_t cause) {
    (void)packet;
    (void)enqueued_ns;
    (void)stage;
    (void)cause;
    ((struct tally *)context)->dropped += 1;
}

static void on_mark(void *context, const sojourn_packet *packet, uint64_t enqueued_ns,
                    uint8_t stage, uint8_t cause) {
    (void)enqueued_ns;
    (void)stage;
    (void)cause;
    ((struct tally *)context)->marked += packet->ecn == SOJOURN_CE;
}

static int refused(const char *text, const sojourn_setup *setup, const char *hint) {
    char error[200];
    sojourn_qdisc *qdisc = sojourn_new(text, setup, error, sizeof error);
    sojourn_free(qdisc);
    printf("%s\n", error);
    return qdisc == NULL && strstr(error, hint) != NULL;
}

int main(void) {
    const uint64_t second = 1000000000, arrival = 800000, service = 1200000; /* 15, 10 Mb/s */
    struct tally tally = {0, 0};
    sojourn_setup setup = {.mtu_bytes = 1514, .rate_bps = 10000000, .seed = 1,
                           .context = &tally, .dropped = on_drop, .marked = on_mark};
    char error[200];

    if (sojourn_version() != SOJOURN_VERSION) return 1;
    if (!refused("fq_codle", &setup, "did you mean `fq_codel`")) return 1;
    if (!refused("fq_codel:target=5", &setup, "5ms")) return 1;

    sojourn_qdisc *qdisc = sojourn_new("fq_codel:limit=1000p", &setup, error, sizeof error);
    if (qdisc == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    uint64_t offered = 0, left = 0, longest = 0, next_arrival = 0, next_service = 0;
    while (next_arrival < 5 * second) {
        uint64_t now = next_arrival < next_service ? next_arrival : next_service;
        while (sojourn_next_timer(qdisc) <= now) sojourn_on_timer(qdisc, sojourn_next_timer(qdisc));
        if (now == next_arrival) {
            uint64_t flow = offered % 3;
            sojourn_packet packet = {.id = offered, .flow = flow, .src_host = flow,
                                     .dst_host = flow, .bytes = 1500,
                                     .ecn = flow == 0 ? SOJOURN_ECT_0 : SOJOURN_NOT_ECT, .dscp = 0};
            if (sojourn_enqueue(qdisc, now, &packet) != 0) return 1;
            offered += 1;
            next_arrival += arrival;
        } else {
            sojourn_departure departure;
            if (sojourn_dequeue(qdisc, now, &departure)) {
                uint64_t sojourn = now - departure.enqueued_ns;
                longest = sojourn > longest ? sojourn : longest;
                left += 1;
            }
            next_service += service;
        }
    }
    sojourn_packet broken = {.id = 0, .bytes = 0};
    if (sojourn_enqueue(qdisc, next_arrival, &broken) != -1) return 1;

    double values[8];
    size_t count = sojourn_observe(qdisc, values, 8);
    for (size_t i = 0; i < count; i++) printf("%s %.0f\n", sojourn_var_name(qdisc, i), values[i]);
    sojourn_backlog backlog = sojourn_backlog_of(qdisc);
    printf("offered %" PRIu64 " left %" PRIu64 " dropped %" PRIu64 " marked %" PRIu64
           " waiting %" PRIu32 " longest_us %" PRIu64 "\n",
           offered, left, tally.dropped, tally.marked, backlog.packets, longest / 1000);
    sojourn_free(qdisc);
    int is_conserved = offered == left + tally.dropped + backlog.packets;
    return is_conserved && tally.dropped > 0 && tally.marked > 0 ? 0 : 1;
}
