/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface between a file of laws/ and shim.c. */
#ifndef SOJOURN_LAW_H
#define SOJOURN_LAW_H

/* The discipline. */
struct Qdisc_ops *shim_ops(void);
/* Its options, made from the arguments of the command. */
struct nlattr *shim_options(void);

/* An argument of the command, as a number or as text. */
u64 shim_arg(const char *name, u64 otherwise);
const char *shim_text(const char *name);
/* One more attribute: any bytes, or an argument that may be absent. */
void shim_attribute(int type, const void *data, size_t bytes);
void shim_u32(int type, const char *name);
/* An attribute that holds `nla_len` others, an array at `data`. */
void shim_nest(int type, const struct nlattr *list);

/* Attributes are looked up by shim_parse; this only states that some exist. */
#define SHIM_SOME ((struct nlattr *)&shim_device)
#endif
