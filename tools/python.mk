# SPDX-License-Identifier: GPL-2.0
# Compiles what commands in Python would compile at each start. Part of the Makefile.
.PHONY: clean-bytecode

# All that is imported, and the schema of records: more than half of what a command takes. It writes nothing of that
# itself, as it may be root's.
all: $(BUILD)/bytecode
$(BUILD)/bytecode: $(shell find tools/lib studies/lib -name '*.py') docs/record.schema.json
	$(Q)mkdir -p $(@D)
	$(Q)/usr/bin/python3 -m compileall -q tools/lib studies/lib
	$(Q)/usr/bin/python3 -SB tools/lib/launch.py copyscope.records.checkers && touch $@

clean: clean-bytecode
clean-bytecode:
	$(Q)find tools/lib studies/lib -name __pycache__ -prune -exec rm -r {} +
