/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tree of classes, from the arguments `classes` and `filters`. The including file defines
 * TREE_OPS and TREE_INIT, the discipline's own, and add_class.
 */
#define HANDLE 0x10000U

/* Adds the class that the text begins with. Returns the rest; NULL at the end. */
static const char *add_class(struct Qdisc *sch, const char *text, struct nlattr **tca);

static void add_classes(struct Qdisc *sch)
{
	struct nlattr attribute = { 0 }, *tca[TCA_MAX + 1] = { [TCA_OPTIONS] = &attribute };
	const char *text = shim_text("classes");

	while (text)
		text = add_class(sch, text, tca);
}

/* The minor number of the class of each DSCP, with commas; 0 for none. */
static void add_filters(void)
{
	const char *text = shim_text("filters");

	for (int dscp = 0, used; dscp < 64; dscp++, text += used) {
		unsigned int minor;

		if (sscanf(text, "%u,%n", &minor, &used) != 1)
			abort();
		shim_class_of[dscp] = minor ? HANDLE | minor : 0;
	}
}

static int init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *ack)
{
	int err;

	sch->handle = HANDLE;
	add_filters();
	err = TREE_INIT(sch, opt, ack);
	if (!err)
		add_classes(sch);
	return err;
}

struct Qdisc_ops *shim_ops(void)
{
	static struct Qdisc_ops ops;

	ops = TREE_OPS;
	ops.init = init;
	return &ops;
}
