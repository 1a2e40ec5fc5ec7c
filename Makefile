# Two commands on a fresh machine with Python 3.11 and make: `make demo` and `make test`. Each sets up .venv by itself.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV  := .venv
BIN   := $(VENV)/bin
# Two stages of one environment: what moot needs to run, and on top of it the developers' tools.
RUNS  := $(VENV)/.runs
READY := $(VENV)/.ready
COMPILED := $(VENV)/.compiled

# Tried in this order; a name that is not Python 3.11 or newer when it is run is passed over.
# Another one: make test PYTHON=/path/to/python
PYTHON ?=
PYTHONS := $(PYTHON) python3.11 python3.12 python3.13 python3.14 python3 python

# How long a campaign may take, and how many processes it keeps busy.
MINUTES ?= 240
WORKERS ?= 2

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# A second run is faster with the compiled code and the rewritten tests of the first.
unexport PYTHONDONTWRITEBYTECODE
# pyright and its node both come from the lock; without this it asks a registry for a newer one at every run.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: help demo test test-all check chromium bubblewrap pictures campaign bench lock clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(RUNS) ## play a recorded deliberation through the real engine
	@$(BIN)/moot demo

# What `test` leaves out is slow by design: whole runs in processes, sweeps over subsets, hundreds of random ledgers.
# One type checker in the quick form: mypy keeps what it knows of unchanged files, and it reads the tests. pyright finds
# private functions that nobody calls, and private names that others use.
TESTS := not slow and not campaign
PROFILE := gate

test: check chromium bubblewrap tests ## style, types and the tests that are quick

# All of it at once: tests wait for disks, browsers and processes, and the type checkers use that time.
test-all: $(READY) chromium bubblewrap ## every test but the campaigns, and the built wheel with the sources out of reach: what CI runs
	@$(MAKE) --no-print-directory --keep-going --output-sync=line --jobs 3 TESTS='not campaign' PROFILE=thorough \
	  tests check-mypy check-pyright check-pages wheel

# Tests wait for disks, browsers and processes: two more of them than there are processors keep those busy.
TESTERS = $(shell echo $$(($$(nproc) + 2)))

.PHONY: tests wheel
tests: $(COMPILED)
	$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal -m '$(TESTS)' --hypothesis-profile=$(PROFILE)

wheel: $(READY)
	$(BIN)/python -m tests.packaging.built_wheel

check: $(READY) ## style, types, layers, and that schemas and rule pages agree with the code
	@$(MAKE) --no-print-directory --output-sync --jobs 2 check-mypy check-pages $(COMPILED)

.PHONY: check-pyright check-mypy check-pages
check-pyright:
	$(BIN)/pyright

check-mypy:
	$(BIN)/mypy

check-pages:
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m ledger.format.schema --check
	$(BIN)/python -m roles.reply_schemas --check
	$(BIN)/python -m moot.output_schemas --check
	$(BIN)/python -m tests.pages --check

chromium: ## install Debian's Chromium for the browser tests, as root; without it they are skipped
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
	  echo 'no chromium, and only root on Debian can install it here: the browser tests will be skipped' >&2; \
	else \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null \
	    || echo 'chromium could not be installed: the browser tests will be skipped' >&2; \
	fi

bubblewrap: ## install Debian's bubblewrap for the sandbox tests, as root; without it they try what is here, or are skipped
	@if command -v bwrap >/dev/null; then :; \
	elif [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
	  echo 'no bubblewrap, and only root on Debian can install it here: its sandbox tests will be skipped' >&2; \
	else \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends bubblewrap >/dev/null \
	    || echo 'bubblewrap could not be installed: its sandbox tests will be skipped' >&2; \
	fi

pictures: $(READY) chromium ## take the screenshots of docs/viewer.md again
	$(BIN)/python -m tests.web.pictures

campaign: $(READY) ## kills, faults, power failures, tampering, fuzz: hours; goes on where it stopped (MINUTES=, WORKERS=)
	nice -n 10 $(BIN)/python -m tests.campaign --minutes $(MINUTES) --workers $(WORKERS)
	nice -n 10 $(BIN)/python -m pytest -n $(WORKERS) -m campaign --hypothesis-profile=campaign

bench: $(READY) ## measure against the targets, as ratios in one run
	$(BIN)/python -m benchmarks

.PHONY: site
site: $(READY) ## the documentation as a site, in build/site
	$(BIN)/python -m tests.packaging.site

COMPILE = $(BIN)/uv pip compile --no-config --universal --python-version 3.11 --generate-hashes --quiet \
  --no-annotate --no-emit-index-url --no-emit-find-links
lock: $(READY) ## pin again every dependency, for every platform, with hashes
	mkdir -p build
	$(COMPILE) --extra anthropic --extra mcp --extra openai --extra study --group dev \
	  --output-file build/all.lock --upgrade pyproject.toml
	$(COMPILE) --constraint build/all.lock --group checkout --output-file build/run.lock --upgrade pyproject.toml
	$(COMPILE) --constraint build/all.lock --extra anthropic --extra mcp --extra openai --group checkout \
	  --output-file build/seats.lock --upgrade pyproject.toml
	$(BIN)/python -m tests.packaging.lock build/run.lock build/seats.lock build/all.lock > build/requirements.lock
	mv build/requirements.lock requirements.lock

clean: ## remove what make made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUNS): requirements.lock pyproject.toml
	@python=; for name in $(PYTHONS); do \
	  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$name; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo 'moot needs Python 3.11 or newer and found none: install it, or name it: make PYTHON=/path/to/python' >&2; \
	  exit 2; \
	fi; \
	echo "setting up $(VENV) with $$("$$python" --version): once, under a minute"; \
	"$$python" -m venv $(VENV)
	@sed "/^# The SDKs of models, and MCP.$$/,\$$d" requirements.lock > $(VENV)/run.lock
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement $(VENV)/run.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q detectors ledger moot roles rounds schemas validators
	@touch $@

# The lock names every dependency, so nothing looks for more. pip installs uv, and uv the rest, much faster.
$(READY): requirements.lock $(RUNS)
	@echo "adding the developers' tools to $(VENV): once"
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.lock
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement $(VENV)/uv.lock
	@$(BIN)/python -m tests.packaging.installing $(BIN)/python --no-deps --require-hashes --requirement requirements.lock
	@touch $@

# pytest rewrites the tests' assertions when it first sees them. Done once here, the workers need not each do it.
# A test that cannot be collected does not fail here: `tests` reports it.
$(COMPILED): $(READY)
	@$(BIN)/python -m pytest --collect-only --quiet >/dev/null || :
	@touch $@
