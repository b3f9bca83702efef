# SPDX-License-Identifier: GPL-2.0
# Links watch, trace_run and workload as one static file that runs on any Linux with BTF. Part of the Makefile.
.PHONY: static

COLLECTOR     := $(BUILD)/copyscope-collect
COLLECTOR_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/collector/*.c))
# Each has a main(), which is named after it here.
COLLECTOR_MAIN := $(patsubst %,$(BUILD)/userspace/collector/%_main.o,watch trace_run workload)
OBJECTS       += $(COLLECTOR_OBJ) $(COLLECTOR_MAIN)
# What libelf and libdw are linked with depends on the release of the distribution.
PACKERS        = $(foreach name,lzma bz2 zstd,$(if $(findstring /,$(shell $(CC) -print-file-name=lib$(name).a)),-l$(name)))

static: $(COLLECTOR) ## build copyscope-collect, one file that needs nothing; for arm64, too, after make setup-arm64
	+$(Q)[ ! -f $(ARM64_ROOT)/recipe ] || $(ARM64_MAKE) build/arm64/copyscope-collect

all: $(COLLECTOR)

$(COLLECTOR_MAIN): $(BUILD)/userspace/collector/%_main.o: userspace/%.c Makefile
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(CPPFLAGS) -DONE_FILE=true -Dmain=$*_main -c $< -o $@

# A function that would load a library is a warning of the linker. Sanitizers cannot be linked so.
$(COLLECTOR): $(COLLECTOR_MAIN) $(COLLECTOR_OBJ) $(WORK_OBJ) $(BUILD)/libcopyscope.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static-pie -s -Wl,--fatal-warnings $^ $(LIBS) $(PACKERS) -lm -o $@
