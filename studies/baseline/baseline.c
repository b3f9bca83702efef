// SPDX-License-Identifier: GPL-2.0
/* Conducts the machine baseline: parse, look at the machine, arrange, run, report. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "studies/baseline/bench/events.h"
#include "studies/baseline/bench/machine.h"
#include "studies/baseline/measure.h"
#include "studies/baseline/report.h"
#include "studies/baseline/suite.h"
#include "userspace/common/printable.h"
#include "userspace/common/streams.h"
#include "userspace/common/system/confine.h"
#include "userspace/common/system/process_numbers.h"
#include "userspace/common/system/record_file.h"

enum { EXIT_FINE, EXIT_BROKEN, EXIT_USAGE, EXIT_REFUSED };
enum { CACHE_MIB = 256, QUICK_CACHE_MIB = 32 };

static void on_signal(int number)
{
	pass_stop();
}

static void name_run(struct suite *s)
{
	struct timespec now;
	char second[32];
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &now);
	s->started = now.tv_sec;
	strftime(second, sizeof(second), "%Y%m%dT%H%M%S", gmtime_r(&now.tv_sec, &utc));
	snprintf(s->id, sizeof(s->id), "%s.%03ld-%u", second, now.tv_nsec / 1000000,
		 run_number());
}

/* Files are nameless: the file system must know how. */
static int check_dir(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int err = fd < 0 ? errno : posix_fallocate(fd, 0, 1 << 20);

	if (fd >= 0)
		close(fd);
	if (!err)
		return 0;
	fprintf(stderr, "baseline: cannot make files in %s: %s; choose another --dir DIR\n", printable(dir),
		strerror(err));
	return err == ENOENT || err == ENOTDIR ? EXIT_USAGE : EXIT_REFUSED;
}

/* At most half of the available memory: other programs need the rest. */
static uint64_t cache_bytes(const struct protocol *protocol, const struct machine_info *m)
{
	uint64_t bytes = (protocol->quick ? QUICK_CACHE_MIB : CACHE_MIB) << 20;

	while (bytes > m->available_bytes / 2)
		bytes /= 2;
	return bytes;
}

static int judge(const struct suite *s)
{
	for (int i = 0; i < s->row_count; i++)
		if (s->rows[i].status == INVALID)
			return EXIT_BROKEN;
	return pass_stopped() ? EXIT_BROKEN : EXIT_FINE;
}

static int tell(struct suite *s, struct record_file *record_file)
{
	bool to_stdout = record_file_is_stdout(record_file);
	int err;

	streams_write_whole();
	err = suite_json_write(s, record_file->file);
	if (!err)
		err = record_file_publish(record_file);
	if (err)
		record_file_tell(record_file, "baseline", err);
	if (s->settings.quiet || to_stdout)
		return err;
	suite_text_print(s, stdout);
	if (!err)
		printf("\nrecord          %s\n", printable(record_file->path));
	return err;
}

/* As root, mounts /proc and tracefs where needed and notes inherited descriptors. 0 or EXIT_REFUSED. */
static int settle(struct inherited *inherited)
{
	if (geteuid())
		return 0;
	/* First: a file opened before could not be named from a new mount namespace. */
	if (pid_namespace_settle("baseline"))
		return EXIT_REFUSED;
	if (confine_note_inherited(inherited))
		fprintf(stderr, "baseline: its caller's descriptors stay open: no /proc\n");
	counting_reach_tracefs();
	return 0;
}

static int reserve(const struct suite *s, struct record_file *record_file)
{
	char name[sizeof(s->id) + sizeof(".baseline.json")];
	int err = check_dir(s->settings.protocol.dir);

	if (err)
		return err;
	snprintf(name, sizeof(name), "%s.baseline.json", s->id);
	err = record_file_reserve(record_file, "baseline", "--json", s->settings.json, name);
	if (err)
		return err == -ENOSPC ? EXIT_REFUSED : EXIT_USAGE;
	return 0;
}

static void measure(struct suite *s)
{
	struct protocol *protocol = &s->settings.protocol;

	machine_info_read(&s->machine, protocol->dir);
	protocol->cache_bytes = cache_bytes(protocol, &s->machine);
	interference_look(&s->machine, &s->warnings);
	suite_arrange(s);
	suite_run(s);
}

int main(int argc, char **argv)
{
	struct suite s = { .command = argv };
	struct sigaction action = { .sa_handler = on_signal };
	struct inherited inherited = {};
	struct record_file record_file;
	int result;

	streams_open();
	streams_watch("baseline");
	/* Programs that a row executes get no capabilities from files. There is no list of allowed
	 * system calls, because it would slow down the calls that are measured. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	baseline_settings_parse(argc, argv, &s.settings);
	suite_check_names(&s.settings);
	if (s.settings.list) {
		family_list_print(stdout);
		return EXIT_FINE;
	}
	result = settle(&inherited);
	if (result)
		return result;
	name_run(&s);
	result = reserve(&s, &record_file);
	if (result)
		return result;
	/* What --json named by a descriptor is open by now. */
	confine_close_inherited(&inherited);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	measure(&s);
	result = judge(&s);
	if (pass_stopped())
		fprintf(stderr, "baseline: interrupted: no record is kept\n");
	else if (tell(&s, &record_file))
		result = EXIT_BROKEN;
	record_file_abandon(&record_file);
	suite_free(&s);
	return result;
}
