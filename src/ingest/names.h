/* All names by which the documents of an index can be meant: key, path, file name, man page, identifier, title. Where
 * two documents share a name, the one whose key comes first has it. One thread. */
#ifndef QP_INGEST_NAMES_H
#define QP_INGEST_NAMES_H

#include "base/map.h"
#include "store/store.h"

typedef struct qp_named {
    int64_t row;
    uint32_t n_chunks;
    qp_str path; /* in the arena; empty: none */
} qp_named;

typedef struct qp_names {
    qp_named *documents; /* in order of key */
    size_t n, cap;
    qp_map *keys, *paths, *stems, *pages, *identifiers, *titles; /* values: document number + 1 */
    qp_map *letters;                                             /* of titles, without what parts their words */
    qp_map *openings; /* the first four words of long titles, to the first of the titles that begin so */
    struct qp_long_title {
        qp_str key;
        size_t document, next; /* the next with the same opening; SIZE_MAX: none */
    } * long_titles;
    size_t n_long, cap_long;
    bool oom;
    qp_arena *mem;
} qp_names;
#define QP_NOBODY SIZE_MAX

qp_code qp_names_load(qp_store *, qp_names *, qp_err *); /* free with qp_names_free, also after an error */
void qp_names_free(qp_names *);

/* The document that is meant, or QP_NOBODY. `from`: the one that says it; scratch is reset by the caller. */
size_t qp_names_link(const qp_names *, size_t from, qp_str target, qp_arena *scratch);
size_t qp_names_man(const qp_names *, qp_str page, qp_arena *scratch);
size_t qp_names_cited(const qp_names *, qp_str target, qp_arena *scratch);
size_t qp_names_key(const qp_names *, qp_str key);

#endif
