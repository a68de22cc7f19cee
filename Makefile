# Each target does its own set-up: an environment in .venv, filled once per change of pyproject.toml or the lock file.
# The first of these Pythons that has versions known to work together, else python3; PYTHON=... takes another.
ifndef PYTHON
PYTHON := $(shell for p in python3 python3.11 python3.12 python3.13; do \
    name=$$($$p tools/lock.py name 2>/dev/null) && [ -e "$$name" ] && echo $$p && break; done)
PYTHON := $(or $(PYTHON),python3)
endif
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
DEMO := out/demo
# Versions known to work together, if there is a file for this Python and system; LOCK= takes the newest instead.
LOCK := $(wildcard $(shell $(PYTHON) tools/lock.py name 2>/dev/null))
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(LOCK),--constraint $(LOCK)) --editable
TEST = NUMBA_NUM_THREADS=2 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

.DEFAULT_GOAL := help
FUZZ_SECONDS ?= 600
FUZZ_CASES ?= 2500
FUZZ_FIRST ?= 0

.PHONY: help demo play check test test-newest test-oldest pytest lock licences docs serve fuzz fuzz-guided chaos lint format recompile clean

help:
	@echo "make demo    install crumple in .venv, crumple a sheet of paper, make a film of it"
	@echo "make play    install crumple in .venv, open a sheet in the browser to be folded by hand"
	@echo "make test    install crumple for development in .venv, run lint, types, layering and tests"
	@echo "make check   lint, types, layering and the tests of the foundations, in two minutes"
	@echo "make docs    build the documentation site in out/site"
	@echo "make serve   the same, and serve it on this machine"
	@echo "make test-newest  the tests with the newest versions of all dependencies, in a new .venv-newest"
	@echo "make test-oldest  the tests with the oldest that pyproject.toml allows, in a new .venv-oldest"
	@echo "make lock    resolve all dependencies anew and write requirements/ for this Python and system"
	@echo "make licences  write the tables of LICENCES.md"
	@echo "make fuzz    feed damaged scenes, meshes and recordings, step random scenes (FUZZ_SECONDS=600 FUZZ_CASES=2500 FUZZ_FIRST=0)"
	@echo "make chaos   kill and let down the recorder around every system call, signals at random (minutes)"
	@echo "make lint    lint, types and layering only"
	@echo "make format  format the code"
	@echo "make recompile  forget compiled kernels (after editing one that other files call)"
	@echo "make clean   remove .venv, caches and the demo's output"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "crumple needs Python 3.11 or newer; try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/render.stamp: pyproject.toml $(LOCK) | $(BIN)/python
	@echo "installing crumple and its renderer in $(VENV) (once; a minute or two)"
	$(INSTALL) '.[render]'
	@touch $@

$(VENV)/studio.stamp: pyproject.toml $(LOCK) | $(BIN)/python
	@echo "installing crumple and its pages in $(VENV) (once; a minute or two)"
	$(INSTALL) '.[studio]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml $(LOCK) | $(BIN)/python
	@echo "installing crumple for development in $(VENV) (once; a minute or two)"
	$(INSTALL) '.[dev]'
	@touch $@ $(VENV)/render.stamp $(VENV)/studio.stamp

demo: $(VENV)/render.stamp
	@(nice $(BIN)/crumple compile rendering >/dev/null 2>&1 &)
	$(BIN)/crumple run ball --out $(DEMO) --force
	$(BIN)/crumple render $(DEMO) --size 640x480 -o $(DEMO).mp4
	$(BIN)/crumple render $(DEMO) -o $(DEMO).png
	@echo
	@echo "film       $(DEMO).mp4"
	@echo "picture    $(DEMO).png"
	@echo "recording  $(DEMO)        open $(DEMO)/run.vtkhdf.series in ParaView"

play: $(VENV)/studio.stamp
	$(BIN)/crumple play

test: lint
	$(TEST)

# What breaks first when something is wrong; the rest runs scenes.
CHECK := tests/runtime tests/linalg tests/mesh tests/shapes tests/geometry tests/materials tests/options tests/state \
    tests/energies tests/boundary tests/contact tests/solving tests/patterns tests/docs/test_bibliography.py \
    tests/docs/test_architecture.py tests/scenes/test_scene_toml.py tests/scenes/test_scene_build.py tests/cli/test_cli_commands.py

check: lint
	$(TEST) -m 'not slow and not long' $(CHECK)

pytest: $(VENV)/dev.stamp
	$(TEST)

test-newest:
	rm -rf .venv-newest
	$(MAKE) pytest VENV=.venv-newest LOCK=

test-oldest:
	rm -rf .venv-oldest
	$(PYTHON) tools/lock.py oldest
	$(MAKE) pytest VENV=.venv-oldest LOCK=requirements/oldest.txt

lock:
	$(PYTHON) tools/lock.py newest
	$(PYTHON) tools/lock.py oldest

licences: $(VENV)/dev.stamp
	$(BIN)/python tools/licences.py --write

docs: $(VENV)/dev.stamp
	$(BIN)/python docs/scene_reference.py
	$(BIN)/python docs/tuning.py
	$(BIN)/python docs/columns.py
	$(BIN)/python -m mkdocs build --strict
	@echo "site       out/site/index.html"

serve: docs
	@echo "site       http://127.0.0.1:8000   (Ctrl-C ends it)"
	$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory out/site

fuzz: $(VENV)/dev.stamp
	NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python tests/fuzz/fuzz.py \
	    --cases $(FUZZ_CASES) --seconds $(FUZZ_SECONDS) --first $(FUZZ_FIRST)

fuzz-guided: $(VENV)/dev.stamp
	$(INSTALL) '.[fuzz]'
	NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python tests/fuzz/fuzz.py --guided \
	    --cases $(FUZZ_CASES) --seconds $(FUZZ_SECONDS) --first $(FUZZ_FIRST)

chaos: $(VENV)/dev.stamp
	NUMBA_NUM_THREADS=2 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 timeout 1800 $(BIN)/python -m pytest tests/chaos -n 2 -m 'long or not long'

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check src tests tools
	$(BIN)/ruff format --check src tests tools
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix src tests tools
	$(BIN)/ruff format src tests tools

recompile:
	find src -name '*.nb[ci]' -delete

clean:
	rm -rf $(VENV) .venv-newest .venv-oldest $(DEMO) $(DEMO).mp4 $(DEMO).png .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
