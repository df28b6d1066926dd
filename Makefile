# HapBoard. `make` lists what there is to do.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST := $(BIN)/python -m pytest
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup up down demo status test test-slow soak lint format types bench test-tools clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  \033[36mmake %-10s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## create .venv with everything in it (kernel-eval and hapboard in .venv/bin)

# torch comes by pip, whose settings say where a host has its CPU build; uv brings the rest in a tenth of pip's time, and
# beside it. Should that fail, the last step has more to do, and says what is wrong.
# Byte code is made beforehand for what the stack's processes load, since a process that has to compile keeps the memory it
# took for that. For the large packages the first import writes it: most of their modules are never imported.
LOCKED := -c requirements.lock
LARGE := /(torch|sympy|networkx|mypy|mypyc|playwright|pandas|numpy|pip|hypothesis|pygments)/|/tests?/
unexport PYTHONDONTWRITEBYTECODE

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "HapBoard needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1): make setup PYTHON=/path/to/python3.11"; exit 2; }
	@command -v g++ >/dev/null || { echo "HapBoard needs a C++ compiler: install g++ (Debian: apt-get install g++)"; exit 2; }
	@umask 022; test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV) || { \
	  echo "python3 -m venv does not work here (Debian: apt-get install python3-venv)"; exit 2; }
	@echo "Installing into $(VENV); the first time this downloads about 300 MB with a CPU build of torch"
	@umask 022; $(BIN)/pip install -qq $(LOCKED) --no-deps --no-compile uv
	@umask 022; { sed /^torch==/d requirements.lock | $(BIN)/uv pip install --python $(BIN)/python --no-deps -r - && \
	  $(BIN)/python -m compileall -q -j 2 -x '$(LARGE)' $(VENV)/lib app kernel_eval worker local_stack; } >/dev/null 2>&1 & \
	  $(BIN)/pip install -qq $(LOCKED) --no-deps --no-compile torch; code=$$?; wait; exit $$code
	@umask 022; $(BIN)/uv pip install --quiet --python $(BIN)/python $(LOCKED) -e '.[dev]' || \
	  $(BIN)/pip install -qq $(LOCKED) -e '.[dev]'
	@touch $@

up: $(STAMP) ## start everything, judge the example, print the board's address; Ctrl-C stops it
	@$(BIN)/python -m local_stack up

down: ## stop a running stack; the data stay in var/
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m local_stack down; else echo "nothing is running: there is no $(VENV)"; fi

demo: $(STAMP) ## submit the example to the running stack and print the result as JSON
	@$(BIN)/python -m local_stack demo

status: $(STAMP) ## say what is running and where
	@$(BIN)/python -m local_stack status

test-tools: $(STAMP)
	@.ci/test-tools

# Sandboxed tests measure times and memory, and run alone. What ARGS leave of either part may be nothing (exit code 5).
test: $(STAMP) test-tools ## run all tests but the long ones
	@$(PYTEST) -q -n 2 --dist loadfile -m "not slow and not soak and not sandbox" $(ARGS) || [ $$? = 5 -a -n "$(ARGS)" ]
	@$(PYTEST) -q -m "not slow and not soak and sandbox" $(ARGS) || [ $$? = 5 -a -n "$(ARGS)" ]

test-slow: $(STAMP) test-tools ## run whole counts and long runs
	@$(PYTEST) -q -m slow $(ARGS)

soak: $(STAMP) ## run the fault harness
	@$(PYTEST) -q -m soak $(ARGS)

lint: $(STAMP) ## check style and formatting
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet . && echo "lint: clean"

format: $(STAMP) ## format the code and sort imports
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .

types: $(STAMP) ## check types, strictly
	@$(BIN)/mypy

bench: $(STAMP) ## run every benchmark; each prints JSON
	@for each in benchmarks/*.py; do name=$$(basename "$$each" .py); echo "# $$name" >&2; $(BIN)/python -m "benchmarks.$$name" || exit 1; done

clean: down ## remove caches and builds; keeps .venv and var
	@rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
