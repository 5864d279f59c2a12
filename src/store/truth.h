/* What the files of the store share: the handle, and SQLite with its errors in our words. Private to src/store. */
#ifndef QP_STORE_TRUTH_H
#define QP_STORE_TRUTH_H

#include <sqlite3.h>

#include "store/store.h"

enum { QP_TRUTH_KEPT = 96, QP_TRUTH_PIECE = 64 << 10 /* bytes of a text in one row */ };

struct qp_store {
    sqlite3 *db;
    char *dir;
    qp_arena *mem; /* scratch of one call */
    int lock;      /* "<dir>/lock", held; -1 when only read */
    bool write;
    bool batch;       /* between begin and commit */
    bool broken;      /* something in the batch failed and it was rolled back: commit will say so */
    bool changed;     /* this transaction wrote something a snapshot shows */
    char pending[64]; /* the model temp.pending was filled for; "" = not filled */
    int64_t left;     /* rows of temp.pending */
    size_t memory;    /* for sorting edges; 0: the default */
    int threads;      /* for publishing; 0: one per core */
    struct {
        const char *sql; /* the literal's address is the key */
        sqlite3_stmt *stmt;
    } kept[QP_TRUTH_KEPT]; /* statements prepared once */
};

/* The last SQLite error as ours: full, read-only, busy, damaged, foreign. */
qp_code qp_truth_fail(const qp_store *, qp_err *);
/* A statement that is prepared once and kept, reset and unbound; null after an error. sql must be a literal. */
sqlite3_stmt *qp_truth_use(qp_store *, const char *sql, qp_err *);
void qp_truth_bind(sqlite3_stmt *, int at, qp_str);
qp_str qp_truth_column(sqlite3_stmt *, int at); /* until the next step */
/* Steps a statement that gives no rows to its end, and resets it. */
qp_code qp_truth_run(const qp_store *, sqlite3_stmt *, qp_err *);
/* The integer of the one row, for n strings that sql asks about; 0 where there is no row. */
qp_code qp_truth_find(qp_store *, const char *sql, const qp_str *about, int n, int64_t *out, qp_err *);
qp_code qp_truth_number(qp_store *, const char *sql, int64_t *out, qp_err *); /* the same, about nothing */
/* The first column of the one row of a bound statement, in the arena; *found false: there is no row. */
qp_code qp_truth_value(const qp_store *, sqlite3_stmt *, qp_str *out, bool *found, qp_arena *, qp_err *);
qp_code qp_truth_exec(const qp_store *, const char *sql, qp_err *);
/* Calls row() for each row of a kept statement. */
qp_code qp_truth_each(qp_store *, sqlite3_stmt *, qp_code (*row)(void *, sqlite3_stmt *, qp_err *), void *ctx,
                      qp_err *);

/* The bytes [from, to) of a document's text, out of its pieces, into the emptied buffer. */
qp_code qp_truth_text(qp_store *, int64_t document, uint64_t from, uint64_t to, qp_buf *, qp_err *);

/* Around every write: opens a transaction unless a batch is open; leave commits it if code is QP_OK, else rolls back
 * (the whole batch, if there is one) and gives code back. */
qp_code qp_truth_enter(qp_store *, qp_err *);
qp_code qp_truth_leave(qp_store *, qp_code, qp_err *);

/* This model made something of the text: it is no longer among those that wait for it (pending.c). */
qp_code qp_pending_strike(qp_store *, const char *model, const char *digest, qp_err *);

/* Makes or checks the tables: QP_STORE for a foreign file, another version, or a damaged one. */
qp_code qp_schema_ready(qp_store *, bool create, const char *path, qp_err *);

/* The table of places and its indices, those that are not there. */
qp_code qp_schema_places(const qp_store *, qp_err *);

/* Small facts the store keeps about itself: "revision", "published", "edges", "unknown", and the digests of the models
 * that made what it holds: "model" (vectors), "sparse" (learned terms), "attention" (heads), "questions",
 * "tokens". */
qp_code qp_state_set(qp_store *, const char *name, qp_str value, qp_err *);
qp_code qp_state_get(qp_store *, const char *name, qp_str *value, qp_arena *, qp_err *);

#endif
