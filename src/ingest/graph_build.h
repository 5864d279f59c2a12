/* Building a graph in bounded memory: triples and entities in any order in, numbered and sorted parts out.
 *
 * Names go into a dictionary in memory; when it is full its names are handed to an external sort (base/sorter.h),
 * numbered within that dictionary, and triples wait on disk in those numbers. At the end equal names meet in the sort
 * and are given their place, and as all triples written under one dictionary lie together, one table of that
 * dictionary's size turns them into places: names are never looked up in more than the budget. The result depends on
 * what was added and in which order texts and weights came, not on the budget. One thread.
 */
#ifndef QP_INGEST_GRAPH_BUILD_H
#define QP_INGEST_GRAPH_BUILD_H

#include "ingest/triples.h"

/* Limits: 2^32 - 2 entities, 65,535 relations with 64 MiB of names, a name of 1 MiB, a text of an entity or a triple of
 * 1 MiB. */
enum { QP_BUILD_NAME = 1 << 20, QP_BUILD_TEXT = 1 << 20, QP_BUILD_RELATIONS = 1 << 20 };

typedef struct qp_build qp_build;

/* `folder`: for temporary files without names, made only when memory does not do. `budget`: bytes of memory for all of
 * it, 1 MiB at least. `watch`: cancel and, in finish, progress (stage "sort", items are triples); null or kept until
 * close. */
qp_code qp_build_open(const char *folder, size_t budget, const qp_watch *watch, qp_build **, qp_err *);
void qp_build_close(qp_build *); /* takes null */

/* What readers write into. All of them: QP_INPUT for what is not taken (a name that is empty, longer than 1 MiB, or not
 * UTF-8 without NUL; a weight that is no number >= 0), and nothing of it is kept; QP_STORE for a limit or a full disk:
 * that ends the build. */
qp_triple_sink qp_build_sink(qp_build *);
qp_code qp_build_triple(qp_build *, const qp_triple *, qp_err *);
qp_code qp_build_entity(qp_build *, const qp_entity *, qp_err *);
qp_code qp_build_relation(qp_build *, const qp_entity *, qp_err *);
qp_code qp_build_scope(qp_build *, qp_str id, qp_err *);
qp_code qp_build_provenance(qp_build *, qp_str entity, qp_str document, qp_err *);

/* Where the parts go, in this order: all relations in byte order of their names, all entities in order of (scope,
 * name), all triples in order of (head, tail, relation). An id is the place in that order. Strings live for the
 * call. */
typedef struct qp_build_out {
    qp_code (*relation)(void *ctx, qp_str name, qp_err *);
    /* Names are unique in a scope: of several ids with one name the first (in byte order of ids) has it, the others are
     * called "name (id)". Texts are joined by line breaks, each once; what is beyond the limit is left out. */
    qp_code (*entity)(void *ctx, qp_str scope, qp_str name, qp_str text, qp_err *);
    /* Of triples given several times the heaviest, with the texts of all, joined as those of entities, and behind a NUL,
     * if there are any, their documents, a line each (store/graph.h). Self-loops are triples. */
    qp_code (*triple)(void *ctx, uint32_t head, uint32_t relation, uint32_t tail, float weight, qp_str text, qp_err *);
    /* As they were added, last of all: of readers whose entities have their ids for names. */
    qp_code (*provenance)(void *ctx, qp_str entity, qp_str document, qp_err *);
    void *ctx;
} qp_build_out;

typedef struct qp_build_counts {
    uint64_t relations, entities, triples;
    uint64_t duplicates; /* triples given more than once: the times beyond the first */
    uint64_t self_loops; /* among triples */
    uint64_t renamed;    /* entities and relations whose name another one has, too */
    uint64_t texts_cut;  /* texts left out beyond the limit */
    uint64_t spilled;    /* bytes of temporary files */
} qp_build_counts;

/* Once, after everything was added; only close follows. An error of a callback ends it and is given back. */
qp_code qp_build_finish(qp_build *, const qp_build_out *, qp_build_counts *, qp_err *);

#endif
