// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tc plug-in for the queueing discipline "sojourn": tc loads this file, as q_sojourn.so, for
 * that name (iproute2 6.1 tc/tc.c, get_qdisc_kind), from /usr/lib/tc or from the folder that
 * TC_LIB_DIR names.
 *
 * Debian has no package with tc's headers, so the needed parts are declared here.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "sojourn_netlink.h"

/* ---- From iproute2 6.1: tc/tc_util.h, include/libnetlink.h, json_print.h, color.h. ---- */

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *self, int argc, char **argv, struct nlmsghdr *message,
			  const char *device);
	int (*print_qopt)(struct qdisc_util *self, FILE *out, struct rtattr *options);
	int (*print_xstats)(struct qdisc_util *self, FILE *out, struct rtattr *stats);
	int (*parse_copt)(struct qdisc_util *self, int argc, char **argv, struct nlmsghdr *message,
			  const char *device);
	int (*print_copt)(struct qdisc_util *self, FILE *out, struct rtattr *options);
	int (*has_block)(struct qdisc_util *self, struct rtattr *options, bool *answer);
};

extern int show_stats;

int addattr_l(struct nlmsghdr *message, int max_bytes, int type, const void *value, int bytes);
int get_rate64(uint64_t *bytes_per_s, const char *text);
int print_color_string(int where, int colour, const char *key, const char *format,
		       const char *value);
int print_color_u64(int where, int colour, const char *key, const char *format, uint64_t value);
int print_color_float(int where, int colour, const char *key, const char *format, double value);
void open_json_object(const char *key);
void close_json_object(void);

/* PRINT_FP, PRINT_ANY and COLOR_NONE. */
#define AS_TEXT 1
#define AS_BOTH 4
#define NO_COLOUR 6

#define MESSAGE_BYTES 16384

/* ---- Parsing. ---- */

static const char *const causes[SOJOURN_CAUSES] = {
	"overflow", "random", "deterministic", "target", "ce_threshold", "forced", "overload",
	"random_overload", "delay_bound", "bin_overflow", "penalty", "match",
	"policed", "flow_limit", "horizon",
};

static int explain(void)
{
	fputs("Usage: ... sojourn aqm TEXT [ seed NUMBER ] [ rate RATE ] [ mtu BYTES ]\n"
	      "TEXT is an AQM of Sojourn, such as codel@linux:target=10ms; RATE the link's, where it\n"
	      "is known\n", stderr);
	return -1;
}

static bool is_number(const char *text, uint64_t most, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && *number <= most;
}

/* Adds the option of one pair of words; false if it is unknown. */
static bool add(struct nlmsghdr *message, const char *word, const char *text)
{
	uint64_t number;
	uint32_t bytes;

	if (!strcmp(word, "aqm"))
		return !addattr_l(message, MESSAGE_BYTES, TCA_SOJOURN_AQM, text, strlen(text) + 1);
	if (!strcmp(word, "seed") && is_number(text, UINT64_MAX, &number))
		return !addattr_l(message, MESSAGE_BYTES, TCA_SOJOURN_SEED, &number, 8);
	if (!strcmp(word, "rate") && !get_rate64(&number, text)) {
		number *= 8;
		return !addattr_l(message, MESSAGE_BYTES, TCA_SOJOURN_RATE, &number, 8);
	}
	if (!strcmp(word, "mtu") && is_number(text, UINT32_MAX, &number)) {
		bytes = number;
		return !addattr_l(message, MESSAGE_BYTES, TCA_SOJOURN_MTU, &bytes, 4);
	}
	return false;
}

static int parse(struct qdisc_util *self, int argc, char **argv, struct nlmsghdr *message,
		 const char *device)
{
	/* The options follow here. */
	struct rtattr *options = (struct rtattr *)((char *)message +
						   NLMSG_ALIGN(message->nlmsg_len));
	bool has_aqm = false;

	(void)self;
	(void)device;
	if (addattr_l(message, MESSAGE_BYTES, TCA_OPTIONS | NLA_F_NESTED, NULL, 0))
		return -1;
	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "help"))
			return explain();
		if (argc < 2 || !add(message, argv[0], argv[1])) {
			fprintf(stderr, "sojourn: \"%s%s%s\" is not understood\n", argv[0],
				argc < 2 ? "" : " ", argc < 2 ? "" : argv[1]);
			return explain();
		}
		has_aqm |= !strcmp(argv[0], "aqm");
	}
	if (!has_aqm) {
		fputs("sojourn: the AQM is missing\n", stderr);
		return explain();
	}
	options->rta_len = (char *)message + NLMSG_ALIGN(message->nlmsg_len) - (char *)options;
	return 0;
}

/* ---- Output. ---- */

/* The attribute of a type among others, or null. */
static const struct rtattr *find(const struct rtattr *from, int bytes, int type)
{
	for (; RTA_OK(from, bytes); from = RTA_NEXT(from, bytes))
		if ((from->rta_type & NLA_TYPE_MASK) == type)
			return from;
	return NULL;
}

static uint64_t number_in(const struct rtattr *attribute)
{
	uint64_t number = 0;

	if (attribute)
		memcpy(&number, RTA_DATA(attribute),
		       RTA_PAYLOAD(attribute) < sizeof(number) ? RTA_PAYLOAD(attribute) : sizeof(number));
	return number;
}

/* Present state variables of the discipline. */
static void print_vars(const struct rtattr *vars)
{
	const struct rtattr *one, *name, *value;
	int bytes = RTA_PAYLOAD(vars);
	double number;

	print_color_string(AS_TEXT, NO_COLOUR, NULL, "%s", "\n ");
	open_json_object("vars");
	for (one = RTA_DATA(vars); RTA_OK(one, bytes); one = RTA_NEXT(one, bytes)) {
		name = find(RTA_DATA(one), RTA_PAYLOAD(one), TCA_SOJOURN_VAR_NAME);
		value = find(RTA_DATA(one), RTA_PAYLOAD(one), TCA_SOJOURN_VAR_VALUE);
		if (!name || !value || RTA_PAYLOAD(value) != sizeof(number))
			continue;
		memcpy(&number, RTA_DATA(value), sizeof(number));
		print_color_string(AS_TEXT, NO_COLOUR, NULL, " %s ", RTA_DATA(name));
		print_color_float(AS_BOTH, NO_COLOUR, RTA_DATA(name), "%g", number);
	}
	close_json_object();
}

static int print_options(struct qdisc_util *self, FILE *out, struct rtattr *options)
{
	const struct rtattr *aqm, *rate, *vars;
	int bytes;

	(void)self;
	(void)out;
	if (!options)
		return 0;
	bytes = RTA_PAYLOAD(options);
	aqm = find(RTA_DATA(options), bytes, TCA_SOJOURN_AQM);
	rate = find(RTA_DATA(options), bytes, TCA_SOJOURN_RATE);
	vars = find(RTA_DATA(options), bytes, TCA_SOJOURN_VARS);
	if (!aqm)
		return -1;
	print_color_string(AS_BOTH, NO_COLOUR, "aqm", "aqm %s ", RTA_DATA(aqm));
	print_color_u64(AS_BOTH, NO_COLOUR, "seed", "seed %llu ",
			number_in(find(RTA_DATA(options), bytes, TCA_SOJOURN_SEED)));
	if (number_in(rate))
		print_color_u64(AS_BOTH, NO_COLOUR, "rate", "rate %llubit ", number_in(rate));
	print_color_u64(AS_BOTH, NO_COLOUR, "mtu", "mtu %llu ",
			number_in(find(RTA_DATA(options), bytes, TCA_SOJOURN_MTU)));
	if (vars && show_stats)
		print_vars(vars);
	return 0;
}

static void print_counts(const char *what, const __u64 *counts)
{
	int i;

	print_color_string(AS_TEXT, NO_COLOUR, NULL, " %s", what);
	open_json_object(what);
	for (i = 0; i < SOJOURN_CAUSES; i++) {
		if (!counts[i])
			continue;
		print_color_string(AS_TEXT, NO_COLOUR, NULL, " %s ", causes[i]);
		print_color_u64(AS_BOTH, NO_COLOUR, causes[i], "%llu", counts[i]);
	}
	close_json_object();
}

static int print_stats(struct qdisc_util *self, FILE *out, struct rtattr *stats)
{
	struct tc_sojourn_xstats counts;

	(void)self;
	(void)out;
	if (!stats || RTA_PAYLOAD(stats) < sizeof(counts))
		return 0;
	memcpy(&counts, RTA_DATA(stats), sizeof(counts));
	print_counts("drops_by_cause", counts.drops);
	print_counts("marks_by_cause", counts.marks);
	return 0;
}

struct qdisc_util sojourn_qdisc_util = {
	.id = "sojourn",
	.parse_qopt = parse,
	.print_qopt = print_options,
	.print_xstats = print_stats,
};
