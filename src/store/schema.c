/* The tables of truth.db, and the proof that a file is one. */
#include "store/truth.h"

#include <stdio.h>

enum { APPLICATION = 0x51554950, VERSION = 2 }; /* "QUIP"; raise VERSION with every change of the tables */

/* A document's text lies in pieces of 64 KiB, so that reading one chunk of a 200 MB text does not read the text. A row
 * number is never used twice (AUTOINCREMENT): an edge of a removed document cannot point at a later one. */
/* A knowledge graph lies in pieces, too: its strings once, in order, its triples as numbers of them (store/graph.h). */
static const char tables[] =
    "CREATE TABLE state(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE setting(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE document(row INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, source TEXT NOT NULL,"
    "  path TEXT NOT NULL, format TEXT NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL, meta TEXT NOT NULL,"
    "  digest TEXT NOT NULL, bytes INTEGER NOT NULL, chunks INTEGER NOT NULL);"
    "CREATE INDEX document_path ON document(path) WHERE path <> '';"
    "CREATE INDEX document_source ON document(source);"
    "CREATE TABLE piece(document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE, number INTEGER NOT NULL,"
    "  bytes BLOB NOT NULL, UNIQUE(document, number));"
    "CREATE TABLE chunk(document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE, ordinal INTEGER NOT NULL,"
    "  start INTEGER NOT NULL, stop INTEGER NOT NULL, page INTEGER NOT NULL, heading TEXT NOT NULL,"
    "  bytes INTEGER NOT NULL, digest TEXT NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;"
    "CREATE INDEX chunk_digest ON chunk(digest);"
    "CREATE TABLE reference(document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE, ordinal INTEGER NOT NULL,"
    "  chunk INTEGER NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL, anchor TEXT NOT NULL, weight REAL NOT NULL,"
    "  PRIMARY KEY(document, ordinal)) WITHOUT ROWID;"
    "CREATE TABLE anchor(document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE, ordinal INTEGER NOT NULL,"
    "  name TEXT NOT NULL, chunk INTEGER NOT NULL, PRIMARY KEY(document, ordinal)) WITHOUT ROWID;"
    "CREATE TABLE source(name TEXT PRIMARY KEY, given TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE given(source TEXT NOT NULL, ordinal INTEGER NOT NULL, tail TEXT NOT NULL, head TEXT NOT NULL,"
    "  type TEXT NOT NULL, weight REAL NOT NULL, PRIMARY KEY(source, ordinal)) WITHOUT ROWID;"
    "CREATE TABLE edge(tail INTEGER NOT NULL, tail_chunk INTEGER NOT NULL, head INTEGER NOT NULL,"
    "  head_chunk INTEGER NOT NULL, type TEXT NOT NULL, weight REAL NOT NULL);"
    "CREATE TABLE graph(row INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL UNIQUE, digest TEXT NOT NULL,"
    "  relations INTEGER NOT NULL, entities INTEGER NOT NULL, triples INTEGER NOT NULL);"
    "CREATE TABLE graph_piece(graph INTEGER NOT NULL REFERENCES graph ON DELETE CASCADE, kind INTEGER NOT NULL,"
    "  number INTEGER NOT NULL, bytes BLOB NOT NULL, UNIQUE(graph, kind, number));"
    "CREATE TABLE graph_text(digest TEXT PRIMARY KEY) WITHOUT ROWID;"
    "CREATE TABLE vector(digest TEXT NOT NULL, model TEXT NOT NULL, value BLOB NOT NULL, UNIQUE(digest, model));";

/* Where in a passage a text of a graph stands whose vector is pooled there (store/store.h), all of one graph. Indices
 * made before it was thought of get it when they are written next. */
static const char places[] =
    "CREATE TABLE IF NOT EXISTS place(text TEXT PRIMARY KEY, graph INTEGER NOT NULL REFERENCES graph ON DELETE CASCADE,"
    "  digest TEXT NOT NULL, passage TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL) WITHOUT ROWID;"
    "DROP INDEX IF EXISTS place_graph;" /* of versions that had it: it is asked about as a whole */
    "CREATE INDEX IF NOT EXISTS place_passage ON place(passage);"
    "CREATE INDEX IF NOT EXISTS place_digest ON place(digest);";

qp_code qp_schema_places(const qp_store *s, qp_err *err)
{
    return qp_truth_exec(s, places, err);
}

static qp_code make(qp_store *s, qp_err *err)
{
    char identity[96];
    snprintf(identity, sizeof identity, "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION, VERSION);
    qp_code code = qp_truth_exec(s, "BEGIN IMMEDIATE", err);
    if (!code)
        code = qp_truth_exec(s, identity, err);
    if (!code)
        code = qp_truth_exec(s, tables, err);
    if (!code)
        code = qp_schema_places(s, err);
    return qp_truth_leave(s, code, err);
}

qp_code qp_schema_ready(qp_store *s, bool create, const char *path, qp_err *err)
{
    int64_t application = 0, version = 0, there = 0;
    qp_code code = qp_truth_number(s, "PRAGMA application_id", &application, err);
    if (!code)
        code = qp_truth_number(s, "PRAGMA user_version", &version, err);
    if (!code)
        code = qp_truth_number(s, "SELECT count(*) FROM sqlite_master", &there, err);
    if (code)
        return code;
    if (!application && !version && !there) /* empty: new, or a first run was killed before its first commit */
        return create ? make(s, err)
                      : qp_fail(err, QP_STORE, "%s: holds no index yet: make one with `quipu index SOURCE`", s->dir);
    if (application != APPLICATION)
        return qp_fail(err, QP_STORE, "%s: is another program's SQLite file, no index of ours: give another folder",
                       path);
    if (version != VERSION)
        return qp_fail(err, QP_STORE,
                       "%s: has tables of version %lld, this program reads version %d: use the program that "
                       "made it, or index again into a new folder",
                       path, (long long)version, VERSION);
    return s->write ? qp_schema_places(s, err) : QP_OK;
}
