# The door: CMake and Ninja do the work. `make help` lists what can be asked for.
#   NATIVE=OFF   a build for other machines than this one     PREFIX=DIR   where install puts it (/usr/local)
#   JOBS=N       how many at once (2)
JOBS   ?= 2
NATIVE ?= ON
PREFIX ?= /usr/local

export QUIPU_JOBS = $(JOBS)
export QUIPU_NATIVE = $(NATIVE)

cmake = cmake --log-level=NOTICE -G Ninja -DQUIPU_NATIVE=$(NATIVE) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
flags-build-asan = -DQUIPU_SANITIZE=address,undefined
flags-build-tsan = -DQUIPU_SANITIZE=thread
flags-build-fuzz = -DQUIPU_SANITIZE=address,undefined -DQUIPU_FUZZ=ON -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++

.PHONY: all setup build build-asan build-tsan build-fuzz demo test check crash lint fuzz format asan tsan bench reference install clean help

all: build ## set up and build build/quipu (the default)

setup: ## fetch what is missing: packages, third-party source, llama.cpp
	@tools/setup

build build-asan build-tsan build-fuzz: setup
	@grep -qs '^QUIPU_NATIVE:BOOL=$(NATIVE)$$' $@/CMakeCache.txt && [ -f $@/build.ninja ] || $(cmake) -B $@ $(flags-$@)
	@cmake --build $@ -j $(JOBS)

demo: build ## index linked documents, ask three questions
	@tools/demo

test: build ## run all tests; the last line counts them
	@tools/test build

check: lint asan tsan crash ## format, static analysis, layers, the tests under sanitizers, and 100 kills

crash: build ## kill it at 100 random moments
	@QUIPU_KILLS=100 tools/test build -R crash_

lint: build
	@tools/check-includes
	@tools/lint build

format: ## lay out the source as .clang-format says
	@git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format -i

asan: build-asan
	@tools/test build-asan

tsan: build-tsan
	@tools/test build-tsan

fuzz: build-fuzz ## hunt with each fuzz target for FUZZ_SECONDS (60)
	@tools/fuzz

bench: build ## milliseconds a question, by method and stage, on what make demo indexed
	@bench/speed.py

reference: build ## make again the stored values that tests compare with (Python: PyTorch, networkx)
	@tools/reference

install: build ## PREFIX and DESTDIR as usual
	@$(cmake) -B build # the program knows its prefix, which may be another than the one built for
	@cmake --build build -j $(JOBS)
	@cmake --install build

clean: ## remove what was built here; the cache stays
	@rm -rf build build-asan build-tsan build-fuzz

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12
