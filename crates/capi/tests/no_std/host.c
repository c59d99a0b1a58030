/* A host of the C bindings without std: memory, termination after a panic, random numbers. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sojourn_aqm.h"

static size_t in_use;

void *sojourn_host_alloc(size_t size, size_t align) {
    in_use += size;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

void sojourn_host_free(void *memory, size_t size, size_t align) {
    (void)align;
    in_use -= size;
    free(memory);
}

_Noreturn void sojourn_host_panic(const unsigned char *text, size_t length) {
    fprintf(stderr, "%.*s\n", (int)length, (const char *)text);
    abort();
}

/* Rust's precompiled `core` refers to unwinding; nothing here unwinds. */
void rust_eh_personality(void) { abort(); }

struct host {
    uint64_t dropped;
    uint32_t random;
};

static void on_drop(void *context, const sojourn_packet *packet, uint64_t enqueued_ns,
                    uint8_t stage, uint8_t cause) {
    (void)packet, (void)enqueued_ns, (void)stage, (void)cause;
    ((struct host *)context)->dropped += 1;
}

static double uniform(void *context) {
    struct host *host = context;
    host->random = host->random * 1664525u + 1013904223u;
    return host->random / 4294967296.0;
}

int main(void) {
    struct host host = {0, 1};
    char error[200] = "";
    sojourn_setup setup = {.mtu_bytes = 1514, .rate_bps = 10000000, .context = &host,
                           .dropped = on_drop, .uniform = uniform};
    if (sojourn_new("pje", &setup, error, sizeof error) != NULL) return 1;
    printf("did you mean `pie`: %s\n", strstr(error, "did you mean `pie`") ? "yes" : error);
    sojourn_qdisc *pie = sojourn_new("pie:max_burst=0s", &setup, error, sizeof error);
    if (pie == NULL) return 1;
    uint64_t left = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t now = i * 1000000;
        sojourn_departure departure;
        sojourn_packet packet = {.id = i, .bytes = 1500};
        while (sojourn_next_timer(pie) <= now) sojourn_on_timer(pie, sojourn_next_timer(pie));
        if (sojourn_enqueue(pie, now, &packet) != 0) return 1;
        if (i % 2 == 0) left += sojourn_dequeue(pie, now, &departure) == 1;
    }
    uint64_t sum = left + host.dropped + sojourn_backlog_of(pie).packets;
    if (host.dropped == 0 || host.random == 1) return 1;
    printf("all %" PRIu64 " packets accounted for\n", sum);
    sojourn_free(pie);
    printf("%s\n", in_use == 0 ? "all memory freed" : "memory is lost");
    return 0;
}
