/* From the truth to a published snapshot. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/gather.h"
#include "store/mapped.h"

/* The same bytes as the current one? Its head carries the checksum of all checksums. */
static bool same_head(const char *a, const char *b)
{
    qp_head head[2];
    const char *const path[] = {a, b};
    for (int i = 0; i < 2; i++) {
        FILE *f = path[i] ? fopen(path[i], "rbe") : NULL;
        bool read = f && fread(&head[i], sizeof head[i], 1, f) == 1;
        if (f)
            fclose(f);
        if (!read)
            return false;
    }
    return !memcmp(&head[0], &head[1], sizeof head[0]);
}

/* What is not current is removed: older snapshots (readers that map them keep them), and leavings of a killed run. */
static void tidy(const qp_store *s, uint64_t current)
{
    DIR *dir = opendir(s->dir);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        unsigned long long n = 0;
        int end = 0;
        bool snapshot = sscanf(e->d_name, "snapshot-%llu.qp%n", &n, &end) == 1 && end;
        qp_str name = qp_str_of(e->d_name);
        bool ours = (snapshot && (!e->d_name[end] || !strcmp(e->d_name + end, ".tmp"))) ||
                    (qp_str_starts(name, QP_STR("CURRENT.")) && qp_str_ends(name, QP_STR(".tmp")));
        if (ours && !(snapshot && !e->d_name[end] && n == current))
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

static qp_code put_in_place(const char *dir, const char *temporary, uint64_t number, qp_arena *a, qp_err *err)
{
    qp_str name = qp_arena_fmt(a, "snapshot-%llu.qp", (unsigned long long)number);
    if (!name.at)
        return qp_oom(err);
    char *path = qp_path_join(a, dir, name.at), *pointer = qp_path_join(a, dir, "CURRENT");
    qp_str line = qp_arena_fmt(a, "%s\n", name.at);
    if (!path || !pointer || !line.at)
        return qp_oom(err);
    qp_code code = qp_file_publish(temporary, path, err);
    return code ? code : qp_file_write(pointer, line, err);
}

/* Best effort, as on a full disk: all that matters is done. What was not noted is made once more, found to be the same
 * and dropped; with readers about, the log is folded in later. */
static void note_published(qp_store *s, int64_t revision)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)revision);
    if (!qp_truth_enter(s, NULL))
        qp_truth_leave(s, qp_state_set(s, "published", qp_str_of(text), NULL), NULL);
    sqlite3_exec(s->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
}

static qp_code publish(qp_gathering *p, bool whole, int64_t revision, qp_arena *a, qp_err *err)
{
    qp_store *s = p->store;
    char *current = NULL;
    uint64_t number = 0;
    qp_err none = {0};
    (void)qp_snapshot_current(s->dir, &current, &number, a, &none); /* a damaged pointer is written anew */
    qp_str temporary = qp_arena_fmt(a, "%s/snapshot-%llu.qp.tmp", s->dir, (unsigned long long)number + 1);
    if (!temporary.n)
        return qp_oom(err);
    qp_code code = qp_gather_all(p, temporary.at, err);
    if (code)
        return code;
    if (whole && same_head(temporary.at, current))
        unlink(temporary.at);
    else
        code = put_in_place(s->dir, temporary.at, ++number, a, err);
    if (code) {
        unlink(temporary.at);
        return code;
    }
    tidy(s, number);
    note_published(s, revision);
    return QP_OK;
}

/* Is the current snapshot there and undamaged? Reading all of it costs less than the promise that `quipu index` mends
 * what `quipu check` finds is worth. */
static bool is_whole(const qp_store *s)
{
    qp_snapshot *now = NULL;
    bool whole = !qp_snapshot_open(s->dir, &now, NULL) && !qp_snapshot_sums(now, NULL);
    qp_snapshot_close(now);
    return whole;
}

qp_code qp_store_publish(qp_store *s, const qp_watch *watch, qp_err *err)
{
    int64_t revision = 0, published = -1;
    if (s->batch)
        return qp_fail(err, QP_BUG, "store: publishing inside a batch");
    qp_code code = qp_truth_number(s, "SELECT value FROM state WHERE name = 'revision'", &revision, err);
    if (!code)
        code =
            qp_truth_number(s,
                            "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM state WHERE name = 'published'), -1)",
                            &published, err);
    bool whole = !code && is_whole(s);
    if (code || (whole && revision == published))
        return code;
    /* Vectors of texts that are in no document any more go, so that a removed text leaves nothing behind. */
    code = qp_truth_enter(s, err);
    if (!code)
        code =
            qp_truth_leave(s,
                           qp_truth_exec(s,
                                         "DELETE FROM vector WHERE NOT EXISTS"
                                         " (SELECT 1 FROM chunk WHERE chunk.digest = vector.digest) AND NOT EXISTS"
                                         " (SELECT 1 FROM graph_text g WHERE g.digest = vector.digest) AND NOT EXISTS"
                                         " (SELECT 1 FROM place p WHERE p.digest = vector.digest)",
                                         err),
                           err);
    if (code)
        return code;
    /* Best effort: the disk that the log of a large graph takes is wanted for the snapshot. */
    sqlite3_exec(s->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    qp_gathering p = {.store = s, .watch = watch, .mem = qp_arena_new(), .began = qp_now_ms()};
    qp_arena *a = qp_arena_new();
    code = p.mem && a ? publish(&p, whole, revision, a, err) : qp_oom(err);
    if (!code)
        code = qp_gather_tell(&p, NULL, true, err);
    qp_gathering_free(&p);
    qp_arena_free(a);
    return code;
}
