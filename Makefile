# Front door: `make help` prints itself. Needs python3.11 (or newer) and make; brings the rest.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3)
BIN := .venv/bin
STAMP := .venv/.ready
BENCH := benchmarks/.venv

MINUTES ?= 3
SEED ?= 1
MESSAGES ?= 1000000
SIZE ?= 1024
RELOADS ?= 0
ROUNDS ?= 3
ONLY ?=
FUNCTIONS ?= 1 10 200

CHROMIUM = command -v chromium || command -v chromium-browser || command -v google-chrome

.PHONY: help setup chromium demo test unit docs reference picture package chaos soak bench startup reload idle check fmt lint types imports clean

help:  ## Show what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

# Where Python came without the means to put pip into a new environment, its own pip fills it.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: Python 3.11 or newer is needed; name one: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "setting up: installing qtrigger and its development tools into .venv (about a minute, once)"
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || $(PYTHON) -m venv --without-pip --clear .venv
	@PIP="$(BIN)/python -m pip"; \
	  $$PIP --version >/dev/null 2>&1 || PIP="$(PYTHON) -m pip --python $(BIN)/python"; \
	  $$PIP --version >/dev/null 2>&1 \
	    || { echo "error: this Python has neither venv nor pip; install its python3-venv package"; exit 1; }; \
	  export PIP_DISABLE_PIP_VERSION_CHECK=1; \
	  command -v node >/dev/null 2>&1 && EXTRAS=dev || EXTRAS=dev,azurite; \
	  $$PIP install --quiet --editable ".[$$EXTRAS]"
	@touch $@

setup: $(STAMP)  ## Make .venv with everything in it

demo: $(STAMP)  ## Run the order pipeline of this repository on an emulator, then end
	@$(BIN)/python docs/demo.py

# What the pages are tested in: the system's own, since it comes with the libraries that it needs.
chromium:
	@($(CHROMIUM)) >/dev/null || { \
	  { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; } \
	    || { echo "error: the pages are tested in Chromium; install your system's package of it"; exit 1; }; \
	  echo "setting up: installing Chromium, in which the pages are tested (once)"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null; }

test: $(STAMP) chromium  ## Run every test, four at a time: most of them wait for processes
	@$(BIN)/python -m pytest -q -n 4 --dist worksteal

unit: $(STAMP)  ## Run the quick tests alone
	@$(BIN)/python -m pytest -q tests/unit

docs: $(STAMP)  ## Build the documentation as a site, into site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open site/index.html"

reference: $(STAMP)  ## Make the pages of the reference anew that come from the code
	@$(BIN)/python -m qtrigger.cli.reference > docs/reference/cli.md
	@$(BIN)/python -m qtrigger.cli.exit_reference > docs/reference/exit-codes.md
	@$(BIN)/python -m qtrigger.project.reference > docs/reference/configuration.md
	@$(BIN)/python -m qtrigger.telemetry.metric_page > docs/reference/metrics.md
	@$(BIN)/python -m qtrigger.admin.reference > docs/reference/http.md
	@$(BIN)/python -m tests.unit.log_events > docs/reference/log-events.md

picture: $(STAMP)  ## Make the picture of a terminal anew, into docs/pictures
	@$(BIN)/python docs/terminal_picture.py

package: $(STAMP)  ## Build wheel and sdist into dist/, and try the wheel in a new environment
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	@$(BIN)/python -m twine check --strict dist/*
	@$(BIN)/python -m tests.packaging.installed dist

chaos: $(STAMP)  ## Kill and starve hosts, then account for every message (MINUTES=3 SEED=1)
	@$(BIN)/python -m tests.chaos.chaos --minutes $(MINUTES) --seed $(SEED)

soak: $(STAMP)  ## Let a host work for long, then look at its memory (MESSAGES=1000000 RELOADS=0)
	@$(BIN)/python -m tests.soak.soak --messages $(MESSAGES) --size $(SIZE) --reloads $(RELOADS)

# ONLY takes names of benchmarks/consumers.py, such as qtrigger,sdk-async,celery.
# What qtrigger is measured beside has an environment of its own, which nobody else needs.
$(BENCH)/.ready: pyproject.toml benchmarks/requirements.txt
	@echo "setting up: installing what is measured into $(BENCH) (about a minute, once)"
	@$(PYTHON) -m venv $(BENCH) >/dev/null 2>&1 || $(PYTHON) -m venv --without-pip --clear $(BENCH)
	@PIP="$(BENCH)/bin/python -m pip"; \
	  $$PIP --version >/dev/null 2>&1 || PIP="$(PYTHON) -m pip --python $(BENCH)/bin/python"; \
	  PIP_DISABLE_PIP_VERSION_CHECK=1 $$PIP install --quiet \
	    --requirement benchmarks/requirements.txt --editable ".[fast]"
	@touch $@

bench: $(BENCH)/.ready  ## Measure beside the SDK and others, into docs/explanation/performance.md (ROUNDS=3 ONLY=)
	@$(BENCH)/bin/python -m benchmarks.suite --rounds $(ROUNDS) --only "$(ONLY)"

startup: $(BENCH)/.ready  ## Measure commands, and a host until its first message
	@$(BENCH)/bin/python -m benchmarks.startup

reload: $(BENCH)/.ready  ## Measure how soon saved code handles a message
	@$(BENCH)/bin/python -m benchmarks.reload

idle: $(BENCH)/.ready  ## Measure hosts that have nothing to do, for four minutes (FUNCTIONS="1 10 200")
	@$(BENCH)/bin/python -m benchmarks.idle --functions $(FUNCTIONS)

fmt: $(STAMP)  ## Format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix-only --quiet .

lint: $(STAMP)  ## Formatting and lint rules
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .

types: $(STAMP)  ## Static types, strict
	@$(BIN)/mypy --no-error-summary

imports: $(STAMP)  ## Import rules between the packages
	@$(BIN)/lint-imports --no-cache --no-logo

check: lint types imports test  ## What CI runs

clean:  ## Remove what setup and runs have made here
	@rm -rf .venv $(BENCH) .azurite .mypy_cache .ruff_cache .pytest_cache .hypothesis dist site
