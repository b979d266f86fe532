# linerate: `make bench` and `make test` do all the set-up that they need.
#
#   make bench    the eight standard loadtests        make bench ARGS="--only U2,B2"
#   make install  linerate on the path, for sudo too: a link in PREFIX/bin (/usr/local)   make uninstall
#   make peers    linerate against testpmd, here   make peers ARGS="--only io,mac"
#   make injection   limits injected and limits named, for docs/injection.md
#   make trust    how far our own figures can be trusted, for docs/trust.md   ARGS="ndr 30"
#   make test     in five minutes: C tests under ASan and UBSan, unit tests, each feature once
#   make test-full   all tests      make test-more   what CI adds to make test   (docs/testing.md)
#   make test-trixie   C tests and two loadtests on Debian 13, in a root of its own (as root)
#   make test-sid      the same on Debian unstable, for the newest DPDK that Debian has
#   make test-nics   real NIC drivers, on NICs that QEMU emulates   make test-nics NICS=igb
#   make test-guests   losses in a Linux router with a kernel of its own, under QEMU (as root)
#   make lint     clang-format, clang-tidy, include cycles, ruff, mypy, shellcheck, words, spelling
#   make fuzz     each fuzz target for FUZZ_SECONDS   make fuzz-parsers, make fuzz-files   Python's alone
#   make fuzz-coverage   lines of each parser that its seeds reach, in per cent
#   make screenshots   docs/images/report*.png, of a bench that it runs
#   make schemas  docs/schemas, of the models of outputs and files
#   make docs     the documents as a site, in build/site; fails at a link that leads nowhere
#   make deb      a Debian package     make image   an OCI image     make wheel   a wheel with the engine
#   make test-packages   the eight loadtests with each of those, in clean roots (as root)
#   make setup    Debian packages and .venv alone     make build    what they install

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
PREFIX ?= /usr/local
ARGS ?=
FUZZ_SECONDS ?= 30
NICS ?= e1000e,vmxnet3,virtio-net,igb
NIC_DRIVERS ?= vfio-pci,uio_pci_generic
ACCEL ?= tcg
GUESTS ?= linux-guest,linux-guest-e1000e,linux-guest-vmxnet3,linux-guest-igb
PACKAGES ?= deb wheel image

BIN := .venv/bin
STEP := build-aux/step
STAMPS := build/stamps
# meson-python and meson find each other, and ninja, by the path.
export PATH := $(CURDIR)/$(BIN):$(PATH)

BUILD_PACKAGES := gcc libc6-dev pkg-config libdpdk-dev libjansson-dev libpcap-dev liburing-dev \
	python3 python3-venv iproute2
# Ubuntu has Chromium as a snap only: there, the test of the report's page is skipped.
CHROMIUM := $(shell grep -qs '^ID=debian' /etc/os-release && echo chromium)
TEST_PACKAGES := $(CHROMIUM) dpdk dpdk-dev ethtool iperf3 iproute2 iputils-arping iputils-ping iputils-tracepath \
	ipmitool ndisc6 nfdump nftables prometheus snmp tcpdump tmux traceroute tshark
# Installed, these start servers: on machines that are made for tests alone. Without them their tests
# are skipped.
SERVER_PACKAGES := nut-server openipmi openssh-server openvswitch-switch-dpdk snmpd
# Debian has dpdk-testpmd in dpdk-dev.
PEER_PACKAGES := dpdk dpdk-dev
SCREENSHOT_PACKAGES := chromium fonts-dejavu-core
# Packages of roots in which we build and test for other Debians.
DISTRO_PACKAGES := $(BUILD_PACKAGES) ca-certificates make
NICS_PACKAGES := e2fsprogs fakeroot mmdebstrap openssh-client qemu-system-x86 util-linux
LINT_PACKAGES := clang-format clang-tidy
FUZZ_PACKAGES := clang llvm
DEB_PACKAGES := debhelper fakeroot lintian
IMAGE_PACKAGES := buildah
# Packages of the root in which packages are tested, and which is the image's base.
CLEAN_PACKAGES := ca-certificates

C_DIRS := $(wildcard engine bench tests/engine fuzz)
C_FILES := $(if $(C_DIRS),$(shell find $(C_DIRS) -name '*.[ch]'))
SOURCES := $(shell find src engine bench -type f ! -path '*/__pycache__/*') meson.build meson.options \
	pyproject.toml

.PHONY: help setup setup-test setup-servers setup-nics setup-peers setup-lint setup-fuzz setup-fuzz-parsers build \
	install uninstall bench peers performance injection setup-screenshots screenshots test test-more test-full \
	test-engine test-lab test-python \
	test-nics test-guests test-trixie test-sid trust lint lint-c lint-python lint-shell fuzz fuzz-engine fuzz-parsers fuzz-files \
	fuzz-coverage setup-docs schemas docs deb wheel image test-packages clean

help:
	@awk '!/^#/ {exit} {sub(/^# ?/, ""); print}' Makefile

setup: $(STAMPS)/apt-build .venv/build.stamp
setup-test: setup $(STAMPS)/apt-test .venv/test.stamp .venv/trex-client.stamp
setup-servers: setup-test $(STAMPS)/apt-servers
setup-nics: setup-test $(STAMPS)/apt-nics
setup-peers: setup $(STAMPS)/apt-peers
setup-screenshots: setup $(STAMPS)/apt-screenshots
setup-lint: setup $(STAMPS)/apt-lint .venv/test.stamp .venv/lint.stamp
setup-fuzz: setup $(STAMPS)/apt-fuzz
setup-fuzz-parsers: setup .venv/fuzz.stamp
setup-docs: setup .venv/test.stamp .venv/docs.stamp

$(STAMPS)/apt-build: packages = $(BUILD_PACKAGES)
$(STAMPS)/apt-test: packages = $(TEST_PACKAGES)
$(STAMPS)/apt-servers: packages = $(SERVER_PACKAGES)
$(STAMPS)/apt-peers: packages = $(PEER_PACKAGES)
$(STAMPS)/apt-screenshots: packages = $(SCREENSHOT_PACKAGES)
$(STAMPS)/apt-nics: packages = $(NICS_PACKAGES)
$(STAMPS)/apt-lint: packages = $(LINT_PACKAGES)
$(STAMPS)/apt-deb: packages = $(DEB_PACKAGES)
$(STAMPS)/apt-image: packages = $(IMAGE_PACKAGES)
$(STAMPS)/apt-build $(STAMPS)/apt-test $(STAMPS)/apt-servers $(STAMPS)/apt-peers $(STAMPS)/apt-screenshots \
$(STAMPS)/apt-nics $(STAMPS)/apt-lint $(STAMPS)/apt-deb $(STAMPS)/apt-image: Makefile
	@mkdir -p $(STAMPS)
	@build-aux/apt-install $(packages)
	@touch $@

# The runtime of ASan and libFuzzer is packaged by clang's version: 14 on Debian 12, 18 on Ubuntu.
$(STAMPS)/apt-fuzz: Makefile
	@mkdir -p $(STAMPS)
	@build-aux/apt-install $(FUZZ_PACKAGES)
	@build-aux/apt-install "libclang-rt-$$(clang -dumpversion | cut -d. -f1)-dev"
	@touch $@

.venv/python.stamp: | $(STAMPS)/apt-build
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "linerate: needs Python 3.11 or newer, $(PYTHON) is older" >&2; exit 1; }
	@$(STEP) "making a virtual environment in .venv" venv $(PYTHON) -m venv .venv
	@touch $@

# TRex's client has a scapy of its own, which must not be found beside ours: a folder of its own.
.venv/trex-client.stamp: requirements/trex-client.txt | .venv/test.stamp
	@$(STEP) "installing TRex's client" pip-trex-client $(BIN)/python -m pip install \
		--disable-pip-version-check --no-deps --upgrade --target .venv/trex-client -r $<
	@touch $@

.venv/%.stamp: requirements/%.txt | .venv/python.stamp
	@$(STEP) "installing Python packages ($<)" pip-$* $(BIN)/python -m pip install \
		--disable-pip-version-check -r $<
	@touch $@

build: setup $(STAMPS)/installed

$(STAMPS)/installed: $(SOURCES) .venv/build.stamp
	@$(STEP) "building the engine and the lab" build $(BIN)/python -m pip install \
		--disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
		--config-settings=build-dir=build/release .
	@touch $@

bench: build
	@$(BIN)/linerate bench $(ARGS)
	@[ -e "$(PREFIX)/bin/linerate" ] || \
		echo "the command: $(BIN)/linerate; make install puts it on the path, for sudo too"

install: build
	@build-aux/on-path "$(CURDIR)/$(BIN)/linerate" "$(PREFIX)/bin"

uninstall:
	@build-aux/on-path --remove "$(CURDIR)/$(BIN)/linerate" "$(PREFIX)/bin"

peers: build setup-peers
	@echo "linerate: measuring ours and the peers, in turn"
	@$(BIN)/python -m bench.peers $(ARGS)

# Into a file first: a run that failed leaves the table as it was.
performance: build setup-peers
	@echo "linerate: measuring all for docs/performance.md"
	@COLUMNS=80 $(BIN)/python -m bench.peers $(ARGS) > build/performance.txt
	@build-aux/replace-block docs/performance.md < build/performance.txt

# Fails when a trial is invalid, and when the page has an error or asks for anything.
screenshots: build setup-screenshots
	@rm -rf build/screenshots
	@$(BIN)/linerate bench --runs build/screenshots $(ARGS)
	@run=$$(ls -d build/screenshots/*/) && $(BIN)/linerate report "$$run" && \
		$(STEP) "taking screenshots" screenshots build-aux/screenshots "$$run/report.html" docs/images

injection: build setup-test
	@echo "linerate: injecting limits, for docs/injection.md"
	@PYTHONPATH=. $(BIN)/python -m tests.injection $(ARGS) > build/injection.txt
	@build-aux/replace-block docs/injection.md < build/injection.txt

# Measures of docs/trust.md: ndr, delays, benches, trials, faults, pages, stops.
trust: build setup-test
	@PYTHONPATH=. $(BIN)/python -m tests.trust $(ARGS)

test: test-engine test-lab

# Each with its ten slowest tests.
PYTEST := $(BIN)/python -m pytest --durations 10
# Tests that make network namespaces: by sudo, where make is not run as root.
NAMESPACE_TESTS := tests/system/test_boxes_ssh.py tests/system/test_box_failures.py \
	tests/system/test_testbed_check.py tests/system/test_router_real.py \
	tests/system/test_router_real6.py tests/system/test_socket_drivers.py tests/system/test_wires.py
ifneq ($(shell id -u),0)
with-namespaces = @echo "linerate: testing with network namespaces, by sudo" && sudo env \
	PYTHONDONTWRITEBYTECODE=1 $(PYTEST) -p no:cacheprovider $(1) $(NAMESPACE_TESTS)
else
with-namespaces =
endif

# All features once; pytest's own arguments instead, by ARGS.
test-lab: build setup-test
ifeq ($(strip $(ARGS)),)
	@echo "linerate: testing the lab"
	@$(PYTEST) -n 4 -m "not alone and not slow" tests/unit
	@echo "linerate: testing each feature once"
	@$(PYTEST) -m "smoke or (alone and not slow)" tests/unit tests/system
	$(call with-namespaces,-m smoke)
else
	@$(PYTEST) $(ARGS)
endif

# The rest of the whole but for what takes minutes.
test-more: build setup-test
	@echo "linerate: testing the whole"
	@$(PYTEST) -m "not smoke and not slow" tests/system
	$(call with-namespaces,-m "not smoke and not slow")

test-full: build test-engine test-python

test-engine: setup-test
	@test -f build/asan/build.ninja || $(STEP) "configuring the engine with ASan and UBSan" \
		asan-setup $(BIN)/meson setup build/asan -Db_sanitize=address,undefined \
		-Dtests=true -Dbuildtype=debugoptimized
	@$(STEP) "building the engine with ASan and UBSan" asan-build $(BIN)/meson compile -C build/asan
	@echo "linerate: testing the engine's parts"
	@$(BIN)/meson test -C build/asan --print-errorlogs

test-python: build setup-test
ifeq ($(strip $(ARGS)),)
	@echo "linerate: testing the lab"
	@$(PYTEST) -n 4 -m "not alone" tests/unit
	@echo "linerate: testing the whole"
	@$(PYTEST) tests/system
	@$(PYTEST) -m alone tests/unit
	$(call with-namespaces,)
else
	@$(PYTEST) $(ARGS)
endif

test-trixie test-sid: test-%:
	@build-aux/distro-root $* $* $(DISTRO_PACKAGES)
	@build-aux/distro-test $*

# A guest with this distribution's kernel, in which the built tree is run.
build/nics/root.img: build-aux/nics-image build-aux/nics-init build-aux/nics-mirrors | $(STAMPS)/apt-nics
	@mkdir -p build/nics
	@$(STEP) "making a guest (this takes some minutes)" nics-image build-aux/nics-image build/nics

test-nics: build setup-nics build/nics/root.img
	@$(STEP) "copying the built tree for the guest" nics-tree build-aux/nics-tree build/nics/tree.img
	@echo "linerate: testing on emulated NICs"
	@$(BIN)/python -m pytest --nics $(NICS) --nic-drivers $(NIC_DRIVERS) --accel $(ACCEL) \
		$(if $(strip $(ARGS)),$(ARGS),tests/nics)

# A router in such a guest, its NICs on taps of this host, loaded and asked: docs/boxes-kinds.md.
test-guests: build setup-nics build/nics/root.img
	@ACCEL=$(ACCEL) $(BIN)/python -m tests.boxes --kinds $(GUESTS) $(if $(strip $(ARGS)),$(ARGS),--seconds 2)

lint: lint-words lint-shell lint-python lint-c

# Words of docs/glossary.md, and spelling.
lint-words: setup-lint
	@echo "linerate: words and spelling"
	@build-aux/check-words
	@$(BIN)/codespell src engine docs tests bench build-aux contrib README.md

lint-shell: setup-lint
	@echo "linerate: shellcheck"
	@git grep -lE '^#!.*[/ ](ba)?sh$$' -- build-aux contrib packaging .ci | xargs $(BIN)/shellcheck -S warning

lint-python: setup-lint
	@echo "linerate: ruff, imports and mypy"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@found=$$(PYTHONPATH=src $(BIN)/lint-imports --no-logo --no-cache) || { echo "$$found"; exit 1; }
	@$(BIN)/mypy --no-error-summary

lint-c: setup setup-lint
	@echo "linerate: clang-format"
	@clang-format --dry-run -Werror $(C_FILES)
	@echo "linerate: include cycles"
	@build-aux/include-cycles
	@test -f build/lint/build.ninja || $(STEP) "configuring the engine for clang-tidy" \
		lint-setup $(BIN)/meson setup build/lint -Dtests=true
	@$(STEP) "clang-tidy" clang-tidy bash -o pipefail -c 'printf "%s\n" "$$@" | \
		xargs -P 2 -n 8 clang-tidy -p build/lint --quiet 2>&1 | \
		sed "/ warnings* generated\.$$/d"' sh $(filter engine/%.c bench/%.c,$(C_FILES))

fuzz: fuzz-engine fuzz-parsers fuzz-files

fuzz-engine: setup-fuzz
	@test -f build/fuzz/build.ninja || $(STEP) "configuring the fuzz targets" fuzz-setup \
		env CC=clang $(BIN)/meson setup build/fuzz -Dfuzz=true -Dbuildtype=debugoptimized \
		-Db_sanitize=address,undefined -Db_lundef=false
	@$(STEP) "building the fuzz targets" fuzz-build $(BIN)/meson compile -C build/fuzz
	@found=0; for target in $$(find build/fuzz/fuzz -maxdepth 1 -type f -executable \
			-name 'fuzz_*' | sort); do \
		found=1; name=$${target##*/fuzz_}; \
		mkdir -p fuzz/corpus/$$name build/fuzz/found/$$name; \
		words=$$(find fuzz -maxdepth 1 -name "$$name.dict" -printf -dict=%p); \
		$(STEP) "fuzzing $$name for $(FUZZ_SECONDS) s" fuzz-$$name $$target $$words \
			-max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
			-artifact_prefix=build/fuzz/found/ build/fuzz/found/$$name fuzz/corpus/$$name; \
	done; test $$found = 1 || { echo "linerate: no fuzz targets were built" >&2; exit 1; }

# Other tools' output, by atheris: it brings libFuzzer with it.
fuzz-parsers: setup-fuzz-parsers
	@mkdir -p build/fuzz/found/parsers
	@$(STEP) "fuzzing parsers for $(FUZZ_SECONDS) s" fuzz-parsers env PYTHONPATH=src \
		$(BIN)/python fuzz/fuzz_parsers.py -max_total_time=$(FUZZ_SECONDS) -max_len=8192 \
		-timeout=20 -print_final_stats=1 -artifact_prefix=build/fuzz/found/ \
		build/fuzz/found/parsers tests/data/made tests/data/cases tests/data/pasted tests/data/pasted_host

FUZZ_FILES := captures testbeds traffic trex runs evidence boxes lives telemetry queries tables trex_replies

fuzz-files: setup-fuzz-parsers
	@for target in $(FUZZ_FILES); do \
		mkdir -p build/fuzz/found/files_$$target; \
		$(STEP) "fuzzing $$target for $(FUZZ_SECONDS) s" fuzz-$$target env PYTHONPATH=src \
			$(BIN)/python fuzz/fuzz_files.py $$target -max_total_time=$(FUZZ_SECONDS) \
			-max_len=8192 -timeout=20 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/found/$$target- build/fuzz/found/files_$$target \
			fuzz/corpus/files_$$target || exit 1; \
	done

# Coverage of the targets alone: what they do not run is not theirs to reach.
fuzz-coverage: setup-fuzz setup-fuzz-parsers
	@test -f build/coverage/build.ninja || $(STEP) "configuring the fuzz targets to count lines" \
		coverage-setup env CC=clang LLVM_PROFILE_FILE=/dev/null $(BIN)/meson setup \
		build/coverage -Dfuzz=true -Dbuildtype=debugoptimized -Db_lundef=false \
		-Dc_link_args=-fprofile-instr-generate \
		"-Dc_args=-fprofile-instr-generate -fcoverage-mapping"
	@$(STEP) "building the fuzz targets to count lines" coverage-build $(BIN)/meson compile \
		-C build/coverage $(basename $(notdir $(wildcard fuzz/fuzz_*.c)))
	@PYTHONPATH=src $(BIN)/python fuzz/covered.py build/coverage

schemas: setup
	@PYTHONPATH=src $(BIN)/python -m linerate schema --folder docs/schemas

docs: setup-docs
	@$(STEP) "making the site" docs env NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

deb: setup $(STAMPS)/apt-deb
	@packaging/build-deb

wheel: setup .venv/wheel.stamp
	@packaging/build-wheel

image: deb $(STAMPS)/apt-image
	@build-aux/distro-root bookworm bookworm $(CLEAN_PACKAGES)
	@packaging/build-image build/distros/bookworm

test-packages: $(PACKAGES)
	@build-aux/distro-root bookworm bookworm $(CLEAN_PACKAGES)
	@packaging/test-packages $(PACKAGES)

clean:
	@rm -rf build .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
