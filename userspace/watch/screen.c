// SPDX-License-Identifier: GPL-2.0
/* Gives the terminal to a live view and takes it back, however the tool ends. */
#include "userspace/watch/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "userspace/common/system/confine.h"

/* What the restorer is asked for; it answers each. */
enum { ASK_SHOW = 's', ASK_HIDE = 'h', ASK_SIZE = 'z' };

struct answer {
	struct winsize size;
	bool shown;
};

/* So long a terminal may take to accept the few bytes that give it back. */
enum { PATIENCE_MS = 1000 };

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

/* Writes what the terminal takes now of @bytes: how many, or -errno if it is gone. */
static ssize_t write_some(int out, const char *text, size_t bytes)
{
	ssize_t written;

	do
		written = write(out, text, bytes);
	while (written < 0 && errno == EINTR);
	return written < 0 ? (errno == EAGAIN ? 0 : -errno) : written;
}

/* False if the terminal is gone or takes nothing. */
static bool say(int out, const char *sequence)
{
	struct pollfd room = { .fd = out, .events = POLLOUT };
	size_t left = strlen(sequence);

	while (left) {
		ssize_t written = write_some(out, sequence, left);

		if (written < 0 || (!written && poll(&room, 1, PATIENCE_MS) != 1))
			return false;
		sequence += written;
		left -= written;
	}
	return true;
}

static void set_raw(const struct termios *was)
{
	struct termios raw = *was;

	/* Ctrl-C stays a signal. Ctrl-Z becomes a key, so that the screen is given back first, and
	 * Ctrl-S one that means nothing: space pauses. */
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_iflag &= ~IXON;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	/* To wait until all is out (TCSADRAIN) may take for ever. */
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

/* False if the terminal did not take it. */
static bool give_back(int out, const struct termios *was, bool *shown)
{
	bool taken = true;

	if (*shown) {
		taken = say(out, LEAVE);
		tcsetattr(STDIN_FILENO, TCSANOW, was);
	}
	*shown = false;
	return taken;
}

/* Where there is no job control, every process is in front. */
static bool is_in_front(void)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);

	return group < 0 || group == getpgrp();
}

static void obey(char asked, int out, const struct termios *was, bool *shown)
{
	bool front = is_in_front();

	if (asked == ASK_SHOW && !*shown && front) {
		set_raw(was);
		say(out, ENTER);
		*shown = true;
	}
	if (asked == ASK_HIDE)
		give_back(out, was, shown);
	/* It was put in the background unasked: its modes are now those that the shell set. */
	if (*shown && !front) {
		say(out, LEAVE);
		*shown = false;
	}
}

/* Until the tool closes its end, by itself or because it was killed. False if the terminal is gone
 * then or takes nothing. */
static bool keep(int channel, int out)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN,
				       SIGPIPE, SIGUSR1, SIGUSR2 };
	const int kept[] = { STDIN_FILENO, out, channel };
	struct termios was;
	bool shown = false;
	char asked;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	confine_descriptors(kept, 3);
	if (tcgetattr(STDIN_FILENO, &was))
		return false;
	while (recv(channel, &asked, 1, 0) == 1) {
		struct answer answer = {};

		obey(asked, out, &was, &shown);
		answer.shown = shown;
		ioctl(out, TIOCGWINSZ, &answer.size);
		/* A serial line does not know its size. */
		if (!answer.size.ws_row || !answer.size.ws_col)
			answer.size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
		if (send(channel, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	return give_back(out, &was, &shown) && !tcgetattr(STDIN_FILENO, &was);
}

int screen_open(struct screen *s)
{
	int pair[2];

	*s = (struct screen){ .channel = -1 };
	/* Opened anew: O_NONBLOCK is of an open file, and stdout's is the shell's, too. */
	s->out = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (s->out < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		close(s->out);
		return -errno;
	}
	s->restorer = fork();
	if (!s->restorer) {
		close(pair[0]);
		_exit(!keep(pair[1], s->out));
	}
	close(pair[1]);
	s->channel = pair[0];
	if (s->restorer > 0)
		return 0;
	close(s->channel);
	close(s->out);
	s->restorer = 0;
	return -EAGAIN;
}

static int ask(struct screen *s, char what)
{
	struct answer answer;
	ssize_t got;

	s->shown = false;
	if (!s->restorer || send(s->channel, &what, 1, MSG_NOSIGNAL) != 1)
		return -EPIPE;
	do
		got = recv(s->channel, &answer, sizeof(answer), 0);
	while (got < 0 && errno == EINTR);
	if (got != sizeof(answer))
		return -EPIPE;
	s->rows = answer.size.ws_row;
	s->columns = answer.size.ws_col;
	s->shown = answer.shown;
	return 0;
}

int screen_show(struct screen *s)
{
	return ask(s, ASK_SHOW);
}

/* What is left of a page is dropped with the screen. */
int screen_hide(struct screen *s)
{
	s->left = 0;
	return ask(s, ASK_HIDE);
}

int screen_flush(struct screen *s)
{
	while (s->left) {
		ssize_t written = write_some(s->out, s->page + s->bytes - s->left, s->left);

		if (written <= 0)
			return written;
		s->left -= written;
	}
	return 0;
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

static int lay_out(struct screen *s, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	FILE *out;

	free(s->page);
	s->page = NULL;
	out = open_memstream(&s->page, &s->bytes);
	if (!out)
		return -ENOMEM;
	fputs(HOME, out);
	for (int row = 0; text < end && row < s->rows; row++) {
		const char *newline = memchr(text, '\n', end - text), *stop = newline ? newline : end;

		if (row)
			fputs("\r\n", out);
		add_line(out, text, stop - text, s->columns);
		text = stop + 1;
	}
	fputs(CLEAR_BELOW, out);
	if (fclose(out))
		return -ENOMEM;
	s->left = s->bytes;
	return 0;
}

int screen_draw(struct screen *s, const char *text, size_t bytes)
{
	int err = ask(s, ASK_SIZE);

	if (!err && s->shown)
		err = screen_flush(s);
	/* A terminal that has not taken the page before gets the one after this. */
	if (err || !s->shown || s->left)
		return err;
	err = lay_out(s, text, bytes);
	return err ? err : screen_flush(s);
}

int screen_key(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char key;

	if (poll(&in, 1, 0) <= 0)
		return 0;
	return read(STDIN_FILENO, &key, 1) == 1 ? key : -1;
}

bool screen_close(struct screen *s)
{
	int status = 0;

	if (!s->restorer)
		return true;
	close(s->channel);
	while (waitpid(s->restorer, &status, 0) < 0 && errno == EINTR)
		;
	close(s->out);
	free(s->page);
	*s = (struct screen){ .channel = -1 };
	return !status;
}
