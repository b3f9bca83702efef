# SPDX-License-Identifier: GPL-2.0
# What checks the sources beside the tests: linters, another compiler, sanitizers. Part of the Makefile.
.PHONY: lint format strict-clang sanitized sanitized-programs

ifeq (1,$(WERROR))
CFLAGS   += -Werror
BPFFLAGS += -Werror
endif

# Clang warns of fields that an initializer leaves zero even in libseccomp's macros.
ifneq (,$(findstring clang,$(firstword $(CC))))
CFLAGS += -Wno-missing-field-initializers
%/bench/memory.o: CFLAGS += -fno-vectorize -fno-slp-vectorize
endif

# Clang warns before it makes code, and of programs of bpf/, which it compiles anyway, in each build.
CLANG_FLAGS  := -Werror -Wno-missing-field-initializers -DCOPYSCOPE_VERSION='""' -fsyntax-only
CLANG_READ   := $(patsubst $(BUILD)/%.o,$(BUILD)/clang/%.read,$(filter-out %.bpf.o $(COLLECTOR_MAIN),$(sort $(OBJECTS) $(BASE_OBJ) \
	$(CACHES_OBJ) $(BUILD)/studies/plugin/follow.o $(PLUGIN_TESTS:%=%.o) $(PLUGIN_SRC:%.c=$(BUILD)/%.o))))

# In a folder of its own, so that no program is made in two ways. Optimised code with sanitizers in it warns of what
# cannot happen.
SANITIZED      := $(MAKE) --no-print-directory BUILD=build/sanitized/build EXTRA_CFLAGS="-O1 -w \
	-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"

lint: ## check scripts with linters
	$(Q)tests/lint
# To clang-format a table of rows is one line, which it would fill anew for one row.
WITH_TABLES = $(shell git grep -lE '^.define [A-Z_]+\([A-Z](, [A-Z])*\)[[:space:]]*\\$$' -- '*.h')
format: ## format C lines that differ from the last commit, and sort imports of Python
	$(Q)build/venv/bin/git-clang-format --force --quiet --binary build/venv/bin/clang-format HEAD -- \
		bpf studies userspace tests $(WITH_TABLES:%=':!%') || [ $$? = 1 ] # it changed something
	$(Q)build/venv/bin/ruff check --quiet --select I --fix
strict-clang: $(CLANG_READ) ## have Clang read all C sources; warnings are errors
$(CLANG_READ): $(BUILD)/clang/%.read: %.c $(BUILD)/programs.skel.h $(BUILD)/tests/guest/oracle.skel.h Makefile tests/checks.mk
	$(call msg,CLANG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CFLAGS) $(CPPFLAGS) $(CLANG_FLAGS) -MF $(@:.read=.d) -MT $@ $< && touch $@
-include $(CLANG_READ:.read=.d)
sanitized: ## build the unit tests with ASan and UBSan into build/sanitized/build
	+$(Q)$(SANITIZED) $(patsubst build/%,build/sanitized/build/%,$(UNIT_TESTS))
# Without the collector: a static program has no sanitizers.
sanitized-programs: ## build what a campaign attacks with ASan and UBSan into build/sanitized/build
	+$(Q)$(SANITIZED) $(addprefix build/sanitized/build/,watch trace_run workload baseline tests/attacks/parsers)
compile_commands.json: FORCE ## say how each C file is compiled, for clangd and other tools
	$(Q)$(MAKE) --no-print-directory -nB V=1 all unit-tests | sed -nE -e 's/[\\"]/\\&/g' -e \
		's|^(.* -c ([^ ]+) -o ([^ ]+))$$|{"directory": "$(CURDIR)", "file": "\2", "output": "\3", "command": "\1"}|p' | \
		sed -e '1s/^/[/' -e '$$!s/$$/,/' -e '$$s/$$/]/' >$@

$(BUILD)/tests/unit/message_test: $(addprefix $(BUILD)/userspace/workload/stream/,content.o fail.o message.o process.o stop.o)
