/* quiche, a QUIC library in Rust with an interface in C, for Sojourn's simulator.
 *
 * quiche reads the clock and draws random numbers itself, so each end is a process:
 *
 *   (cd quiche && cargo build --release --features ffi)     needs cmake, a C++ compiler, libclang
 *   CFLAGS=-Iquiche/include LDLIBS="quiche/target/release/libquiche.a -lstdc++" \
 *       sojourn build examples/endpoints/quiche.c
 *   sojourn run quic.toml --endpoint quic=process:examples/endpoints/libquiche.so:cc=bbr2
 *
 * Written for quiche 0.30.0: the folder quiche is its crate. It has no ECN, and paces only `bbr2`.
 * `sojourn check` finds that `cubic` and `reno` send many small datagrams: they fill what is left
 * of a window. `cubic` undoes its reaction to a loss of less than a fifth of a window (`rollback`
 * in recovery/congestion/cubic.rs), so it hardly heeds an AQM that drops single packets.
 *
 * Both ends use stream 0 only. The key is public, and RSA's: its signatures have a fixed length.
 */
#include "sojourn_endpoint.h"

#include <arpa/inet.h>
#include <quiche.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ADAPTER "1"
enum { CID_BYTES = 16, WINDOW_BYTES = 16 << 20, LEAST_AHEAD_BYTES = 256 << 10 };
/* What a packet has besides data, at least and at most: a short header (RFC 9000 section 17.3) with
 * a connection ID, a stream frame's header (section 19.8) and the seal. */
enum { LEAST_OVERHEAD_BYTES = 1 + CID_BYTES + 1 + 4 + 16, MOST_OVERHEAD_BYTES = 64 };
enum { IS_CONNECTED = 1, IS_READABLE = 2, IS_WRITABLE = 4, IS_CLOSED = 8 };
static const char CERTIFICATE[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIB9jCCAV+gAwIBAgIUddnRwbcXTnXNBSRn6clhWrTRJgswDQYJKoZIhvcNAQELBQAwDDEKMAgGA1UEAwwBczAg\n"
    "Fw0yNjExMzAwMjE3MDhaGA8yMTI2MTEwNjAyMTcwOFowDDEKMAgGA1UEAwwBczCBnzANBgkqhkiG9w0BAQEFAAOB\n"
    "jQAwgYkCgYEAwa1Ksm1JClnCClCnkMKmdNjs8jjkoQYRjPVzZJOm+k0CJI3HcE97mmDOxzn53e5yEkZ/xihBpLtY\n"
    "IAZyus7q3m32TxgdrFBfjovMUvJLP7NXYFeUjwSk6883UegES1ulA/zXx6/vQ7jVH/6Bk3yclz6AkHSmrEp2qwJ+\n"
    "1okzrdMCAwEAAaNTMFEwHQYDVR0OBBYEFIKH69w71INjHiWTKm1x5pLXNZa6MB8GA1UdIwQYMBaAFIKH69w71INj\n"
    "HiWTKm1x5pLXNZa6MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADgYEAue9TnMfhFuK8RBmDT1vmGmkn\n"
    "cl7aaEuszCSHF/e5T2aWFP7A9+evyA1Hg9FOnxSqi9QaNau+U51ieasmpWyGygsMcaJeyIW23CSPcyTEMXusRdZq\n"
    "8aNuXr/siWTnODL7Ly7D/JDo0/gqXLIBlglT84vjiz4xuKok75LIv4jTK5U=\n"
    "-----END CERTIFICATE-----\n";
static const char KEY[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGBAMGtSrJtSQpZwgpQp5DCpnTY7PI45KEGEYz1c2ST\n"
    "pvpNAiSNx3BPe5pgzsc5+d3uchJGf8YoQaS7WCAGcrrO6t5t9k8YHaxQX46LzFLySz+zV2BXlI8EpOvPN1HoBEtb\n"
    "pQP818ev70O41R/+gZN8nJc+gJB0pqxKdqsCftaJM63TAgMBAAECgYA8niBi+BGES9OPpu7LQCEZMUv4BBaKz3tu\n"
    "wuP69rusW63wAvAJFtd42hPeBydNbvQFBEu5mZ/yDzDl1R7TmS+pIrtC0yDPd99CzYnUmj7JBKGmj5y8A1g2LeoJ\n"
    "5yTyDgHwBWsim2dyaWG/xeK2vjd44P1MwTTegXUpN4Ra/q5fAQJBAO/yMZTc9InSWKyNSnW/CuDAssLXc11TeY95\n"
    "BE8doh5N9XIHxKQfbhmeIEPuHsxkXjgCfx44GIj4dRLtLdIhHQcCQQDOopkjwa8UpT1M6rz0HlZT2m6p3U/4idbQ\n"
    "ttEtSJfUdDxg8ELdW9fO42pEVGWAHfmeYL3i/fTsx5AJW+lgSoHVAkAp0n4f409gQmCgWtQyp8TendfKrED4cFdM\n"
    "0ZwVqiWawJ3abU4yCSRopK4dCQEnQQtHGfBMNRzZquzFCsAk0w67AkAEjYiaRRY6ejmTjEiFiHWWe2Wc0IeGjmLx\n"
    "TlXljYfq4nTCHgkbH37tzAz3XHSwEfkCCFemvLm8zdjam+/Uc0/RAkARWuvQ/D/lkR+xEUXo7i0aNMbzLpJ3POfG\n"
    "ezhMkJCnhdDo1KNyE/XVyw+8KKm4XAP6yO6k8qQ6ESsGMFtFv4kQ\n"
    "-----END PRIVATE KEY-----\n";
/* What is sent, and where what has arrived is discarded. */
static const uint8_t zeros[1 << 16];
static uint8_t discarded[1 << 16];

/* The simulator's process has this symbol. */
extern const uint32_t sojourn_process __attribute__((weak));

struct end {
    const struct sojourn_endpoint_host *host;
    quiche_config *config;
    quiche_conn *conn;
    struct sockaddr_in local, remote;
    uint8_t cid[CID_BYTES];
    uint64_t now_ns, release_ns, written, given, sent;
    uint32_t events;
    char reason[120];
    int was_connected, was_closed, has_stream, has_end, end_is_given, is_blocked;
};

static const struct {
    const char *name, *settings;
    enum quiche_cc_algorithm control;
} controls[] = { { "cubic", "cc=cubic", QUICHE_CC_CUBIC },
                 { "reno", "cc=reno", QUICHE_CC_RENO },
                 { "bbr2", "cc=bbr2", QUICHE_CC_BBR2_GCONGESTION } };

/* Its only setting. Returns the place in `controls`, -1 for an error. */
static int control_of(const struct sojourn_endpoint_setting *settings, uint32_t count)
{
    if (count == 0)
        return 0;
    if (count > 1 || strcmp(settings->name, "cc") != 0)
        return -1;
    for (int i = 0; i < 3; i++)
        if (strcmp(settings->value, controls[i].name) == 0)
            return i;
    return -1;
}

static const char *describe(const struct sojourn_endpoint_setting *settings, uint32_t count,
                            struct sojourn_endpoint_info *info)
{
    int place = control_of(settings, count);
    if (!&sojourn_process)
        return "quiche reads the clock itself; write process: before the file";
    if (place < 0)
        return "its only setting is cc: cubic, reno or bbr2";
    info->settings = controls[place].settings;
    info->carries = SOJOURN_ENDPOINT_UDP_PAYLOAD;
    return NULL;
}

/* quiche reads certificate and key from files. */
static int load(int (*from)(quiche_config *, const char *), quiche_config *config, const char *text)
{
    char name[] = "/tmp/sojourn-quiche-XXXXXX";
    int file = mkstemp(name), error = -1;
    if (file < 0)
        return -1;
    if (write(file, text, strlen(text)) == (ssize_t)strlen(text))
        error = from(config, name);
    close(file);
    unlink(name);
    return error;
}

static int configure(struct end *e)
{
    size_t most = e->host->datagram_bytes;
    quiche_config *config = e->config = quiche_config_new(1);
    if (!config)
        return -1;
    quiche_config_set_cc_algorithm(
        config, controls[control_of(e->host->settings, e->host->setting_count)].control);
    quiche_config_set_application_protos(config, (const uint8_t *)"\7sojourn", 8);
    quiche_config_verify_peer(config, false);
    quiche_config_grease(config, false);
    quiche_config_set_max_send_udp_payload_size(config, most);
    quiche_config_set_max_recv_udp_payload_size(config, most);
    quiche_config_set_initial_max_data(config, WINDOW_BYTES);
    quiche_config_set_initial_max_stream_data_bidi_local(config, WINDOW_BYTES);
    quiche_config_set_initial_max_stream_data_bidi_remote(config, WINDOW_BYTES);
    quiche_config_set_initial_max_streams_bidi(config, 1);
    quiche_config_set_max_stream_window(config, WINDOW_BYTES);
    quiche_config_set_max_connection_window(config, WINDOW_BYTES);
    if (!e->host->is_server)
        return 0;
    return load(quiche_config_load_cert_chain_from_pem_file, config, CERTIFICATE)
           || load(quiche_config_load_priv_key_from_pem_file, config, KEY);
}

static void free_end(void *end)
{
    struct end *e = end;
    if (e->conn)
        quiche_conn_free(e->conn);
    if (e->config)
        quiche_config_free(e->config);
    free(e);
}

static void *open_end(const struct sojourn_endpoint_host *host, uint64_t now_ns, const char **error)
{
    struct end *e = calloc(1, sizeof *e);
    const char *names[] = { "192.0.2.1", "192.0.2.2" };
    e->host = host;
    e->now_ns = now_ns;
    memcpy(e->cid, host->seed, CID_BYTES);
    e->local.sin_family = e->remote.sin_family = AF_INET;
    e->local.sin_port = e->remote.sin_port = htons(4433);
    inet_pton(AF_INET, names[host->is_server], &e->local.sin_addr);
    inet_pton(AF_INET, names[!host->is_server], &e->remote.sin_addr);
    if (configure(e)) {
        *error = "quiche refuses its settings";
        free_end(e);
        return NULL;
    }
    return e;
}

static void connect_end(void *end, uint64_t now_ns)
{
    struct end *e = end;
    e->now_ns = now_ns;
    e->conn = quiche_connect("server", e->cid, CID_BYTES, (struct sockaddr *)&e->local,
                             sizeof e->local, (struct sockaddr *)&e->remote, sizeof e->remote,
                             e->config);
    if (!e->conn)
        e->host->fail(e->host->context, "quiche_connect failed");
}

static quiche_path_stats path_of(const struct end *e)
{
    quiche_path_stats path = { 0 };
    quiche_conn_path_stats(e->conn, 0, &path);
    return path;
}

static uint64_t most_ahead(const struct end *e)
{
    uint64_t window = path_of(e).cwnd;
    return window > LEAST_AHEAD_BYTES ? window : LEAST_AHEAD_BYTES;
}

/* How many bytes quiche takes: its window has room, and it holds less than a window. What it holds
 * is not known: it is what it was given and has not sent, and rather too little. */
static uint64_t room_of(const struct end *e)
{
    quiche_path_stats path = path_of(e);
    uint64_t held, gone = e->sent, again = path.stream_retrans_bytes;
    ssize_t capacity = quiche_conn_stream_capacity(e->conn, 0);
    gone -= again < gone ? again : gone;
    held = e->given > gone ? e->given - gone : 0;
    if (capacity <= 0 || held >= path.cwnd)
        return 0;
    return (uint64_t)capacity < path.cwnd - held ? (uint64_t)capacity : path.cwnd - held;
}

/* Gives data to quiche, once there is room for a packet: what is left of a window becomes a small
 * datagram. All of the room, as quiche grows only a window that is full (`app_limited` in
 * recovery/congestion). */
static void pour(struct end *e)
{
    uint64_t packet = quiche_conn_max_send_udp_payload_size(e->conn) - MOST_OVERHEAD_BYTES;
    uint64_t room, error;
    /* A client's stream exists from its first byte on. */
    if (!quiche_conn_is_established(e->conn) || (e->host->is_server && !e->has_stream))
        return;
    room = e->has_stream ? room_of(e) : packet;
    room = room < packet ? 0 : room;
    while (e->written > e->given || (e->has_end && !e->end_is_given)) {
        uint64_t left = e->written - e->given;
        uint64_t offered = left < room ? left : room;
        offered = offered < sizeof zeros ? offered : sizeof zeros;
        int is_all = e->has_end && offered == left;
        if (offered == 0 && !is_all)
            break;
        ssize_t taken = quiche_conn_stream_send(e->conn, 0, zeros, offered, is_all, &error);
        if (taken < 0)
            break;
        e->has_stream = 1;
        e->given += (uint64_t)taken;
        room -= (uint64_t)taken;
        e->end_is_given |= is_all && (uint64_t)taken == offered;
        if ((uint64_t)taken < offered)
            break;
    }
    if (e->is_blocked && e->written - e->given < most_ahead(e) / 2) {
        e->is_blocked = 0;
        e->events |= IS_WRITABLE;
    }
}

static void note_events(struct end *e)
{
    bool is_app;
    uint64_t code;
    const uint8_t *why = NULL;
    size_t length = 0;
    if (!e->was_connected && quiche_conn_is_established(e->conn)) {
        e->was_connected = 1;
        e->events |= IS_CONNECTED;
    }
    if (e->was_connected && quiche_conn_stream_readable(e->conn, 0)) {
        e->has_stream = 1;
        e->events |= IS_READABLE;
    }
    if (!e->was_closed && quiche_conn_is_closed(e->conn)) {
        if (quiche_conn_is_timed_out(e->conn))
            snprintf(e->reason, sizeof e->reason, "idle for too long");
        else if (quiche_conn_local_error(e->conn, &is_app, &code, &why, &length)
                 || quiche_conn_peer_error(e->conn, &is_app, &code, &why, &length))
            snprintf(e->reason, sizeof e->reason, "error %#llx: %.*s", (unsigned long long)code,
                     (int)length, (const char *)why);
        e->was_closed = 1;
        e->events |= IS_CLOSED;
    }
}

static void advance(struct end *e)
{
    if (!e->conn)
        return;
    note_events(e);
    pour(e);
}

static void input(void *end, uint64_t now_ns, const struct sojourn_endpoint_datagram *datagram)
{
    struct end *e = end;
    quiche_recv_info info = { (struct sockaddr *)&e->remote, sizeof e->remote,
                              (struct sockaddr *)&e->local, sizeof e->local };
    e->now_ns = now_ns;
    if (!e->conn && e->host->is_server)
        e->conn = quiche_accept(e->cid, CID_BYTES, NULL, 0, (struct sockaddr *)&e->local,
                                sizeof e->local, (struct sockaddr *)&e->remote, sizeof e->remote,
                                e->config);
    if (!e->conn)
        return;
    quiche_conn_recv(e->conn, (uint8_t *)datagram->bytes, datagram->length, &info);
    advance(e);
}

static uint64_t wait_ns(const struct timespec *until)
{
    struct timespec now;
    int64_t wait;
    clock_gettime(CLOCK_MONOTONIC, &now);
    wait = (int64_t)(until->tv_sec - now.tv_sec) * 1000000000 + until->tv_nsec - now.tv_nsec;
    return wait > 0 ? (uint64_t)wait : 0;
}

/* quiche takes the present for the time at which a datagram leaves (time_sent_set_to_now in
 * recovery/gcongestion/bbr2.rs), and `at` is when the one after it may (get_packet_send_time in
 * recovery/gcongestion/recovery.rs): so it is asked for the next one then. */
static int output(void *end, uint64_t now_ns, uint8_t *buffer, size_t capacity,
                  struct sojourn_endpoint_transmit *transmit)
{
    struct end *e = end;
    quiche_send_info info;
    ssize_t length;
    e->now_ns = now_ns;
    if (!e->conn || now_ns < e->release_ns)
        return 0;
    length = quiche_conn_send(e->conn, buffer, capacity, &info);
    if (length <= 0) {
        note_events(e);
        return 0;
    }
    e->sent += length > LEAST_OVERHEAD_BYTES ? (uint64_t)length - LEAST_OVERHEAD_BYTES : 0;
    e->release_ns = now_ns + wait_ns(&info.at);
    transmit->length = (size_t)length;
    return 1;
}

static uint64_t deadline(void *end)
{
    struct end *e = end;
    uint64_t wait = e->conn ? quiche_conn_timeout_as_nanos(e->conn) : UINT64_MAX;
    uint64_t due = wait == UINT64_MAX ? SOJOURN_ENDPOINT_NEVER : e->now_ns + wait;
    return e->release_ns > e->now_ns && e->release_ns < due ? e->release_ns : due;
}

static void expire(void *end, uint64_t now_ns)
{
    struct end *e = end;
    e->now_ns = now_ns;
    if (e->conn)
        quiche_conn_on_timeout(e->conn);
    advance(e);
}

static int event(void *end, struct sojourn_endpoint_event *event)
{
    static const int kinds[] = { SOJOURN_ENDPOINT_CONNECTED, SOJOURN_ENDPOINT_READABLE,
                                 SOJOURN_ENDPOINT_WRITABLE, SOJOURN_ENDPOINT_CLOSED };
    struct end *e = end;
    for (uint32_t i = 0; i < 4; i++) {
        if (e->events & 1u << i) {
            e->events &= ~(1u << i);
            event->reason = e->reason;
            return kinds[i];
        }
    }
    return SOJOURN_ENDPOINT_NONE;
}

static uint64_t write_end(void *end, uint64_t now_ns, uint64_t stream, uint64_t bytes, int finish)
{
    struct end *e = end;
    uint64_t most, ahead = e->written - e->given, taken;
    e->now_ns = now_ns;
    if (stream != 0 || !e->conn || e->has_end)
        return 0;
    most = most_ahead(e);
    taken = ahead >= most ? 0 : most - ahead < bytes ? most - ahead : bytes;
    e->written += taken;
    e->is_blocked = taken < bytes;
    e->has_end = finish && taken == bytes;
    advance(e);
    return taken;
}

static void read_end(void *end, uint64_t now_ns, uint64_t stream,
                     struct sojourn_endpoint_read *read)
{
    struct end *e = end;
    bool is_finished = false;
    uint64_t error;
    ssize_t length;
    e->now_ns = now_ns;
    if (stream != 0 || !e->conn)
        return;
    while (!is_finished
           && (length = quiche_conn_stream_recv(e->conn, 0, discarded, sizeof discarded,
                                                &is_finished, &error)) >= 0)
        read->bytes += (uint64_t)length;
    read->is_finished = is_finished;
}

static void close_end(void *end, uint64_t now_ns)
{
    struct end *e = end;
    e->now_ns = now_ns;
    e->release_ns = now_ns;
    if (e->conn)
        quiche_conn_close(e->conn, true, 0, NULL, 0);
}

static void stats(const void *end, struct sojourn_endpoint_stats *stats)
{
    const struct end *e = end;
    quiche_path_stats path;
    if (!e->conn)
        return;
    path = path_of(e);
    stats->cwnd_bytes = path.cwnd;
    stats->smoothed_rtt_ns = path.rtt;
    stats->lost_bytes = path.lost_bytes;
}

static struct sojourn_endpoint table = {
    .abi = SOJOURN_ENDPOINT_ABI,
    .size = sizeof(struct sojourn_endpoint),
    .name = "quiche",
    .describe = describe,
    .open = open_end,
    .free = free_end,
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
    static char version[80];
    snprintf(version, sizeof version, "%s, adapter " ADAPTER, quiche_version());
    table.version = version;
    return &table;
}
