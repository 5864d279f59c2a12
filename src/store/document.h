/* A document as ingest hands it to the store: its text, how it is cut, what it points at. Plain data; all strings live
 * in the arena of whoever read it, and the store copies what it keeps.
 */
#ifndef QP_STORE_DOCUMENT_H
#define QP_STORE_DOCUMENT_H

#include "quipu.h"

typedef struct qp_chunk {
    uint64_t from, to; /* bytes in the document's text */
    uint32_t page;     /* 1-based; 0 = the format has none */
    qp_str heading;    /* heading path, "Chapter > Section"; n == 0 = none */
} qp_chunk;

/* Something the document says points elsewhere, unresolved: resolving needs all documents (ingest/resolve.h). */
typedef struct qp_reference {
    uint32_t chunk; /* ordinal of the chunk that says it; QP_WHOLE: the document as a whole */
    qp_str type;    /* edge type: "link", "cites", "man", "ref", ... */
    qp_str target;  /* "guide/intro.html", "10.1145/361002.361007", "arXiv:1706.03762", "printf(3)", a title, ... */
    qp_str anchor;  /* fragment in the target, or empty */
    float weight;
} qp_reference;
#define QP_WHOLE UINT32_MAX

typedef struct qp_document {
    qp_str key;    /* its id, unique in the index: a relative path, or a data set's _id */
    qp_str source; /* the source it was read from, as given to `quipu index` */
    qp_str path;   /* file it came from (absolute), or empty */
    qp_str format; /* "html", "pdf", "jsonl", ... */
    qp_str title;
    qp_str language; /* ISO 639-1 of its stems, "en"; empty: none */
    qp_str meta;     /* a JSON object, "{}" if there is nothing */
    qp_str text;     /* extracted, UTF-8, no NUL */
    qp_str digest;   /* of the source bytes and of all settings of reading and cutting: equal = unchanged */
    const qp_chunk *chunks;
    uint32_t n_chunks;
    const qp_str *questions; /* that a writer wrote for each chunk (Doc2Query), a line each: for a snapshot; or null */
    const qp_reference *references;
    uint32_t n_references;
    const qp_str *anchors;        /* fragment names the document defines ... */
    const uint32_t *anchor_chunk; /* ... and the chunk each stands in */
    uint32_t n_anchors;
} qp_document;

/* What a model makes of a text: a vector (an embedder), learned terms (a sparse encoder), the outputs of its attention
 * heads, the questions it answers (a writer), vectors of its tokens (an embedder); the last two of passages alone. */
typedef enum qp_made { QP_MADE_VECTOR, QP_MADE_TERMS, QP_MADE_HEADS, QP_MADE_QUESTIONS, QP_MADE_TOKENS } qp_made;

#endif
