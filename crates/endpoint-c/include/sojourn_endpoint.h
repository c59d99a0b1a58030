/* A transport library (QUIC, WebRTC, another TCP) for Sojourn's simulator, in a shared library. In
 * C and C++.
 *
 * A library exports one function, sojourn_endpoint(), which returns a table of functions. An "end"
 * is one end of one connection; the host calls, the library never blocks, reads a clock or draws
 * randomness of the system. After connect, input, expire, write, read and close the host calls
 * event until it returns SOJOURN_ENDPOINT_NONE and output until it returns 0, then deadline.
 *
 * Times are nanoseconds since the start of the run. A library with a coarser clock rounds its
 * deadlines up. Ends of several connections may be called from different threads, one end from one
 * thread at a time. Pointers passed to a function are valid until it returns, those of
 * sojourn_endpoint_host until the end is freed. Texts that a function returns are valid until the
 * library is called again.
 *
 * The names are those of the traits Stack and Endpoint in crates/endpoint/src/lib.rs;
 * docs/how-to/endpoints.md explains how to build, check and run a library. A library is loaded only
 * if its abi and size are those of the host.
 */
#ifndef SOJOURN_ENDPOINT_H
#define SOJOURN_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented whenever a structure below changes. */
#define SOJOURN_ENDPOINT_ABI 2u

/* No deadline. */
#define SOJOURN_ENDPOINT_NEVER UINT64_MAX
/* A number that the library does not know. */
#define SOJOURN_ENDPOINT_UNKNOWN UINT64_MAX

/* The ECN field (RFC 3168 section 5). */
enum {
    SOJOURN_ENDPOINT_NOT_ECT = 0,
    SOJOURN_ENDPOINT_ECT1 = 1,
    SOJOURN_ENDPOINT_ECT0 = 2,
    SOJOURN_ENDPOINT_CE = 3
};

/* A setting: cc and bbr of --endpoint quic=libmine.so:cc=bbr. */
struct sojourn_endpoint_setting {
    const char *name;
    const char *value;
};

/* The content of datagrams, which determines the headers that the host adds. */
enum {
    SOJOURN_ENDPOINT_UDP_PAYLOAD = 0, /* the host adds 28 bytes, IPv4 and UDP */
    SOJOURN_ENDPOINT_IP_PACKETS = 1   /* the host adds nothing */
};

/* The library sends ECN-capable datagrams and reacts to marks. */
#define SOJOURN_ENDPOINT_ECN 1u
/* A connection carries several streams at a time. */
#define SOJOURN_ENDPOINT_STREAMS 2u

/* The library under certain settings. Zeroed before the call. */
struct sojourn_endpoint_info {
    const char *settings;     /* all settings in full, such as "cc=bbr, window=64kB"; may be NULL */
    const char *unrepeatable; /* why two runs with one seed may differ; NULL if they cannot */
    uint32_t carries;
    uint32_t flags;
};

/* Settings of one end, from the host. */
struct sojourn_endpoint_host {
    uint8_t seed[32]; /* the only randomness that may affect what is sent */
    uint32_t is_server;
    uint32_t mtu_bytes;      /* largest IP packet of the path */
    uint32_t datagram_bytes; /* largest datagram: mtu_bytes without the headers of the host */
    uint32_t setting_count;
    const struct sojourn_endpoint_setting *settings;
    void *context;
    /* Ends the run with a sentence, after the current call. */
    void (*fail)(void *context, const char *why);
};

/* A datagram that arrives. */
struct sojourn_endpoint_datagram {
    const uint8_t *bytes;
    size_t length;
    uint32_t ecn;
    uint32_t reserved;
};

/* How to send a datagram. Zeroed before the call. */
struct sojourn_endpoint_transmit {
    uint64_t earliest_ns; /* earliest sending time; a past time means at once */
    size_t length;
    uint32_t ecn;
    uint32_t reserved;
};

/* Events. */
enum {
    SOJOURN_ENDPOINT_NONE = 0,
    SOJOURN_ENDPOINT_CONNECTED = 1, /* the handshake is complete; data may be written */
    SOJOURN_ENDPOINT_READABLE = 2,  /* the stream has data to read, or its end */
    SOJOURN_ENDPOINT_WRITABLE = 3,  /* the stream takes data again, after it took less than offered
    */ SOJOURN_ENDPOINT_CLOSED = 4     /* the connection is over, with a reason */
};

/* Zeroed before the call. */
struct sojourn_endpoint_event {
    uint64_t stream;    /* from zero, in the order in which the client opens streams */
    const char *reason; /* of SOJOURN_ENDPOINT_CLOSED; may be NULL */
};

/* The result of reading a stream. Zeroed before the call. */
struct sojourn_endpoint_read {
    uint64_t bytes;       /* bytes of payload, in order */
    uint64_t is_finished; /* 1 if the stream is complete */
};

/* Before the call every member is SOJOURN_ENDPOINT_UNKNOWN. */
struct sojourn_endpoint_stats {
    uint64_t cwnd_bytes;
    uint64_t in_flight_bytes;
    uint64_t smoothed_rtt_ns;
    uint64_t pacing_bps;    /* pacing rate; unknown or 0 if it does not pace */
    uint64_t quantum_bytes; /* most bytes that it sends at one instant while it paces */
    uint64_t lost_bytes;    /* considered lost so far */
    uint64_t estimate_bps;  /* estimated bandwidth, such as that of a controller for media */
};

/* Every function is required, except stats. */
struct sojourn_endpoint {
    uint32_t abi;  /* SOJOURN_ENDPOINT_ABI */
    uint32_t size; /* sizeof(struct sojourn_endpoint) */
    const char *name;
    const char *version; /* of the library, its features and its adapter: it identifies a run */

    /* NULL if the settings are legal, else an error message. A setting may be given once. */
    const char *(*describe)(const struct sojourn_endpoint_setting *settings, uint32_t count,
                            struct sojourn_endpoint_info *info);
    /* One end; NULL with an error message if the path does not suit. */
    void *(*open)(const struct sojourn_endpoint_host *host, uint64_t now_ns, const char **error);
    void (*free)(void *end);

    /* Opens the connection. Called once, at the client. */
    void (*connect)(void *end, uint64_t now_ns);
    void (*input)(void *end, uint64_t now_ns, const struct sojourn_endpoint_datagram *datagram);
    /* Writes the next datagram and returns 1; 0 if nothing is to be sent now. */
    int (*output)(void *end, uint64_t now_ns, uint8_t *buffer, size_t capacity,
                  struct sojourn_endpoint_transmit *transmit);
    /* When expire is to be called; may be a past time. */
    uint64_t (*deadline)(void *end);
    void (*expire)(void *end, uint64_t now_ns);
    /* The next event. */
    int (*event)(void *end, struct sojourn_endpoint_event *event);
    /* Offers zero bytes to a stream, which opens with its first write at the client. Returns how
     * many were taken: enough to keep the connection busy, and no more than a few congestion
     * windows ahead. `finish`: nothing follows if all of them are taken. */
    uint64_t (*write)(void *end, uint64_t now_ns, uint64_t stream, uint64_t bytes, int finish);
    /* Reads and discards all that has arrived in order on a stream. */
    void (*read)(void *end, uint64_t now_ns, uint64_t stream, struct sojourn_endpoint_read *read);
    /* Ends the connection at once. */
    void (*close)(void *end, uint64_t now_ns);
    void (*stats)(const void *end, struct sojourn_endpoint_stats *stats);
};

#if defined(_WIN32)
#define SOJOURN_ENDPOINT_EXPORT __declspec(dllexport)
#else
#define SOJOURN_ENDPOINT_EXPORT __attribute__((visibility("default")))
#endif

/* The function that the library exports. */
SOJOURN_ENDPOINT_EXPORT const struct sojourn_endpoint *sojourn_endpoint(void);

#ifdef __cplusplus
}
#endif

#endif
