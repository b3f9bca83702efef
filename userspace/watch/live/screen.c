// SPDX-License-Identifier: GPL-2.0
/* Gives the terminal to a live view and takes it back, however the tool ends. */
#include "userspace/watch/live/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "userspace/common/confine/confine.h"

/* What the keeper is asked for; it answers each with a struct winsize. */
enum { ASK_SHOW = 's', ASK_HIDE = 'h', ASK_SIZE = 'z' };

/* The alternate screen, and the cursor (ECMA-48 and xterm's private modes, which every terminal with
 * an addressable cursor of this century has). */
#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

bool screen_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

static void say(const char *sequence)
{
	/* A terminal that is gone needs nothing. */
	(void)!write(STDOUT_FILENO, sequence, strlen(sequence));
}

static void set_raw(const struct termios *was)
{
	struct termios raw = *was;

	/* Ctrl-C stays a signal. Ctrl-Z becomes a key, so that the screen is given back first. */
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

static void give_back(const struct termios *was, bool *shown)
{
	if (!*shown)
		return;
	say(LEAVE);
	tcsetattr(STDIN_FILENO, TCSADRAIN, was);
	*shown = false;
}

/* Until the tool closes its end, by itself or because it was killed. */
static void keep(int channel)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN,
				       SIGPIPE, SIGUSR1, SIGUSR2 };
	const int kept[] = { STDIN_FILENO, STDOUT_FILENO, channel };
	struct termios was;
	bool shown = false;
	char asked;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	confine_descriptors(kept, 3);
	if (tcgetattr(STDIN_FILENO, &was))
		return;
	while (recv(channel, &asked, 1, 0) == 1) {
		struct winsize size = {};

		if (asked == ASK_SHOW && !shown) {
			set_raw(&was);
			say(ENTER);
			shown = true;
		}
		if (asked == ASK_HIDE)
			give_back(&was, &shown);
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
		/* A serial line does not know its size. */
		if (!size.ws_row || !size.ws_col)
			size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
		if (send(channel, &size, sizeof(size), MSG_NOSIGNAL) < 0)
			break;
	}
	give_back(&was, &shown);
}

int screen_open(struct screen *s)
{
	int pair[2];

	*s = (struct screen){ .channel = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	s->keeper = fork();
	if (!s->keeper) {
		close(pair[0]);
		keep(pair[1]);
		_exit(0);
	}
	close(pair[1]);
	if (s->keeper < 0) {
		close(pair[0]);
		s->keeper = 0;
		return -errno;
	}
	s->channel = pair[0];
	return 0;
}

static int ask(struct screen *s, char what)
{
	struct winsize size;

	if (!s->keeper || send(s->channel, &what, 1, MSG_NOSIGNAL) != 1)
		return -EPIPE;
	while (recv(s->channel, &size, sizeof(size), 0) != sizeof(size))
		if (errno != EINTR)
			return -EPIPE;
	s->rows = size.ws_row;
	s->columns = size.ws_col;
	return 0;
}

int screen_show(struct screen *s)
{
	int err = ask(s, ASK_SHOW);

	s->shown = !err;
	return err;
}

int screen_hide(struct screen *s)
{
	s->shown = false;
	return ask(s, ASK_HIDE);
}

/* Appends one line, cut to the columns of the screen; a character of UTF-8 takes one. */
static void add_line(FILE *out, const char *line, size_t bytes, unsigned int columns)
{
	unsigned int used = 0;

	for (size_t i = 0; i < bytes; i++) {
		bool starts = ((unsigned char)line[i] & 0xc0) != 0x80;

		if (starts && used == columns)
			break;
		used += starts;
		fputc(line[i], out);
	}
	fputs(CLEAR_LINE, out);
}

int screen_draw(struct screen *s, const char *text, size_t bytes)
{
	int err = ask(s, ASK_SIZE);
	const char *end = text + bytes;

	if (err)
		return err;
	fputs(HOME, stdout);
	for (int row = 0; text < end && row < s->rows; row++) {
		const char *newline = memchr(text, '\n', end - text), *stop = newline ? newline : end;

		if (row)
			fputs("\r\n", stdout);
		add_line(stdout, text, stop - text, s->columns);
		text = stop + 1;
	}
	fputs(CLEAR_BELOW, stdout);
	return fflush(stdout) ? -errno : 0;
}

int screen_key(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char key;

	if (poll(&in, 1, 0) <= 0)
		return 0;
	return read(STDIN_FILENO, &key, 1) == 1 ? key : -1;
}

void screen_close(struct screen *s)
{
	if (!s->keeper)
		return;
	close(s->channel);
	while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	*s = (struct screen){ .channel = -1 };
}
