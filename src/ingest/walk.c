#include "ingest/walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"
#include "base/thread.h"
#include "ingest/glob.h"

enum { DEEPEST = 100 };

struct level { /* a folder that is open */
    const struct level *above;
    dev_t device;
    ino_t inode;
    size_t prefix; /* bytes of `relative` that name this folder, with its "/" */
    qp_buf ignore; /* its ignore files, one after the other */
};

struct walker {
    qp_str include, exclude;
    const qp_watch *watch;
    qp_arena *mem;
    qp_file *files;
    size_t n, cap;
    uint64_t unreadable;
};

static bool ignored(const struct level *level, qp_str relative, bool is_dir)
{
    int verdict = -1;

    for (const struct level *l = level; l && verdict < 0; l = l->above) { /* the deepest folder that has an opinion */
        qp_str path = qp_str_slice(relative, l->prefix, relative.n);
        for (qp_str rest = qp_buf_view(&l->ignore); rest.n;) {
            int says = qp_ignore_line(qp_str_split(rest, '\n', &rest), path, is_dir);
            verdict = says >= 0 ? says : verdict;
        }
    }
    return verdict == 1;
}

static qp_code keep(struct walker *w, char *path, qp_str relative, qp_err *err)
{
    if ((w->include.n && !qp_glob_list(w->include, relative)) || qp_glob_list(w->exclude, relative))
        return QP_OK;
    qp_file *grown = qp_array_room(w->files, w->n, &w->cap, sizeof *grown);
    if (!grown)
        return qp_oom(err);
    w->files = grown;
    w->files[w->n++] = (qp_file){path, relative};
    return QP_OK;
}

static void complain(struct walker *w, const char *path)
{
    char line[600];

    w->unreadable++;
    if (w->watch && w->watch->warn) {
        snprintf(line, sizeof line, "%s: %s; skipped", path, strerror(errno));
        w->watch->warn(w->watch->user, line);
    }
}

static qp_code walk(struct walker *w, const char *path, qp_str relative, const struct level *above, int depth,
                    qp_err *);

/* An index of ours, perhaps the one that is being written: nothing in it is anybody's document. */
static bool is_index(struct walker *w, const char *folder)
{
    const char *truth = qp_path_join(w->mem, folder, "truth.db"), *lock = qp_path_join(w->mem, folder, "lock");
    return truth && lock && qp_path_exists(truth) && qp_path_exists(lock);
}

static qp_code entry(struct walker *w, const char *folder, const char *name, const struct level *level, int depth,
                     qp_err *err)
{
    struct stat st;
    char *path = qp_path_join(w->mem, folder, name);

    if (!path)
        return qp_oom(err);
    qp_str whole = qp_str_of(path), relative = qp_str_slice(whole, whole.n - strlen(name) - level->prefix, whole.n);
    if (stat(path, &st)) {
        complain(w, path); /* a link to nothing, or no permission */
        return QP_OK;
    }
    bool is_dir = S_ISDIR(st.st_mode);
    if ((!is_dir && !S_ISREG(st.st_mode)) || ignored(level, relative, is_dir))
        return QP_OK;
    if (!is_dir)
        return keep(w, path, relative, err);
    for (const struct level *l = level; l; l = l->above)
        if (l->device == st.st_dev && l->inode == st.st_ino)
            return QP_OK; /* a link back up */
    return depth < DEEPEST && !is_index(w, path) ? walk(w, path, relative, level, depth + 1, err) : QP_OK;
}

static qp_code walk(struct walker *w, const char *path, qp_str relative, const struct level *above, int depth,
                    qp_err *err)
{
    static const char *const names[] = {".gitignore", ".ignore", ".quipuignore"};
    struct level level = {.above = above, .prefix = relative.n ? relative.n + 1 : 0};
    struct stat st;
    DIR *dir = opendir(path);
    qp_code code = QP_OK;

    if (!dir || stat(path, &st)) {
        complain(w, path);
        if (dir)
            closedir(dir);
        return QP_OK;
    }
    level.device = st.st_dev;
    level.inode = st.st_ino;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *file = qp_path_join(w->mem, path, names[i]);
        if (file && qp_path_exists(file) && qp_file_read(file, 1 << 20, &level.ignore, NULL) == QP_OK)
            qp_buf_char(&level.ignore, '\n');
    }
    for (struct dirent *e; !code && (errno = 0, e = readdir(dir));) {
        if (w->watch && qp_cancelled(w->watch->cancel))
            code = qp_fail(err, QP_STOPPED, "stopped while it listed a folder; run it again to go on");
        else if (e->d_name[0] != '.')
            code = entry(w, path, e->d_name, &level, depth, err);
    }
    if (!code && errno)
        complain(w, path); /* the rest of it is not known: nothing counts as gone */
    closedir(dir);
    qp_buf_free(&level.ignore);
    return code;
}

static int by_name(const void *a, const void *b)
{
    return qp_str_cmp(((const qp_file *)a)->relative, ((const qp_file *)b)->relative);
}

/* The folders above the root, as levels without ignore files: a link to one of them leads around in a circle. */
static const struct level *folders_above(const char *root, qp_arena *mem)
{
    qp_str path = qp_str_of(root);
    const struct level *above = NULL;
    struct stat st;

    for (size_t n = 1; n < path.n; n++) {
        if (path.at[n - 1] != '/')
            continue;
        struct level *level = qp_new(mem, struct level, 1);
        const char *upper = qp_arena_str(mem, qp_str_slice(path, 0, n)).at;
        if (!level || !upper || stat(upper, &st))
            break;
        *level = (struct level){.above = above, .device = st.st_dev, .inode = st.st_ino};
        above = level;
    }
    return above;
}

qp_code qp_walk_folder(const char *root, qp_str include, qp_str exclude, const qp_watch *watch, qp_files *out,
                       qp_arena *mem, qp_err *err)
{
    struct walker w = {.include = include, .exclude = exclude, .watch = watch, .mem = mem};
    qp_code code = walk(&w, root, (qp_str){"", 0}, folders_above(root, mem), 0, err);

    *out = (qp_files){.unreadable = w.unreadable};
    if (!code && w.n) {
        out->at = qp_new(mem, qp_file, w.n);
        if (out->at) {
            qsort(w.files, w.n, sizeof *w.files, by_name);
            memcpy(out->at, w.files, w.n * sizeof *w.files);
            out->n = w.n;
        } else {
            code = qp_oom(err);
        }
    }
    free(w.files);
    return code;
}
