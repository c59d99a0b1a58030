"""Laws in libraries: the digested code is the code that runs, and misbehaving libraries."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn
from sojourn.errors import InputError
from sojourn.loading.bring import bring, bring_one
from sojourn.running.store import Store

ROOT = Path(__file__).parent.parent
HEADER = ROOT / "crates" / "law" / "include"
SCENARIO = """
name = "one"
duration = "3s"

[links.b]
rate = "10mbit"
delay = "18ms"
buffer = "1bdp"

[[flows]]
name = "bulk"
count = 3
path = ["b"]
rtt = "40ms"
cc = "reno"
app = { kind = "bulk" }
"""
LAW = """
#include "sojourn_law.h"
{before}
static uint32_t on_enqueue(void *state, uint64_t now_ns, const struct sojourn_law_head *head,
                           const struct sojourn_law_queue *queue, struct sojourn_law_random *random)
{{
    (void)state, (void)now_ns, (void)head, (void)random;
    return queue->packets >= {most} ? SOJOURN_DROP_DETERMINISTIC : SOJOURN_PASS;
}}

static const struct sojourn_law LAW = {{
    .abi = SOJOURN_LAW_ABI,
    .size = sizeof(struct sojourn_law),
    .name = "most",
    .doc = "Holds a few packets",
    .on_enqueue = on_enqueue,
    {fields}
}};

const struct sojourn_law *sojourn_law(void)
{{
    return &LAW;
}}
"""
START = """
static void start(void *state, const struct sojourn_law_value *values,
                  const struct sojourn_law_env *env)
{
    (void)state, (void)values, (void)env;
    %s;
}
"""
ALONE = """
import sojourn
scenario = sojourn.Scenario.load('''{scenario}''')
run = sojourn.run(scenario, aqms="libmost.so", store=None)
print(repr(run.summary["queue/b/delay_mean"]))
"""
CHILD = """
import sys
from sojourn.loading.bring import bring
try:
    bring([sys.argv[1]])
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is installed")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(file: Path, text: str, *arguments: str) -> None:
    source = file.with_suffix(".c")
    source.write_text(text)
    subprocess.run(
        ["cc", "-shared", "-fPIC", f"-I{HEADER}", source, "-o", file, *arguments], check=True,
        cwd=file.parent,
    )  # fmt: skip


def law(file: Path, most: str = "3", before: str = "", fields: str = "", *options: str) -> None:
    compiled(file, LAW.format(most=most, before=before, fields=fields), *options)


def delay_s(file: str, store: Store | None = None) -> float:
    scenario = sojourn.Scenario.load(SCENARIO)
    return sojourn.run(scenario, aqms=file, store=store).summary["queue/b/delay_mean"]


def test_a_library_that_was_built_again_runs_as_it_is_now(folder):
    store = Store(folder / "store")
    law(folder / "libmost.so", "3")
    few = delay_s("libmost.so", store)
    law(folder / "libmost.so", "30")
    many = delay_s("libmost.so", store)
    assert 2 * few < many
    command = [sys.executable, "-c", ALONE.format(scenario=SCENARIO)]
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert float(alone) == many, "of a process that has loaded nothing else"
    assert delay_s("libmost.so", store) == many
    law(folder / "libmost.so", "3")
    assert delay_s("libmost.so", store) == few


def test_libraries_of_one_digest_are_loaded_once(folder):
    law(folder / "libmost.so", "77")
    shutil.copy("libmost.so", "libcopy.so")
    before = Path("/proc/self/maps").read_text().count("libmost.so")
    bring(["libmost.so"])
    first = Path("/proc/self/maps").read_text().count("libmost.so")
    bring(["libcopy.so"])
    maps = Path("/proc/self/maps").read_text()
    assert before < first == maps.count("libmost.so")
    assert "libcopy.so" not in maps


def test_a_library_that_a_law_needs_is_in_its_digest(folder):
    compiled(folder / "libpart.so", "int part(void) { return 3; }")
    options = ("-L.", "-lpart", "-Wl,-rpath,$ORIGIN")
    law(folder / "libmost.so", "(unsigned)part()", "int part(void);", "", *options)
    _, one = bring_one("libmost.so")
    few = delay_s("libmost.so")
    compiled(folder / "libpart.so", "int part(void) { return 30; }")
    with pytest.raises(InputError, match=r"has loaded another libpart\.so before"):
        bring_one("libmost.so")
    program = (
        "from sojourn.loading.bring import bring_one; print(bring_one('libmost.so')[1].source)"
    )
    again = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert one is not None
    assert again != one.source
    assert few > 0


@pytest.mark.parametrize(
    ("before", "fields", "sentence"),
    [
        ("#include <stdlib.h>\n__attribute__((constructor)) static void at(void) { exit(0); }", "",
         "ends the process that loads it (code 0)"),
        ("__attribute__((constructor)) static void at(void) { __builtin_trap(); }", "",
         "ends the process that loads it (signal "),
        ("", ".param_count = 1,", "says that it has 1 parameters, but no list"),
        ("", ".var_count = 2, .observe = (void *)on_enqueue,",
         "says that it has 2 state variables, but no list"),
        ("static const struct sojourn_law_param NONE[1];", ".params = NONE, .param_count = 1,",
         "a parameter has no name"),
        ("", ".vars = (const void *)16, .var_count = 1, .observe = (void *)on_enqueue,",
         "ends the process that loads it (signal 11)"),
        ("", ".on_dequeue = (void *)16,",
         "libmost.so: its law: it used memory that it does not have (SIGSEGV), which ends the run"),
        ("", ".check = (void *)16,", "libmost.so: its law's check: it used memory that"),
        ("", ".start = (void *)16,", "libmost.so: its law: it used memory that it does not have"),
        (f"#include <stdlib.h>\n{START % 'exit(0)'}", ".start = start,",
         "libmost.so: its law: it called exit(), which ends the run"),
        (f"#include <unistd.h>\n{START % '_exit(0)'}", ".start = start,",
         "libmost.so: its law: it called _exit(), which ends the run"),
    ],
)  # fmt: skip
def test_a_library_that_cannot_be_loaded_is_refused_in_a_sentence(folder, before, fields, sentence):
    law(folder / "libmost.so", "3", before, fields)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, "libmost.so"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert sentence in done.stdout
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("exit(0)", "it called exit()"),
        ("abort()", "it called abort()"),
        ("*(volatile int *)8 = 1", "it used memory that it does not have (SIGSEGV)"),
    ],
)
def test_a_law_that_ends_the_process_during_a_run_is_named_and_the_run_fails(folder, line, why):
    before = "#include <stdlib.h>\n#include <unistd.h>"
    law(folder / "libmost.so", f'(access("tried", F_OK) == 0 ? ({line}, 3) : 3)', before)
    tried = (
        "from pathlib import Path\n"
        "from sojourn.loading.bring import bring\n"
        "bring(['libmost.so'])\n"
        "Path('tried').touch()\n"
    )
    command = [sys.executable, "-c", tried + ALONE.format(scenario=SCENARIO)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr == f"sojourn: error: libmost.so: its law: {why}, which ends the run\n"


@pytest.mark.long
@pytest.mark.nightly
def test_a_hook_that_never_returns_ends_the_run_with_one_sentence_that_names_it(folder):
    before = "#include <unistd.h>"
    law(folder / "libmost.so", '({ while (access("tried", F_OK) == 0) pause(); 3; })', before)
    tried = (
        "from pathlib import Path\n"
        "from sojourn.loading.bring import bring\n"
        "bring(['libmost.so'])\n"
        "Path('tried').touch()\n"
    )
    command = [sys.executable, "-c", tried + ALONE.format(scenario=SCENARIO)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2 and not done.stdout
    sentence = "its law's on_enqueue: it has not returned for 30 s, which ends the run"
    assert done.stderr == f"sojourn: error: libmost.so: {sentence}\n"


def test_what_a_library_does_when_a_command_ends_does_not_replace_its_exit_code(folder):
    ends = "#include <unistd.h>\n__attribute__((destructor)) static void at(void) { _exit(0); }"
    law(folder / "libmost.so", "(0 * now_ns)", ends, ".on_dequeue = on_enqueue,")
    (folder / "one.toml").write_text(SCENARIO.replace("3s", "300s"))
    command = [sys.executable, "-m", "sojourn", "run", "one.toml", "--aqm", "libmost.so"]
    done = subprocess.run(
        [*command, "--memory", "1kB"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
