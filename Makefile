# make demo: set up everything and train a model on the emulated HPU.  make test: set up everything and run the tests.
#
# Set-up runs once and writes to .venv and build/. To use an existing environment without installing packages, run:
# make test PYTHON=/path/to/python
# TF=2.21.0 selects a TensorFlow release. A release that .venv does not have gets an environment and a build of its own.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

TF ?=
OWN := $(addprefix -,$(filter-out $(shell cat .venv/.packages 2> /dev/null),$(TF)))
VENV ?= .venv$(OWN)
BUILD ?= build$(OWN)
JOBS ?= $(shell nproc)
PYTEST_ARGS ?=
TEST_JOBS ?= $(shell n=$$(nproc); echo $$((n < 4 ? n : 4)))
SOAK_ARGS ?=
KERAS_ARGS ?=
CHAINS_ARGS ?= --count 1000 --seed $$RANDOM --shrink
OPS_ARGS ?=

ifeq ($(origin PYTHON),command line)
  PACKAGES :=
  SYSTEM :=
  SYSTEM_TESTS :=
  SYSTEM_BENCH :=
  HOROVOD :=
  CARD_PLUGIN :=
  RAY_PYTHON := $(PYTHON)
  RAY_PACKAGES :=
else
  override PYTHON := $(VENV)/bin/python
  PACKAGES := $(VENV)/.packages
  SYSTEM := $(VENV)/.system
  SYSTEM_TESTS := $(VENV)/.system-tests
  SYSTEM_BENCH := $(VENV)/.system-bench
  HOROVOD := $(VENV)/.horovod
  CARD_PLUGIN := $(VENV)/card-plugin
  RAY_PYTHON := $(VENV)-ray/bin/python
  RAY_PACKAGES := $(VENV)-ray/.packages
  LIBRARIES_PYTHON := $(VENV)-libraries/bin/python
  LIBRARIES_PACKAGES := $(VENV)-libraries/.packages
endif
# Horovod 0.28.1 was not tried with newer TensorFlow.
RELEASE := $(or $(TF),$(shell cat $(VENV)/.packages 2> /dev/null))
TRY_HOROVOD := $(if $(HOROVOD),$(if $(HPU_WITHOUT_HOROVOD)$(filter-out 2.15.1,$(RELEASE)),,try-horovod))
# Tools that pip installed beside the interpreter precede the system's tools.
export PATH := $(abspath $(dir $(PYTHON))):$(PATH)
export PYTHONPATH := $(CURDIR)
export BUILD  # for tests of what is built beside the plugin
CMAKE := cmake -S . -GNinja -DPython3_EXECUTABLE="$$(command -v $(abspath $(PYTHON)))"
CXX_FILES = $$(git ls-files --cached --others --exclude-standard 'plugin/*.cc' 'plugin/*.h')

.PHONY: help sample setup build build-tests demo test test-remote test-pjrt test-gaudi pytest cts run-cts run-hpu-cts run-other-cts horovod try-horovod try-card-plugin lint format generate wheel test-wheel optional-packages bench docs keras libraries ops chains soak ray soak-clients soak-server attack-server kill-ranks asan tsan ubsan fuzz fuzz-entries fuzz-service fuzz-gaudi tidy clean

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: build ## set up, build, train the digits model on the emulated HPU
	TF_CPP_MIN_LOG_LEVEL=1 $(PYTHON) examples/digits_keras.py

# Horovod is optional. Without Horovod, the tests of Horovod are skipped. Building Horovod takes minutes;
# HPU_WITHOUT_HOROVOD=1 skips the build. Horovod is built in parallel with the C++ tests, which use one processor each.
test: build-tests ## set up, build, run all tests
	@$(MAKE) --no-print-directory --output-sync=target -j 2 run-cts $(TRY_HOROVOD)
	@$(MAKE) --no-print-directory try-card-plugin
	@$(MAKE) --no-print-directory pytest
	HPU_BACKEND=pjrt:cpu $(PYTHON) -m pytest $(QUICK_PJRT_TESTS) -n $(TEST_JOBS) $(BY_FILE) -q
	HPU_BACKEND=pjrt:$(OTHER_CPU_PLUGIN) $(PYTHON) -m pytest tests/equality/test_dtypes.py tests/recipes/test_disk_cache.py -n $(TEST_JOBS) $(BY_FILE) -q
	HPU_BACKEND=gaudi:$(SYNAPSE_DOUBLE) $(PYTHON) -m pytest $(QUICK_GAUDI_TESTS) -n $(TEST_JOBS) $(BY_FILE) -q

# For a release that `make test` does not run on. tests/support/release_exceptions.py lists what cannot pass there.
SAMPLE ?= 3
sample: build ## set up, build, run SAMPLE tests of each file of the tests below; TF=2.21.0 selects the release
	$(PYTHON) -m pytest $(SAMPLED_TESTS) --sample $(SAMPLE) -n $(TEST_JOBS) $(BY_FILE) $(PYTEST_ARGS)
	TF_CPP_MIN_LOG_LEVEL=1 $(PYTHON) examples/digits_keras.py

try-horovod:
	@tools/setup.sh mpi || echo "make test: Open MPI is missing (see above): Horovod is built without MPI"
	@$(MAKE) --no-print-directory horovod || echo "make test: Horovod is missing (see above): the tests of Horovod are skipped"

# The plugin for cards has 134 MB. It has a folder of its own, because some tests need an environment without it.
try-card-plugin:
	@$(if $(CARD_PLUGIN),$(MAKE) --no-print-directory $(CARD_PLUGIN),true) || \
	  echo "make test: jax-cuda13-pjrt is missing (see above): the tests of compilation for cards are skipped"

# `make test` passes where these packages cannot be installed. .ci/run does not.
optional-packages: ## fail if `make test` skipped tests, because Horovod or the plugin for cards is not installed
	@missing=; \
	[ -n "$(HPU_WITHOUT_HOROVOD)$(filter-out 2.15.1,$(RELEASE))" ] || $(PYTHON) -c 'import horovod' 2> /dev/null || missing=" Horovod"; \
	[ -z "$(CARD_PLUGIN)" ] || [ -d $(CARD_PLUGIN) ] || missing="$$missing jax-cuda13-pjrt"; \
	[ -z "$$missing" ] || { echo "failed: make test skipped the tests of packages that could not be installed:$$missing"; exit 1; }; \
	echo "no tests were skipped for a missing package$(if $(HPU_WITHOUT_HOROVOD),; HPU_WITHOUT_HOROVOD left Horovod out)"

setup: $(PACKAGES)

$(SYSTEM): tools/setup.sh
	@mkdir -p $(VENV) && tools/setup.sh system && touch $@

$(SYSTEM_TESTS): tools/setup.sh
	@mkdir -p $(VENV) && tools/setup.sh tests && touch $@

$(SYSTEM_BENCH): tools/setup.sh | $(SYSTEM_TESTS)
	@mkdir -p $(VENV) && tools/setup.sh bench && touch $@

$(VENV)/bin/python:
	@TF=$(TF) tools/setup.sh venv $(VENV)

$(CARD_PLUGIN): requirements/card.txt | $(PACKAGES)
	$(PYTHON) -m pip install -q --disable-pip-version-check --retries 1 --no-deps --target $@ -r requirements/card.txt
	@touch $@

# The .pth file makes the source tree the installed package, so Python imports the files built here.
REQUIREMENTS := requirements/build.txt requirements/dev.txt requirements/no_deps.txt $(wildcard requirements/tensorflow-*/*.txt)
$(PACKAGES): $(REQUIREMENTS) | $(SYSTEM) $(VENV)/bin/python
	@release=$(or $(TF),$$($(PYTHON) tools/find_tensorflow.py --default)); \
	own=requirements/tensorflow-$$release; \
	pip="$(PYTHON) -m pip install -q --disable-pip-version-check"; \
	$$pip -r requirements/dev.txt -r $$own/dev.txt; \
	$$pip --no-deps -r requirements/no_deps.txt -r $$own/no_deps.txt; \
	$(PYTHON) tools/link_tree.py; \
	echo "$$release" > $@

$(BUILD)/build.ninja: | $(PACKAGES) $(SYSTEM)
	@$(CMAKE) -B $(BUILD) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }; rm -f $(BUILD).log

$(VENV)/.horovod: requirements/horovod.txt requirements/horovod-build.txt tools/build_horovod.sh tools/horovod_toolchain.cmake | $(PACKAGES)
	@tools/build_horovod.sh $(PYTHON) $(JOBS) && touch $@

horovod: $(HOROVOD) ## build Horovod, with MPI if installed
	@$(PYTHON) -c 'import horovod' 2>/dev/null || { echo "Horovod is missing: run tools/build_horovod.sh $(PYTHON)"; exit 1; }

# An environment that also finds the packages of $(VENV). $(1): its suffix.
define venv_beside
$(PYTHON) -m venv $(VENV)-$(1)
@$(PYTHON) -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' > \
  $$($(VENV)-$(1)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/hpu_tensorflow.pth
endef

# Ray pins old versions of other packages, so it has its own environment.
$(VENV)-ray/.packages: requirements/ray.txt | $(PACKAGES)
	$(call venv_beside,ray)
	$(RAY_PYTHON) -m pip install -q --disable-pip-version-check -r requirements/ray.txt
	@touch $@

# Many libraries depend on tensorflow, which would overwrite tensorflow-cpu. The file lists their other dependencies.
$(VENV)-libraries/.packages: requirements/libraries.txt | $(PACKAGES)
	$(call venv_beside,libraries)
	$(LIBRARIES_PYTHON) -m pip install -q --disable-pip-version-check --no-deps -r requirements/libraries.txt
	@touch $@

ray: build $(RAY_PACKAGES) ## the job of Ray Train, with Ray in an environment of its own
	$(RAY_PYTHON) -m pytest tests/distribute/clusters -m slow -k ray $(PYTEST_ARGS)

build: $(BUILD)/build.ninja $(PACKAGES) ## build the plugin into the tree
	ninja -C $(BUILD) -j $(JOBS) habana_device
	@cmake --install $(BUILD) --prefix . --component plugin > /dev/null

# One run of ninja builds the plugin and its tests, so that no processor waits for the plugin's last files.
TEST_TARGETS := hpu_cts hpu_gaudi_tests hpu_gaudi_cts hpu_synapse_kernels synapse_double_1_5 synapse_double_1_18
build-tests: $(BUILD)/build.ninja $(PACKAGES) $(SYSTEM_TESTS) ## build the plugin and the C++ tests
	@cmake -S . -B $(BUILD) -DHPU_BUILD_TESTS=ON > /dev/null
	ninja -C $(BUILD) -j $(JOBS) habana_device $(TEST_TARGETS)
	@cmake --install $(BUILD) --prefix . --component plugin > /dev/null

# Subsets that run-cts repeats: tests of emulator kernels with generic code, and tests of products without oneDNN.
KERNEL_TESTS := Random/*Pass*/?:Each/*IsExact*:Shapes/*:Random/SortTest*/?:ElementaryFunctionPass.Of*
KERNEL_TESTS := $(KERNEL_TESTS):BatchedProductPass.SplitsFew*:ConcatenationPass.SplitsLong*:-*Convolution*
PRODUCT_TESTS := *Convolution*:*MatMul*:*Widening*:*MaterializedValues*:*Autotuner*
cts: build-tests ## conformance suite of the device interface, for every backend
	@$(MAKE) --no-print-directory --output-sync=target -j 2 run-cts

# Two parts of similar length, for two processors.
run-cts: run-hpu-cts run-other-cts

run-hpu-cts:
	$(BUILD)/hpu_cts --gtest_brief=1

run-other-cts:
	$(BUILD)/hpu_gaudi_tests --gtest_brief=1
	$(BUILD)/hpu_gaudi_cts --gtest_brief=1
	SYNAPSE_DOUBLE_CALL_DELAY_US=10000 $(BUILD)/hpu_gaudi_cts --gtest_brief=1 --gtest_filter='*/CommunicatorTest.*Fail*'
	HPU_EMULATOR_TARGET=generic $(BUILD)/hpu_cts --gtest_brief=1 --gtest_filter='$(KERNEL_TESTS)'
	TF_ENABLE_ONEDNN_OPTS=0 $(BUILD)/hpu_cts --gtest_brief=1 --gtest_filter='$(PRODUCT_TESTS)'

# Distributes whole test files in the order of tests/conftest.py, not in the order of their test counts.
BY_FILE := --dist loadfile --no-loadscope-reorder
pytest: build ## Python tests, TEST_JOBS in parallel; PYTEST_ARGS='-k word' selects tests
	$(PYTHON) -m pytest -n $(TEST_JOBS) $(BY_FILE) $(PYTEST_ARGS)

lint: $(PACKAGES) ## static checks and format checks
	ruff check .
	ruff format --check .
	mypy
	clang-format --dry-run -Werror $(CXX_FILES)
	$(PYTHON) tools/generate_flags.py --check
	$(PYTHON) tools/generate_op_facts.py --check
	$(PYTHON) tools/generate_op_lists.py --check
	$(PYTHON) tools/generate_cards.py --check
	$(PYTHON) tools/generate_guids.py --check
	$(PYTHON) tools/layers.py --check
	$(PYTHON) tools/check_tree.py
	$(PYTHON) tools/check_imports.py
	$(PYTHON) tools/check_tests.py

format: $(PACKAGES) ## reformat Python and C++
	ruff check --fix-only -q .
	ruff format -q .
	clang-format -i $(CXX_FILES)

generate: $(PACKAGES) ## write the files generated from plugin/flags.yaml, layers.yaml, guids.yaml and the built plugin
	$(PYTHON) tools/generate_flags.py --tree
	$(PYTHON) tools/generate_guids.py --tree
	$(PYTHON) tools/layers.py --tree
	@$(MAKE) --no-print-directory build
	$(PYTHON) tools/generate_op_pages.py --tree

# The wheel has the plugin of each release. scikit-build-core reuses the objects in $(BUILD) for one of them, and copies
# the others. auditwheel needs Python 3.10 or newer; the wheel also supports 3.9.
RELEASES := $(patsubst requirements/tensorflow-%,%,$(wildcard requirements/tensorflow-*))
wheel: ## build dist/hpu_tensorflow-*.whl for Ubuntu 22.04, Debian 12 and newer systems
	@for release in $(RELEASES); do $(MAKE) --no-print-directory build TF=$$release; done
	@rm -rf $(BUILD)/wheel
	@others=$$(ls -d $(CURDIR)/habana_frameworks/tensorflow/lib/habana_device.so.* | grep -v "\.so\.$$(cat $(PACKAGES))$$" | paste -sd ';'); \
	SKBUILD_BUILD_DIR=$(BUILD) $(PYTHON) -m pip wheel -q --no-deps --no-build-isolation -w $(BUILD)/wheel \
	  --config-settings="cmake.define.HPU_OTHER_PLUGINS=$$others" .
	@wheel=$$($(PYTHON) -m tools.wheel.repair $(BUILD)/wheel/*.whl --directory dist) && $(PYTHON) -m tools.wheel.check "$$wheel"

test-wheel: wheel ## install the wheel outside the tree, train with it
	$(PYTHON) -m pytest tests/tools/test_wheel.py -m 'slow or not slow' $(PYTEST_ARGS)

bench: build $(SYSTEM_BENCH) ## ratios against TensorFlow on the CPU; cost of a recipe lookup
	$(PYTHON) benchmarks/launch.py
	$(PYTHON) benchmarks/train_step.py
	@cmake -S . -B $(BUILD) -DHPU_BUILD_TESTS=ON > /dev/null
	ninja -C $(BUILD) -j $(JOBS) hpu_bench
	$(BUILD)/hpu_bench

# Runs the tests on the emulator first. The device server must then compute equal results, bit for bit.
TRAINING_TESTS := tests/equality tests/precision tests/examples/test_examples.py
test-remote: build ## training tests on a device server; results must equal the emulator's, bit for bit
	$(PYTHON) -m pytest $(TRAINING_TESTS) --record-results $(BUILD)/results.json $(PYTEST_ARGS)
	$(PYTHON) -m pytest $(TRAINING_TESTS) --remote --same-results $(BUILD)/results.json $(PYTEST_ARGS)

SAMPLED_TESTS := $(addprefix tests/,check device distribute equality explain keras/test_guides.py kernels passes precision profiling python recipes remote)
# Values and steps on which compilers and CPU kernels tend to differ.
VALUE_TESTS := $(addprefix tests/ops/test_,singular_gradients.py wrapped_integers.py order_of_zeros.py)
VALUE_TESTS := $(VALUE_TESTS) tests/equality/test_segment_guards.py
VALUE_TESTS := $(VALUE_TESTS) $(addprefix tests/ops/test_empty_results.py::test_,a_mean_of_no_elements divisions_and_powers)
QUICK_PJRT_TESTS := $(VALUE_TESTS) $(addprefix tests/equality/test_,control_flow.py dtypes.py errors.py threads.py)
QUICK_PJRT_TESTS := $(QUICK_PJRT_TESTS) tests/distribute/test_collectives.py
QUICK_PJRT_TESTS := $(QUICK_PJRT_TESTS) tests/distribute/test_strategy.py::test_two_workers_train_as_one_does
QUICK_PJRT_TESTS := $(QUICK_PJRT_TESTS) tests/precision/test_training.py tests/recipes/test_disk_cache.py
QUICK_PJRT_TESTS := $(QUICK_PJRT_TESTS) tests/keras/test_sweep.py::test_sample
# The plugin that the extra [pjrt-cpu] installs. pjrt:cpu prefers the newer lammps-jax-pjrt-cpu.
OTHER_CPU_PLUGIN = $$($(PYTHON) -c 'from tests.pjrt.cpu_plugins import XLA; print(XLA)')
PJRT_TESTS := $(VALUE_TESTS) tests/equality tests/precision tests/ops/test_control_flow.py tests/recipes tests/device tests/passes
PJRT_TESTS := $(PJRT_TESTS) tests/explain tests/profiling tests/custom_ops tests/distribute tests/hvd
test-pjrt: build $(CARD_PLUGIN) ## training tests on a PJRT plugin for the CPU; compilation for cards that are not present
	$(PYTHON) -m pytest tests/pjrt -m 'slow or not slow' $(PYTEST_ARGS)
	HPU_BACKEND=pjrt:cpu $(PYTHON) -m pytest $(PJRT_TESTS) -n $(TEST_JOBS) $(BY_FILE) $(PYTEST_ARGS)

SYNAPSE_DOUBLE := $(abspath $(BUILD))/synapse_double/1.18/libSynapse.so
QUICK_GAUDI_TESTS := $(VALUE_TESTS) tests/equality/test_dtypes.py
QUICK_GAUDI_TESTS := $(QUICK_GAUDI_TESTS) tests/distribute/test_collectives.py::test_collective_ops_agree_with_numpy_and_refuse_shapes_that_differ
GAUDI_TESTS := $(VALUE_TESTS) tests/equality tests/precision tests/recipes tests/device
GAUDI_TESTS := $(GAUDI_TESTS) $(addprefix tests/distribute/test_,collectives.py failures.py hccl.py strategy.py)
GAUDI_TESTS := $(GAUDI_TESTS) $(addprefix tests/hvd/test_,ops.py training.py)
# pyhlml reads Gaudi's management library for `hpu smi`; here, a double of that library. The package does not depend on pyhlml.
test-gaudi: build-tests ## training tests on the Gaudi backend with the double of SynapseAI's library
	$(PYTHON) -m pip install -q --disable-pip-version-check --no-deps habana-pyhlml==1.24.2.481
	$(PYTHON) -m pytest tests/gaudi -m 'slow or not slow' -n $(TEST_JOBS) $(PYTEST_ARGS)
	HPU_BACKEND=gaudi:$(SYNAPSE_DOUBLE) $(PYTHON) -m pytest $(GAUDI_TESTS) -n $(TEST_JOBS) $(BY_FILE) $(PYTEST_ARGS)

docs: build-tests ## every code block of the documentation, including slow ones
	$(PYTHON) -m pytest tests/docs -m 'slow or not slow' $(PYTEST_ARGS)

keras: build ## public API of tf.keras on the HPU against the CPU; writes docs/user/keras.md, or compares with KERAS_ARGS=--check
	$(PYTHON) -m tests.keras.sweep $(or $(KERAS_ARGS),--write docs/user/keras.md)
	$(PYTHON) -m pytest tests/keras -m slow -k 'not all_cases' $(PYTEST_ARGS)

libraries: build $(LIBRARIES_PACKAGES) ## training with public libraries on the HPU against the CPU; writes docs/user/libraries.md; LIBRARIES_ARGS='--only gpflow'
	$(LIBRARIES_PYTHON) -m tests.libraries.sweep $(or $(LIBRARIES_ARGS),--write docs/user/libraries.md)

chains: build ## random programs on the HPU against the CPU; CHAINS_ARGS='--count 20000 --seed 7 --json'
	$(PYTHON) -m tests.ops.chains $(CHAINS_ARGS)

ops: build ## every op that the HPU supports, on generated arguments, against the CPU; writes docs/user/ops.md; OPS_ARGS='Conv.* --jobs 2'
	$(PYTHON) -m tests.ops.sweep --write docs/user/ops.md
	$(PYTHON) -m tests.ops.sweep $(OPS_ARGS)
	$(PYTHON) -m tests.ops.pairs_program

soak-clients: build ## 8 processes on a device server for 10 minutes, killed at random; SOAK_ARGS='--minutes 30'
	$(PYTHON) -m tests.soak.kill_clients $(SOAK_ARGS)

soak-server: build ## a device server killed 50 times during trainings that resume from checkpoints
	$(PYTHON) -m tests.soak.kill_server $(SOAK_ARGS)

attack-server: build ## 4 hostile clients on a device server for 30 minutes; SOAK_ARGS='--minutes 5'
	$(PYTHON) -m tests.soak.attack_server $(SOAK_ARGS)

kill-ranks: build ## 1,000 ranks killed in collective operations of 1 to 512 MiB; SOAK_ARGS='--kills 100'
	$(PYTHON) -m tests.soak.kill_ranks $(SOAK_ARGS)

soak: build-tests soak-clients soak-server ## slow tests: tens of thousands of train steps with memory checks; random programs and graphs; 300 kills
	$(PYTHON) -m pytest tests -m slow $(PYTEST_ARGS)
	$(PYTHON) -m pytest tests -k random_graphs --hypothesis-profile=random $(PYTEST_ARGS)
	$(BUILD)/hpu_cts --gtest_brief=1 --gtest_filter='KillsTest.*' --gtest_repeat=10

# Each sanitizer has a separate build tree and runs the conformance suite, which contains only this project's code.
asan: SANITIZE := address
tsan: SANITIZE := thread
ubsan: SANITIZE := undefined
asan tsan ubsan: $(PACKAGES) $(SYSTEM) $(SYSTEM_TESTS) ## conformance suite under a sanitizer (also: tsan, ubsan)
	$(CMAKE) -B build-$@ -DHPU_BUILD_TESTS=ON -DHPU_SANITIZE=$(SANITIZE) -DCMAKE_BUILD_TYPE=RelWithDebInfo > /dev/null
	ninja -C build-$@ -j $(JOBS) hpu_cts hpu_gaudi_tests hpu_gaudi_cts
	build-$@/hpu_gaudi_tests --gtest_brief=1
	build-$@/hpu_gaudi_cts --gtest_brief=1
	build-$@/hpu_cts --gtest_brief=1

FUZZ := build-fuzz/CMakeCache.txt
FUZZ_SECONDS ?= 600
FUZZ_MESSAGES ?= 1000000
fuzz: fuzz-entries fuzz-service ## random input under AddressSanitizer and UndefinedBehaviorSanitizer: fuzz-entries and fuzz-service

$(FUZZ): $(PACKAGES) $(SYSTEM) $(SYSTEM_TESTS)
	$(CMAKE) -B build-fuzz -DHPU_BUILD_TESTS=ON -DHPU_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo > /dev/null

# The seeds are entries that a program stored.
fuzz-entries: build $(FUZZ) ## parser of recipe cache entries on random bytes, for FUZZ_SECONDS
	ninja -C build-fuzz -j $(JOBS) entry_fuzz
	TF_RECIPE_CACHE_PATH=$(abspath build-fuzz/seeds) $(PYTHON) tools/make_recipes.py
	build-fuzz/entry_fuzz -max_total_time=$(FUZZ_SECONDS) build-fuzz/seeds

fuzz-service: $(FUZZ) ## handlers of a device server on FUZZ_MESSAGES mutated messages
	ninja -C build-fuzz -j $(JOBS) service_fuzz
	build-fuzz/service_fuzz -messages=$(FUZZ_MESSAGES)

FUZZ_CASES ?= 10000
FUZZ_SEED ?= $$RANDOM
fuzz-gaudi: build-tests ## FUZZ_CASES random HLO programs on the Gaudi backend, with the double, against XLA's evaluator; FUZZ_SEED=7
	HPU_FUZZ_CASES=$(FUZZ_CASES) HPU_FUZZ_SEED=$(FUZZ_SEED) $(BUILD)/hpu_gaudi_tests --gtest_brief=1 --gtest_filter='*OpcodeFuzzTest*'

# clang rejects -fno-gnu-unique, so clang-tidy reads compile commands without this flag.
tidy: $(BUILD)/build.ninja ## clang-tidy for the layers below TensorFlow (if installed)
	@$(CMAKE) -B $(BUILD)-separate -DHPU_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON > /dev/null
	@ninja -C $(BUILD)-separate hpu_flags hpu_proto_device hpu_proto_recipe hpu_proto_serve > /dev/null
	@mkdir -p $(BUILD)/tidy
	@sed 's/ -fno-gnu-unique//' $(BUILD)-separate/compile_commands.json > $(BUILD)/tidy/compile_commands.json
	clang-tidy -quiet -p $(BUILD)/tidy $$(git ls-files 'plugin/hal/*.cc' 'plugin/backends/*.cc' | grep -v _test)

clean: ## remove build outputs; `rm -r .venv` removes installed packages
	rm -rf $(BUILD) build-separate build-wheel build-asan build-tsan build-ubsan build-fuzz dist habana_frameworks/tensorflow/lib habana_frameworks/tensorflow/include
