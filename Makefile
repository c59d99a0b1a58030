# Thin on purpose: every target is a few commands that can be typed by hand.
# Needs git, make, Python 3.11 or newer with venv, and a Rust toolchain.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-hosts bench fuzz contract-long docs clean
.DELETE_ON_ERROR:

## demo: build, then compare six AQMs on a mix of downloads, voice and web traffic
demo: $(VENV)/installed
	$(BIN)/sojourn compare traffic-mix \
	    --aqm taildrop,codel,fq_codel,pie,pi2,madpie --seeds 20 --out out/demo

## test: every test and check
test: $(VENV)/installed $(VENV)/tools
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- --deny warnings
	cargo test --workspace --quiet
	cargo run --quiet --package xtask -- check-gen
	cargo run --quiet --package xtask -- tidy
	$(BIN)/ruff check python tests
	$(BIN)/ruff format --check python tests
	$(BIN)/mypy
	$(BIN)/pytest
	sh tests/wheel.sh "$(BIN)/python"
	cargo run --quiet --package xtask -- tally

## test-hosts: the kernel's own disciplines in real time, in a small virtual machine (docs/linux.md)
test-hosts: $(VENV)/installed $(VENV)/tools
	sh tests/hosts/run.sh $(BIN)/python

## fuzz: every fuzz target for SECONDS each, two at a time
SECONDS ?= 600
fuzz:
	SOJOURN_FUZZ_SECONDS=$(SECONDS) cargo test --package sojourn-fuzz

## contract-long: the contract's tests with OPERATIONS random operations per entry and limit
OPERATIONS ?= 50000000
contract-long:
	SOJOURN_OPERATIONS=$(OPERATIONS) cargo test --release --package sojourn-aqm --test contract

## bench: what a packet costs; writes benches/RESULTS.md
bench: $(VENV)/installed
	cargo build --release --quiet --package sojourn-benches
	PYTHON=$(BIN)/python sh benches/bench.sh

## docs: documentation of the crates
docs:
	cargo doc --workspace --no-deps

clean:
	rm -rf $(VENV) target out dist

SOURCES := Cargo.toml Cargo.lock pyproject.toml \
           $(shell find crates python -name '*.rs' -o -name '*.py' -o -name '*.toml' -o -name '*.j2')

# pip builds the wheel in release mode, through maturin.
$(VENV)/installed: $(SOURCES) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

$(VENV)/tools: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '.[test]'
	@touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
