"""The files of a new law or transport library.

`@NAME@`, `@CLASS@` and `@DEPENDS@` are replaced.
"""

from pathlib import Path

_README = """# @NAME@

A law of active queue management for Sojourn. It begins as a step: above `target` every packet at
the head is marked, or dropped if it cannot be marked.

BUILD    sojourn explain FILE
    sojourn compare traffic-mix --aqm pie,FILE:target=5ms,'fq(FILE)' --seeds 10 --out out
    sojourn check FILE --out check

The hooks, and what each may do: docs/how-to/own-aqm.md of Sojourn.
"""

_PYTHON = '''"""@CLASS@: say here what the law is, its source, and where it deviates from that."""

from sojourn import law


class @CLASS@:
    """Signals every packet that has waited longer than a target."""

    target = law.time("5ms", "Sojourn time that is not signalled", source="our choice")
    ecn = law.flag(True, "Whether packets that can be marked are marked instead of dropped",
                   source="our choice")  # fmt: skip
    sojourn = law.var("s", "Sojourn time of the last packet at the head")

    def on_dequeue(self, now_ns, head, queue, random):
        self.sojourn = head.sojourn_ns / 1e9
        if head.sojourn_ns <= self.target or queue.packets == 0:
            return law.Verdict.PASS
        return law.Verdict.signal(self.ecn and head.can_mark, law.DETERMINISTIC)
'''

_CARGO = """[package]
name = "@NAME@"
version = "0.1.0"
edition = "2024"

[lib]
crate-type = ["cdylib", "rlib"]

[dependencies]
@DEPENDS@

[profile.release]
panic = "unwind" # a panic becomes an error of the run

[workspace]
"""

_RUST = """//! @CLASS@: say here what the law is, its source, and where it deviates from that.

use sojourn_aqm::{Aqm, Backlog, Cause, Env, Head, Law, Rng, Span, Time, Var, Verdict, params};

params! {
    /// Parameters of the law.
    pub struct @CLASS@Params {
        dialects: "own" = "this file";
        /// Sojourn time that is not signalled.
        target: Span, POSITIVE, "our choice" => Span::from_millis(5);
        /// Whether packets that can be marked are marked instead of dropped.
        ecn: bool, ANY, "our choice" => true;
    }
}

/// The law.
pub struct @CLASS@ {
    target: Span,
    ecn: bool,
    sojourn: Span,
}

impl Aqm for @CLASS@ {
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, _rng: &mut Rng) -> Verdict {
        self.sojourn = head.sojourn(now);
        if self.sojourn <= self.target || queue.packets == 0 {
            return Verdict::Pass;
        }
        Verdict::signal(self.ecn && head.ecn.can_mark(), Cause::Deterministic)
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.sojourn.as_secs();
    }
}

impl Law for @CLASS@ {
    type Params = @CLASS@Params;
    const NAME: &'static str = "@NAME@";
    const DOC: &'static str = "Signals every packet that has waited longer than a target";
    const VARS: &'static [Var] =
        &[Var { name: "sojourn", unit: "s", doc: "Sojourn time of the last packet at the head" }];

    fn new(params: &@CLASS@Params, _env: &Env) -> Self {
        @CLASS@ { target: params.target, ecn: params.ecn, sojourn: Span::ZERO }
    }
}

sojourn_law::export_law!(@CLASS@);

#[cfg(test)]
mod tests {
    use sojourn_aqm::{Ecn, Limit, params::Params};

    use super::*;

    fn verdict(waited_ms: u64, packets: u32) -> Verdict {
        let params = @CLASS@Params::of_dialect("own").expect("it has that one");
        let env = Env { limit: Limit::Packets(100), mtu_bytes: 1514, rate: None, salt: 0 };
        let now = Time::ZERO + Span::from_millis(100);
        let enqueued = Time::ZERO + Span::from_millis(100 - waited_ms);
        let head = Head { bytes: 1514, ecn: Ecn::NotEct, enqueued };
        let queue = Backlog { packets, bytes: u64::from(packets) * 1514, link_bytes: 0 };
        @CLASS@::new(&params, &env).on_dequeue(now, head, queue, &mut Rng::stream(1, "test", 0))
    }

    #[test]
    fn signals_above_the_target_only_and_never_the_last_packet() {
        assert_eq!(verdict(5, 3), Verdict::Pass);
        assert_eq!(verdict(6, 3), Verdict::Drop(Cause::Deterministic));
        assert_eq!(verdict(6, 0), Verdict::Pass);
    }
}
"""

_C = """/* @NAME@: say here what the law is, its source, and where it deviates from that. */
#include "sojourn_law.h"

struct state {
    uint64_t target_ns, ecn, sojourn_ns;
};

static const struct sojourn_law_param params[] = {
    { "target", "Sojourn time that is not signalled", "time", NULL, NULL, "positive", "5ms",
      "our choice" },
    { "ecn", "Whether packets that can be marked are marked instead of dropped", "bool", NULL, NULL,
      "any", "true", "our choice" },
};

static const struct sojourn_law_var vars[] = {
    { "sojourn", "s", "Sojourn time of the last packet at the head" },
};

static void start(void *of, const struct sojourn_law_value *values,
                  const struct sojourn_law_env *env)
{
    struct state *s = of;
    (void)env;
    s->target_ns = values[0].whole;
    s->ecn = values[1].whole;
}

static uint32_t on_dequeue(void *of, uint64_t now, const struct sojourn_law_head *head,
                           const struct sojourn_law_queue *queue,
                           struct sojourn_law_random *random)
{
    struct state *s = of;
    (void)random;
    s->sojourn_ns = sojourn_law_sojourn_ns(head, now);
    if (s->sojourn_ns <= s->target_ns || queue->packets == 0)
        return SOJOURN_PASS;
    if (s->ecn && sojourn_law_can_mark(head))
        return SOJOURN_MARK_DETERMINISTIC;
    return SOJOURN_DROP_DETERMINISTIC;
}

static void observe(const void *of, double *values)
{
    values[0] = sojourn_law_seconds(((const struct state *)of)->sojourn_ns);
}

static const struct sojourn_law table = {
    .abi = SOJOURN_LAW_ABI,
    .size = sizeof(struct sojourn_law),
    .name = "@NAME@",
    .doc = "Signals every packet that has waited longer than a target",
    .params = params,
    .vars = vars,
    .param_count = sizeof params / sizeof *params,
    .var_count = sizeof vars / sizeof *vars,
    .state_bytes = sizeof(struct state),
    .start = start,
    .on_dequeue = on_dequeue,
    .observe = observe,
};

const struct sojourn_law *sojourn_law(void)
{
    return &table;
}
"""


def _readme(file: str, build: str) -> str:
    return _README.replace("BUILD", build).replace("FILE", file)


_BUILD = "    sojourn build @NAME@\n"

# The files of the folder, by language; `NAME` in a path is the law's name.
OF: dict[str, dict[str, str]] = {
    "python": {"NAME.py": _PYTHON, "README.md": _readme("@NAME@/@NAME@.py:@CLASS@", "")},
    "rust": {
        "src/lib.rs": _RUST,
        "Cargo.toml": _CARGO,
        "README.md": _readme("@NAME@/lib@NAME@.so", _BUILD),
    },
    "c": {"NAME.c": _C, "README.md": _readme("@NAME@/lib@NAME@.so", _BUILD)},
}

_ENDPOINT_README = """# @NAME@

A transport library for Sojourn's simulator. It begins as a small transport that works.

    sojourn build @NAME@
    sojourn check @NAME@/lib@NAME@.so
    sojourn compare quic.toml --endpoint quic=@NAME@/lib@NAME@.so --aqm codel,pie --seeds 5

What each function may do, and a quic.toml: docs/how-to/endpoints.md of Sojourn.
"""


def of_endpoint(language: str) -> dict[str, str]:
    """The files of a transport library in Rust or C."""
    folder = Path(__file__).parent / "endpoint_template"
    if language == "c":
        code = {"NAME.c": (folder / "endpoint.c").read_text(encoding="utf-8")}
    else:
        code = {
            "src/lib.rs": (folder / "lib.rs").read_text(encoding="utf-8"),
            "Cargo.toml": _CARGO,
        }
    return {**code, "README.md": _ENDPOINT_README}
