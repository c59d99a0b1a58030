/* Runs a transport library in a separate process, in which the clock and the random numbers are
 * those of the simulator.
 *
 *   sojourn run quic.toml --endpoint quic=process:./libmine.so
 *
 * The simulator compiles this file, and starts the program once for each end of a connection, with
 * the library as its argument. A user's program may instead contain both this file and
 * sojourn_endpoint().
 *
 * The simulator sends requests, which the program answers: they run in turns, and the clock of this
 * process shows the time of the last request. The functions below replace those of the C library in
 * all libraries of this process, because the executable is searched first (ld.so(8)). They do not
 * replace system calls in assembly (Go, statically linked programs) or the CPU's counters and
 * random numbers (rdtsc, rdrand); `sojourn check` finds such uses.
 *
 * Messages, both ways: a length in 32 bits, then a body. Numbers are in this machine's order. A
 * text is a length in 32 bits and its bytes. crates/endpoint-c/src/process/wire.rs is the other
 * side.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FORTIFY_SOURCE
#include "sojourn_endpoint.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x534a4550u
#define PROTOCOL 2u

/* A library that needs such a process declares this symbol weak: it is null elsewhere. */
const uint32_t sojourn_process = PROTOCOL;

/* ---- The clock and the random numbers */

#define EPOCH_NS 1767225600000000000ull /* 2026-01-01, so that certificates are valid */
#define UPTIME_NS 1000000000000000ull   /* a program may subtract from a monotonic time */
/* No process has this number (proc(5), pid_max). */
#define PROCESS_NUMBER 4194305
enum { MOST_FILES = 1024, RANDOM_FILE_BYTES = 1 << 16 };

static uint64_t now_ns;
static uint64_t state[4] = { 1, 2, 3, 4 };
static unsigned char is_random_file[MOST_FILES];

/* xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators"). */
static uint64_t draw(void)
{
    uint64_t product = state[1] * 5, shifted = state[1] << 17;
    uint64_t result = ((product << 7) | (product >> 57)) * 9;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = (state[3] << 45) | (state[3] >> 19);
    return result;
}

static void fill(void *buffer, size_t length)
{
    for (size_t at = 0; at < length; at += sizeof(uint64_t)) {
        uint64_t word = draw();
        size_t left = length - at;
        memcpy((char *)buffer + at, &word, left < sizeof word ? left : sizeof word);
    }
}

static uint64_t shown_ns(int is_date) { return now_ns + (is_date ? EPOCH_NS : UPTIME_NS); }

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int is_date = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    uint64_t shown = shown_ns(is_date);
    time->tv_sec = (time_t)(shown / 1000000000);
    time->tv_nsec = (long)(shown % 1000000000);
    return 0;
}

int timespec_get(struct timespec *time, int base)
{
    clock_gettime(CLOCK_REALTIME, time);
    return base;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    uint64_t shown = shown_ns(1);
    (void)zone;
    time->tv_sec = (time_t)(shown / 1000000000);
    time->tv_usec = (suseconds_t)(shown % 1000000000 / 1000);
    return 0;
}

time_t time(time_t *into)
{
    time_t shown = (time_t)(shown_ns(1) / 1000000000);
    if (into)
        *into = shown;
    return shown;
}

clock_t clock(void) { return (clock_t)(now_ns / (1000000000 / CLOCKS_PER_SEC)); }

/* A usual seed of random numbers. */
pid_t getpid(void) { return PROCESS_NUMBER; }

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    (void)flags;
    fill(buffer, length);
    return (ssize_t)length;
}

int getentropy(void *buffer, size_t length)
{
    fill(buffer, length);
    return 0;
}

uint32_t arc4random(void) { return (uint32_t)(draw() >> 32); }

void arc4random_buf(void *buffer, size_t length) { fill(buffer, length); }

uint32_t arc4random_uniform(uint32_t bound)
{
    return bound ? (uint32_t)((draw() >> 32) % bound) : 0;
}

/* Functions of OpenSSL and BoringSSL, where these are shared libraries. */
int RAND_bytes(unsigned char *buffer, size_t length)
{
    fill(buffer, (unsigned)length);
    return 1;
}

int RAND_priv_bytes(unsigned char *buffer, int length)
{
    return RAND_bytes(buffer, (size_t)length);
}

int RAND_pseudo_bytes(unsigned char *buffer, int length)
{
    return RAND_bytes(buffer, (size_t)length);
}

int RAND_bytes_ex(void *context, unsigned char *buffer, size_t length, unsigned strength)
{
    (void)context;
    (void)strength;
    fill(buffer, length);
    return 1;
}

int RAND_priv_bytes_ex(void *context, unsigned char *buffer, size_t length, unsigned strength)
{
    return RAND_bytes_ex(context, buffer, length, strength);
}

typedef long (*syscall_fn)(long, ...);

static syscall_fn real_syscall(void)
{
    static syscall_fn found;
    if (!found)
        found = (syscall_fn)dlsym(RTLD_NEXT, "syscall");
    return found;
}

/* BoringSSL draws its random numbers through this function. */
long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    switch (number) {
    case SYS_getrandom:
        return getrandom((void *)a[0], (size_t)a[1], 0);
    case SYS_clock_gettime:
        return clock_gettime((clockid_t)a[0], (struct timespec *)a[1]);
#ifdef SYS_gettimeofday
    case SYS_gettimeofday:
        return gettimeofday((struct timeval *)a[0], NULL);
#endif
#ifdef SYS_time
    case SYS_time:
        return (long)time((time_t *)a[0]);
#endif
    case SYS_getpid:
        return getpid();
    default:
        return real_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}

static int names_random(const char *path)
{
    return strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0;
}

/* A file of random numbers in memory, for code that does not call `read`. */
static int open_random(void)
{
    static char content[RANDOM_FILE_BYTES];
    int file = memfd_create("random", MFD_CLOEXEC);
    fill(content, sizeof content);
    if (file >= 0 && (pwrite(file, content, sizeof content, 0) < 0 || file >= MOST_FILES)) {
        real_syscall()(SYS_close, file);
        errno = EMFILE;
        return -1;
    }
    if (file >= 0)
        is_random_file[file] = 1;
    return file;
}

static int open_any(int folder, const char *path, int flags, unsigned mode)
{
    if (names_random(path))
        return open_random();
    return (int)real_syscall()(SYS_openat, folder, path, flags | O_LARGEFILE, mode);
}

/* The mode is an argument only if a file may be created. */
#define MODE_OF(flags, mode)                                                                       \
    do {                                                                                           \
        if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                   \
            va_list list;                                                                          \
            va_start(list, flags);                                                                 \
            (mode) = va_arg(list, unsigned);                                                       \
            va_end(list);                                                                          \
        }                                                                                          \
    } while (0)

int open(const char *path, int flags, ...)
{
    unsigned mode = 0;
    MODE_OF(flags, mode);
    return open_any(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    unsigned mode = 0;
    MODE_OF(flags, mode);
    return open_any(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    unsigned mode = 0;
    MODE_OF(flags, mode);
    return open_any(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    unsigned mode = 0;
    MODE_OF(flags, mode);
    return open_any(folder, path, flags, mode);
}

int __open_2(const char *path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }

int __open64_2(const char *path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }

ssize_t read(int file, void *buffer, size_t length)
{
    if (file >= 0 && file < MOST_FILES && is_random_file[file]) {
        fill(buffer, length);
        return (ssize_t)length;
    }
    return real_syscall()(SYS_read, file, buffer, length);
}

ssize_t __read_chk(int file, void *buffer, size_t length, size_t room)
{
    if (length > room)
        abort();
    return read(file, buffer, length);
}

int close(int file)
{
    if (file >= 0 && file < MOST_FILES)
        is_random_file[file] = 0;
    return (int)real_syscall()(SYS_close, file);
}

static ssize_t read_random(void *cookie, char *buffer, size_t length)
{
    (void)cookie;
    fill(buffer, length);
    return (ssize_t)length;
}

static FILE *fopen_any(const char *path, const char *mode, const char *function)
{
    if (names_random(path)) {
        cookie_io_functions_t functions = { .read = read_random };
        return fopencookie(NULL, "r", functions);
    }
    return ((FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, function))(path, mode);
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
    return fopen_any(path, mode, "fopen");
}

FILE *fopen64(const char *restrict path, const char *restrict mode)
{
    return fopen_any(path, mode, "fopen64");
}

/* ---- Messages */

/* The buffer holds twice the largest UDP payload, so that a library that ignores the capacity of
 * the buffer is refused before it damages memory. */
enum { ROOM = 128 << 10, MOST_REQUEST = 1 << 20, PAUSE_AFTER = 64 };
enum request {
    DESCRIBE = 1, OPEN, CONNECT, INPUT, EXPIRE, WRITE, READ, CLOSE, GO_ON, MORE, END
};
enum item { QUIET = 1, DATAGRAM, EVENT, FAILED, VALUE, DESCRIBED, REFUSED, OPENED, PAUSE };

static const struct sojourn_endpoint *table;
static struct sojourn_endpoint_host host;
static struct sojourn_endpoint_setting *settings;
static uint32_t setting_count;
static void *end;
static int channel, has_failed;
static uint8_t request[MOST_REQUEST], datagram[ROOM];
static size_t request_length, request_at;
static uint8_t *reply;
static size_t reply_length, reply_room;

/* Linked into this program, or absent. */
extern const struct sojourn_endpoint *sojourn_endpoint(void) __attribute__((weak));

static void put(const void *bytes, size_t length)
{
    if (reply_length + length > reply_room) {
        reply_room = 2 * (reply_length + length);
        reply = realloc(reply, reply_room);
        if (!reply)
            abort();
    }
    memcpy(reply + reply_length, bytes, length);
    reply_length += length;
}

static void put_kind(enum item kind) { put(&(uint8_t){ (uint8_t)kind }, 1); }

static void put_32(uint32_t value) { put(&value, sizeof value); }

static void put_64(uint64_t value) { put(&value, sizeof value); }

static void put_text(const char *text)
{
    uint32_t length = text ? (uint32_t)strlen(text) : 0;
    put_32(length);
    put(text ? text : "", length);
}

static void get(void *into, size_t length)
{
    if (request_length - request_at < length)
        _exit(3); /* the simulator sends whole requests */
    memcpy(into, request + request_at, length);
    request_at += length;
}

static uint32_t get_32(void)
{
    uint32_t value;
    get(&value, sizeof value);
    return value;
}

static uint64_t get_64(void)
{
    uint64_t value;
    get(&value, sizeof value);
    return value;
}

static char *get_text(void)
{
    uint32_t length = get_32();
    char *text = calloc(1, (size_t)length + 1);
    if (!text)
        abort();
    get(text, length);
    return text;
}

/* Ends with the simulator. */
static void receive(void *into, size_t length)
{
    for (size_t at = 0; at < length;) {
        ssize_t got = real_syscall()(SYS_read, channel, (char *)into + at, length - at);
        if (got > 0)
            at += (size_t)got;
        else if (got == 0 || errno != EINTR)
            _exit(0);
    }
}

static void send_all(const void *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        ssize_t sent = write(channel, (const char *)bytes + at, length - at);
        if (sent >= 0)
            at += (size_t)sent;
        else if (errno != EINTR)
            _exit(0);
    }
}

static void answer(void)
{
    uint32_t length = (uint32_t)(reply_length - sizeof(uint32_t));
    memcpy(reply, &length, sizeof length);
    send_all(reply, reply_length);
}

/* ---- The library */

static void fail(void *context, const char *why)
{
    (void)context;
    if (has_failed)
        return;
    has_failed = 1;
    put_kind(FAILED);
    put_text(why);
}

static void put_stats(void)
{
    struct sojourn_endpoint_stats stats;
    memset(&stats, 0xff, sizeof stats);
    if (table->stats)
        table->stats(end, &stats);
    put(&stats, sizeof stats);
}

static const char *find_table(const char *library)
{
    static char why[600];
    const struct sojourn_endpoint *(*entry)(void) = sojourn_endpoint;
    if (library) {
        void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (!opened) {
            snprintf(why, sizeof why, "is not a shared library for this machine (%s)", dlerror());
            return why;
        }
        entry = (const struct sojourn_endpoint *(*)(void))dlsym(opened, "sojourn_endpoint");
    }
    if (!entry)
        return "has no function sojourn_endpoint, so it is not a transport library; see "
               "sojourn_endpoint.h";
    table = entry();
    if (!table)
        return "sojourn_endpoint() returned no table";
    if (table->abi != SOJOURN_ENDPOINT_ABI || table->size != sizeof *table) {
        snprintf(why, sizeof why,
                 "is built for version %u of sojourn_endpoint.h (%u bytes), this is version %u (%u "
                 "bytes); build it again",
                 table->abi, table->size, SOJOURN_ENDPOINT_ABI, (unsigned)sizeof *table);
        return why;
    }
    return NULL;
}

static const char *missing_function(void)
{
    const struct { const char *name; int is_there; } all[] = {
        { "describe", !!table->describe }, { "open", !!table->open }, { "free", !!table->free },
        { "connect", !!table->connect }, { "input", !!table->input }, { "output", !!table->output },
        { "deadline", !!table->deadline }, { "expire", !!table->expire },
        { "event", !!table->event }, { "write", !!table->write }, { "read", !!table->read },
        { "close", !!table->close },
    };
    static char why[100];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!all[i].is_there) {
            snprintf(why, sizeof why, "its table has no function `%s`; see sojourn_endpoint.h",
                     all[i].name);
            return why;
        }
    if (!table->name || !*table->name)
        return "its table has no name; it identifies a run";
    return table->version && *table->version ? NULL
                                             : "its table has no version; it identifies a run";
}

static void refuse(const char *why)
{
    put_kind(REFUSED);
    put_text(why);
}

static void describe(const char *library)
{
    struct sojourn_endpoint_info info = { 0 };
    const char *why = find_table(library);
    setting_count = get_32();
    settings = calloc((size_t)setting_count + 1, sizeof *settings);
    for (uint32_t i = 0; i < setting_count; i++) {
        settings[i].name = get_text();
        settings[i].value = get_text();
    }
    why = why ? why : missing_function();
    why = why ? why : table->describe(settings, setting_count, &info);
    if (why) {
        refuse(why);
        return;
    }
    put_kind(DESCRIBED);
    put_text(table->name);
    put_text(table->version);
    put_text(info.settings);
    put_text(info.unrepeatable);
    put_32(info.carries);
    put_32(info.flags);
}

static void open_end(void)
{
    const char *why = NULL;
    get(host.seed, sizeof host.seed);
    host.is_server = get_32();
    host.mtu_bytes = get_32();
    host.datagram_bytes = get_32();
    host.setting_count = setting_count;
    host.settings = settings;
    host.fail = fail;
    memcpy(state, host.seed, sizeof state);
    for (int i = 0; i < 16; i++)
        draw();
    end = table->open(&host, now_ns, &why);
    if (!end && !has_failed)
        refuse(why ? why : "open returned neither an end nor an error");
    else if (!has_failed)
        put_kind(OPENED);
}

static void put_event(int kind, const struct sojourn_endpoint_event *event)
{
    put_kind(EVENT);
    put_32((uint32_t)kind);
    put_64(event->stream);
    put_text(event->reason);
}

/* Writes all or some datagrams of this instant into the answer; returns how many. */
static unsigned put_datagrams(void)
{
    for (unsigned sent = 0;; sent++) {
        struct sojourn_endpoint_transmit transmit = { 0 };
        if (sent == PAUSE_AFTER) {
            put_kind(PAUSE);
            return sent;
        }
        if (!table->output(end, now_ns, datagram, host.datagram_bytes, &transmit) || has_failed)
            return sent;
        put_kind(DATAGRAM);
        put_64(transmit.earliest_ns);
        put_32(transmit.ecn);
        put_64(transmit.length);
        put_stats();
        if (transmit.length > ROOM) { /* refused for its length */
            has_failed = 1;
            return sent;
        }
        put(datagram, transmit.length);
    }
}

/* Like the simulator, takes events, then datagrams, in turn until none is left.
 * The simulator reacts to an event before anything else happens. */
static void advance(int has_sent)
{
    for (;;) {
        struct sojourn_endpoint_event event = { 0 };
        int kind = has_sent ? SOJOURN_ENDPOINT_NONE : table->event(end, &event);
        if (kind != SOJOURN_ENDPOINT_NONE && !has_failed) {
            put_event(kind, &event);
            return;
        }
        unsigned sent = has_failed ? 0 : put_datagrams();
        if (has_failed || sent == PAUSE_AFTER)
            return;
        if (sent == 0 && !has_sent)
            break;
        has_sent = 0;
    }
    put_kind(QUIET);
    put_64(table->deadline(end));
    put_stats();
}

static void put_value(uint64_t first, uint64_t second)
{
    put_kind(VALUE);
    put_64(first);
    put_64(second);
    put_stats();
}

static void input(void)
{
    struct sojourn_endpoint_datagram arrived = { 0 };
    arrived.ecn = get_32();
    arrived.bytes = request + request_at;
    arrived.length = request_length - request_at;
    table->input(end, now_ns, &arrived);
}

static void write_or_read(enum request kind)
{
    uint64_t stream = get_64();
    if (kind == WRITE) {
        uint64_t bytes = get_64();
        put_value(table->write(end, now_ns, stream, bytes, (int)get_32()), 0);
    } else {
        struct sojourn_endpoint_read read = { 0 };
        table->read(end, now_ns, stream, &read);
        put_value(read.bytes, read.is_finished);
    }
}

static void finish(void)
{
    if (end)
        table->free(end);
    answer();
    exit(0);
}

static void act(enum request kind)
{
    switch (kind) {
    case CONNECT: table->connect(end, now_ns); break;
    case INPUT: input(); break;
    case EXPIRE: table->expire(end, now_ns); break;
    case WRITE:
    case READ: write_or_read(kind); return;
    case CLOSE:
        table->close(end, now_ns);
        if (!has_failed)
            put_datagrams(); /* ignores further events */
        return;
    case MORE: advance(1); return;
    default: break;
    }
    if (!has_failed)
        advance(0);
}

static void serve(const char *library)
{
    enum request kind;
    uint32_t length;
    receive(&length, sizeof length);
    if (length > sizeof request)
        _exit(3);
    receive(request, length);
    request_length = length;
    request_at = 0;
    reply_length = 0;
    put_32(0); /* the length */
    kind = (enum request)get_32();
    now_ns = get_64();
    if (kind == DESCRIBE)
        describe(library);
    else if (kind == OPEN)
        open_end();
    else if (kind == END)
        finish();
    else if (!has_failed)
        act(kind);
    answer();
}

/* Requests the same addresses in every run, where the system allows it. */
static void fix_addresses(char **arguments)
{
    int now = personality(0xffffffff);
    if (now == -1 || now & ADDR_NO_RANDOMIZE)
        return;
    personality((unsigned long)now | ADDR_NO_RANDOMIZE);
    now = personality(0xffffffff);
    if (now != -1 && now & ADDR_NO_RANDOMIZE)
        execv("/proc/self/exe", arguments);
}

int main(int count, char **arguments)
{
    uint32_t hello[] = { 2 * sizeof(uint32_t), MAGIC, PROTOCOL };
    unsigned long given = getauxval(AT_RANDOM);
    int nothing;
    fix_addresses(arguments);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    if (given)
        memset((void *)given, 1, 16); /* 16 random bytes of the kernel (getauxval(3)) */
    channel = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
    nothing = open("/dev/null", O_RDONLY);
    if (channel < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
        return 3;
    close(nothing);
    send_all(hello, sizeof hello);
    for (;;)
        serve(count > 1 ? arguments[1] : NULL);
}
