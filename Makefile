# Everything runs in one virtual environment, made on first use and again when
# pyproject.toml changes: `make demo` installs what users need, the tests add the tools for
# development. The benchmarks have their own, because a peer needs older libraries.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
USABLE := $(VENV)/.usable
READY := $(VENV)/.ready
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready

.PHONY: demo test test-slow lint bench clean

demo: $(USABLE)
	$(BIN)/labelcover compare debtags --n-folds 10 --jobs 2 -o demo

# Two processes with one thread each: more threads would only wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1

test: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal

test-slow: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m slow --timeout 0

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(BENCH_READY)
	$(BENCH_VENV)/bin/python -m benchmarks $(only)

$(USABLE): EXTRAS := cli,report
$(READY): EXTRAS := dev
$(BENCH_READY): EXTRAS := dev,bench
$(USABLE) $(READY) $(BENCH_READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "labelcover needs Python 3.11 or newer; set PYTHON=... to one" >&2; exit 2; }
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	touch $@

clean:
	rm -rf $(VENV) $(BENCH_VENV) build dist demo
