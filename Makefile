PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

COMPILE := --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

.PHONY: help install demo serve test check format openapi pins bench validate mutants clean

help:  ## list what can be made
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

.venv/installed: constraints.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --require-hashes -r constraints.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m sigtest.warm
	@touch $@

install: .venv/installed  ## make .venv with everything, and compile the kernels

demo: install  ## start the service, compare the example's systems over HTTP, print the report
	$(BIN)/python -m app.demo

serve: install  ## run the service on 127.0.0.1:PORT (8000) with its own data store
	$(BIN)/python -m app.serve

test: install  ## run all tests
	$(BIN)/pytest

check: install  ## formatting, lint, types, imports between layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

openapi: install  ## write openapi/openapi.json from the code
	$(BIN)/python -m app.openapi openapi/openapi.json

pins:  ## write the constraints files anew from pyproject.toml
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile $(COMPILE) --all-extras pyproject.toml -o constraints.txt
	$(BIN)/uv pip compile $(COMPILE) --extra service pyproject.toml -o constraints-service.txt

bench: install  ## measure speed, paired with sacreBLEU in the same run
	$(BIN)/python -m benchmarks

validate: install  ## check the p-values (long; QUICK=1 takes minutes)
	$(BIN)/python -m validation $(if $(QUICK),--quick)

mutants: install  ## change the statistics by one operator or number at a time: does a test notice? (hours)
	$(BIN)/pip install --quiet cosmic-ray==8.7.0
	$(BIN)/python tests/mutants $(MODULES)

clean:  ## remove the environment and caches
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
