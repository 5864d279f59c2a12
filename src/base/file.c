#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

qp_code qp_file_read(const char *path, size_t limit, qp_buf *buf, qp_err *err)
{
    if (!limit)
        limit = (size_t)4 << 30;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info)) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return qp_fail(err, QP_INPUT, "%s: cannot be read: %s", path, strerror(why));
    }
    if (S_ISDIR(info.st_mode)) {
        close(fd);
        return qp_fail(err, QP_INPUT, "%s: is a folder where a file was wanted", path);
    }
    qp_code code = QP_OK;
    size_t step = info.st_size > 0 && (size_t)info.st_size < limit ? (size_t)info.st_size + 1 : 64 << 10;
    for (size_t total = 0;;) {
        char *room = qp_buf_room(buf, step);
        if (!room) {
            code = qp_oom(err);
            break;
        }
        ssize_t n = read(fd, room, step);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            code = qp_fail(err, QP_INPUT, "%s: reading failed: %s", path, strerror(errno));
        if (n <= 0)
            break;
        buf->n += (size_t)n;
        buf->at[buf->n] = 0;
        total += (size_t)n;
        if (total > limit) {
            code = qp_fail(err, QP_INPUT, "%s: is larger than %zu bytes, the most that is read here", path, limit);
            break;
        }
        step = 64 << 10;
    }
    close(fd);
    return code;
}

static qp_code sync_folder_of(const char *path, qp_err *err)
{
    char *copy = strdup(path);
    if (!copy)
        return qp_oom(err);
    const char *folder = dirname(copy);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    qp_code code = QP_OK;
    if (fd < 0 || fsync(fd))
        code = qp_fail(err, QP_STORE, "%s: the folder cannot be synced: %s", folder, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(copy);
    return code;
}

qp_code qp_file_publish(const char *temporary, const char *path, qp_err *err)
{
    int fd = open(temporary, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd)) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return qp_fail(err, QP_STORE, "%s: cannot be synced: %s", temporary, strerror(why));
    }
    close(fd);
    if (rename(temporary, path))
        return qp_fail(err, QP_STORE, "%s: cannot be put in place: %s", path, strerror(errno));
    return sync_folder_of(path, err);
}

static qp_code write_all(int fd, const char *path, qp_str bytes, qp_err *err)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.at, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return qp_fail(err, QP_STORE, "%s: cannot be written: %s", path, strerror(errno));
        bytes.at += n;
        bytes.n -= (size_t)n;
    }
    return QP_OK;
}

static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

qp_code qp_file_writable(const char *path, qp_err *err)
{
    char *copy = strdup(path);
    if (!copy)
        return qp_oom(err);
    errno = EISDIR;
    bool can = !qp_path_is_dir(path) && access(is_special(path) ? path : dirname(copy), W_OK) == 0;
    qp_code code = can ? QP_OK : qp_fail(err, QP_INPUT, "%s: cannot be written: %s", path, strerror(errno));
    free(copy);
    return code;
}

static qp_code write_special(const char *path, qp_str bytes, qp_err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    qp_code code = fd < 0 ? qp_fail(err, QP_STORE, "%s: cannot be written: %s", path, strerror(errno))
                          : write_all(fd, path, bytes, err);
    if (fd >= 0)
        close(fd);
    return code;
}

qp_code qp_file_write(const char *path, qp_str bytes, qp_err *err)
{
    if (is_special(path))
        return write_special(path, bytes, err);
    qp_buf temporary = {0};
    qp_buf_fmt(&temporary, "%s.%ld.tmp", path, (long)getpid());
    if (temporary.oom)
        return qp_oom(err);
    int fd = open(temporary.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    qp_code code = fd < 0 ? qp_fail(err, QP_STORE, "%s: cannot be written: %s", path, strerror(errno))
                          : write_all(fd, path, bytes, err);
    if (fd >= 0 && close(fd) && !code)
        code = qp_fail(err, QP_STORE, "%s: cannot be written: %s", path, strerror(errno));
    if (!code)
        code = qp_file_publish(temporary.at, path, err);
    if (code && fd >= 0)
        unlink(temporary.at);
    qp_buf_free(&temporary);
    return code;
}

qp_code qp_dir_make(const char *path, qp_err *err)
{
    char *copy = strdup(path);
    if (!copy)
        return qp_oom(err);
    qp_code code = QP_OK;
    for (char *slash = copy + 1; !code && *copy; slash++) {
        slash = strchr(slash, '/');
        if (slash)
            *slash = 0;
        if (!mkdir(copy, 0777))
            code = sync_folder_of(copy, err);
        else if (errno != EEXIST)
            code = qp_fail(err, QP_STORE, "%s: the folder cannot be made: %s", copy, strerror(errno));
        if (!slash)
            break;
        *slash = '/';
    }
    if (!code && !qp_path_is_dir(path))
        code = qp_fail(err, QP_STORE, "%s: a folder was wanted, a file is there", path);
    free(copy);
    return code;
}

bool qp_path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool qp_path_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

qp_str qp_path_name(qp_str path)
{
    size_t at = path.n;
    while (at && path.at[at - 1] != '/')
        at--;
    return qp_str_slice(path, at, path.n);
}

char *qp_path_join(qp_arena *a, const char *folder, const char *name)
{
    size_t n = strlen(folder);
    qp_str path = qp_arena_fmt(a, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
    return path.n ? (char *)path.at : NULL;
}
