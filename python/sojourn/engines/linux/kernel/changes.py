"""Changes of the kernel's sources before a guest kernel is built from them."""

from __future__ import annotations

import shutil
from pathlib import Path

from sojourn.errors import InputError

_HERE = Path(__file__).parent
# Our files, compiled into the kernel: seeded random numbers, and ptrace on current CPUs.
OURS = (_HERE / "rngseed_user.c", _HERE / "ptrace_user.c")
# Changes of the sources: file, text, replacement.
CHANGES = (
    (
        "arch/um/os-Linux/Makefile",
        "include arch/um/scripts/Makefile.rules",
        "obj-y += rngseed_user.o ptrace_user.o\nCFLAGS_util.o += -Dos_getrandom=host_getrandom\n\n"
        "include arch/um/scripts/Makefile.rules",
    ),
    (
        "arch/x86/um/os-Linux/Makefile",
        "USER_OBJS := $(obj-y)\n",
        "CFLAGS_registers.o += -Dptrace=ptrace_whole\nUSER_OBJS := $(obj-y)\n",
    ),
    (
        "arch/um/os-Linux/skas/Makefile",
        "USER_OBJS := $(obj-y)\n",
        "CFLAGS_process.o += -Dptrace=ptrace_whole\nUSER_OBJS := $(obj-y)\n",
    ),
    (
        "arch/um/Kconfig",
        "config HZ\n\tint\n\tdefault 100\n",
        "config HZ\n\tint\n\tdefault {hz}\n",
    ),
    # Every random number of the kernel (single and in batches) and of programs is drawn from the
    # seed. Interrupt times are not mixed in, which would need a timer.
    (
        "drivers/char/random.c",
        "static void crng_make_state(",
        "extern int rng_seeded;\n"
        "extern void rng_of_second(void *buf, size_t len, unsigned long long now_ns,\n"
        "\t\t\t  int for_programs);\n\n"
        "static void crng_make_state(",
    ),
    (
        "drivers/char/random.c",
        "\t/*\n\t * For the fast path, ",
        "\tif (rng_seeded) {\n"
        "\t\tchacha_init_consts(chacha_state);\n"
        "\t\trng_of_second((u32 *)chacha_state + 4, 48, ktime_get_real_ns(), 1);\n"
        "\t\trng_of_second(random_data, random_data_len, ktime_get_real_ns(), 1);\n"
        "\t\treturn;\n\t}\n\n"
        "\t/*\n\t * For the fast path, ",
    ),
    (
        "drivers/char/random.c",
        "\tif (!len)\n\t\treturn;\n\n\tfirst_block_len = min_t(size_t, 32, len);\n",
        "\tif (!len)\n\t\treturn;\n"
        "\tif (rng_seeded) {\n"
        "\t\trng_of_second(buf, len, ktime_get_real_ns(), 0);\n\t\treturn;\n\t}\n\n"
        "\tfirst_block_len = min_t(size_t, 32, len);\n",
    ),
    (
        "drivers/char/random.c",
        "\tif  (!crng_ready()) {\t",
        "\tif  (rng_seeded || !crng_ready()) {\t",
    ),
    (
        "drivers/char/random.c",
        "\tunsigned int new_count;\n\n\tfast_mix(",
        "\tunsigned int new_count;\n\n\tif (rng_seeded)\n\t\treturn;\n\tfast_mix(",
    ),
    # In virtual time timers expire at multiples of 256 ns, the clock's resolution; otherwise the
    # offset within a step would depend on all timers since the start.
    (
        "arch/um/kernel/time.c",
        "\t\t\t\t      time_travel_time + delta);\n",
        "\t\t\t\t      roundup(time_travel_time + delta, TIMER_MULTIPLIER));\n",
    ),
    # sched_yield takes a microsecond of virtual time, as a failed call does. Otherwise a program
    # that yields until another one has run would yield forever, because no time passes after which
    # the scheduler would prefer the other. The same holds for programs that poll by other calls
    # (fact linux-43).
    (
        "arch/um/kernel/skas/syscall.c",
        "\t\tif (IS_ERR_VALUE(ret) &&\n",
        "\t\tif ((IS_ERR_VALUE(ret) || syscall == __NR_sched_yield ||\n"
        "\t\t     time_travel_is_polled()) &&\n",
    ),
    (
        "arch/um/kernel/skas/syscall.c",
        "void handle_syscall(struct uml_pt_regs *r)\n",
        "extern int time_travel_is_polled(void);\n\nvoid handle_syscall(struct uml_pt_regs *r)\n",
    ),
    # Whether calls take time, because programs have made 10,000 of them while no more than as many
    # nanoseconds passed. The clock does not count what those calls took. Sojourn's own program has
    # SCHED_FIFO.
    (
        "arch/um/kernel/time.c",
        "EXPORT_SYMBOL(time_travel_ndelay);\n",
        "EXPORT_SYMBOL(time_travel_ndelay);\n\n"
        "int time_travel_is_polled(void)\n{\n"
        "\tstatic unsigned long long seen;\n"
        "\tstatic unsigned int calls;\n"
        "\tunsigned long long passed = time_travel_time - seen;\n\n"
        "\tif (current->policy == SCHED_FIFO)\n\t\treturn 0;\n"
        "\tseen = time_travel_time;\n"
        "\tcalls = passed < calls ? calls - passed : 0;\n"
        "\tif (calls < 10000) {\n\t\tcalls++;\n\t\treturn 0;\n\t}\n"
        "\tseen += NSEC_PER_USEC;\n"
        "\treturn 1;\n}\n",
    ),
    # The cycle counter in virtual time. Its instructions fault (rngseed_user.c), which ends here. A
    # reading takes as long as one of the clock. The counter has 1 GHz; what a reading adds to the
    # clock, less than its resolution of 256 ns, varies for programs that draw entropy from the
    # counter's jitter (fact linux-44).
    (
        "arch/um/kernel/trap.c",
        "\tif (UPT_IS_USER(regs) && !SEGV_IS_FIXABLE(fi)) {\n",
        "\tif (UPT_IS_USER(regs) && !SEGV_IS_FIXABLE(fi)) {\n"
        "\t\tif (fi->trap_no == 13 && read_cycle_counter(regs))\n\t\t\treturn;\n",
    ),
    (
        "arch/um/kernel/trap.c",
        "/**\n * segv_handler() - ",
        "/* Intel SDM 2: RDTSC, RDTSCP. */\n"
        "static int read_cycle_counter(struct uml_pt_regs *regs)\n{\n"
        "\tunsigned char code[3] = {};\n"
        "\tvoid __user *ip = (void __user *)UPT_IP(regs);\n"
        "\tint length = 2;\n"
        "\tu64 now;\n\n"
        "\tif (copy_from_user(code, ip, 2) || code[0] != 0x0f)\n\t\treturn 0;\n"
        "\tif (code[1] == 0x01) {\n"
        "\t\tlength = 3;\n"
        "\t\tif (copy_from_user(code, ip, 3) || code[2] != 0xf9)\n\t\t\treturn 0;\n"
        "\t\tregs->gp[HOST_CX] = 0;\n"
        "\t} else if (code[1] != 0x31) {\n\t\treturn 0;\n\t}\n"
        "\tnow = ktime_get_raw_ns();\n"
        "\tnow += (u32)(now >> 8) * 2654435761U >> 24;\n"
        "\tregs->gp[HOST_AX] = (u32)now;\n"
        "\tregs->gp[HOST_DX] = now >> 32;\n"
        "\tregs->gp[HOST_IP] += length;\n"
        "\treturn 1;\n}\n\n"
        "/**\n * segv_handler() - ",
    ),
)
# How makefiles of 6.1 and of 6.12 include their rules.
_INCLUDE = "include arch/um/scripts/Makefile.rules"
_INCLUDE_OF_6_12 = "include $(srctree)/arch/um/scripts/Makefile.rules"


def adapt(source: Path, hz: int) -> None:
    """Add our files and apply the changes, each only once.

    Raises:
        InputError: the sources do not match the changes.
    """
    for name in dict.fromkeys(name for name, *_ in CHANGES):
        if not (source / name).is_file():
            raise _unknown(source / name, "is not there")
    for ours in OURS:
        shutil.copy(ours, source / "arch/um/os-Linux" / ours.name)
    rules = source / "arch/um/os-Linux/Makefile"
    names_tree = _INCLUDE_OF_6_12 in rules.read_text()
    include = _INCLUDE_OF_6_12 if names_tree else _INCLUDE
    for name, *texts in CHANGES:
        old, new = (text.replace(_INCLUDE, include) for text in texts)
        _edit(source / name, old, new.replace("{hz}", str(hz)))


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    if new in text:
        return
    if text.count(old) != 1:
        raise _unknown(path, "has another text")
    path.write_text(text.replace(old, new))


def _unknown(path: Path, what: str) -> InputError:
    return InputError(
        f"kernel build: {path}: {what}; these are not the sources of Debian's 6.1, 6.12 or "
        "7.2: take those, or build a kernel of your own and give it with --kernel"
    )
