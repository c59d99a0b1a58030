/* ngtcp2, a QUIC library in C, with GnuTLS, for Sojourn's simulator.
 *
 *   apt install libngtcp2-dev libngtcp2-crypto-gnutls-dev
 *   LDLIBS="-lngtcp2_crypto_gnutls -lngtcp2 -lgnutls" sojourn build examples/endpoints/ngtcp2.c
 *   sojourn run quic.toml --endpoint quic=examples/endpoints/libngtcp2.so:cc=bbr2
 *
 * Written for ngtcp2 0.12 (Debian 12). Time is an argument in all of ngtcp2, and its random numbers
 * come from the host's seed. GnuTLS draws its keys from the system, but all messages have fixed
 * lengths: a pre-shared key, no certificate, no tickets. Both ends use stream 0 only.
 */
#include "sojourn_endpoint.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADAPTER "1"
enum { CID_BYTES = 8, WINDOW_BYTES = 16 << 20, LEAST_AHEAD_BYTES = 256 << 10 };
enum { IS_CONNECTED = 1, IS_READABLE = 2, IS_WRITABLE = 4, IS_CLOSED = 8 };
static const char PRIORITY[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:"
                               "+GROUP-X25519:-KX-ALL:+ECDHE-PSK:%DISABLE_TLS13_COMPAT_MODE";
static const gnutls_datum_t KEY = { (unsigned char *)"no secret, 16 B.", 16 };
/* What is sent. ngtcp2 refers to it until it is acknowledged. */
static const uint8_t zeros[1 << 14];

struct end {
    const struct sojourn_endpoint_host *host;
    ngtcp2_conn *conn;
    ngtcp2_crypto_conn_ref ref;
    gnutls_session_t session;
    gnutls_psk_client_credentials_t client_key;
    gnutls_psk_server_credentials_t server_key;
    struct sockaddr_in local, remote;
    ngtcp2_path path;
    ngtcp2_cc_algo control;
    uint64_t random;
    uint32_t events;
    char reason[120];
    uint64_t written, sent, acked, unread, burst_bytes;
    int has_stream, has_end, end_is_sent, is_blocked, is_complete, is_closing;
};

static const struct {
    const char *name;
    ngtcp2_cc_algo control;
} controls[] = { { "cubic", NGTCP2_CC_ALGO_CUBIC },
                 { "reno", NGTCP2_CC_ALGO_RENO },
                 { "bbr", NGTCP2_CC_ALGO_BBR },
                 { "bbr2", NGTCP2_CC_ALGO_BBR2 } };

/* Its only setting. Returns the place in `controls`, -1 for an error. */
static int control_of(const struct sojourn_endpoint_setting *settings, uint32_t count)
{
    if (count == 0)
        return 0;
    if (count > 1 || strcmp(settings->name, "cc") != 0)
        return -1;
    for (int i = 0; i < 4; i++)
        if (strcmp(settings->value, controls[i].name) == 0)
            return i;
    return -1;
}

static const char *describe(const struct sojourn_endpoint_setting *settings, uint32_t count,
                            struct sojourn_endpoint_info *info)
{
    static const char *texts[] = { "cc=cubic", "cc=reno", "cc=bbr", "cc=bbr2" };
    int place = control_of(settings, count);
    if (place < 0)
        return "its only setting is cc: cubic, reno, bbr or bbr2";
    info->settings = texts[place];
    info->carries = SOJOURN_ENDPOINT_UDP_PAYLOAD;
    info->flags = SOJOURN_ENDPOINT_ECN;
    return NULL;
}

static void fail(struct end *e, const char *what, const char *why)
{
    char text[200];
    snprintf(text, sizeof text, "%s: %s", what, why);
    e->host->fail(e->host->context, text);
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static void fill(struct end *e, uint8_t *to, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint64_t z = e->random += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        to[i] = (uint8_t)(z >> 56);
    }
}

static void on_random(uint8_t *to, size_t length, const ngtcp2_rand_ctx *context)
{
    fill(context->native_handle, to, length);
}

static void new_cid(struct end *e, ngtcp2_cid *cid)
{
    uint8_t bytes[CID_BYTES];
    fill(e, bytes, sizeof bytes);
    ngtcp2_cid_init(cid, bytes, sizeof bytes);
}

static int on_new_cid(ngtcp2_conn *conn, ngtcp2_cid *cid, uint8_t *token, size_t length, void *end)
{
    (void)conn, (void)length;
    new_cid(end, cid);
    fill(end, token, NGTCP2_STATELESS_RESET_TOKENLEN);
    return 0;
}

static int on_handshake(ngtcp2_conn *conn, void *end)
{
    (void)conn;
    ((struct end *)end)->events |= IS_CONNECTED;
    return 0;
}

static int on_data(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t offset,
                   const uint8_t *data, size_t length, void *end, void *of_stream)
{
    struct end *e = end;
    (void)conn, (void)stream, (void)offset, (void)data, (void)of_stream;
    e->has_stream = 1;
    e->unread += length;
    e->is_complete |= (flags & NGTCP2_STREAM_DATA_FLAG_FIN) != 0;
    e->events |= IS_READABLE;
    return 0;
}

static uint64_t most_ahead(struct end *e)
{
    ngtcp2_conn_stat stat;
    ngtcp2_conn_get_conn_stat(e->conn, &stat);
    return stat.cwnd + (stat.cwnd > LEAST_AHEAD_BYTES ? stat.cwnd : LEAST_AHEAD_BYTES);
}

static int on_acked(ngtcp2_conn *conn, int64_t stream, uint64_t offset, uint64_t length, void *end,
                    void *of_stream)
{
    struct end *e = end;
    (void)conn, (void)stream, (void)of_stream;
    e->acked = offset + length;
    if (e->is_blocked && e->written - e->acked < most_ahead(e) / 2) {
        e->is_blocked = 0;
        e->events |= IS_WRITABLE;
    }
    return 0;
}

static ngtcp2_conn *conn_of(ngtcp2_crypto_conn_ref *ref)
{
    return ((struct end *)ref->user_data)->conn;
}

static int key_of(gnutls_session_t session, const char *name, gnutls_datum_t *key)
{
    (void)session, (void)name;
    key->data = gnutls_malloc(KEY.size);
    key->size = KEY.size;
    memcpy(key->data, KEY.data, KEY.size);
    return 0;
}

static int start_tls(struct end *e)
{
    gnutls_datum_t protocol = { (unsigned char *)"sojourn", 7 };
    unsigned int role = e->host->is_server ? GNUTLS_SERVER : GNUTLS_CLIENT;
    int error = gnutls_init(&e->session, role | GNUTLS_NO_TICKETS | GNUTLS_NO_AUTO_SEND_TICKET);
    if (!error)
        error = gnutls_priority_set_direct(e->session, PRIORITY, NULL);
    if (!error && e->host->is_server) {
        gnutls_psk_allocate_server_credentials(&e->server_key);
        gnutls_psk_set_server_credentials_function(e->server_key, key_of);
        error = gnutls_credentials_set(e->session, GNUTLS_CRD_PSK, e->server_key);
    } else if (!error) {
        gnutls_psk_allocate_client_credentials(&e->client_key);
        gnutls_psk_set_client_credentials(e->client_key, "end", &KEY, GNUTLS_PSK_KEY_RAW);
        error = gnutls_credentials_set(e->session, GNUTLS_CRD_PSK, e->client_key);
    }
    if (!error)
        error = gnutls_alpn_set_protocols(e->session, &protocol, 1, 0);
    e->ref = (ngtcp2_crypto_conn_ref){ .get_conn = conn_of, .user_data = e };
    gnutls_session_set_ptr(e->session, &e->ref);
    if (!error)
        error = e->host->is_server ? ngtcp2_crypto_gnutls_configure_server_session(e->session)
                                   : ngtcp2_crypto_gnutls_configure_client_session(e->session);
    return error;
}

static ngtcp2_callbacks callbacks_of(const struct end *e)
{
    ngtcp2_callbacks callbacks = {
        .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
        .encrypt = ngtcp2_crypto_encrypt_cb,
        .decrypt = ngtcp2_crypto_decrypt_cb,
        .hp_mask = ngtcp2_crypto_hp_mask_cb,
        .update_key = ngtcp2_crypto_update_key_cb,
        .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
        .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
        .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
        .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
        .rand = on_random,
        .get_new_connection_id = on_new_cid,
        .handshake_completed = on_handshake,
        .recv_stream_data = on_data,
        .acked_stream_data_offset = on_acked,
    };
    if (e->host->is_server) {
        callbacks.recv_client_initial = ngtcp2_crypto_recv_client_initial_cb;
    } else {
        callbacks.client_initial = ngtcp2_crypto_client_initial_cb;
        callbacks.recv_retry = ngtcp2_crypto_recv_retry_cb;
    }
    return callbacks;
}

/* The connection: a client's, or that of a server whose first packet has this header. */
static void start(struct end *e, uint64_t now_ns, const ngtcp2_pkt_hd *header)
{
    ngtcp2_callbacks callbacks = callbacks_of(e);
    ngtcp2_settings settings;
    ngtcp2_transport_params params;
    ngtcp2_cid own, peer;
    int error;
    ngtcp2_settings_default(&settings);
    settings.cc_algo = e->control;
    settings.initial_ts = now_ns;
    settings.max_tx_udp_payload_size = e->host->datagram_bytes;
    settings.rand_ctx.native_handle = e;
    ngtcp2_transport_params_default(&params);
    params.initial_max_stream_data_bidi_local = WINDOW_BYTES;
    params.initial_max_stream_data_bidi_remote = WINDOW_BYTES;
    params.initial_max_data = WINDOW_BYTES;
    params.initial_max_streams_bidi = 1;
    new_cid(e, &own);
    if (header) {
        params.original_dcid = header->dcid;
        error = ngtcp2_conn_server_new(&e->conn, &header->scid, &own, &e->path, header->version,
                                       &callbacks, &settings, &params, NULL, e);
    } else {
        new_cid(e, &peer);
        error = ngtcp2_conn_client_new(&e->conn, &peer, &own, &e->path, NGTCP2_PROTO_VER_V1,
                                       &callbacks, &settings, &params, NULL, e);
    }
    if (error)
        return fail(e, "ngtcp2_conn_new", ngtcp2_strerror(error));
    ngtcp2_conn_set_tls_native_handle(e->conn, e->session);
}

static void free_end(void *end)
{
    struct end *e = end;
    ngtcp2_conn_del(e->conn);
    if (e->session)
        gnutls_deinit(e->session);
    if (e->client_key)
        gnutls_psk_free_client_credentials(e->client_key);
    if (e->server_key)
        gnutls_psk_free_server_credentials(e->server_key);
    free(e);
}

static void *open_end(const struct sojourn_endpoint_host *host, uint64_t now_ns, const char **error)
{
    struct end *e = calloc(1, sizeof *e);
    const char *names[] = { "192.0.2.1", "192.0.2.2" };
    (void)now_ns;
    e->host = host;
    e->control = controls[control_of(host->settings, host->setting_count)].control;
    memcpy(&e->random, host->seed, sizeof e->random);
    e->local.sin_family = e->remote.sin_family = AF_INET;
    e->local.sin_port = e->remote.sin_port = htons(4433);
    inet_pton(AF_INET, names[host->is_server], &e->local.sin_addr);
    inet_pton(AF_INET, names[!host->is_server], &e->remote.sin_addr);
    e->path.local = (ngtcp2_addr){ (ngtcp2_sockaddr *)&e->local, sizeof e->local };
    e->path.remote = (ngtcp2_addr){ (ngtcp2_sockaddr *)&e->remote, sizeof e->remote };
    if (start_tls(e)) {
        *error = "GnuTLS does not start";
        free_end(e);
        return NULL;
    }
    return e;
}

static void connect_end(void *end, uint64_t now_ns) { start(end, now_ns, NULL); }

static void closed(struct end *e, int error)
{
    snprintf(e->reason, sizeof e->reason, "%s", ngtcp2_strerror(error));
    e->is_closing = 1;
    e->events |= IS_CLOSED;
}

static void input(void *end, uint64_t now_ns, const struct sojourn_endpoint_datagram *datagram)
{
    struct end *e = end;
    ngtcp2_pkt_info info = { .ecn = datagram->ecn };
    ngtcp2_pkt_hd header;
    int error;
    if (!e->conn) {
        if (!e->host->is_server || ngtcp2_accept(&header, datagram->bytes, datagram->length))
            return;
        start(e, now_ns, &header);
        if (!e->conn)
            return;
    }
    if (e->is_closing)
        return;
    error = ngtcp2_conn_read_pkt(e->conn, &e->path, &info, datagram->bytes, datagram->length,
                                 now_ns);
    if (error)
        closed(e, error);
}

/* Ends a burst, after which ngtcp2 sets the pacing timer. */
static void end_burst(struct end *e, uint64_t now_ns)
{
    if (e->burst_bytes)
        ngtcp2_conn_update_pkt_tx_time(e->conn, now_ns);
    e->burst_bytes = 0;
}

static ngtcp2_ssize write_packet(struct end *e, uint64_t now_ns, uint8_t *buffer, size_t capacity,
                                 ngtcp2_pkt_info *info)
{
    uint64_t left = e->written - e->sent;
    size_t offered = left < sizeof zeros ? (size_t)left : sizeof zeros;
    int is_last = e->has_end && offered == left;
    int has_data = e->has_stream && (left || (is_last && !e->end_is_sent));
    ngtcp2_vec data = { (uint8_t *)zeros, offered };
    uint32_t flags = is_last ? NGTCP2_WRITE_STREAM_FLAG_FIN : NGTCP2_WRITE_STREAM_FLAG_NONE;
    ngtcp2_ssize taken = -1, length = NGTCP2_ERR_STREAM_DATA_BLOCKED;
    if (has_data)
        length = ngtcp2_conn_writev_stream(e->conn, NULL, info, buffer, capacity, &taken, flags, 0,
                                           &data, 1, now_ns);
    if (length == NGTCP2_ERR_STREAM_DATA_BLOCKED || length == NGTCP2_ERR_STREAM_SHUT_WR)
        return ngtcp2_conn_writev_stream(e->conn, NULL, info, buffer, capacity, &taken, 0, -1, NULL,
                                         0, now_ns);
    if (taken >= 0) {
        e->sent += (uint64_t)taken;
        e->end_is_sent |= is_last && (uint64_t)taken == left;
    }
    return length;
}

static int output(void *end, uint64_t now_ns, uint8_t *buffer, size_t capacity,
                  struct sojourn_endpoint_transmit *transmit)
{
    struct end *e = end;
    ngtcp2_pkt_info info = { 0 };
    ngtcp2_ssize length;
    if (!e->conn || e->is_closing)
        return 0;
    length = write_packet(e, now_ns, buffer, capacity, &info);
    if (length < 0) {
        closed(e, (int)length);
        return 0;
    }
    if (length == 0) {
        end_burst(e, now_ns);
        return 0;
    }
    e->burst_bytes += (uint64_t)length;
    if (e->burst_bytes >= ngtcp2_conn_get_send_quantum(e->conn))
        end_burst(e, now_ns);
    transmit->length = (size_t)length;
    transmit->ecn = info.ecn;
    return 1;
}

static uint64_t deadline(void *end)
{
    struct end *e = end;
    return e->conn && !e->is_closing ? ngtcp2_conn_get_expiry(e->conn) : SOJOURN_ENDPOINT_NEVER;
}

static void expire(void *end, uint64_t now_ns)
{
    struct end *e = end;
    int error = ngtcp2_conn_handle_expiry(e->conn, now_ns);
    if (error)
        closed(e, error);
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
    uint64_t most, ahead = e->written - e->acked, taken;
    int64_t opened;
    (void)now_ns;
    if (stream != 0 || !e->conn || e->has_end)
        return 0;
    if (!e->has_stream && !e->host->is_server)
        e->has_stream = ngtcp2_conn_open_bidi_stream(e->conn, &opened, NULL) == 0;
    if (!e->has_stream)
        return 0;
    most = most_ahead(e);
    taken = ahead >= most ? 0 : most - ahead < bytes ? most - ahead : bytes;
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
    if (stream != 0 || !e->conn)
        return;
    ngtcp2_conn_extend_max_stream_offset(e->conn, 0, e->unread);
    ngtcp2_conn_extend_max_offset(e->conn, e->unread);
    read->bytes = e->unread;
    read->is_finished = (uint64_t)e->is_complete;
    e->unread = 0;
}

static void close_end(void *end, uint64_t now_ns)
{
    (void)now_ns;
    ((struct end *)end)->is_closing = 1;
}

static void stats(const void *end, struct sojourn_endpoint_stats *stats)
{
    const struct end *e = end;
    ngtcp2_conn_stat stat;
    if (!e->conn)
        return;
    ngtcp2_conn_get_conn_stat(e->conn, &stat);
    stats->cwnd_bytes = stat.cwnd;
    stats->in_flight_bytes = stat.bytes_in_flight;
    stats->smoothed_rtt_ns = stat.smoothed_rtt;
    stats->pacing_bps = (uint64_t)(stat.pacing_rate * 8e9);
    stats->quantum_bytes = stat.send_quantum;
}

static struct sojourn_endpoint table = {
    .abi = SOJOURN_ENDPOINT_ABI,
    .size = sizeof(struct sojourn_endpoint),
    .name = "ngtcp2",
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
    snprintf(version, sizeof version, "%s, GnuTLS %s, adapter " ADAPTER,
             ngtcp2_version(0)->version_str, gnutls_check_version(NULL));
    table.version = version;
    return &table;
}
