# Everything runs in one virtual environment, made on first use and again when
# pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-slow lint bench clean

demo: $(READY)
	$(BIN)/labelcover compare debtags --n-folds 10 --jobs 2 -o demo

test: $(READY)
	$(BIN)/python -m pytest -n 2

test-slow: $(READY)
	$(BIN)/python -m pytest -n 2 -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks $(only)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "labelcover needs Python 3.11 or newer; set PYTHON=... to one" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist demo
