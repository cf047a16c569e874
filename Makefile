# Everything runs in one virtual environment, made on first use and again when
# pyproject.toml changes: `make demo` installs what users need, the tests add the tools for
# development. The benchmarks have their own, with the peers; BOOMER allows only some older
# versions of NumPy, SciPy and scikit-learn, so benchmarks with it have one more.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
USABLE := $(VENV)/.usable
READY := $(VENV)/.ready
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready
BOOMER_VENV := .venv-boomer
BOOMER_READY := $(BOOMER_VENV)/.ready

.PHONY: demo test test-slow fuzz lint bench clean

demo: $(USABLE)
	$(BIN)/labelcover compare debtags --n-folds 10 --jobs 2 -o demo

# Two processes with one thread each: more threads would only wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1

test: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal

test-slow: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m slow --timeout 0

# Random problems and hostile files for so many seconds each: make fuzz seconds=3600. Further runs take other problems.
seconds ?= 600

fuzz: $(READY)
	$(ONE_THREAD) $(BIN)/python tests/fuzz/fuzz_estimators.py --seconds $(seconds) --results build/fuzz/estimators.json
	$(ONE_THREAD) $(BIN)/python tests/hostile/fuzz_files.py --seconds $(seconds)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# All benchmarks, one after another, or those named: make bench only="covers text".
only ?= $(subst _,-,$(patsubst benchmarks/bench_%.py,%,$(wildcard benchmarks/bench_*.py)))

bench:
	$(MAKE) --no-print-directory --keep-going $(addprefix bench-,$(only))

$(addprefix bench-,growth quality speed): bench-%: $(BOOMER_READY)
	$(BOOMER_VENV)/bin/python -m benchmarks.bench_$(subst -,_,$*)

bench-%: $(BENCH_READY)
	$(BENCH_VENV)/bin/python -m benchmarks.bench_$(subst -,_,$*)

$(USABLE): EXTRAS := cli,report
$(READY): EXTRAS := dev
$(BENCH_READY): EXTRAS := dev,bench
$(BOOMER_READY): EXTRAS := dev,bench,boomer
$(USABLE) $(READY) $(BENCH_READY) $(BOOMER_READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "labelcover needs Python 3.11 or newer; set PYTHON=... to one" >&2; exit 2; }
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	touch $@

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(BOOMER_VENV) build dist demo
