# Every target works alone: it makes .venv first, once per change of pyproject.toml.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What is imported is compiled then; to compile all of SciPy takes as long as to unpack it.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Those with a line of help.
.PHONY: $(shell sed -nE 's/^([a-z-]+):.*\#\# .*/\1/p' $(firstword $(MAKEFILE_LIST)))

# One BLAS thread per process: pytest already runs one process on each of two cores, and
# timings are stated for one thread.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1

help: ## print this list
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' \
		| awk -F'|' '{ printf "  make %-14s %s\n", $$1, $$2 }'

test test-all test-minimum docs: export MPLBACKEND = Agg

demo: $(VENV)/.installed ## run examples/demo.py
	$(BIN)/python examples/demo.py

test: $(VENV)/.installed-test ## run the tests, without the slow ones
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-all: $(VENV)/.installed-test ## run all tests, the slow ones too
	$(BIN)/python -m pytest -n 2 --dist loadfile -m ""

# As a user has it whose packages are the oldest that pyproject.toml admits; PyTorch is that of TORCH.
MINIMUM := .venv-minimum
test-minimum: $(MINIMUM)/.installed-test ## run the tests with the oldest admitted dependencies; ARGS=tests/io
	$(MINIMUM)/bin/python -m pytest -n 2 $(ARGS)

dist: $(VENV)/.installed-dist ## build the wheel and the sdist; try both in empty environments
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tests/distributions.py

fuzz: $(VENV)/.installed-test ## every statement of thousands of fits; ARGS="--count 10000 --seed 0"
	$(BIN)/python tests/helpers/fuzz.py --jobs 2 $(ARGS)

reproduce: $(VENV)/.installed-test ## the paper's tables and figures, into out/reproduce; ARGS=--quick
	$(BIN)/inlier reproduce $(ARGS)

# Each of the following writes the page or the pages of its name below docs/results.
RUN = $(BIN)/python benchmarks/$(@:bench-%=%).py --write

bench: $(VENV)/.installed-test ## measure the engine on one thread
	$(BIN)/python benchmarks/engine.py --write $(ARGS)

# A folder of .npz files with X and y; without it only data that come inside packages are used.
DATA ?= $(wildcard ../shared/data)
MORE = $(if $(DATA),--data $(DATA))
# Unless DATA was named: the default of the script, below ../shared/data.
REAL = $(if $(filter-out file,$(origin DATA)),--data $(DATA))

# With methods of other packages on tables of other packages.
bench-tables: $(VENV)/.installed-bench ## ordinary tables with errors; ARGS="--draws 1 --only swiss"
	$(RUN) $(ARGS)

bench-real: $(VENV)/.installed-test ## real tables with known bad rows; DATA=folder of .npz files
	$(RUN) $(REAL) $(ARGS)

# With the detectors of PyOD, which are slow on wide tables: some 20 minutes, once.
bench-ranking: $(VENV)/.installed-test ## rankings of rows of real tables; DATA=folder of .npz files
	$(RUN) $(REAL) $(ARGS)

bench-harm: $(VENV)/.installed-bench ## real tables as they come: what is left out, how the mean moves
	$(RUN) $(ARGS)

bench-clean: $(VENV)/.installed-test ## clean tables that lose rows, small tables; ARGS="--draws 20"
	$(RUN) $(ARGS)

# A module with GOOD, ATTACKS and problems(arguments), by path.
bench-attacks: $(VENV)/.installed-test ## attacked tables, nothing given; BENCH=path/to/bench.py
	$(RUN) $(if $(BENCH),--bench $(BENCH)) $(ARGS)

# With detectors and thresholds of PyOD and PyThresh.
bench-published: $(VENV)/.installed-bench ## data of published benchmarks; DATA=folder of .npz files
	$(RUN) $(MORE) $(ARGS)

bench-drug: $(VENV)/.installed-test ## Sever's attack on drug data; DATA=path/to/qsar.npz
	$(RUN) $(REAL) $(ARGS)

bench-rivals: $(VENV)/.installed-test ## every method on every kind of data; DATA=folder for more
	$(RUN) $(MORE) $(ARGS)

bench-scale: $(VENV)/.installed-test ## growth with n and d
	$(RUN)

# Parts of PyOD import a package with the name coverage.
bench-coverage: $(VENV)/.installed-test ## how often the intervals of the mean hold
	$(BIN)/python benchmarks/intervals.py --write $(ARGS)

bench-covariance: $(VENV)/.installed-test ## covariance and principal components, against scikit-learn's
	$(RUN) $(ARGS)

bench-federated: $(VENV)/.installed-byzfl ## training with clients that lie, against nine rules
	$(RUN) $(ARGS)

bench-fits: $(VENV)/.installed-test ## models fitted to contaminated rows; DATA=path/to/qsar.npz
	$(RUN) $(REAL) $(ARGS)

# TORCH must be a build with CUDA.
bench-gpu: $(VENV)/.installed-test ## fits on a GPU, where there is one
	$(RUN) $(ARGS)

lint: $(VENV)/.installed-dev ## ruff check, ruff format --check and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The gallery's examples are run on the way, and every warning is an error.
docs: $(VENV)/.installed-docs ## build the documentation into out/docs, with the gallery
	$(BIN)/sphinx-build -q -W --keep-going docs out/docs

clean: ## remove .venv, caches and build output
	rm -rf $(VENV) $(VENV)-* build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/gallery docs/generated
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		"inlier needs Python 3.11 or newer; name one with: make PYTHON=...")'
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# Order-only: .venv/bin/python is a link, whose time is that of the interpreter behind it. What an
# installation needs of another comes first, but does not make it old.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "installing inlier into $(VENV)"
	@$(PIP) -e '.[plot,report]'
	@touch $@

# A build without CUDA, for the tests on the CPU; pyproject.toml asks for any recent one.
TORCH ?= torch==2.13.0

$(VENV)/.installed-test: pyproject.toml | $(VENV)/.installed
	@echo "installing what the tests need into $(VENV)"
	@$(PIP) $(TORCH)
	@$(PIP) -e '.[test]'
	@touch $@

# robpy asks for an old scikit-learn, but works with a new one.
$(VENV)/.installed-bench: pyproject.toml | $(VENV)/.installed-test
	@echo "installing the tables and methods of make bench-tables into $(VENV)"
	@$(PIP) -e '.[test,bench]'
	@$(PIP) --no-deps robpy==0.0.6
	@touch $@

# A rival of make bench-federated, which needs none of what byzfl depends on but torch.
$(VENV)/.installed-byzfl: pyproject.toml | $(VENV)/.installed-test
	@echo "installing byzfl into $(VENV)"
	@$(PIP) --no-deps byzfl==0.0.11
	@touch $@

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/.installed-test
	@echo "installing what make docs needs into $(VENV)"
	@$(PIP) -e '.[test,docs]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/.installed-test
	@echo "installing the tools of make lint into $(VENV)"
	@$(PIP) -e '.[test,dev]'
	@touch $@

$(VENV)/.installed-dist: pyproject.toml | $(VENV)/.installed
	@echo "installing the tools of make dist into $(VENV)"
	@$(PIP) -e '.[dist]'
	@touch $@

# A lower bound of pyproject.toml, such as zarr>=3.0.8, is the version that is installed.
$(MINIMUM)/.installed-test: pyproject.toml
	@echo "installing the oldest dependencies into $(MINIMUM)"
	@$(PYTHON) -m venv --clear $(MINIMUM)
	@grep -oE '"[a-z0-9-]+(\[[a-z,]+\])?>=[0-9.]+' pyproject.toml | grep -v '"torch' \
		| sed -E 's/"//; s/\[.*\]//; s/>=/==/' | sort -u > $(MINIMUM)/constraints.txt
	@$(MINIMUM)/$(PIP:$(VENV)/%=%) $(TORCH)
	@$(MINIMUM)/$(PIP:$(VENV)/%=%) -c $(MINIMUM)/constraints.txt -e '.[test]'
	@touch $@
