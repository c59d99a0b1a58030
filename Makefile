# Thin on purpose: every target is a few commands that can be typed by hand.
# Needs git, make, Python 3.11 or newer with venv, and a Rust toolchain.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo develop quick test expectations lint lint-rust lint-python test-long test-nightly test-hosts test-kernel-laws oracle module-trials module-faults filling fingerprints-windows \
        ns3 ns3-costs agreement-ns3 agreement-wide agreement-newer linux-repeats exec-trials real-stacks pi2-ns3 madpie-linux beyond bench wheel wheels crates install-c instructions instructions-write \
        instructions-wheel coverage reproduce-full images fuzz storm storm-record long-haul cancel attacks memcheck audit sbom mutants \
        mutants-python contract-long study-kills study-costs docs docs-test site site-version atlas atlas-small \
        web web-toolchain web-speed web-sizes npm test-web walk walk-atlas clean
.DELETE_ON_ERROR:

## demo: build, then compare six AQMs on a mix of downloads, voice and web traffic
DEMO := traffic-mix --aqm taildrop,codel,fq_codel,pie@ns2,pi2:target=20ms,tupdate=30ms,madpie \
        --seeds 20 --out out/demo
demo: $(or $(wildcard $(VENV)/installed),$(VENV)/tried)
	$(BIN)/sojourn compare $(DEMO)
	@ls python/sojourn/live/page/sojourn-live.html > /dev/null 2>&1 || echo "no page for" \
	    "\`sojourn live\` yet: rustup component add rust-src && make web && make demo"

## develop: builds the package in place, in cargo's development profile: seconds after an edit
develop: $(VENV)/developed

## quick: after an edit of a law: its crate's tests, every scenario's digest, the quick Python tests
quick: $(VENV)/developed
	SOJOURN_OPERATIONS=100000 cargo test --quiet --package sojourn-aqm --lib --tests
	cargo test --quiet --test fingerprints
	$(BIN)/pytest --quiet --numprocesses 2 -m "not slow and not long" -r fE \
	    --ignore-glob 'tests/test_linux_*' --ignore tests/test_router.py

## test: every test except the long ones, and generated files
test: $(VENV)/developed
	SOJOURN_OPERATIONS=100000 cargo test --quiet
	cargo xtask check-gen
	cargo xtask tidy
	$(BIN)/pytest --numprocesses 2 -m "not long"
	cargo xtask tally

## expectations: what RFC 7928's scenarios and claims of the papers (testdata/expectations) expect,
##               decided over seeds by `sojourn test`
expectations: $(VENV)/developed
	$(BIN)/sojourn test --fresh $(addprefix rfc7928/,mild-congestion medium-congestion \
	    heavy-congestion unresponsive) testdata/expectations

## lint: formatting, clippy, types; `make --jobs 2 lint` checks both languages at once
lint: lint-rust lint-python
lint-rust: $(VENV)/developed
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- --deny warnings
lint-python: $(VENV)/developed
	$(BIN)/ruff check python tests docs/site
	$(BIN)/ruff format --check python tests docs/site
	$(BIN)/mypy

## test-long: the long Python tests, and the wheel; WHEEL=release tests the wheel as users get it
WHEEL ?= dev
test-long: $(VENV)/developed
	$(BIN)/pytest --numprocesses 2 -m "long and not nightly"
	sh tests/wheel.sh $(BIN)/python $(WHEEL)
	cargo xtask tally

## test-nightly: what continuous integration has no time for: fuzzing, a million random
##               operations per entry, the Python tests that take longest, and, with the guest
##               kernel, a cell of agreement.toml
test-nightly: $(VENV)/developed
	cargo test --workspace --quiet --test contract --test fuzz
	$(BIN)/pytest --numprocesses 2 -m nightly
	$(BIN)/sojourn test --fresh testdata/expectations/agreement.toml -k '(fq_codel@linux:limit=1000p)'
	cargo xtask tally

## test-hosts: the kernel's own disciplines in real time, in a small virtual machine
##             (docs/how-to/linux.md)
test-hosts: $(VENV)/developed
	$(BIN)/sojourn kernel toolchain
	$(BIN)/sojourn kernel module --headers "$$(ls -d /usr/src/linux-headers-*-amd64 | tail -n 1)"
	sh tests/hosts/run.sh $(BIN)/python

## test-kernel-laws: our laws against the kernel's own functions, decision by decision
##                   (docs/evidence/kernel-laws.md)
test-kernel-laws:
	cargo run --quiet --package sojourn-kernel-laws -- --write $(foreach law,$(LAWS),'$(law)')

## oracle: the kernel's own disciplines against ours in the same kernel; writes
##         docs/evidence/kernel-module.md. Some minutes; AQMS="codel@linux ..." prints only those
##         and their first difference, UPDATE="codel@linux ..." writes only their rows;
##         RELEASE=7.2 uses that kernel
oracle: $(VENV)/developed
	$(BIN)/sojourn kernel build $(if $(RELEASE),--source $(RELEASE))
	$(BIN)/sojourn kernel module $(if $(RELEASE),--release $(RELEASE))
	$(BIN)/python tests/oracle/measure.py $(if $(RELEASE),--kernel=$(RELEASE)) \
	    $(if $(AQMS),--show $(AQMS)) $(if $(UPDATE),--update $(UPDATE))

## module-trials: the kernel module loaded, changed, flooded and unloaded in guests; writes
##                docs/evidence/kernel-module.md. KERNELS="6.1 7.2 PATH": their modules must
##                exist
KERNELS ?= 6.1 7.2
module-trials: $(VENV)/developed
	$(BIN)/python tests/module/record.py $(KERNELS)

## filling: every congestion control on 21 paths of 0.5 Mbit/s to 1 Gbit/s and 10 to 300 ms, under the
##          AQMs it is made for. Some minutes
filling:
	cargo test --package sojourn-sim --test simulations filling:: -- --ignored

## module-faults: the kernel module while allocations fail (fault.config); writes docs/evidence/kernel-module.md
module-faults: $(VENV)/developed
	$(BIN)/sojourn kernel build --config tests/module/fault.config --name fault
	$(BIN)/sojourn kernel module --kernel fault
	$(BIN)/python tests/module/faults.py

## ns3: the queue discs for ns-3, built against its wheel (or NS3_PREFIX), their tests and example
ns3:
	PYTHON=$(PYTHON) sh ns3/build.sh

## ns3-costs: the cost of our discs against ns-3's, and of the engine; writes the tables of
##            docs/how-to/ns3.md (after `make ns3` and `sojourn ns3 build`; for seconds on an idle
##            machine)
ns3-costs: $(VENV)/developed
	$(BIN)/python benches/ns3.py instructions
	$(BIN)/python benches/ns3.py seconds

## agreement-ns3: the grid on the simulator and on ns-3; writes docs/results/agreement-ns3.md
agreement-ns3: $(VENV)/developed
	$(BIN)/sojourn agree --engine sim,ns3 --grid --page docs/results/agreement-ns3.md > /dev/null

## agreement-wide: the wide grid on the simulator and the kernel; writes
##                 docs/results/agreement-wide.md. An hour and a half on one core; it may be
##                 interrupted and continued
agreement-wide: $(VENV)/developed
	$(BIN)/sojourn agree --grid wide --seeds $(or $(SEEDS),10) --page docs/results/agreement-wide.md > /dev/null

## linux-repeats: one scenario on the engine linux TIMES times, each in a new guest, all equal packet
##                for packet; writes the figure into docs/how-to/linux.md. Five minutes
linux-repeats: $(VENV)/developed
	$(BIN)/python benches/linux_repeats.py $(or $(TIMES),100)

## exec-trials: programs of sixteen kinds on the guest kernel, TIMES runs each without load and with,
##              all equal packet for packet; writes docs/evidence/programs.md. Half an hour
exec-trials: $(VENV)/developed
	$(BIN)/python benches/programs_trials.py $(or $(TIMES),10)

## real-stacks: transport libraries and the TCP of Linux under twelve AQMs; writes
##              docs/results/real-stacks.md. Some twenty minutes
real-stacks: $(VENV)/developed
	$(BIN)/python benches/real_stacks.py

## agreement-newer: DualPI2 and segmentation offload on the simulator and on Linux 7.2, whose guest kernel
##                  must be there; writes docs/results/agreement-newer.md. Seven minutes
agreement-newer: $(VENV)/developed
	$(BIN)/sojourn agree --grid newer --kernel 7.2 --seeds $(or $(SEEDS),10) \
	    --page docs/results/agreement-newer.md > /dev/null

## pi2-ns3: the figures of PI2's paper on both; writes its table in docs/results/pi2-ns3.md
pi2-ns3: $(VENV)/developed
	$(BIN)/sojourn reproduce pi2 --out out/pi2-sim
	$(BIN)/sojourn reproduce pi2 --engine ns3 --out out/pi2-ns3
	$(BIN)/python tests/papers/engines.py out/pi2-sim/reproduction.json \
	    out/pi2-ns3/reproduction.json

## madpie-linux: MADPIE against the kernel's PIE; writes its table in docs/results/madpie-linux.md
madpie-linux: $(VENV)/developed
	$(BIN)/sojourn kernel module
	$(BIN)/sojourn reproduce madpie:F2,G,F8 --engine linux --seeds 3 --out out/madpie-linux
	$(BIN)/python tests/papers/madpie_linux.py out/madpie-linux/reproduction.json

## beyond: experiments that the papers leave open, each into its page of docs/results; PAGES names
##         some. pie-codel-cost needs valgrind and objdump
PAGES ?= ce-excluded which-of-three pie-targets pie-weights pie-codel-cost
BEYOND := $(BIN)/python tests/beyond
beyond: $(addprefix beyond-,$(PAGES))
beyond-ce-excluded: $(VENV)/developed
	$(BEYOND)/ce_excluded.py
beyond-which-of-three: $(VENV)/developed
	$(BEYOND)/which_of_three.py
beyond-pie-targets: $(VENV)/developed
	$(BIN)/sojourn study run docs/results/beyond/pie-targets.toml --store out/pie-targets
	$(BEYOND)/pie_targets.py out/pie-targets
beyond-pie-weights: $(VENV)/developed
	$(BEYOND)/pie_weights.py
beyond-pie-codel-cost: $(VENV)/developed
	cargo build --release --quiet --package sojourn-aqm --example law_cost
	$(BEYOND)/packet_costs.py target/release/examples/law_cost

## fuzz: every fuzz target on new inputs for SECONDS each, two at a time
SECONDS ?= 600
fuzz:
	SOJOURN_FUZZ_SECONDS=$(SECONDS) cargo test --package sojourn-fuzz

## storm: COUNT inputs of a KIND from number FROM of a SEED, in children with limits and a watchdog
##        (docs/evidence/storm.md); prints a table, and keeps bad inputs in out/storm. Kinds:
##        mutants, scenarios, long (simulated); kills, power, damage, limits, surroundings (commands
##        and files). KIND=kills UNTIL=1000 continues earlier calls until 1000 kills have hit
KIND  ?= mutants
FROM  ?= 0
COUNT ?= 100000
storm: $(VENV)/developed
	cargo build --quiet --profile storm --package sojourn-fuzz --bin storm
	PYTHONPATH=tests $(BIN)/python -m storm $(KIND) --seed $(SEED) --from $(FROM) --count $(COUNT) \
	    $(if $(UNTIL),--until $(UNTIL))

## long-haul: a million simulated seconds, and the memory of the process
##            (docs/evidence/storm.md)
long-haul: $(VENV)/developed
	$(BIN)/python tests/storm/long_haul.py

## cancel: how long Ctrl-C takes in every phase of the work, TIMES instants each
##         (docs/evidence/storm.md)
TIMES ?= 20
cancel: $(VENV)/developed
	$(BIN)/python tests/storm/cancel.py --times $(TIMES)

## storm-record: kills, surroundings and cancelling into docs/evidence/storm.md; needs an idle
##               machine. PARTS=Cancelling writes only that part
storm-record: $(VENV)/developed
	$(BIN)/python tests/storm/record.py $(PARTS)

## attacks: judges the findings of attacks again; writes the figures into docs/results/attacks
attacks: $(VENV)/developed
	$(BIN)/python tests/attacks/judge.py

## memcheck: the tests of the C interface under AddressSanitizer, its example in C under valgrind
memcheck:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test --package sojourn-capi \
	    --test golden --target x86_64-unknown-linux-gnu --target-dir target/asan
	cargo test --quiet --package sojourn-capi --test c_program
	valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=1 \
	    target/tmp/fq_codel.a >/dev/null

## audit: crates and Python packages against advisories on this disk, without a network; licences
##        and sources of crates (deny.toml). DB is a clone of github.com/rustsec/advisory-db,
##        OSV_DB the advisories for PyPI in OSV's form (docs/evidence/storm.md). Needs cargo-audit,
##        cargo-deny and pip-audit
DB        ?= $(HOME)/.cargo/advisory-db
OSV_DB    ?= $(HOME)/.cache/osv/PyPI
PIP_AUDIT ?= pip-audit
audit: $(VENV)/developed
	@for each in cargo-audit cargo-deny $(PIP_AUDIT); do command -v $$each > /dev/null || \
	    { echo "$$each is missing: cargo install cargo-audit cargo-deny, pipx install pip-audit"; exit 1; }; done
	cargo audit --db $(DB) --no-fetch --stale
	cargo deny --offline check licenses bans sources
	$(BIN)/python tests/audit/python_packages.py $(PIP_AUDIT) $(OSV_DB)

## sbom: the contents of the package, as CycloneDX, into out/sbom: its crates as maturin writes them
##       into the wheel, and the Python packages of this environment (cyclonedx-bom, in a separate one)
SBOM_TOOLS := target/sbom-tools
CYCLONEDX  := $(SBOM_TOOLS)/bin/cyclonedx-py
$(CYCLONEDX):
	$(PYTHON) -m venv $(SBOM_TOOLS)
	$(SBOM_TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check 'cyclonedx-bom>=5'
sbom: $(VENV)/developed $(CYCLONEDX)
	mkdir -p out/sbom
	cp $(VENV)/lib/python3*/site-packages/sojourn-*.dist-info/sboms/*.json out/sbom/
	$(CYCLONEDX) environment --pyproject pyproject.toml --output-reproducible \
	    --output-file out/sbom/python.cyclonedx.json $(BIN)/python

## mutants: a sample of SAMPLE mutants of one or several CRATES against its tests
##          (docs/evidence/mutation.md); needs `cargo install cargo-mutants`
CRATES ?= aqm
SAMPLE ?= 250
SEED   ?= 1
mutants:
	$(PYTHON) tests/mutation/mutants.py $(CRATES) --sample $(SAMPLE) --seed $(SEED)

## mutants-python: the same for metrics, statistics, comparison and reproduction, or FILES="comparison
##                 reproduce", SAMPLE of each; needs `pip install mutmut`
mutants-python: $(VENV)/developed
	$(BIN)/python tests/mutation/python_mutants.py $(FILES) --sample $(SAMPLE) --seed $(SEED)

## coverage: coverage of the intervals of a comparison; writes docs/evidence/coverage.md, about
##           five minutes
coverage: $(VENV)/developed
	$(BIN)/python tests/coverage/measure.py

## study-kills: a study killed at KILLS random instants (docs/how-to/studies.md); some minutes
KILLS ?= 100
study-kills: $(VENV)/developed
	SOJOURN_KILLS=$(KILLS) $(BIN)/pytest -s tests/test_study_kill.py

## study-costs: the cost of a study beyond its runs, into docs/how-to/studies.md: a study of RUNS
##              runs, smaller ones with 1, 2 and 4 workers, 300 idle workers; with a release
##              build. About ten minutes of two idle cores; an interrupted one continues
RUNS ?= 100000
study-costs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'distributed>=2024.8' \
	    'pyarrow>=15'
	$(BIN)/python benches/study.py table --runs $(RUNS) --store out/study-costs

## contract-long: the contract's tests with OPERATIONS random operations per entry and limit
OPERATIONS ?= 50000000
contract-long:
	SOJOURN_OPERATIONS=$(OPERATIONS) cargo test --release --package sojourn-aqm --test contract

## bench: the cost of a packet; writes benches/RESULTS.md
bench: $(VENV)/installed
	cargo build --release --quiet --package sojourn-benches
	PYTHON=$(BIN)/python sh benches/bench.sh

## reproduce-full: the five papers with their own numbers of runs; writes docs/results/papers.md and
##                 the score in README.md. About an hour of one core; can be continued
reproduce-full: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pyarrow>=15' 'scipy>=1.15'
	$(BIN)/sojourn reproduce --full --out out/reproduction
	$(BIN)/python tests/papers/record.py out/reproduction/reproduction.json

## images: the pictures of README.md and docs/how-to/stability.md, into docs/images
images: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'scipy>=1.15'
	$(BIN)/sojourn compare $(DEMO) --figures --format svg > /dev/null
	cp out/demo/figures/plane.svg docs/images
	$(BIN)/sojourn stability pie --rtt 20ms..300ms --rate 10mbit,40mbit --flows 2..100 --plot map \
	    --observe --out out/map
	cp out/map/map.svg docs/images/stability-map.svg

## wheel: the package for this machine's system, into dist/, with the live page where `make web` has
##        built it. With `rustup component add llvm-tools` it is compiled twice, the second time by a
##        profile of its own runs (docs/design/speed.md); some ten minutes
LLVM_PROFDATA := $(shell ls $$(rustc --print sysroot)/lib/rustlib/*/bin/llvm-profdata 2>/dev/null)
wheel: | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.13,<2'
	$(BIN)/maturin build --release $(if $(LLVM_PROFDATA),--pgo) --out dist

## wheels: the packages for Linux, into dist/, with the live page, checked by tests/wheels.py. Needs
##         the targets below of rustup; ten minutes each
WHEELS := x86_64-unknown-linux-gnu:manylinux2014 aarch64-unknown-linux-gnu:manylinux2014 \
          x86_64-unknown-linux-musl:musllinux_1_2 aarch64-unknown-linux-musl:musllinux_1_2
wheels: web | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.13,<2' ziglang
	rm -f dist/*.whl
	for each in $(WHEELS); do PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --zig \
	    --target $${each%:*} --compatibility $${each#*:} --out dist || exit; done
	$(BIN)/python tests/wheels.py dist/*.whl

## fingerprints-windows: the simulator's digests in a program for Windows, under Wine
fingerprints-windows:
	sh .ci/windows.sh

## crates: packages the crates that are published, and tests each from its package (tests/crates.py)
crates: | $(VENV)/bin/python
	$(BIN)/python tests/crates.py

## install-c: the C library, its header and its file for pkg-config into PREFIX, below DESTDIR if that
##            is set (docs/how-to/embedding.md)
PREFIX ?= /usr/local
install-c:
	PREFIX='$(PREFIX)' sh crates/capi/install.sh

## instructions: the cost of a packet of each reference case, against benches/instructions.toml;
##               needs valgrind
instructions:
	cargo run --release --quiet --package sojourn-benches -- reference check

## instructions-write: the same, into that table
instructions-write:
	cargo run --release --quiet --package sojourn-benches -- reference write

## instructions-wheel: the same, with the goals, for the bench compiled as in `make wheel`,
##                     into benches/instructions-wheel.toml. Needs `rustup component add
##                     llvm-tools`; some ten minutes
instructions-wheel: $(VENV)/developed
	PYTHON=$(BIN)/python sh benches/wheel.sh

## web: the page of `sojourn live`: the simulator as WebAssembly, and the bundle
##      (docs/how-to/browser.md)
web: web/node_modules/.package-lock.json
	sh web/wasm.sh
	web/node_modules/.bin/tsc --project web
	node web/build.mjs

## web-toolchain: a compiler for WebAssembly from Debian, into the user's cache; 140 MB to fetch
web-toolchain:
	sh web/toolchain.sh

## npm: the simulator as a package for npm, with types: out/npm/sojourn-simulator-VERSION.tgz
npm: web
	node web/npm/build.mjs

## test-web: digests in WebAssembly, and the page in Chromium
test-web: web
	web/node_modules/.bin/prettier --check --log-level warn web/src web/tests web/npm
	node --test web/tests/*.test.mjs

## walk-atlas: every link of the site's atlas in Chromium; seconds after `make atlas-small`
walk-atlas: web site
	node web/tests/walk-atlas.mjs

## walk: every tutorial and exercise of the site in Chromium, each numbered step as its text says,
##       with a picture of it at 1440 and 360 pixels, light and dark, into out/walk; some five minutes.
##       A step may take WALK_LIMIT_S seconds, 60 without it
walk: web site
	node web/tests/walk.mjs out/walk $(TUTORIALS)

## web-speed: size and speed of the page, into docs/how-to/browser.md; two minutes of an
##            idle machine
web-speed: web $(VENV)/developed
	PYTHON=$(BIN)/python node web/tests/speed.mjs

## web-sizes: size of the page, into docs/how-to/browser.md
web-sizes: web
	node web/tests/sizes.mjs

web/node_modules/.package-lock.json: web/package-lock.json
	npm --prefix web ci --silent
	@touch $@

## docs: documentation of the crates
docs:
	cargo doc --workspace --no-deps

## docs-test: every code block of the pages that can run here, the slow ones too; some minutes
docs-test: $(VENV)/developed
	SOJOURN_DOCS=1 $(BIN)/pytest tests/test_docs.py

## atlas: every AQM x scenario after RFC 7928 x load x RTT, into out/atlas (docs/results/atlas.md);
##        some minutes, an interrupted one continues. atlas-small: a few cells of it
atlas: $(VENV)/developed
	$(BIN)/python docs/site/atlas.py out/atlas

atlas-small: $(VENV)/developed
	$(BIN)/python docs/site/atlas.py out/atlas --small

## site: the site, into out/site/html: docs/, the reference made from the code, a gallery drawn for
##       it, the documentation of the crates, and the live page if `make web` has built it
site: $(VENV)/sphinx docs
	$(BIN)/python docs/site/stage.py out/site/source
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --conf-dir docs/site \
	    --doctree-dir out/site/doctrees out/site/source out/site/html
	$(BIN)/python docs/site/add_parts.py out/site/html

## site-version: adds that site to SITES, a folder with a site for each version and a switch
SITES ?= out/sites
site-version: site
	$(BIN)/python docs/site/versions.py out/site/html $(SITES)

$(VENV)/sphinx: docs/site/requirements.txt $(VENV)/developed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

clean:
	rm -rf $(VENV) target out dist

RUST    := Cargo.toml Cargo.lock pyproject.toml \
           $(shell find crates -name '*.rs' -o -name '*.toml')
SOURCES := $(RUST) $(shell find python -name '*.py' -o -name '*.toml' -o -name '*.j2') \
           $(wildcard python/sojourn/live/page/*)

# The environment holds the package once: as a wheel in release mode, as a wheel that compiles in a
# quarter of the time, without the transport libraries (`make demo`), or in place as `make develop`
# leaves it, with what the tests need. Each removes the stamps of the others.
$(VENV)/tried: export MATURIN_PEP517_ARGS := --profile source --no-default-features
$(VENV)/installed $(VENV)/tried: $(SOURCES) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check .
	@rm -f $(VENV)/installed $(VENV)/tried $(VENV)/developed
	@touch $@

# One compilation serves this and `cargo test`.
$(VENV)/developed: $(RUST) | $(VENV)/bin/maturin
	PIP_QUIET=1 PIP_NO_COMPILE=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) \
	    $(BIN)/maturin develop --quiet --extras test
	@rm -f $(VENV)/installed $(VENV)/tried
	@touch $@

$(VENV)/bin/maturin: | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'

$(VENV)/bin/python:
	$(PYTHON) -m venv --upgrade-deps $(VENV)
