# SPDX-License-Identifier: GPL-2.0
# Build, set up, run and test copyscope. `make help` lists the targets; V=1 shows the commands.
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

BUILD   := build
CLANG   ?= clang
CC      := $(if $(shell command -v gcc),gcc,$(CLANG))
# Ubuntu's /usr/sbin/bpftool only works for its own kernel; the real one lies in linux-tools.
BPFTOOL ?= $(firstword $(wildcard /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool) bpftool)
ARCH    := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
VERSION := $(shell cat packaging/commit 2>/dev/null || git describe --always --dirty 2>/dev/null || echo unknown)

SYSROOT  :=# below it lie headers and libraries of another architecture
# No program contains the path that it was built at.
ANYWHERE := -ffile-prefix-map=$(CURDIR)=.
CFLAGS   := -std=gnu11 -fms-extensions -Wno-microsoft-anon-tag -O2 -g -Wall -Wextra -Wformat-security -Wno-unused-parameter -D_GNU_SOURCE $(ANYWHERE) $(EXTRA_CFLAGS)
CPPFLAGS := -MMD -MP -I. -I$(BUILD)
LIBS     := -Wl,--as-needed -lbpf -ldw -lelf -lz -liberty -ljansson -lcap -lseccomp -luring -pthread
MULTIARCH := $(subst -pc-,-,$(subst -unknown-,-,$(shell $(CC) -print-multiarch 2>/dev/null || $(CC) -dumpmachine)))# clang 19 lacks the first word
BPFFLAGS := $(ANYWHERE) -g -O2 -mcpu=v3 -target bpf -D__TARGET_ARCH_$(ARCH) -Wall -MMD -MP -I. -idirafter $(SYSROOT)/usr/include/$(MULTIARCH)

Q   := $(if $(filter 1,$(V)),,@)
msg  = $(if $(Q),@printf '  %-8s %s\n' "$(1)" "$(patsubst $(BUILD)/%,%,$(2))")

room        = $(wildcard $(foreach depth,/* /*/* /*/*/*,$(addsuffix $(depth).c,$(1:%=userspace/%))))
COMMON_SRC := $(call room,common tables)
COMMON_OBJ := $(COMMON_SRC:%.c=$(BUILD)/%.o)
LIB_SRC    := $(call room,counters record path engine judge report peer run watch) $(COMMON_SRC)
LIB_OBJ    := $(LIB_SRC:%.c=$(BUILD)/%.o)
WORK_SRC   := $(call room,workload)
WORK_OBJ   := $(WORK_SRC:%.c=$(BUILD)/%.o)
PROGRAMS   := $(addprefix $(BUILD)/,workload trace_run watch print_tables reseed)
UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*_test.c studies/tests/*_test.c tests/attacks/*.c))
GUEST_TESTS := $(patsubst %.c,$(BUILD)/%,$(filter-out %.bpf.c,$(wildcard tests/guest/*.c tests/fuzz/*.c)))
FUZZ_OBJ   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/program/*.c))
TCP_OBJ    := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/tcp/*.c))
UDP_OBJ    := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/udp/*.c))
PROBES_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard bpf/*.bpf.c bpf/*/*.bpf.c))
BPF_OBJ    := $(PROBES_OBJ) $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/guest/*.bpf.c))
OBJECTS    := $(LIB_OBJ) $(WORK_OBJ) $(FUZZ_OBJ) $(TCP_OBJ) $(UDP_OBJ) $(BPF_OBJ) $(UNIT_TESTS:%=%.o) $(GUEST_TESTS:%=%.o) \
		$(PROGRAMS:$(BUILD)/%=$(BUILD)/userspace/%.o)
# What make clean leaves: it took the network to get.
KEPT       := $(addprefix $(BUILD)/,kernels sysroot venv)

# The same sources for guests of another architecture, with the libraries that these carry.
ARM64_ROOT := build/sysroot/arm64
ARM64_MAKE := $(MAKE) --no-print-directory BUILD=build/arm64 ARCH=arm64 SYSROOT=$(ARM64_ROOT) \
	CC='aarch64-linux-gnu-gcc --sysroot=$(ARM64_ROOT)' LDFLAGS=-L$(ARM64_ROOT)/usr/lib/aarch64-linux-gnu

.PHONY: all tables setup setup-all setup-tests setup-arm64 arm64 arm64-tests run test test-long bench matrix clean help unit-tests FORCE
all: $(PROGRAMS) ## build every program under build/ (no root needed)

setup: ## install what is missing of the distribution's packages, to build and run (root)
	$(Q)tools/setup
setup-all: ## install what single commands need besides, which else comes with the first of them (root)
	$(Q)tools/setup --all
setup-tests: ## install what the tests need besides: packages, and modules from PyPI (root)
	$(Q)tools/setup --with-tests
setup-arm64: ## install what arm64 guests need besides: a compiler, QEMU, libraries, a kernel (root)
	$(Q)tools/setup --with-arm64
arm64: ## build the programs that run in arm64 guests (after make setup-arm64)
	@[ -f $(ARM64_ROOT)/recipe ] || { echo "arm64: run make setup-arm64 first" >&2; exit 3; }
	+$(Q)$(ARM64_MAKE) $(addprefix build/arm64/,workload trace_run watch reseed tests/guest/zero_counter_check)
arm64-tests: arm64 ## build what tests of the long tier run in arm64 guests besides
	+$(Q)$(ARM64_MAKE) $(GUEST_TESTS:build/%=build/arm64/%)

# A second make, because this one may have started before the compilers were there; on all processors, unless -j says otherwise.
run: setup ## set up, build, and run the main job on this kernel (root)
	$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) all
	$(Q)tools/trace_run A3 65536 4

test: ## set up, build, and test every claim (root); ends in "N passed, N failed"
	$(Q)tools/setup --with-tests --with-kernels --with-arm64
	$(Q)tests/run all
test-long: ## what takes long: sanitizers, slices of the campaign, recipes (root)
	$(Q)tools/setup --with-tests --with-kernels --with-arm64
	$(Q)tests/run --long all

bench: setup ## start-up, the cost of looking, the workload beside iperf3 (root)
	$(Q)tools/setup --for iperf3
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/bench
matrix: ## every kernel and path in guests: what was referenced, copied, sent clean (root)
	$(Q)tools/setup --with-kernels
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tools/matrix --out results/matrix

unit-tests: $(UNIT_TESTS) $(GUEST_TESTS)
tables: $(BUILD)/print_tables $(BUILD)/trace_run $(BUILD)/watch $(BUILD)/baseline ## write the names in the tables of the source into docs and tools
	$(Q)tools/make_tables

clean: ## remove what was built; keep fetched kernels and the Python environment
	$(Q)rm -rf $(filter-out $(KEPT),$(wildcard $(BUILD)/*)) compile_commands.json

help: ## show this list
	@grep -hE '^[a-z_.-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 24

$(BUILD)/workload: $(BUILD)/userspace/workload.o $(WORK_OBJ) $(COMMON_OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -ljansson -lcap -lseccomp -luring -pthread -lm -o $@

$(BUILD)/libcopyscope.a: $(LIB_OBJ)
$(BUILD)/lib%.a:
	$(call msg,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(filter-out %/workload,$(PROGRAMS)): $(BUILD)/%: $(BUILD)/userspace/%.o
$(GUEST_TESTS) $(UNIT_TESTS): %: %.o
$(BUILD)/tests/fuzz/random_tcp: $(FUZZ_OBJ) $(TCP_OBJ)
$(BUILD)/tests/fuzz/random_udp: $(FUZZ_OBJ) $(UDP_OBJ)
$(UNIT_TESTS): LIBS += -lcmocka
$(UNIT_TESTS) $(GUEST_TESTS) $(filter-out %/workload,$(PROGRAMS)): $(BUILD)/libcopyscope.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o %/libbaseline.a %/libcaches.a,$^) $(BUILD)/libcopyscope.a $(LIBS) -lm -o $@

$(BUILD)/%.o: %.c Makefile
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(CPPFLAGS) -c $< -o $@

$(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/engine/*.c)): $(BUILD)/programs.skel.h
$(BUILD)/tests/guest/oracle.o: $(BUILD)/tests/guest/oracle.skel.h
NAMES_COMMIT := $(addprefix $(BUILD)/userspace/,tables/release.o report/parts_json.o)
$(NAMES_COMMIT): CPPFLAGS += -DCOPYSCOPE_VERSION='"$(VERSION)"'
$(NAMES_COMMIT): $(BUILD)/version

# Rewritten only when the commit changes, so that a record never names a stale one.
$(BUILD)/version: FORCE
	@mkdir -p $(@D); echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@
FORCE:

# BPF: one object per question, linked into one object and one skeleton
$(BUILD)/%.bpf.o: %.bpf.c Makefile
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPFFLAGS) -c $< -o $@

$(BUILD)/programs.linked.o: $(PROBES_OBJ)
$(BUILD)/tests/guest/oracle.linked.o: $(BUILD)/tests/guest/oracle.bpf.o
$(BUILD)/%.linked.o:
	$(call msg,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(BUILD)/%.skel.h: $(BUILD)/%.linked.o
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(*F) > $@
include userspace/collector/collector.mk studies/studies.mk tools/python.mk tests/checks.mk packaging/packaging.mk
-include $(OBJECTS:.o=.d)
