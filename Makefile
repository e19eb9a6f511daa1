# make demo   a sweep on an embedded database and its report, in about a minute
# make test   the tests
# make help   everything else
# Each makes .venv and installs what it needs; only Python 3.11 or newer with pip must be there.

BIN := .venv/bin
ARGS ?=
# Spread over the processors, whose number decides; what is left of a file goes to whoever is free.
SPREAD := -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test lint format types contracts docs check chaos bench mutate wheel pins clean

help:
	@echo 'make demo       a sweep on an embedded database, and its report in dbatk-demo/'
	@echo 'make test       the tests; ARGS="-k name" picks some, one after another'
	@echo 'make check      lint, types, contracts and tests'
	@echo 'make lint       ruff: rules and format'
	@echo 'make format     let ruff write the format'
	@echo 'make types      mypy, strict'
	@echo 'make contracts  the layers of the package'
	@echo 'make docs       write docs/reference anew'
	@echo 'make chaos      a maintenance plan under 200 faults; SEED=7 FAULTS=50 chooses'
	@echo 'make bench      the benchmarks'
	@echo 'make mutate     AREA=statistics SAMPLE=200: changes that no test notices, see docs/mutations.md'
	@echo 'make wheel      wheel and sdist in dist/'
	@echo 'make pins       resolve requirements/*.txt anew'
	@echo 'make clean      remove .venv, caches and dist/'

.venv/.%: requirements/%.txt pyproject.toml requirements/install
	@requirements/install $*

demo: .venv/.core
	$(BIN)/dbatk demo --out dbatk-demo

test: .venv/.test
	$(BIN)/python -m pytest $(or $(ARGS),$(SPREAD))

lint: .venv/.dev
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check .

format: .venv/.dev
	$(BIN)/ruff format .

types: .venv/.dev
	$(BIN)/mypy

contracts: .venv/.dev
	$(BIN)/lint-imports

docs: .venv/.core
	$(BIN)/python docs/generate.py

check: lint types contracts test

chaos: .venv/.test
	DBATK_CHAOS_FAULTS=$(or $(FAULTS),200) DBATK_CHAOS_SEED=$(or $(SEED),$(shell date +%s)) \
		$(BIN)/python -m pytest tests/chaos $(ARGS)

bench: .venv/.test
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

mutate: .venv/.dev
	nice -n 15 $(BIN)/python tests/mutate.py $(AREA) $(or $(SAMPLE),100) $(or $(SEED),1)

wheel: .venv/.dev
	$(BIN)/python -m build --no-isolation --outdir dist .

PINS := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-package dbatk \
	--custom-compile-command 'make pins' pyproject.toml requirements/build.in

# dev.txt holds everything; the smaller sets take their versions from it
pins: .venv/.dev
	$(PINS) --extra dev -o requirements/dev.txt $(ARGS)
	$(PINS) --extra test -c requirements/dev.txt -o requirements/test.txt
	$(PINS) -c requirements/dev.txt -o requirements/core.txt
	$(PINS) -c requirements/dev.txt --no-emit-package duckdb --no-emit-package numpy -o requirements/reading.txt

clean:
	rm -rf .venv dist build dbatk-demo .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find toolkit tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +
