#include "ingest/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

extern char **environ;

enum { MOST_TEXT = 1 << 30, LONGEST_MS = 300000 };

/* Starts argv with its output in *out, its complaints in *complaints, and nothing to read. */
static qp_code start(char *const argv[], const char *install, pid_t *child, int *out, int *complaints, qp_err *err)
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
    if (!rc) { /* a file that unpacks without end ends its reader, not us */
        prlimit(*child, RLIMIT_AS, &(struct rlimit){4ul << 30, 4ul << 30}, NULL);
        return QP_OK;
    }
    close(text[0]);
    close(words[0]);
    if (rc == ENOENT)
        return qp_fail(err, QP_INPUT, "wanted %s, which is not installed: %s", argv[0], install);
    return qp_fail(err, QP_INPUT, "%s did not start: %s", argv[0], strerror(rc));
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

qp_code qp_child_output(char *const argv[], const char *install, qp_buf *text, qp_err *err)
{
    qp_buf words = {0};
    size_t before = text->n;
    int out = -1, complaints = -1, status = 0;
    pid_t child;
    qp_code code = start(argv, install, &child, &out, &complaints, err);

    if (code)
        return code;
    bool whole = drain(out, complaints, text, &words);
    if (!whole)
        kill(child, SIGKILL);
    close(out);
    close(complaints);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    qp_str said = qp_str_split(qp_buf_view(&words), '\n', &(qp_str){0});
    if (!whole)
        code = qp_fail(err, QP_INPUT, "%s gave more than 1 GiB of text, or took longer than five minutes", argv[0]);
    else if (!WIFEXITED(status) || (WEXITSTATUS(status) && text->n == before))
        code = qp_fail(err, QP_INPUT, "%s could not read it%s%.*s", argv[0], said.n ? ": " : "", (int)said.n, said.at);
    qp_buf_free(&words);
    return code;
}
