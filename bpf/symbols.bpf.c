// SPDX-License-Identifier: GPL-2.0
/*
 * Which function holds an address, and where does a variable of the kernel lie?
 *
 * User space runs these programs (BPF_PROG_TEST_RUN): /proc/kallsyms would answer with all of its
 * 200,000 lines.
 */
#include "bpf/include/detail.bpf.h"
#include "bpf/include/packet_taps.bpf.h"

struct symbol_names symbol_names __weak = {};

SEC("?syscall")
int symbols_name(void *ctx)
{
	for (int i = 0; i < SYMBOLS_AT_ONCE; i++)
		BPF_SNPRINTF(symbol_names.name[i], SYMBOL_BYTES, "%ps", symbol_names.address[i]);
	return 0;
}

/* What is not found, or hidden from who asks (kernel.kptr_restrict), stays 0. */
SEC("?syscall")
int symbols_find(void *ctx)
{
	static const char old[] = "ptype_all", current[] = "net_hotdata";

	bpf_kallsyms_lookup_name(old, sizeof(old), 0, &taps_at.ptype_all);
	bpf_kallsyms_lookup_name(current, sizeof(current), 0, &taps_at.net_hotdata);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
