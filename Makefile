# `make help` lists the targets.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# pyo3 asks an interpreter what to link with: the one that will load the module.
export PYO3_PYTHON := $(abspath $(BIN)/python)

# Builds of the engine are guided by a profile of short runs; GUIDED=no leaves that out.
GUIDED_BUILD := bench/profile/guided.sh

RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.DEFAULT_GOAL := help
.PHONY: help setup reproduce record test test-rust test-python faults lint tidy format fast wheel \
  bench peers docs instructions instructions-record growth coverage \
  oracles linux streams fuzz mutants mutants-python lines platforms check-long soak clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Compiled once here, sources need not be compiled at every start where Python may not write.
setup: $(VENV)/.built ## .venv/ with the release build; the command is .venv/bin/forebay
	@$(BIN)/python -m compileall -q python/forebay
	@echo "ready: $(BIN)/forebay"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; \
	  sys.exit(0 if sys.version_info >= (3, 11) else \
	  f"forebay needs Python 3.11 or newer; $(PYTHON) is {v}. Try: make PYTHON=python3.12")'
	@command -v cargo >/dev/null || { echo "forebay needs a Rust tool chain (cargo)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Python sources are used in place; only a change of the engine needs a build. The first two lines
# save a quarter of the start: scripts that an older pip writes import regular expressions, and
# setuptools, which nothing here needs, has every start of Python run code of its own.
$(VENV)/.built: $(BIN)/python $(RUST) pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.2' || true
	@$(BIN)/python -m pip uninstall --quiet --quiet --yes setuptools
	@echo "building the engine and installing into $(VENV) (a few minutes the first time)"
	$(GUIDED_BUILD) $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[studies]'
	@touch $@

$(VENV)/.tools: $(VENV)/.built pyproject.toml
	@$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	  print(*p["optional-dependencies"]["dev"], sep="\n")' \
	  | xargs $(BIN)/python -m pip install --quiet --disable-pip-version-check
	@touch $@

.PHONY: lab lab-picture bench-lab
lab: ## the page of `forebay lab`, with the engine in it (needs node)
	lab/build.sh

lab-picture: setup lab ## the moving picture of that page in the README (needs Chromium)
	rm -rf lab/dist/frames && mkdir -p lab/dist/frames
	node lab/dist/picture.mjs python/forebay/lab/page.html lab/dist/frames
	$(BIN)/python docs/images/moving.py lab/dist/frames docs/images/lab.webp

bench-lab: setup lab ## the speed of that page in headless Chromium, beside the command line
	@node lab/dist/speed.mjs $(BIN)/forebay python/forebay/lab/page.html bench/scenarios/s1-af.toml

reproduce: setup ## the main job: the af study, its table and its HTML report
	$(BIN)/forebay reproduce af

record: setup ## run every study in full and keep result.json and README table beside it
	$(BIN)/forebay reproduce all --out studies

test: test-rust test-python ## all tests

test-rust: setup
	cargo test --workspace --exclude forebay-python

test-python: $(VENV)/.tools
	@tests/install.sh || true
	$(BIN)/python -m pytest tests/python bench

faults: $(VENV)/.tools ## kill sweeps and their processes 200 times each and compare journals
	FOREBAY_KILLS=200 $(BIN)/python -m pytest tests/python/test_faults.py -k 'killed or cluster'

lint: tidy ## style, formatting, lints and types, without changing anything
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

tidy: $(VENV)/.tools ## the style check: sizes, bans, arrows, sources, generated files
	PYTHONPATH=tools $(BIN)/python -m tidy

format: $(VENV)/.tools ## format everything
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fast: setup ## rebuild the engine for this machine's processor, with a new profile
	$(GUIDED_BUILD) --fresh --native $(BIN)/python -m pip install --quiet \
	  --disable-pip-version-check --force-reinstall --no-deps --editable .
	@touch $(VENV)/.built
	@echo "ready: $(BIN)/forebay"

wheel: $(BIN)/python ## dist/forebay-*.whl, for machines of this kind (LAB=no: without the lab)
	@$(if $(filter no,$(LAB)),rm -f python/forebay/lab/page.html,lab/build.sh || \
	  { echo "wheel: the page of the lab cannot be built here; LAB=no leaves it out" >&2; exit 1; })
	$(GUIDED_BUILD) --fresh $(BIN)/python -m pip wheel --quiet --disable-pip-version-check \
	  --no-deps --wheel-dir dist .
	@$(BIN)/python tools/wheel_check.py $(if $(filter no,$(LAB)),--no-lab) \
	  "$$(ls -t dist/forebay-*.whl | head -n 1)"

bench: setup ## the standard benchmarks
	$(BIN)/forebay bench

peers: setup ## the benchmarks beside other simulators, installing them (ARGS=--quick)
	-bench/peers/install.sh
	$(BIN)/python bench/peers/run.py $(ARGS)

instructions: $(BIN)/python ## do packet hops cost the instructions recorded? (valgrind)
	@bench/instructions/install.sh || true
	$(BIN)/python bench/instructions/guard.py

instructions-record: setup ## record what they cost now: LABEL="what changed"
	bench/instructions/install.sh
	$(BIN)/python bench/instructions/guard.py --record "$(LABEL)"

check-long: ## everything that must hold in any run, in 100,000 random networks (N=1000: fewer)
	FOREBAY_NETWORKS=$(or $(N),100000) cargo test --release -p forebay-scenario \
	  --test invariants random

soak: setup ## whether memory grows while runs follow runs: a day (ARGS="--hours 0.2")
	$(BIN)/python bench/soak/soak.py $(ARGS)

growth: setup ## measure and draw how cost grows: a quarter of an hour (ARGS="--scale 0.1")
	$(BIN)/python bench/growth/grow.py $(ARGS)

coverage: setup ## measure how often intervals hold the truth: six minutes (ARGS="--runs 3000")
	$(BIN)/python bench/coverage/cover.py $(ARGS)

oracles: setup ## 200 queues and meters against theory and references: minutes (ARGS=--quick)
	$(BIN)/python bench/oracles/oracles.py $(ARGS)

linux: setup ## queues and TCPs beside a real kernel: half an hour (ARGS="--only red")
	bench/linux/kernel.sh
	$(BIN)/python bench/linux/cells.py $(ARGS)
	$(BIN)/python bench/linux/page.py

streams: setup ## long tests of random streams: ten minutes (ARGS="--words 1000000")
	$(BIN)/python bench/streams/streams.py $(ARGS)

docs: setup ## reference pages and type stub, from the definitions in the engine
	$(BIN)/python -m forebay.scenario.reference docs/reference
	$(BIN)/python docs/pages.py docs/reference
	$(BIN)/python docs/studies.py
	$(BIN)/python -m forebay.scenario.reference --stub python/forebay/__init__.pyi

fuzz: ## search over the fuzz targets, 10^7 executions each (FUZZ=-max_total_time=60)
	fuzz/run.sh $(or $(FUZZ),-runs=10000000)

platforms: ## the digests on aarch64, s390x and i686, under QEMU
	bench/platforms/run.sh

mutants: ## which single changes of a crate its tests notice (ARGS="forebay-kernel --shard 0/5")
	bench/mutants/run.sh $(or $(ARGS),forebay-units)

lines: setup ## which lines the tests run: ten minutes (ARGS=rust, ARGS=python)
	bench/lines/run.sh $(ARGS)

mutants-python: setup ## which single changes of statistics and grades the tests notice
	bench/mutants/python.sh

clean: ## remove what the build made
	rm -rf $(VENV) target out python/forebay/*.so
