# SPDX-License-Identifier: GPL-2.0
# Builds what serves the published studies: the baseline, the emulator's plugin, what checks them. Part of
# the Makefile.
BASE_OBJ   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard studies/baseline/*.c studies/baseline/*/*.c))
BASE_MAIN  := $(BUILD)/studies/baseline/baseline.o
PLUGIN     := $(BUILD)/counting.so
PLUGIN_SRC := $(wildcard studies/plugin/*.c)
CACHES_OBJ := $(addprefix $(BUILD)/studies/plugin/,cache.o hierarchy.o)
STUDY_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard studies/tests/*_test.c))
PLUGIN_TESTS := $(addprefix $(BUILD)/studies/tests/,mixed_walk trace_replay)

all: $(BUILD)/baseline $(BUILD)/held_pages $(PLUGIN)
$(BUILD)/held_pages: studies/held/held_pages.c Makefile
	$(call msg,CC,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< -o $@
$(PLUGIN): $(PLUGIN_SRC) $(wildcard studies/plugin/*.h userspace/common/guest_marker.h) Makefile
	$(call msg,PLUGIN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -I. -shared -fPIC -fvisibility=hidden $(PLUGIN_SRC) -o $@

$(BUILD)/libbaseline.a: $(filter-out $(BASE_MAIN),$(BASE_OBJ))
$(BUILD)/libcaches.a: $(CACHES_OBJ)
$(BUILD)/baseline: $(BASE_MAIN) $(BUILD)/libbaseline.a $(BUILD)/libcopyscope.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -lm -o $@
$(BUILD)/studies/baseline/report_json.o: CPPFLAGS += -DCOPYSCOPE_VERSION='"$(VERSION)"'
$(BUILD)/studies/baseline/report_json.o: $(BUILD)/version

$(STUDY_TESTS): $(BUILD)/libbaseline.a $(BUILD)/libcaches.a
$(BUILD)/studies/tests/follow_test: $(BUILD)/studies/plugin/follow.o

unit-tests: $(PLUGIN_TESTS)
$(PLUGIN_TESTS): %: %.o $(BUILD)/libcaches.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

-include $(BASE_OBJ:.o=.d) $(CACHES_OBJ:.o=.d) $(BUILD)/studies/plugin/follow.d $(PLUGIN_TESTS:%=%.d)
