# SPDX-License-Identifier: GPL-2.0
# Links watch, trace_run, workload and baseline as one static file that runs on any Linux with BTF. Part of the Makefile.
.PHONY: static

COLLECTOR     := $(BUILD)/copyscope-collect
COLLECTOR_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/collector/*.c))
# Each has a main(), which is named after it here.
MAIN_SRC       := $(patsubst %,userspace/%.c,watch trace_run workload) studies/baseline/baseline.c
COLLECTOR_MAIN := $(patsubst %,$(BUILD)/userspace/collector/%_main.o,$(basename $(notdir $(MAIN_SRC))))
OBJECTS       += $(COLLECTOR_OBJ) $(COLLECTOR_MAIN)
# What libelf and libdw are linked with depends on the release of the distribution.
PACKERS        = $(foreach name,lzma bz2 zstd,$(if $(findstring /,$(shell $(CC) -print-file-name=lib$(name).a)),-l$(name)))

static: $(COLLECTOR) ## build copyscope-collect, one file that needs nothing; for arm64, too, after make setup-arm64
	+$(Q)[ ! -f $(ARM64_ROOT)/recipe ] || $(ARM64_MAKE) build/arm64/copyscope-collect

all: $(COLLECTOR)

define compile_main
$(BUILD)/userspace/collector/$(basename $(notdir $(1)))_main.o: $(1) Makefile
	$$(call msg,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) $$(CPPFLAGS) -Dmain=$(basename $(notdir $(1)))_main -c $$< -o $$@
endef
$(foreach source,$(MAIN_SRC),$(eval $(call compile_main,$(source))))

# A function that would load a library is a warning of the linker. Sanitizers cannot be linked so.
$(COLLECTOR): $(COLLECTOR_MAIN) $(COLLECTOR_OBJ) $(WORK_OBJ) $(BUILD)/libbaseline.a $(BUILD)/libcopyscope.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static-pie -s -Wl,--fatal-warnings $^ $(LIBS) $(PACKERS) -lm -o $@
