/* @NAME@: say here which library this is an adapter of, and which version.
 *
 * It begins as a small working transport: one stream in each direction, a window of bytes that
 * grows by one datagram per round trip and is halved after a loss, and go-back-N. It has neither
 * ECN nor pacing. A datagram is its kind, the flag of the last byte, an offset, and payload.
 */
#include "sojourn_endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELLO = 1, WELCOME, DATA, ACK, BYE };
enum { HEADER_BYTES = 10, LAST_AT = 1, OFFSET_AT = 2 };
enum { IS_CONNECTED = 1, IS_READABLE = 2, IS_WRITABLE = 4, IS_CLOSED = 8 };
static const uint64_t LEAST_TIMEOUT_NS = 200000000, FIRST_TIMEOUT_NS = 1000000000;

struct end {
    uint64_t due_ns, payload_bytes;
    uint32_t events, is_client, is_open;
    uint8_t to_say;
    /* Sending, in bytes since the start; the end of the data counts as one byte. */
    uint64_t written, sent, acked, highest, recovered_at, window_bytes, lost_bytes;
    uint32_t has_end, is_blocked, duplicates;
    /* The round-trip time: the offset that is timed, since when, and the estimate. */
    uint64_t timed, timed_at_ns, rtt_ns;
    /* Receiving. */
    uint64_t received, unread;
    uint32_t is_complete;
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The setting `window`: datagrams sent in the first round trip. */
static const char *first_window(const struct sojourn_endpoint_setting *settings, uint32_t count,
                                uint64_t *datagrams)
{
    *datagrams = 10;
    for (uint32_t i = 0; i < count; i++) {
        char *rest;
        if (strcmp(settings[i].name, "window") != 0)
            return "its only setting is `window`";
        *datagrams = strtoull(settings[i].value, &rest, 10);
        if (*rest || *datagrams < 1 || *datagrams > 10000)
            return "window: write the number of datagrams, 1 to 10000";
    }
    return NULL;
}

static const char *describe(const struct sojourn_endpoint_setting *settings, uint32_t count,
                            struct sojourn_endpoint_info *info)
{
    static _Thread_local char text[40];
    uint64_t datagrams;
    const char *error = first_window(settings, count, &datagrams);
    if (error)
        return error;
    snprintf(text, sizeof text, "window=%llu", (unsigned long long)datagrams);
    info->settings = text;
    info->carries = SOJOURN_ENDPOINT_UDP_PAYLOAD;
    return NULL;
}

static void *open_end(const struct sojourn_endpoint_host *host, uint64_t now_ns, const char **error)
{
    uint64_t datagrams;
    struct end *e = calloc(1, sizeof *e);
    (void)now_ns;
    *error = first_window(host->settings, host->setting_count, &datagrams);
    if (*error || !e || host->datagram_bytes <= HEADER_BYTES) {
        *error = *error ? *error : "the path carries no payload";
        free(e);
        return NULL;
    }
    e->is_client = !host->is_server;
    e->due_ns = SOJOURN_ENDPOINT_NEVER;
    e->payload_bytes = host->datagram_bytes - HEADER_BYTES;
    e->window_bytes = datagrams * e->payload_bytes;
    return e;
}

static void connect_end(void *end, uint64_t now_ns)
{
    struct end *e = end;
    e->to_say = HELLO;
    e->due_ns = now_ns + FIRST_TIMEOUT_NS;
}

static void set_timer(struct end *e, uint64_t now_ns)
{
    uint64_t wait = e->rtt_ns ? most(LEAST_TIMEOUT_NS, 2 * e->rtt_ns) : FIRST_TIMEOUT_NS;
    e->due_ns = e->sent > e->acked ? now_ns + wait : SOJOURN_ENDPOINT_NEVER;
}

/* Sends everything after the last acknowledged byte again, in half the window. */
static void go_back(struct end *e, uint64_t now_ns)
{
    e->window_bytes = most(e->window_bytes / 2, 2 * e->payload_bytes);
    e->lost_bytes += least(e->payload_bytes, e->sent - e->acked);
    e->recovered_at = e->highest;
    e->sent = e->acked;
    e->duplicates = 0;
    e->timed = 0;
    set_timer(e, now_ns);
}

static void on_ack(struct end *e, uint64_t now_ns, uint64_t acked)
{
    if (acked > e->highest)
        return;
    if (acked <= e->acked) {
        if (acked == e->acked && ++e->duplicates == 3 && acked >= e->recovered_at)
            go_back(e, now_ns);
        return;
    }
    if (e->timed && acked >= e->timed) {
        uint64_t sample = now_ns - e->timed_at_ns;
        e->rtt_ns = e->rtt_ns ? (7 * e->rtt_ns + sample) / 8 : sample;
        e->timed = 0;
    }
    e->window_bytes += e->payload_bytes * (acked - e->acked) / e->window_bytes;
    e->acked = acked;
    e->sent = most(e->sent, acked);
    e->duplicates = 0;
    if (e->is_blocked && e->written - least(e->written, acked) <= e->window_bytes) {
        e->is_blocked = 0;
        e->events |= IS_WRITABLE;
    }
    set_timer(e, now_ns);
}

static void on_data(struct end *e, uint64_t offset, uint64_t length, uint32_t is_last)
{
    e->to_say = ACK;
    if (offset != e->received)
        return;
    e->received += length + is_last;
    e->unread += length;
    e->is_complete |= is_last;
    e->events |= IS_READABLE;
}

static void input(void *end, uint64_t now_ns, const struct sojourn_endpoint_datagram *datagram)
{
    struct end *e = end;
    uint64_t offset;
    if (datagram->length < HEADER_BYTES)
        return;
    memcpy(&offset, datagram->bytes + OFFSET_AT, sizeof offset);
    switch (datagram->bytes[0]) {
    case HELLO:
        e->to_say = WELCOME;
        break;
    case WELCOME:
        if (e->is_open)
            return;
        e->due_ns = SOJOURN_ENDPOINT_NEVER;
        break;
    case DATA:
        on_data(e, offset, datagram->length - HEADER_BYTES, datagram->bytes[LAST_AT]);
        return;
    case ACK:
        on_ack(e, now_ns, offset);
        return;
    case BYE:
        e->events |= IS_CLOSED;
        return;
    }
    if (!e->is_open)
        e->events |= IS_CONNECTED;
    e->is_open = 1;
}

/* The length of the next DATA; -1 for none. */
static int64_t next_length(const struct end *e)
{
    uint64_t in_flight = e->sent - e->acked, length;
    if (!e->is_open || e->sent >= e->written + e->has_end || in_flight >= e->window_bytes)
        return -1;
    length = least(e->payload_bytes, e->written - least(e->written, e->sent));
    /* More may be written soon: no small datagram while others are in flight. */
    return length < e->payload_bytes && !e->has_end && in_flight ? -1 : (int64_t)length;
}

static int output(void *end, uint64_t now_ns, uint8_t *buffer, size_t capacity,
                  struct sojourn_endpoint_transmit *transmit)
{
    struct end *e = end;
    uint64_t offset = e->received;
    int64_t length = 0;
    uint8_t kind = e->to_say, is_last = 0;
    (void)capacity;
    if (kind) {
        e->to_say = 0;
    } else {
        length = next_length(e);
        if (length < 0)
            return 0;
        kind = DATA;
        offset = e->sent;
        is_last = e->has_end && offset + (uint64_t)length == e->written;
        e->sent += (uint64_t)length + is_last;
        if (!e->timed && e->sent > e->highest) {
            e->timed = e->sent;
            e->timed_at_ns = now_ns;
        }
        e->highest = most(e->highest, e->sent);
        if (e->due_ns == SOJOURN_ENDPOINT_NEVER)
            set_timer(e, now_ns);
    }
    buffer[0] = kind;
    buffer[LAST_AT] = is_last;
    memcpy(buffer + OFFSET_AT, &offset, sizeof offset);
    memset(buffer + HEADER_BYTES, 0, (size_t)length);
    transmit->length = HEADER_BYTES + (size_t)length;
    return 1;
}

static uint64_t deadline(void *end) { return ((struct end *)end)->due_ns; }

static void expire(void *end, uint64_t now_ns)
{
    struct end *e = end;
    if (now_ns < e->due_ns)
        return;
    if (e->is_client && !e->is_open)
        connect_end(e, now_ns);
    else
        go_back(e, now_ns);
}

static int event(void *end, struct sojourn_endpoint_event *event)
{
    static const int kinds[] = { SOJOURN_ENDPOINT_CONNECTED, SOJOURN_ENDPOINT_READABLE,
                                 SOJOURN_ENDPOINT_WRITABLE, SOJOURN_ENDPOINT_CLOSED };
    struct end *e = end;
    for (uint32_t i = 0; i < 4; i++) {
        if (e->events & 1u << i) {
            e->events &= ~(1u << i);
            event->reason = "the peer has closed";
            return kinds[i];
        }
    }
    return SOJOURN_ENDPOINT_NONE;
}

static uint64_t write_end(void *end, uint64_t now_ns, uint64_t stream, uint64_t bytes, int finish)
{
    struct end *e = end;
    uint64_t ahead = e->written - e->acked, room, taken;
    (void)now_ns;
    if (stream != 0 || !e->is_open || e->has_end)
        return 0;
    room = 2 * e->window_bytes;
    taken = least(bytes, room - least(room, ahead));
    e->written += taken;
    e->is_blocked = taken < bytes;
    e->has_end = finish && taken == bytes;
    return taken;
}

static void read_end(void *end, uint64_t now_ns, uint64_t stream,
                     struct sojourn_endpoint_read *read)
{
    struct end *e = end;
    (void)now_ns;
    if (stream != 0)
        return;
    read->bytes = e->unread;
    read->is_finished = e->is_complete;
    e->unread = 0;
}

static void close_end(void *end, uint64_t now_ns)
{
    (void)now_ns;
    ((struct end *)end)->to_say = BYE;
}

static void stats(const void *end, struct sojourn_endpoint_stats *stats)
{
    const struct end *e = end;
    stats->cwnd_bytes = e->window_bytes;
    stats->in_flight_bytes = e->sent - e->acked;
    stats->smoothed_rtt_ns = e->rtt_ns ? e->rtt_ns : SOJOURN_ENDPOINT_UNKNOWN;
    stats->lost_bytes = e->lost_bytes;
}

static const struct sojourn_endpoint table = {
    .abi = SOJOURN_ENDPOINT_ABI,
    .size = sizeof(struct sojourn_endpoint),
    .name = "@NAME@",
    .version = "0.1.0",
    .describe = describe,
    .open = open_end,
    .free = free,
    .connect = connect_end,
    .input = input,
    .output = output,
    .deadline = deadline,
    .expire = expire,
    .event = event,
    .write = write_end,
    .read = read_end,
    .close = close_end,
    .stats = stats,
};

const struct sojourn_endpoint *sojourn_endpoint(void)
{
    return &table;
}
