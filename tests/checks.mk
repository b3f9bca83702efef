# SPDX-License-Identifier: GPL-2.0
# What checks the sources beside the tests: linters, another compiler, sanitizers. Part of the Makefile.
.PHONY: lint format strict-clang sanitized

ifeq (1,$(WERROR))
CFLAGS   += -Werror
BPFFLAGS += -Werror
endif

# Clang warns of fields that an initializer leaves zero even in libseccomp's macros.
ifneq (,$(findstring clang,$(firstword $(CC))))
CFLAGS += -Wno-missing-field-initializers
%/bench/memory.o: CFLAGS += -fno-vectorize -fno-slp-vectorize
endif

# Each in a folder of its own, so that no program is made in two ways. Clang warns before it optimises, which
# is half of its time. Optimised code with sanitizers in it warns of what cannot happen.
STRICT_CLANG := $(MAKE) --no-print-directory BUILD=build/clang CC=$(CLANG) WERROR=1 EXTRA_CFLAGS=-O0
SANITIZED    := $(MAKE) --no-print-directory BUILD=build/sanitized/build EXTRA_CFLAGS="-O1 -w \
	-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"

lint: ## check scripts with linters
	$(Q)tests/lint
format: ## format C lines that differ from the last commit, and sort imports of Python
	$(Q)build/venv/bin/git-clang-format --force --quiet --binary build/venv/bin/clang-format HEAD -- \
		bpf studies userspace tests || [ $$? = 1 ] # it changed something
	$(Q)build/venv/bin/ruff check --quiet --select I --fix
strict-clang: ## build all C sources with Clang into build/clang; warnings are errors
	+$(Q)$(STRICT_CLANG) all unit-tests
sanitized: ## build the unit tests with ASan and UBSan into build/sanitized/build
	+$(Q)$(SANITIZED) $(patsubst build/%,build/sanitized/build/%,$(UNIT_TESTS))
compile_commands.json: FORCE ## say how each C file is compiled, for clangd and other tools
	$(Q)$(MAKE) --no-print-directory -nB V=1 all unit-tests | sed -nE -e 's/[\\"]/\\&/g' -e \
		's|^(.* -c ([^ ]+) -o ([^ ]+))$$|{"directory": "$(CURDIR)", "file": "\2", "output": "\3", "command": "\1"}|p' | \
		sed -e '1s/^/[/' -e '$$!s/$$/,/' -e '$$s/$$/]/' >$@
