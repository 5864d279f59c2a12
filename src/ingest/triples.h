/* Graphs in: files of triples, read as a stream of triples and entities. Foreign bytes: what a line has wrong is told
 * with file and line and the line is left out; memory does not grow with the file.
 *
 * A kind of file is a reader; all of them are asked through qp_triples_read. What they find goes into a sink, as a rule
 * that of ingest/graph_build.h, which takes it in any order. One thread per reading.
 */
#ifndef QP_INGEST_TRIPLES_H
#define QP_INGEST_TRIPLES_H

#include "base/err.h"
#include "base/str.h"

typedef struct qp_triple {       /* strings live for the call */
    qp_str head, relation, tail; /* ids; what a reader is shown of them may be told apart from them (qp_entity) */
    float weight;                /* finite, >= 0; 1 where nothing is said */
    qp_str text;                 /* what is said of it besides, "key: value" lines; or empty */
    qp_str document;             /* the key of the one that it is from, a line; or empty */
} qp_triple;

typedef struct qp_entity { /* what is known of an id; what stands in several calls comes together */
    qp_str id;             /* as in triples */
    qp_str name;           /* what a reader is shown; empty: nothing said (then it is the id) */
    unsigned rank;         /* of several names the lowest rank counts, then the one that came first; below 256 */
    qp_str text;           /* "key: value" lines; or empty */
} qp_entity;

/* QP_INPUT from a callback: this one is not taken and nothing of it was kept (the reader reports it and goes on, or
 * with `strict` ends there). Any other error ends the reading. */
typedef struct qp_triple_sink {
    qp_code (*triple)(void *ctx, const qp_triple *, qp_err *);
    qp_code (*entity)(void *ctx, const qp_entity *, qp_err *);
    qp_code (*relation)(void *ctx, const qp_entity *, qp_err *); /* the name of a relation; text is not used */
    qp_code (*scope)(void *ctx, qp_str id,
                     qp_err *); /* what follows is the small graph of one question; "": the shared */
    /* The entity, by its id, stands in the document of this key; null: nobody wants to know. */
    qp_code (*provenance)(void *ctx, qp_str entity, qp_str document, qp_err *);
    void *ctx;
} qp_triple_sink;

typedef enum qp_triples_kind {
    QP_TRIPLES_NONE,
    /* head, relation, tail and perhaps a weight parted by tabs; a first line head, relation, tail is a header, under
     * which a fourth column of another name is the document */
    QP_TRIPLES_TSV,
    /* RDF. An IRI's name is its rdfs:label in the file (without a language or in English before others), else what
     * stands behind its last '#', '/' or ':'; the IRI is in the entity's text. Literals are entities, named by their
     * text alone. */
    QP_TRIPLES_NTRIPLES,
    QP_TRIPLES_TURTLE,
    /* CSV with a header. Nodes: id (id, _id, node, node_id, :ID) and name (name, label, title), one of them at least;
     * all columns are the text. Edges: ends (source, src, from, head, subject, start, :START_ID; target, dst, to, tail,
     * object, end, :END_ID), relation (type, relation, label, predicate, rel, :TYPE; "link" where there is none),
     * weight; all other columns are the text. */
    QP_TRIPLES_NODES,
    QP_TRIPLES_EDGES,
    /* XML, read as a stream: nodes with their data as text, the data key called name, label or title being the name;
     * edges with a data key called type, relation, label, predicate, rel or name (else "link") and weight, other data
     * as text. */
    QP_TRIPLES_GRAPHML,
    /* graphs.jsonl: {"_id": question, "triples": [[head, relation, tail], ...]} a line, each a scope; a fourth item is
     * a weight. */
    QP_TRIPLES_GRAPHS,
    /* entities.tsv, relations.tsv: under the header "id name" what a reader is shown of the ids in triples.tsv */
    QP_TRIPLES_ENTITIES,
    QP_TRIPLES_RELATIONS,
    /* mentions.tsv: under the header "entity document" the documents, by their ids, that entities stand in */
    QP_TRIPLES_MENTIONS,
    /* What other systems leave on disk; see ingest/peer.h. */
    QP_TRIPLES_LIGHTRAG, /* graph_chunk_entity_relation.graphml, with kv_store_text_chunks.json beside it */
    QP_TRIPLES_HIPPORAG, /* openie_results_ner_*.json */
} qp_triples_kind;

/* The kind a file is, by its name (without folders) and its first bytes (up to 4 KiB, all there is); QP_TRIPLES_NONE:
 * it holds no triples that we know. Any thread. */
qp_triples_kind qp_triples_kind_of(qp_str file_name, qp_str head);

typedef struct qp_triples_source {
    qp_triples_kind kind;
    const char *path; /* of the file; null: */
    qp_str bytes;     /* these, kept until the reading ends ("standard input" in messages) */
    bool strict;      /* the first line that is left out ends the reading as QP_INPUT */
    const qp_watch
        *watch; /* progress (stage "read", items are triples), each left-out line up to a few, cancel; or null */
} qp_triples_source;

typedef struct qp_triples_report { /* zeroed by the caller; several readings add up */
    uint64_t triples;              /* that the sink took */
    uint64_t entities;             /* calls about an entity that it took */
    uint64_t repaired;             /* broken byte sequences and NULs that became U+FFFD */
    uint64_t left_out;             /* lines, rows or statements */
    qp_err first;                  /* why the first of them was, with file and line */
} qp_triples_report;

/* QP_INPUT: no file, or with strict a line left out; QP_STOPPED: cancelled; else what the sink said. */
qp_code qp_triples_read(const qp_triples_source *, const qp_triple_sink *, qp_triples_report *, qp_err *);

#endif
