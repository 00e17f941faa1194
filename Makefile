# Every target sets itself up on a fresh machine: it needs Python 3.11 or later, Rust 1.88 or later and a C compiler, and
# says which one is missing and how to get it. Set PYTHON to choose the interpreter.

VENV  := .venv
RUN   := $(VENV)/bin/
STAMP := $(VENV)/.stamps
PIP   := $(RUN)python -m pip install --quiet --disable-pip-version-check
CARGO := PATH="$$PATH:$$HOME/.cargo/bin" cargo

KERNEL := $(shell find rust -name '*.rs' -o -name Cargo.toml) $(wildcard Cargo.toml Cargo.lock) pyproject.toml

# Two workers: more would not be faster where the kernel itself is on every core.
WORKERS ?= 2
PYTEST_ARGS ?=
# Steps of the stateful machines together.
STEPS ?= 100000
BENCH_ARGS ?=

.DELETE_ON_ERROR:
.PHONY: help setup build demo test test-rust test-python coverage fuzz machines miri audit bench torture
.PHONY: check check-rust check-python format docs transcripts clean

help:
	@echo 'make demo     create a small dataset, read it back, and make a page to look at'
	@echo 'make test     all tests: the kernel, the package, the documentation'
	@echo 'make check    format, lint, types and import layers, in both languages'
	@echo 'make coverage branch coverage of model, format, array and store; fails below 95 % of one'
	@echo 'make fuzz     run every fuzz target for TIME=60 seconds'
	@echo 'make machines run the stateful machines for STEPS=100000 steps'
	@echo 'make miri     look for undefined behaviour in the copies of the kernel'
	@echo 'make audit    ask for known vulnerabilities of dependencies'
	@echo 'make bench    race the other implementations and rewrite the table in docs/performance.md'
	@echo 'make torture  kill writers for TIME seconds, let calls of the system fail, take the power away'
	@echo 'make docs     build the documentation into site/'
	@echo 'make transcripts  write what commands print now into the pages that show them'
	@echo 'make build    build the kernel into the virtual environment'
	@echo 'make format   format and fix what can be fixed by a tool'
	@echo 'make clean    remove what the targets above have made'

# --- set-up -----------------------------------------------------------------------------------------------------------

$(STAMP)/venv:
	@python=$$(scripts/find-python 3.11) && echo "creating $(VENV) with $$python" && "$$python" -m venv $(VENV)
	@$(PIP) --upgrade 'pip>=25.1' 'maturin>=1.9.4,<2'
	@mkdir -p $(STAMP) && touch $@

$(STAMP)/kernel: $(STAMP)/venv $(KERNEL)
	@scripts/need-rust
	PATH="$$PATH:$$HOME/.cargo/bin" VIRTUAL_ENV="$(abspath $(VENV))" $(RUN)maturin develop --release
	@touch $@

$(STAMP)/group-%: $(STAMP)/venv pyproject.toml
	@echo 'installing what `$*` needs'
	@$(PIP) --group $*
	@touch $@

setup: $(STAMP)/kernel $(STAMP)/group-test $(STAMP)/group-check

build: $(STAMP)/kernel

# --- use --------------------------------------------------------------------------------------------------------------

demo: $(STAMP)/kernel
	@$(RUN)python examples/demo.py

docs: $(STAMP)/kernel $(STAMP)/group-docs
	@NO_MKDOCS_2_WARNING=1 $(RUN)mkdocs build --strict
	@echo 'open site/index.html'

transcripts: $(STAMP)/kernel $(STAMP)/group-test
	OMNIZARR_RECORD=1 $(RUN)pytest -q tests/docs/test_transcripts.py -k test_page_plays
	@git diff --stat -- README.md docs

# --- prove ------------------------------------------------------------------------------------------------------------

test: test-rust test-python

test-rust:
	@scripts/need-rust
	$(CARGO) test --package omnizarr-core --package omnizarr-fuzz
	$(CARGO) test --manifest-path fuzz/miri/Cargo.toml --test copies

test-python: $(STAMP)/kernel $(STAMP)/group-test
	@scripts/peers-setup .venv-peers
	@scripts/servers-setup
	@scripts/system-setup zsh=zsh fish=fish zip=zip unzip=unzip ncdump=netcdf-bin
	$(RUN)pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

# What everything stands on, by its own tests alone; the figures are in docs/reliability.md.
coverage: $(STAMP)/kernel $(STAMP)/group-test $(STAMP)/group-coverage
	$(RUN)pytest -n $(WORKERS) --dist loadfile --cov --cov-report= $(addprefix tests/,model format array store) $(PYTEST_ARGS)
	@$(RUN)coverage json --quiet -o - | $(RUN)python scripts/check-coverage

# The kernel under libFuzzer where there is a nightly compiler, and the targets in Python.
fuzz: $(STAMP)/kernel $(STAMP)/group-test
	@scripts/need-rust
	@scripts/fuzz $(if $(filter command environment,$(word 1,$(origin TIME))),$(TIME),60) $(abspath $(RUN)python)

machines: $(STAMP)/kernel $(STAMP)/group-test
	@$(RUN)python -m tests.stateful --steps $(STEPS)

# Miri knows no stores around caches; it sees plain ones in their place.
miri:
	cd fuzz/miri && PATH="$$PATH:$$HOME/.cargo/bin" MIRIFLAGS=-Zmiri-disable-isolation RUSTFLAGS=-Ctarget-feature=+avx2 cargo +nightly miri test --test copies

audit: $(STAMP)/venv
	@scripts/audit $(VENV)

check: check-rust check-python

check-rust:
	@scripts/need-rust
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

check-python: $(STAMP)/kernel $(STAMP)/group-check $(STAMP)/group-test
	$(RUN)ruff format --check .
	$(RUN)ruff check .
	$(RUN)mypy
	$(RUN)pyright
	$(RUN)python -m mypy.stubtest omnizarr._native
	$(RUN)lint-imports
	$(RUN)codespell
	$(RUN)python scripts/check-crates

format: $(STAMP)/group-check
	$(CARGO) fmt --all
	$(RUN)ruff check --fix .
	$(RUN)ruff format .

# --- torture ----------------------------------------------------------------------------------------------------------

# Writers are killed for TIME seconds; then each call of the system fails in turn, and the power goes.
TIME ?= 600
TORTURE_FOLDER ?= $(shell test -d /dev/shm && echo /dev/shm || echo /tmp)

torture: $(STAMP)/kernel $(STAMP)/group-test
	$(RUN)python -m torture.kill --cycles 1000000 --time $(TIME) --folder $(TORTURE_FOLDER)
	$(RUN)python -m torture.each_call --folder $(TORTURE_FOLDER)
	$(RUN)python -m torture.each_call --durable --folder $(TORTURE_FOLDER)
	$(RUN)python -m torture.power --folder $(TORTURE_FOLDER)

# --- race -------------------------------------------------------------------------------------------------------------

# The peers have an environment of their own, on the newest Python at hand: their newest releases need 3.12 or later.
bench: $(STAMP)/venv
	@scripts/need-rust
	@scripts/bench-setup .venv-bench
	rm -rf build/wheels
	PATH="$$PATH:$$HOME/.cargo/bin" $(RUN)maturin build --release --out build/wheels
	.venv-bench/bin/python -m pip install --quiet --force-reinstall --no-deps build/wheels/*.whl
	.venv-bench/bin/python -m bench race $(BENCH_ARGS)

# --- tidy -------------------------------------------------------------------------------------------------------------

clean:
	rm -rf $(VENV) .venv-bench .venv-peers build dist site target bench/results
	rm -rf .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -f src/omnizarr/_native*.so src/omnizarr/_native*.pyd
	find src tests bench torture examples -name __pycache__ -type d -prune -exec rm -rf {} +
