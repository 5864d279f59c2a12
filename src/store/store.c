/* The store's life: folder, lock, database, settings. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "store/truth.h"

/* flock, not fcntl: its lock belongs to the open file, so it also keeps two writers of one process apart, and it goes
 * with the process, however that ends. The number in the file is only for the message. */
static qp_code lock_folder(qp_store *s, qp_err *err)
{
    char *path = qp_path_join(s->mem, s->dir, "lock");
    if (!path)
        return qp_oom(err);
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock < 0)
        return qp_fail(err, QP_STORE, "%s: the index cannot be written: %s: check the folder's rights", s->dir,
                       strerror(errno));
    char pid[24] = "";
    if (flock(s->lock, LOCK_EX | LOCK_NB)) {
        int why = errno;
        ssize_t n = pread(s->lock, pid, sizeof pid - 1, 0);
        pid[n > 0 ? n : 0] = 0;
        if (why != EWOULDBLOCK)
            return qp_fail(err, QP_STORE, "%s: cannot be locked: %s", path, strerror(why));
        return qp_fail(err, QP_STORE, "%s: busy, process %ld is writing to this index: try again when it is done",
                       s->dir, strtol(pid, NULL, 10));
    }
    int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(s->lock, 0) || pwrite(s->lock, pid, (size_t)n, 0) != n)
        return qp_fail(err, QP_STORE, "%s: cannot be written: %s", path, strerror(errno));
    return QP_OK;
}

enum { BUSY_MS = 2000 }; /* how long one waits for another's transaction */

/* A reader of a folder it may not write, or of a full disk, cannot make the WAL's shared memory. With no WAL there is
 * nothing to share, and the file can be read as it lies. */
static int open_for_reading(qp_store *s, const char *path)
{
    int rc = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(s->db, BUSY_MS); /* a writer that closes, or the first after a kill, holds it a moment */
        rc = sqlite3_exec(s->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    }
    bool full = rc == SQLITE_FULL || rc == SQLITE_IOERR;
    bool denied = (rc == SQLITE_CANTOPEN || rc == SQLITE_READONLY) && access(s->dir, W_OK);
    if (!full && !denied)
        return rc;
    char *wal = sqlite3_mprintf("%s-wal", path), *uri = sqlite3_mprintf("file:%s?immutable=1", path);
    struct stat info;
    if (wal && uri && !strpbrk(path, "?#%") && (stat(wal, &info) || !info.st_size)) {
        sqlite3_close(s->db);
        rc = sqlite3_open_v2(uri, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    }
    sqlite3_free(wal);
    sqlite3_free(uri);
    return rc;
}

static qp_code open_database(qp_store *s, bool create, qp_err *err)
{
    char *path = qp_path_join(s->mem, s->dir, "truth.db");
    if (!path)
        return qp_oom(err);
    if (!create && !qp_path_exists(path))
        return qp_fail(err, QP_STORE, "%s: no index is there: make one with `quipu index SOURCE`", s->dir);
    int fd =
        s->write && create ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1; /* its log gets the same rights */
    if (fd >= 0)
        close(fd);
    int rc = s->write
                 ? sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)
                 : open_for_reading(s, path);
    if (!s->db)
        return qp_oom(err);
    if (rc != SQLITE_OK)
        return qp_truth_fail(s, err);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    /* What the file is must be known before anything is written to it: journal_mode writes. secure_delete: what a user
     * removes is gone from the file too. */
    qp_code code = qp_schema_ready(s, create && s->write, path, err);
    if (!code && s->write)
        code = qp_truth_exec(s,
                             "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
                             "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536",
                             err);
    return code;
}

qp_code qp_store_open(const char *dir, bool write, bool create, qp_store **out, qp_err *err)
{
    *out = NULL;
    if (!qp_path_is_dir(dir) && !(write && create))
        return qp_fail(err, QP_STORE, "%s: no index is there: make one with `quipu index SOURCE`", dir);
    bool fresh = write && create && !qp_path_exists(dir);
    qp_code code = write && create ? qp_dir_make(dir, err) : QP_OK;
    if (!code && fresh && chmod(dir, 0700)) /* it holds the texts of what is indexed */
        code = qp_fail(err, QP_STORE, "%s: its rights cannot be set: %s", dir, strerror(errno));
    if (code)
        return code;
    qp_store *s = calloc(1, sizeof *s);
    if (!s)
        return qp_oom(err);
    s->lock = -1;
    s->write = write;
    s->mem = qp_arena_new();
    s->dir = strdup(dir);
    code = s->mem && s->dir ? QP_OK : qp_oom(err);
    if (!code && write)
        code = lock_folder(s, err);
    if (!code)
        code = open_database(s, create, err);
    qp_arena_reset(s->mem);
    if (code)
        qp_store_close(s);
    else
        *out = s;
    return code;
}

void qp_store_memory(qp_store *s, size_t bytes)
{
    s->memory = bytes;
}

void qp_store_threads(qp_store *s, int threads)
{
    s->threads = threads;
}

void qp_store_close(qp_store *s)
{
    if (!s)
        return;
    for (int i = 0; i < QP_TRUTH_KEPT; i++)
        sqlite3_finalize(s->kept[i].stmt);
    sqlite3_close(s->db); /* rolls back what is open */
    if (s->lock >= 0)
        close(s->lock);
    qp_arena_free(s->mem);
    free(s->dir);
    free(s);
}

static qp_code read_value(qp_store *s, sqlite3_stmt *stmt, const char *name, qp_str *value, qp_arena *a, qp_err *err)
{
    bool found;
    *value = (qp_str){"", 0};
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(name));
    return qp_truth_value(s, stmt, value, &found, a, err);
}

qp_code qp_state_get(qp_store *s, const char *name, qp_str *value, qp_arena *a, qp_err *err)
{
    return read_value(s, qp_truth_use(s, "SELECT CAST(value AS TEXT) FROM state WHERE name = ?", err), name, value, a,
                      err);
}

qp_code qp_store_get(qp_store *s, const char *key, qp_str *value, qp_arena *a, qp_err *err)
{
    return read_value(s, qp_truth_use(s, "SELECT value FROM setting WHERE key = ?", err), key, value, a, err);
}

static qp_code write_value(qp_store *s, sqlite3_stmt *stmt, const char *name, qp_str value, qp_err *err)
{
    if (!stmt)
        return QP_STORE;
    qp_truth_bind(stmt, 1, qp_str_of(name));
    qp_truth_bind(stmt, 2, value);
    return qp_truth_run(s, stmt, err);
}

qp_code qp_state_set(qp_store *s, const char *name, qp_str value, qp_err *err)
{
    return write_value(s, qp_truth_use(s, "INSERT OR REPLACE INTO state(name, value) VALUES (?, ?)", err), name, value,
                       err);
}

qp_code qp_store_set(qp_store *s, const char *key, const char *value, qp_err *err)
{
    qp_str old;
    qp_arena_reset(s->mem);
    qp_code code = qp_store_get(s, key, &old, s->mem, err);
    if (code || qp_str_eq(old, qp_str_of(value)))
        return code;
    code = qp_truth_enter(s, err);
    if (code)
        return code;
    code = write_value(s, qp_truth_use(s, "INSERT OR REPLACE INTO setting(key, value) VALUES (?, ?)", err), key,
                       qp_str_of(value), err);
    s->changed = true;
    return qp_truth_leave(s, code, err);
}

/* SQLite looks at its pages, not at what rows say: each text is held against the digest it was kept under. */
static qp_code check_chunk(void *ctx, sqlite3_stmt *stmt, qp_err *err)
{
    qp_store *s = ctx;
    qp_buf text = {0};
    qp_arena_reset(s->mem);
    qp_code code = qp_truth_text(s, sqlite3_column_int64(stmt, 0), (uint64_t)sqlite3_column_int64(stmt, 1),
                                 (uint64_t)sqlite3_column_int64(stmt, 2), &text, err);
    qp_str key = qp_truth_column(stmt, 6), indexed = {0};
    if (!code) {
        indexed = qp_indexed_text(s->mem, qp_truth_column(stmt, 3), qp_truth_column(stmt, 4), qp_buf_view(&text));
        code = indexed.at ? QP_OK : qp_oom(err);
    }
    if (!code && !qp_str_eq(qp_str_of(qp_digest_of(indexed).hex), qp_truth_column(stmt, 5)))
        code = qp_fail(err, QP_STORE,
                       "%s/truth.db: is damaged: a text of '%.*s' is not the one that was kept: `quipu delete` it and "
                       "index it again",
                       s->dir, (int)key.n, key.at);
    qp_buf_free(&text);
    return code;
}

static qp_code check_texts(qp_store *s, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s,
                                      "SELECT c.document, c.start, c.stop, d.title, c.heading, c.digest, d.key"
                                      " FROM document d JOIN chunk c ON c.document = d.row",
                                      err);
    return stmt ? qp_truth_each(s, stmt, check_chunk, s, err) : QP_STORE;
}

qp_code qp_store_check(qp_store *s, qp_err *err)
{
    sqlite3_stmt *stmt = qp_truth_use(s, "PRAGMA integrity_check(1)", err);
    if (!stmt)
        return QP_STORE;
    int rc = sqlite3_step(stmt);
    qp_str rest, found = rc == SQLITE_ROW ? qp_truth_column(stmt, 0) : (qp_str){0};
    qp_code code = QP_OK;
    if (rc != SQLITE_ROW) {
        code = qp_truth_fail(s, err);
    } else if (!qp_str_eq(found, QP_STR("ok"))) {
        found = qp_str_split(found, '\n', &rest);
        code = qp_fail(err, QP_STORE,
                       "%s/truth.db: is damaged (%.*s): restore a copy, or remove the folder and index again", s->dir,
                       (int)found.n, found.at);
    }
    sqlite3_reset(stmt);
    return code ? code : check_texts(s, err);
}
