/* PDF by poppler's pdftotext, a child process without a shell: a crash of it stays outside, and so does its licence. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "ingest/reader.h"

extern char **environ;

enum { MOST_TEXT = 1 << 30, LONGEST_MS = 300000 };

/* Starts argv with its output in *out, its complaints in *complaints, and nothing to read. */
static qp_code start(char *const argv[], pid_t *child, int *out, int *complaints, qp_err *err)
{
    posix_spawn_file_actions_t actions;
    int text[2], words[2];

    if (pipe2(text, O_CLOEXEC))
        return qp_fail(err, QP_STORE, "a pipe to %s: %s", argv[0], strerror(errno));
    if (pipe2(words, O_CLOEXEC)) {
        close(text[0]);
        close(text[1]);
        return qp_fail(err, QP_STORE, "a pipe to %s: %s", argv[0], strerror(errno));
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, text[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, words[1], STDERR_FILENO);
    int rc = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(text[1]);
    close(words[1]);
    *out = text[0];
    *complaints = words[0];
    if (!rc)
        return QP_OK;
    close(text[0]);
    close(words[0]);
    return qp_fail(err, QP_INPUT,
                   rc == ENOENT ? "PDF is read by %s, which is not installed: apt-get install poppler-utils"
                                : "%s did not start",
                   argv[0]);
}

/* Reads both pipes to their ends; false: too much, or too long. */
static bool drain(int out, int complaints, qp_buf *text, qp_buf *words)
{
    struct pollfd fds[2] = {{.fd = out, .events = POLLIN}, {.fd = complaints, .events = POLLIN}};
    qp_buf *to[2] = {text, words};
    double end = qp_now_ms() + LONGEST_MS;
    int open = 2;

    while (open) {
        double left = end - qp_now_ms();
        if (left <= 0 || text->n > MOST_TEXT || text->oom)
            return false;
        if (poll(fds, 2, (int)left) < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd < 0 || !fds[i].revents)
                continue;
            char *room = qp_buf_room(to[i], 64 << 10);
            ssize_t n = room ? read(fds[i].fd, room, 64 << 10) : -1;
            if (n > 0) {
                to[i]->n += (size_t)n;
                if (i == 1 && words->n > 4000) /* what it says first is enough */
                    words->n = 4000;
            } else if (n == 0 || errno != EINTR) {
                fds[i].fd = -1;
                open--;
            }
        }
    }
    return true;
}

qp_code qp_read_pdf(const qp_input *in, qp_extract *x, qp_err *err)
{
    char from[] = P_tmpdir "/quipu-XXXXXX";
    char *const argv[] = {"pdftotext", "-q", "-enc", "UTF-8", in->path ? (char *)(uintptr_t)in->path : from, "-", NULL};
    qp_buf text = {0}, words = {0};
    int out = -1, complaints = -1, status = 0;
    pid_t child;

    if (!qp_str_starts(in->bytes, QP_STR("%PDF-")) &&
        !memmem(in->bytes.at, in->bytes.n < 1024 ? in->bytes.n : 1024, "%PDF-", 5))
        return qp_fail(err, QP_INPUT, "wanted a PDF, found other bytes (it does not begin with %%PDF-)");
    if (!in->path) { /* pdftotext wants to seek */
        int fd = mkostemp(from, O_CLOEXEC);
        size_t at = 0;
        for (ssize_t n = 1; fd >= 0 && at < in->bytes.n && n > 0; at += n > 0 ? (size_t)n : 0)
            n = write(fd, in->bytes.at + at, in->bytes.n - at);
        if (fd >= 0)
            close(fd);
        if (fd < 0 || at < in->bytes.n)
            return qp_fail(err, QP_STORE, "%s: %s", from, strerror(errno));
    }
    qp_code code = start(argv, &child, &out, &complaints, err);
    if (!code) {
        bool whole = drain(out, complaints, &text, &words);
        if (!whole)
            kill(child, SIGKILL);
        close(out);
        close(complaints);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        qp_str said = qp_str_split(qp_buf_view(&words), '\n', &(qp_str){0});
        if (!whole)
            code = qp_fail(err, QP_INPUT, "pdftotext gave more than 1 GiB of text, or took longer than five minutes");
        else if (!WIFEXITED(status) || (WEXITSTATUS(status) && !text.n))
            code =
                qp_fail(err, QP_INPUT, "pdftotext could not read it%s%.*s", said.n ? ": " : "", (int)said.n, said.at);
    }
    if (!in->path)
        unlink(from);
    code = code ? code : qp_read_text(&(qp_input){qp_buf_view(&text), NULL}, x, err);
    if (!code && !qp_str_trim(qp_buf_view(&x->text)).n)
        code = qp_fail(err, QP_INPUT, "no text in this PDF: its pages may be pictures, which need OCR first");
    qp_buf_free(&text);
    qp_buf_free(&words);
    return code;
}
