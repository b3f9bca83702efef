# SPDX-License-Identifier: GPL-2.0
# Builds the modelled caches and what checks them. Part of the Makefile.
CACHES_OBJ   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard plugin/cache/*.c))
PLUGIN_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/plugin/*.c))

$(BUILD)/libcaches.a: $(CACHES_OBJ)
$(UNIT_TESTS): $(BUILD)/libcaches.a

unit-tests: $(PLUGIN_TESTS)
$(PLUGIN_TESTS): %: %.o $(BUILD)/libcaches.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@

-include $(CACHES_OBJ:.o=.d) $(PLUGIN_TESTS:%=%.d)
