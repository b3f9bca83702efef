# SPDX-License-Identifier: GPL-2.0
# Builds the plugin, the modelled caches and what checks them. Part of the Makefile.
CACHES_OBJ   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard plugin/cache/*.c))
PLUGIN_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/plugin/*.c))

PLUGIN       := $(BUILD)/plugin/counting.so
PLUGIN_SRC   := $(wildcard plugin/*.c plugin/cache/*.c)

all: $(PLUGIN)
$(PLUGIN): $(PLUGIN_SRC) $(wildcard plugin/*.h plugin/cache/*.h userspace/common/bell/*.h) Makefile
	$(call msg,PLUGIN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -I. -shared -fPIC -fvisibility=hidden $(PLUGIN_SRC) -o $@

$(BUILD)/libcaches.a: $(CACHES_OBJ)
$(UNIT_TESTS): $(BUILD)/libcaches.a
$(BUILD)/tests/unit/follow_test: $(BUILD)/plugin/follow.o

unit-tests: $(PLUGIN_TESTS)
$(PLUGIN_TESTS): %: %.o $(BUILD)/libcaches.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

-include $(CACHES_OBJ:.o=.d) $(BUILD)/plugin/follow.d $(PLUGIN_TESTS:%=%.d)
