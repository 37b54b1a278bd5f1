PYTHON ?= python3
BIN := .venv/bin
# modules are compiled when they are first imported: pip would compile all of SciPy
PIP := $(BIN)/pip install --quiet --no-compile --no-deps
# pip looks at every file of every version of a package, on one core: two halves take half the time
INSTALL = all=; for half in 0 1; do \
	awk "/==/ { n++ } n % 2 == $$half" $(1) | $(PIP) --require-hashes -r /dev/stdin & all="$$all $$!"; \
	done; for one in $$all; do wait $$one || exit 1; done
RAPIDOC := 9.3.8
RAPIDOC_SHA256 := affbd173a65e870e18f392cca963113bcdafb6e50e88cd2f6a834a65b22db94d
PIN := --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# a service is many processes: without bytecode each compiles all that it loads, a second of work
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo serve test test-slow test-second check format openapi formats pins viewer bench validate torture faults mutants clean

help:  ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		"sigtest needs Python 3.11 or later; name one: make demo PYTHON=python3.12")'
	@echo "Making a Python environment in .venv"
	@$(PYTHON) -m venv .venv

# what the service needs: demo and serve install nothing else
.venv/service-installed: constraints-service.txt pyproject.toml | .venv/bin/pip
	@echo "Installing sigtest and the $$(grep -c == constraints-service.txt) packages of its service from PyPI"
	@$(call INSTALL,constraints-service.txt)
	@$(PIP) --no-build-isolation --editable .
	@echo "Compiling the kernels, once"
	@$(BIN)/python -m sigtest.warm
	@touch $@

.venv/installed: constraints.txt .venv/service-installed
	@echo "Installing the packages of tests and checks from PyPI ($$(grep -c == constraints.txt) in all)"
	@$(call INSTALL,constraints.txt)
	@touch $@

.venv/kernels-compiled: .venv/service-installed
	@$(BIN)/python -m sigtest.warm all
	@touch $@

install: .venv/installed .venv/kernels-compiled  ## make .venv with everything, and compile the kernels

demo: .venv/service-installed  ## start the service, compare the example's systems over HTTP, print the report
	@$(BIN)/python -m app.demo

serve: .venv/service-installed .venv/kernels-compiled  ## run the service on 127.0.0.1:PORT (8000) with its own data store
	@$(BIN)/python -m app.serve

# each process of tests would compile all of them: two that only collect do so before
.venv/tests-compiled: .venv/installed
	@for half in "tests/app tests/workers" "tests/sigtest tests/nets tests/validation"; do \
		$(BIN)/pytest --quiet --collect-only $$half > /dev/null & done; wait
	@touch $@

# two processes more than there are cores: many tests wait for services to start, stop and recover
PYTEST = $(BIN)/pytest --numprocesses $$(($$(getconf _NPROCESSORS_ONLN) + 2)) --dist loadfile --no-loadscope-reorder

test: install .venv/tests-compiled  ## run the tests that a change needs, side by side
	$(PYTEST) -m "not slow"

test-slow: install .venv/tests-compiled  ## run the others: storms, upgrades, searches over many seeds, builds of wheels
	$(PYTEST) -m slow

# under another Python: what counts, draws and decides depends on versions of NumPy, SciPy and numba that it brings
test-second:
	$(SECOND) -m venv .venv-second
	.venv-second/bin/pip install --quiet --no-compile --no-deps --require-hashes -r constraints.txt
	.venv-second/bin/pip install --quiet --no-deps --no-build-isolation --editable .
	.venv-second/bin/pytest --quiet --numprocesses auto -m "not slow" \
		tests/sigtest/comparison tests/sigtest/draws tests/sigtest/significance

check: install  ## formatting, lint, types, imports between layers, and that the house has not grown
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m benchmarks.ratchet

format: install  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

openapi: install  ## write openapi/openapi.json from the code
	$(BIN)/python -m app.main openapi/openapi.json

formats: install  ## write the tables of docs/ that are made of the code
	$(BIN)/python tests/sigtest/data/test_docs_formats.py
	$(BIN)/python tests/app/test_pages_of_classes.py

pins: | .venv/bin/pip  ## write the constraints files anew from pyproject.toml
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile $(PIN) --all-extras --group service --group test --group build --group check pyproject.toml -o constraints.txt
	$(BIN)/uv pip compile $(PIN) --group service --group build -c constraints.txt pyproject.toml -o constraints-service.txt

viewer:  ## fetch anew what shows openapi.json at /api
	npm pack --silent rapidoc@$(RAPIDOC) --pack-destination /tmp
	cd app/pages/static && tar -xzOf /tmp/rapidoc-$(RAPIDOC).tgz package/dist/rapidoc-min.js > rapidoc.js && \
		tar -xzOf /tmp/rapidoc-$(RAPIDOC).tgz package/LICENSE.txt package/dist/rapidoc-min.js.LICENSE.txt > rapidoc.LICENSE.txt && \
		echo "$(RAPIDOC_SHA256)  rapidoc.js" | sha256sum --check --quiet

bench: install  ## measure speed, paired with sacreBLEU in the same run
	$(BIN)/python -m benchmarks

validate: install  ## check the p-values (long; QUICK=1 takes minutes)
	$(BIN)/python -m validation $(if $(QUICK),--quick)
	@for part in $(if $(QUICK),,unequal seeds intervals ranks gates); do \
		echo "$$part"; $(BIN)/python -m validation.$$part --keep $$(mktemp) || exit 1; done

torture: install  ## hurt a running service in every way, and hold its answers against the truth (hours; goes on where it was)
	$(BIN)/python -m torture $(or $(PART),all) $(if $(SEEDS),--seeds $(SEEDS))

faults: install  ## plant mistakes that people make, one at a time: do tests and validation notice? (an hour)
	$(BIN)/python tests/mutants/faults.py $(FAULTS)

mutants: install  ## change the statistics by one operator or number at a time: does a test notice? (hours)
	$(BIN)/pip install --quiet cosmic-ray==8.7.0
	$(BIN)/python tests/mutants $(MODULES)

clean:  ## remove the environment and caches
	rm -rf .venv .venv-second .mypy_cache .pytest_cache .ruff_cache .hypothesis
