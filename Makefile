# make demo   on a fresh Debian machine with Swift and git: installs what is missing, builds, shows the main job
# make test   installs what is missing, starts the real servers, runs every test
export OPERATIONNETWORKING_STRICT := 1

SHELL := /bin/bash
PREFIX ?= /usr/local
SWIFT ?= swift
# Tests to run under a sanitizer; all unless something else is said.
FILTER ?= .
TEST_LIMIT ?= 900

.PHONY: help demo test build release examples format lint tsan asan install clean dependencies test-dependencies

help:
	@echo "make demo     install what is missing, build, and watch a batch, a pause and a resume"
	@echo "make test     install what is missing, start nginx and httpbin, and run every test"
	@echo "make build    a debug build            make release  opget, optimized"
	@echo "make lint     format and house style   make format   format in place"
	@echo "make tsan     tests under ThreadSanitizer (FILTER=...)"
	@echo "make asan     tests under AddressSanitizer and LeakSanitizer (FILTER=...)"
	@echo "make install  opget to PREFIX/bin      make clean    forget all builds"

dependencies:
	@scripts/install-dependencies

test-dependencies:
	@scripts/install-dependencies --tests

build: dependencies
	$(SWIFT) build

release: dependencies
	$(SWIFT) build -c release --product opget

demo: dependencies
	$(SWIFT) build --quiet --product OperationNetworkingDemo
	.build/debug/OperationNetworkingDemo

examples: dependencies
	$(SWIFT) build --quiet --package-path Examples --scratch-path .build-examples

test: test-dependencies examples
	$(SWIFT) build --build-tests --quiet
	OPERATIONNETWORKING_EXAMPLES="$(CURDIR)/.build-examples/debug" \
	    scripts/with-servers timeout --kill-after=10 $(TEST_LIMIT) \
	    $(SWIFT) test --disable-xctest --skip-build

tsan: test-dependencies
	$(SWIFT) build --build-tests --quiet --sanitize=thread --scratch-path .build-tsan
	TSAN_OPTIONS=halt_on_error=0:exitcode=66 scripts/with-servers timeout --kill-after=10 $(TEST_LIMIT) \
	    $(SWIFT) test --disable-xctest --skip-build --sanitize=thread --scratch-path .build-tsan --filter '$(FILTER)'

asan: test-dependencies
	$(SWIFT) build --build-tests --quiet --sanitize=address --scratch-path .build-asan
	scripts/with-servers timeout --kill-after=10 $(TEST_LIMIT) \
	    $(SWIFT) test --disable-xctest --skip-build --sanitize=address --scratch-path .build-asan --filter '$(FILTER)'

format:
	$(SWIFT) format --in-place --recursive Sources Tests Examples Package.swift

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Examples Package.swift
	scripts/check-house-style --self-test
	scripts/check-house-style

install: dependencies
	$(SWIFT) build -c release --product opget --static-swift-stdlib --scratch-path .build-install
	install -D -m 755 .build-install/release/opget "$(DESTDIR)$(PREFIX)/bin/opget"

clean:
	rm -rf .build .build-* .servers
