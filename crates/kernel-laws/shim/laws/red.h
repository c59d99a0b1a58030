/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that tc computes for RED and its kin; see src/cases.rs for the numbers. */
static void shim_red(int parms, int stab, int max_p, u32 flags)
{
	struct tc_red_qopt opt = {
		.limit = shim_arg("limit", 0),
		.qth_min = shim_arg("min", 0),
		.qth_max = shim_arg("max", 0),
		.Wlog = shim_arg("wlog", 0),
		.Scell_log = shim_arg("scell_log", 0),
		.flags = flags,
	};
	const char *digits = shim_text("stab");
	u8 table[256];

	for (int i = 0; i < 256; i++)
		table[i] = (digits[2 * i] - 'a') * 16 + (digits[2 * i + 1] - 'a');
	shim_attribute(parms, &opt, sizeof(opt));
	shim_attribute(stab, table, sizeof(table));
	shim_u32(max_p, "max_p");
}

static u32 shim_red_flags(void)
{
	return (shim_arg("ecn", 0) ? TC_RED_ECN : 0) |
	       (shim_arg("harddrop", 0) ? TC_RED_HARDDROP : 0) |
	       (shim_arg("adaptive", 0) ? TC_RED_ADAPTATIVE : 0);
}
