# make demo   a sweep on an embedded database and its report, in about a minute
# make test   the tests, in minutes; make test-full adds what takes longer
# make help   everything else
# Each makes .venv and installs what it needs; only Python 3.11 or newer with pip must be there.

BIN := .venv/bin
ARGS ?=
# More workers than processors, for a test waits half of its time; tests that share costly processes stay together.
SPREAD := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 2 + 2) --dist loadscope

# Many faults in one test take longer than a test that hangs is given.
NO_LIMIT := -o faulthandler_timeout=0

# Compiled tests are kept even where this is set: each worker would compile all of them at every run.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-full test-both test-extra test-lowest lint format types contracts docs check chaos series seeds bench mutate wheel pins clean

help:
	@echo 'make demo       a sweep on an embedded database, and its report in dbatk-demo/'
	@echo 'make test       the tests, in minutes; ARGS="-k name" picks some, one after another'
	@echo 'make test-full  everything: make test, then what it leaves out, then the oldest versions we allow'
	@echo 'make check      lint, types, contracts and tests'
	@echo 'make lint       ruff: rules and format'
	@echo 'make format     let ruff write the format'
	@echo 'make types      mypy, strict'
	@echo 'make contracts  the layers of the package'
	@echo 'make docs       write docs/reference anew'
	@echo 'make chaos      a maintenance plan under 200 faults; SEED=7 FAULTS=50 chooses'
	@echo 'make series     operations on PostgreSQL under 250 faults, resumed and cleaned; SEED=7 ARGS="--cut 5"'
	@echo 'make bench      the benchmarks'
	@echo 'make mutate     AREA=statistics SAMPLE=200: changes that no test notices, see docs/mutations.md'
	@echo 'make seeds      the published experiments, as far as this host runs them: within 15 minutes, one report in dbatk-seeds/'
	@echo 'make wheel      wheel and sdist in dist/'
	@echo 'make pins       resolve requirements/*.txt anew'
	@echo 'make clean      remove .venv, caches and dist/'

.venv-lowest/.lowest: requirements/lowest.txt pyproject.toml requirements/install
	@VENV=.venv-lowest requirements/install lowest

.venv/.%: requirements/%.txt pyproject.toml requirements/install
	@requirements/install $*

demo: .venv/.core
	$(BIN)/dbatk demo --out dbatk-demo

test: .venv/.test
	$(BIN)/python -m pytest $(or $(ARGS),$(SPREAD))

test-full: test-both test-lowest

# in one run, so that tests are collected once and every property is tested once, at full strength
test-both: .venv/.test
	DBATK_TESTS=full DBATK_CHAOS_FAULTS=$(or $(FAULTS),30) $(BIN)/python -m pytest $(SPREAD) $(if $(FAULTS),$(NO_LIMIT))

# what `make test` leaves out: long series, every property at full strength, faults in a plan, the wheel
test-extra: .venv/.test
	DBATK_TESTS=extra DBATK_CHAOS_FAULTS=$(or $(FAULTS),30) $(BIN)/python -m pytest $(SPREAD) $(if $(FAULTS),$(NO_LIMIT))

# a slice through all layers, with the lowest version of each direct dependency; old ones use what newer ones
# they depend on have deprecated; one worker a processor, as CI runs this beside the other tests. The two long files
# left out use no library in a way that others here do not, and the readers of other texts than AWR reports use none.
test-lowest: .venv-lowest/.lowest
	.venv-lowest/bin/python -m pytest -n $(shell getconf _NPROCESSORS_ONLN) --dist loadscope \
		-W default::DeprecationWarning --ignore tests/engines/test_retention.py \
		tests/engines tests/store tests/config tests/notify \
		$(filter-out tests/readers/test_awr_on_its_way.py,$(wildcard tests/readers/test_awr_*.py)) \
		tests/cli/test_commands.py tests/cli/test_plans.py tests/oracle/test_command_line.py \
		tests/report/test_render.py

lint: .venv/.dev
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check .

format: .venv/.dev
	$(BIN)/ruff format .

types: .venv/.dev
	$(BIN)/mypy
	$(BIN)/mypy --explicit-package-bases benchmarks

contracts: .venv/.dev
	$(BIN)/lint-imports

docs: .venv/.core
	$(BIN)/python docs/generate.py

check: lint types contracts test

chaos: .venv/.test
	DBATK_TESTS=full DBATK_CHAOS_FAULTS=$(or $(FAULTS),200) DBATK_CHAOS_SEED=$(or $(SEED),$(shell date +%s)) \
		$(BIN)/python -m pytest tests/chaos $(NO_LIMIT) $(ARGS)

series: .venv/.test
	$(BIN)/python -m tests.series.play --seed $(or $(SEED),$(shell date +%s)) $(ARGS)

seeds: .venv/.core
	$(BIN)/python examples/seeds.py dbatk-seeds $(or $(SECONDS),700)

bench: .venv/.test
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

mutate: .venv/.dev
	nice -n 15 $(BIN)/python tests/mutate.py $(AREA) $(or $(SAMPLE),100) $(SEED)

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
	$(PINS) --extra test --resolution lowest-direct -o requirements/lowest.txt

clean:
	rm -rf .venv .venv-lowest dist build dbatk-demo dbatk-seeds .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find toolkit tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +
