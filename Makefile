# `make help` says what each target is for and how long it takes.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# pyo3 asks an interpreter what to link with: the one that will load the module.
export PYO3_PYTHON := $(abspath $(BIN)/python)

RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock pyproject.toml
PIP  := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Installs what an extra of pyproject.toml names.
install = $(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  print(*p["optional-dependencies"]["$(1)"], sep="\n")' | xargs $(PIP) install

.DEFAULT_GOAL := help
.PHONY: help setup reproduce check test validate lint format docs pictures site lab lab-picture guided fast \
  wheel bench bench-lab peers growth instructions instructions-record record clean

help: ## list the targets, with what they take on two cores once set up
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- for everybody

setup: $(VENV)/.built ## first: .venv/ with the engine; 3 minutes, later what a change takes
	@echo "ready: $(BIN)/forebay"

reproduce: setup ## to see what it does: the af study, tables and report; 8 minutes
	$(BIN)/forebay reproduce af

test: $(VENV)/.tools ## before a change is handed in: all tests; 20 minutes
	@tools/gate.py test

# --- for a change

check: $(VENV)/.tools ## after each change: lints, types, unit tests, all languages; 8 minutes
	@tools/gate.py check

lint: $(VENV)/.tools ## the part of check that runs nothing; 2 minutes
	@tools/gate.py lint

format: $(VENV)/.tools ## put everything into its format; seconds
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	! command -v npm >/dev/null || { lab/install.sh && cd lab && npm run --silent format; }

validate: $(VENV)/.tools ## the long proofs, in portions that resume (ONLY=list); 6 hours
	@$(BIN)/python validation/validate.py $(ONLY) $(if $(ARGS),-- $(ARGS))

docs: setup ## after a change of mechanisms or records: what is kept of it; seconds
	PYTHONPATH=tools $(BIN)/python -m manual docs

pictures: setup ## after a change of pages: pictures of tutorial and guides; a minute
	PYTHONPATH=tools $(BIN)/python -m manual pictures

site: $(VENV)/.site ## the documentation: site/, pages searchable from disk; a minute
	PYTHONPATH=tools $(BIN)/python -m manual site

lab: ## the page of `forebay lab`, after a change of it (node); 2 minutes
	lab/build.sh

lab-picture: setup lab ## its moving picture in the README (Chromium); a minute
	rm -rf lab/dist/frames && mkdir -p lab/dist/frames
	node lab/dist/picture.mjs python/forebay/lab/page.html lab/dist/frames
	$(BIN)/python docs/images/moving.py lab/dist/frames docs/images/lab.webp

AQMS = red adaptive_red adaptive_redn sred codel cobalt pie fq_codel fq_pie sfq cake dualpi2
SUITES = bbr-draft bufferbloat ccwg rfc7928 rfc8867 tcpeval
# Laws of which the results are kept, beside the baseline of the suite. Status 1: one fails a check.
laws_rfc7928 = $(addprefix --queue ,$(AQMS))
laws_bufferbloat = $(addprefix --queue ,codel pie dualpi2)
laws_ccwg = $(addprefix --control ,bbr prague vegas ledbat)
laws_tcpeval = $(addprefix --control ,cubic bbr3) --replications 5
laws_rfc8867 = $(addprefix --media ,gcc scream)
record: setup $(addprefix record-,$(SUITES)) ## after a change of trajectories: studies and suites, kept; two hours
	$(BIN)/forebay reproduce all --out studies

record-%: setup ## results of one suite, such as record-ccwg; a minute to a quarter of an hour
	$(BIN)/forebay suite $* $(laws_$*); test $$? -le 1
	cp out/$*/table.md suites/$*/results.md

# --- for speed, and for others

guided: $(VENV)/.guided ## the build for benchmarks and wheels, by a profile; 6 minutes
	@echo "ready: $(BIN)/forebay, guided by a profile"

fast: $(VENV)/.guided ## the same for this machine alone; 6 minutes
	bench/profile/guided.sh --fresh --native $(BIN)/maturin develop --release
	@touch $(VENV)/.built $(VENV)/.guided

wheel: $(BIN)/python ## dist/forebay-*.whl, with the lab (or LAB=no); 10 minutes
	@$(if $(filter no,$(LAB)),rm -f python/forebay/lab/page.html,lab/build.sh || \
	  { echo "wheel: the page of the lab cannot be built here; LAB=no leaves it out" >&2; exit 1; })
	bench/profile/guided.sh --fresh $(BIN)/python -m pip wheel --quiet --disable-pip-version-check \
	  --no-deps --wheel-dir dist .
	@$(BIN)/python tools/wheel_check.py $(if $(filter no,$(LAB)),--no-lab) \
	  "$$(ls -t dist/forebay-*.whl | head -n 1)"

bench: guided ## the standard benchmarks; a minute
	$(BIN)/forebay bench

bench-lab: setup lab ## the speed of the lab in headless Chromium; a minute
	@node lab/dist/speed.mjs $(BIN)/forebay python/forebay/lab/page.html bench/scenarios/s1-af.toml

peers: guided ## the benchmarks beside other simulators, installed; 20 minutes
	-bench/peers/install.sh
	$(BIN)/python bench/peers/run.py $(ARGS)

growth: guided ## how cost grows with networks, drawn; 15 minutes
	$(BIN)/python bench/growth/grow.py $(ARGS)

instructions: $(BIN)/python ## does a packet hop cost what is recorded? (valgrind); 3 minutes
	@bench/instructions/install.sh || true
	$(BIN)/python bench/instructions/guard.py

instructions-record: $(BIN)/python ## record what it costs now: LABEL="what changed"; 3 minutes
	bench/instructions/install.sh
	$(BIN)/python bench/instructions/guard.py --record "$(LABEL)"

clean: ## remove what the build made
	rm -rf $(VENV) target out site python/forebay/*.so

# --- how it is built

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; \
	  sys.exit(0 if sys.version_info >= (3, 11) else \
	  f"forebay needs Python 3.11 or newer; $(PYTHON) is {v}. Try: make PYTHON=python3.12")'
	@command -v cargo >/dev/null || { echo "forebay needs a Rust tool chain (cargo)" >&2; exit 1; }
	@echo "1/3 an environment for Python in $(VENV): seconds"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install 'pip>=25.2' || true

# Python sources are used in place; only a change of the engine needs a build. Starts are a quarter
# shorter without setuptools, which nothing here needs and which has every start of Python run code
# of its own. Compiled once here, sources need not be compiled at every start where Python may not
# write.
$(VENV)/.built: $(BIN)/python $(RUST)
	@echo "2/3 maturin, which builds the engine: seconds"
	@$(PIP) install 'maturin>=1.9,<2'
	@$(PIP) uninstall --quiet --yes setuptools
	@echo "3/3 the libraries and the engine: two minutes the first time; cargo says how far it is"
	@$(BIN)/maturin develop --profile setup --extras studies
	@$(BIN)/python -m compileall -q python/forebay
	@touch $@

$(VENV)/.guided: $(VENV)/.built
	@echo "the engine once more, guided by a profile of short runs: four minutes the first time"
	bench/profile/guided.sh $(BIN)/maturin develop --release
	@touch $(VENV)/.built $@

$(VENV)/.site: $(VENV)/.built
	@echo "what makes the pages: seconds"
	@$(call install,site)
	@touch $@

$(VENV)/.tools: $(VENV)/.built
	@echo "the tools that tests and checks take: a minute the first time"
	@$(call install,dev)
	@touch $@
