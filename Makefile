# Everything a fresh Debian machine with Swift and git needs is installed by the targets that need it.
export OPERATIONNETWORKING_STRICT := 1
# See Package.swift: the command is built where this package is the root.
export OPERATIONNETWORKING_COMMAND := 1

SHELL := /bin/bash
PREFIX ?= /usr/local
SWIFT ?= swift
# Parallel compilations; as many as there are processors unless something else is said.
JOBS ?=
# More options for every build. A compiler that is given a file with a test expands the macros of all files of its
# module: few are started, with many files each.
BUILD_OPTIONS ?= -Xswiftc -driver-batch-size-limit -Xswiftc 100
# Which tests run under a sanitizer: a regular expression on their names.
FILTER ?= .
# The test targets that are built for a sanitizer: where threads are, and where pointers are. All where it is empty.
THREAD_TESTS ?= OperationNetworkingSystemTests,OperationNetworkingTestSupport,OperationNetworkingTests,OperationNetworkingImagesTests
# And of the behavior tests, those in these folders.
THREAD_FOLDERS ?= Network,Operations,Session,Observation
POINTER_TESTS ?= OperationNetworkingSystemTests,OperationNetworkingImagesTests
# How long generated inputs are tried.
FUZZ_SECONDS ?= 60
# How often opget is killed by the crash test, over all servers; each other tool, at each server; and the schedule.
KILLS ?= 300
PEER_KILLS ?= 10
SEED ?= 1
# More for it, such as --servers strong-etag --parts servers; all with .build/release/OperationNetworkingCrashTest --help
CRASH_OPTIONS ?=
# Seconds after which a run of the tests has failed; under a sanitizer, with a build beside it.
TEST_LIMIT ?= 1200
SANITIZER_LIMIT ?= 1800

# Tests go before builds where both run at once, as in .ci/run.
BUILD := nice $(SWIFT) build --quiet $(if $(JOBS),--jobs $(JOBS)) $(BUILD_OPTIONS)
# One test after the other: hundreds at once on a few processors would measure how long each other one took. The limit
# is that of the target.
TEST = scripts/name-failures scripts/with-servers timeout --kill-after=10 $(TEST_LIMIT) \
    $(SWIFT) test --disable-xctest --skip-build --no-parallel
# Those that need neither servers nor time: at once.
VALUE_TESTS := '^OperationNetworkingValueTests\.'
TEST_VALUES := scripts/name-failures timeout --kill-after=10 120 \
    $(SWIFT) test --disable-xctest --skip-build --filter $(VALUE_TESTS)
# The suites in folders of the tests of behavior, as an expression.
suites = $(shell cd Tests/OperationNetworkingTests && grep -rhoE '^(final class|struct) [A-Za-z0-9]+Tests\>' $(1) | \
    sed 's/.* //' | sort -u | paste -sd '|')
# The others wait most of their time, so they are two processes at once, each with half of the work. Not by `swift test`,
# of which one runs at a time.
TEST_HALF = scripts/name-failures scripts/with-servers timeout --kill-after=10 $(TEST_LIMIT) \
    .build/debug/OperationNetworkingPackageTests.xctest --testing-library swift-testing --no-parallel
FIRST_HALF = '^OperationNetworkingTests\.($(call suites,Operations Downloads Policies Caching))/'
# What depends on libcurl's version.
CURL_SUITES = $(call suites,Policies Network Operations Downloads Security Caching)
# Not the examples: they hold the README's code as it is written there.
SWIFT_SOURCES := Package.swift Sources Tests Examples/Demo scripts $(wildcard Benchmarks)

.PHONY: help demo test test-curl crash-test release-check bench count conformance fuzz removable docs surface check-surface build build-tests build-tsan build-asan build-count build-fuzz opget release format lint tsan asan install clean dependencies test-dependencies

help:
	@echo 'make demo      install what is missing, build, and watch a batch, a pause and a resume'
	@echo 'make test      install what is missing, start the servers, and run every test'
	@echo 'make test-curl  the tests that depend on libcurl, with the version of Debian 12 backports'
	@echo 'make conformance  the browsers'"'"' cache tests, from a checkout at CACHE_TESTS'
	@echo 'make crash-test  kill opget KILLS times ($(KILLS)) and compare every byte, beside curl, wget and aria2'
	@echo 'make bench     benchmarks beside other clients (BENCHMARKS=names)'
	@echo 'make count     instructions and allocations per request, compared with Benchmarks/bounds'
	@echo 'make build     a debug build'
	@echo 'make opget     opget, optimized: .build/release/opget'
	@echo 'make install   opget to PREFIX/bin (PREFIX=$(PREFIX))'
	@echo 'make lint      check format, house style and documents'
	@echo 'make removable  check that each facade can be deleted'
	@echo 'make surface   write the public surface of the libraries as text; make check-surface compares it'
	@echo 'make docs      the documentation, by DocC, into .build-docs'
	@echo 'make format    format in place'
	@echo 'make tsan      the tests under ThreadSanitizer (FILTER=expression)'
	@echo 'make asan      the tests under AddressSanitizer and LeakSanitizer (FILTER=expression)'
	@echo 'make release-check  all of CI, and every test under both sanitizers'
	@echo 'make fuzz      fuzz the parsers for FUZZ_SECONDS (60)'
	@echo 'make clean     delete all builds and the installed httpbin'

dependencies:
	@scripts/install-dependencies

test-dependencies:
	@scripts/install-dependencies --tests

build: dependencies
	@$(BUILD)

opget release: dependencies
	@$(BUILD) --configuration release --product opget

demo: dependencies
	@$(BUILD) --product OperationNetworkingDemo
	@.build/debug/OperationNetworkingDemo

build-tests: test-dependencies
	@$(BUILD) --build-tests

test: build-tests
	@$(TEST_VALUES)
	@$(TEST_HALF) --filter $(FIRST_HALF) >.build/first-half.log 2>&1 & first=$$!; \
	    trap 'kill $$first 2>/dev/null' EXIT; \
	    second=0; $(TEST_HALF) --skip $(VALUE_TESTS) --skip $(FIRST_HALF) || second=$$?; \
	    wait $$first || { status=$$?; cat .build/first-half.log; exit $$status; }; \
	    tail -n 1 .build/first-half.log; exit $$second

# The same build: what it was compiled with is libcurl's interface, and that is older.
test-curl: build-tests
	@library=$$(scripts/install-later-libcurl) && OPERATIONNETWORKING_LATER_LIBCURL=8 LD_LIBRARY_PATH="$$library" \
	    $(TEST) --filter 'OperationNetworkingTests\.($(CURL_SUITES))/'

# The others are for comparison: it goes on without those that cannot be installed.
crash-test: dependencies
	@scripts/install-dependencies --peers || echo 'Continuing with the tools that are installed.'
	@$(BUILD) --configuration release --product opget
	@$(BUILD) --configuration release --product OperationNetworkingCrashTest
	@.build/release/OperationNetworkingCrashTest --kills '$(KILLS)' --peer-kills '$(PEER_KILLS)' --seed '$(SEED)' \
	    $(CRASH_OPTIONS)

# The clients that come in packages of their own are for comparison: it goes on without those that cannot be had.
bench: test-dependencies
	@scripts/install-dependencies --counting
	@$(BUILD) --configuration release --package-path Benchmarks --scratch-path .build-benchmarks
	@$(BUILD) --configuration release --package-path Benchmarks/Peers --scratch-path .build-peers || echo 'Continuing without the other clients.'
	@BENCHMARKS_DIRECTORY='$(CURDIR)/Benchmarks' BENCHMARKS_PEERS='$(CURDIR)/.build-peers/release' \
	    BENCHMARKS_OUTPUT='$(CURDIR)/.build-benchmarks/figures' \
	    scripts/with-servers .build-benchmarks/release/Benchmarks $(BENCHMARKS)

# The instructions and allocations of a request are no more than Benchmarks/bounds says.
build-count: test-dependencies
	@scripts/install-dependencies --counting
	@$(BUILD) --configuration release --package-path Benchmarks --scratch-path .build-benchmarks --product Workload

count: build-count
	@scripts/with-servers Benchmarks/instructions --no-build --check

# The suite that browsers' caches are measured with, http-tests/cache-tests: CACHE_TESTS is a checkout of it, and its
# server runs at CACHE_TESTS_URL. Node is needed.
conformance: dependencies
	@$(BUILD) --configuration release --package-path Tests/Conformance --scratch-path .build-conformance
	@node Tests/Conformance/run.mjs '$(CACHE_TESTS)' .build-conformance/release/CacheAdapter

# About half a minute after a debug build: types are checked, and nothing is made.
removable: build
	@scripts/check-removable

# Every public declaration and conformance, a line each: a change of the API is seen in the diff.
surface: build
	@scripts/public-surface

check-surface: build
	@scripts/public-surface --check

# Seconds after a debug build: DocC reads the symbols from its modules.
docs: build
	@scripts/make-documentation

build-fuzz: test-dependencies
	@scripts/fuzz --build

fuzz: test-dependencies
	@scripts/fuzz $(FUZZ_SECONDS)

tsan asan: TEST_LIMIT := $(SANITIZER_LIMIT)
tsan build-tsan: export OPERATIONNETWORKING_TESTS := $(THREAD_TESTS)
tsan build-tsan: export OPERATIONNETWORKING_TEST_FOLDERS := $(THREAD_FOLDERS)
asan build-asan: export OPERATIONNETWORKING_TESTS := $(POINTER_TESTS)

build-tsan: test-dependencies
	@$(BUILD) --build-tests --sanitize=thread --scratch-path .build-tsan

build-asan: test-dependencies
	@$(BUILD) --build-tests --sanitize=address --scratch-path .build-asan

# At the end of a process ThreadSanitizer sleeps, to see what other threads still do: a second unless told, and the
# tests start hundreds of processes.
tsan: build-tsan
	@OPERATIONNETWORKING_SANITIZER=thread TSAN_OPTIONS=exitcode=66:atexit_sleep_ms=50 \
	    $(TEST) --sanitize=thread --scratch-path .build-tsan --filter '$(FILTER)'

asan: build-asan
	@OPERATIONNETWORKING_SANITIZER=address \
	    ASAN_OPTIONS=suppressions='$(CURDIR)/Tests/Sanitizers/addresses.txt' \
	    LSAN_OPTIONS=suppressions='$(CURDIR)/Tests/Sanitizers/leaks.txt':print_suppressions=0 \
	    $(TEST) --sanitize=address --scratch-path .build-asan --filter '$(FILTER)'

# Two hours: what CI leaves out, too. The packages that nothing here runs have to compile.
release-check: lint test demo test-curl fuzz count removable check-surface docs crash-test
	@$(BUILD) --configuration release --package-path Benchmarks --scratch-path .build-benchmarks
	@$(BUILD) --configuration release --package-path Tests/Conformance --scratch-path .build-conformance
	@$(MAKE) tsan THREAD_TESTS= THREAD_FOLDERS= SANITIZER_LIMIT=5400
	@$(MAKE) asan POINTER_TESTS= SANITIZER_LIMIT=5400

format:
	@$(SWIFT) format --in-place --parallel --recursive $(SWIFT_SOURCES)

lint:
	@$(SWIFT) format lint --strict --parallel --recursive $(SWIFT_SOURCES)
	@scripts/check-house-style
	@$(SWIFT) scripts/check-documents.swift

install: dependencies
	@$(BUILD) --configuration release --product opget --static-swift-stdlib --scratch-path .build-install
	install -D -m 755 .build-install/release/opget '$(DESTDIR)$(PREFIX)/bin/opget'

clean:
	@rm -rf .build .build-* .servers
