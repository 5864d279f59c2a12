/* The bytes of a snapshot file. Little endian, no pointers, every section on a 64-byte boundary, zeros between.
 *
 * A file is head, table of contents (one entry for each kind, in this order, empty sections too), sections. Every
 * number below is somebody else's until it was checked; see mapped.h for what is checked when.
 */
#ifndef QP_STORE_LAYOUT_H
#define QP_STORE_LAYOUT_H

#include <stdint.h>

#define QP_SNAPSHOT_MAGIC "quipu\n\x1a" /* with its NUL 8 bytes; a transfer that changes line ends breaks it */

enum { QP_SNAPSHOT_VERSION = 10, QP_SECTION_ALIGN = 64, QP_BLOCK = 128 /* postings a block */, QP_IMPACT = 4096 };

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "snapshots are read where they are mapped: little endian machines only"
#endif

typedef enum qp_section {
    QP_S_INFO,            /* one qp_info */
    QP_S_TEXTS,           /* documents' texts, end to end */
    QP_S_STRINGS,         /* everything short: keys, titles, headings, metadata, type names, terms */
    QP_S_DOCUMENTS,       /* qp_document_entry, in order of key */
    QP_S_NODES,           /* qp_node_entry: chunks by document, then place; then entities by scope, then name */
    QP_S_TYPES,           /* qp_ref, in order of name */
    QP_S_EDGE_FROM,       /* u32; edges are ordered by (from, to, type), an edge's id is its place */
    QP_S_EDGE_TO,         /* u32 */
    QP_S_EDGE_TYPE,       /* u32 */
    QP_S_EDGE_WEIGHT,     /* f32 */
    QP_S_OUT,             /* u64 x (nodes + 1): a node's outgoing edges are [out[v], out[v + 1]) */
    QP_S_IN,              /* u64 x (nodes + 1) into IN_EDGE */
    QP_S_IN_EDGE,         /* u32: ids of incoming edges, rising within a node, so their tails rise too */
    QP_S_BOTH,            /* u64 x (nodes + 1) into BOTH_NODE */
    QP_S_BOTH_NODE,       /* u32: distinct neighbours over all types, both ways, rising, without the node itself */
    QP_S_VECTORS,         /* f32 x nodes x dim, unit length or all zero; empty without an embedder */
    QP_S_CODES,           /* i8 x nodes x dim: vector / scale; empty in small indices */
    QP_S_SCALES,          /* f32 x nodes; 0: the node has no vector */
    QP_S_ANN_LEVEL,       /* u8 x nodes: highest layer of a node; empty below the size where ann pays */
    QP_S_ANN_UPPER,       /* u64 x nodes: first row in ANN_LINKS of the layers above 0 */
    QP_S_ANN_BASE,        /* u32 x nodes x (1 + 2 m): count, then neighbours in layer 0 */
    QP_S_ANN_LINKS,       /* u32 x rows x (1 + m): the same for each layer above 0 of each node */
    QP_S_TERMS,           /* qp_term_entry, in byte order of the term */
    QP_S_BLOCKS,          /* qp_block_entry, by term */
    QP_S_POSTINGS,        /* bytes: see qp_block_entry */
    QP_S_LENGTHS,         /* u32: terms of a node, each time it stands there */
    QP_S_NORMS,           /* f32: length of a node's tf-idf vector */
    QP_S_EXPANDED_TERMS,  /* the same of passages with the questions that a writer wrote for them (Doc2Query), ... */
    QP_S_EXPANDED_BLOCKS, /* ... entities without; empty unless questions were asked for */
    QP_S_EXPANDED_POSTINGS,
    QP_S_EXPANDED_LENGTHS,
    QP_S_LEARNED,          /* qp_learned_entry x learned: terms of a sparse encoder, by its ids; empty without one */
    QP_S_LEARNED_BLOCKS,   /* qp_block_entry, by term; what stands as tf is the weight in 1 / QP_IMPACT */
    QP_S_LEARNED_POSTINGS, /* bytes */
    QP_S_TOKEN_START, /* u64 x (passages + 1): tokens of a passage (store/tokens.h); empty unless they were asked for */
    QP_S_TOKEN_CENTROID,    /* u16 x tokens: the nearest */
    QP_S_TOKEN_RESIDUAL,    /* bytes: what is missing to it, two bits a dimension (codec.h) */
    QP_S_CENTROIDS,         /* f32 x centroids x token_dim */
    QP_S_CENTROID_LISTS,    /* qp_learned_entry x centroids: passages with a token there */
    QP_S_CENTROID_BLOCKS,   /* qp_block_entry; what stands as tf is how many */
    QP_S_CENTROID_POSTINGS, /* bytes */
    QP_S_TYPE_VECTORS,      /* f32 x types x dim: of a relation's name; empty where the graph has no triples */
    QP_S_TRIPLE_EDGE,       /* u32 x triples: edges that have vectors as triples, rising */
    QP_S_TRIPLE_VECTORS,    /* f32 x triples x dim: of "head -> relation -> tail" */
    QP_S_TRIPLE_CODES,      /* i8 x triples x dim: vector / scale */
    QP_S_TRIPLE_SCALES,     /* f32 x triples */
    QP_S_HEAD_CODES,        /* i8 x nodes x heads x head_dim: attention heads' outputs / scale; empty without them */
    QP_S_HEAD_SCALES,       /* f32 x nodes x heads; 0: the node has none */
    QP_S_TYPE_HEADS,        /* f32 x types x heads x head_dim: of a relation's name */
    QP_S_SAID_EDGE,         /* u32 x said: edges of which something is said, rising */
    QP_S_SAID,              /* qp_ref x said: what */
    QP_S_PART,              /* u32 x nodes: communities (store/precompute.h); empty unless they were asked for */
    QP_S_PART_START,        /* u32 x (parts + 1) */
    QP_S_PART_MEMBER,       /* u32 x nodes */
    QP_S_WALKS,             /* u64 x (nodes + 1): walks (graph/ppr.h); empty unless they were asked for */
    QP_S_WALK_STOPS,        /* u32 x walk_stops */
    QP_SECTIONS
} qp_section;

typedef struct qp_head {
    char magic[8];
    uint32_t version, sections;
    uint64_t bytes;    /* of the file */
    uint64_t checksum; /* XXH3 of head (with 0 here) and table of contents */
} qp_head;

typedef struct qp_toc_entry {
    uint64_t at, bytes, checksum;
} qp_toc_entry;

typedef struct qp_ref { /* bytes in STRINGS (or TEXTS) */
    uint64_t at, n;
} qp_ref;

typedef struct qp_lexical_info {
    uint64_t terms, blocks;
    uint64_t words, passage_words; /* sum of LENGTHS, and of passages alone */
} qp_lexical_info;

typedef struct qp_info {
    uint64_t documents, nodes, edges, types;
    qp_lexical_info texts, expanded;
    uint64_t dim;             /* 0: no vectors */
    uint64_t entity;          /* the first entity among the nodes; nodes where there is none */
    uint64_t arcs;            /* of BOTH_NODE */
    uint64_t crossing;        /* edges that only a walk across takes: between the halves, synonyms */
    uint64_t synonyms;        /* pairs that were joined because their vectors are alike */
    uint64_t type_vectors;    /* 1: they are there */
    uint64_t triples;         /* edges that have vectors as triples; 0: none were asked for, or made */
    uint64_t coded;           /* 1: CODES and SCALES are there */
    uint64_t ann_m, ann_rows; /* neighbours a layer (0: no ann), rows of ANN_LINKS */
    uint64_t ann_entry[2];    /* where a search starts among passages, among entities; UINT32_MAX: no ann there */
    uint64_t learned, learned_blocks;                       /* terms of the sparse encoder, blocks of their postings */
    uint64_t heads, head_dim;                               /* of the attention vectors; 0: there are none */
    uint64_t tokens, token_dim, centroids, centroid_blocks; /* token_dim 0: there are none */
    float token_value[4];                                   /* what a residual's two bits stand for */
    uint64_t said, parts, walk_stops;                       /* 0: there are none */
    double walk_alpha, walk_epsilon;
    qp_ref embedder, language, sparse, attention, expander; /* expander.n = 0: nothing was expanded */
} qp_info;

typedef struct qp_document_entry {
    qp_ref text; /* in TEXTS */
    qp_ref key, title, path, format, language, meta;
    uint32_t first, n; /* its nodes */
} qp_document_entry;

typedef struct qp_node_entry { /* of an entity: document is UINT32_MAX, heading its scope */
    uint32_t document, page;
    uint64_t from, to; /* in the document's text; of an entity in TEXTS: what is said of it */
    qp_ref name, heading;
} qp_node_entry;

typedef struct qp_term_entry {
    qp_ref name;
    uint64_t block;    /* first of ceil(df / QP_BLOCK) */
    uint32_t df;       /* nodes that have it */
    uint32_t passages; /* of them */
} qp_term_entry;

typedef struct qp_learned_entry {
    uint64_t block; /* first of ceil(df / QP_BLOCK) */
    uint32_t df;
    uint32_t zero;
} qp_learned_entry;

/* Up to QP_BLOCK postings: the differences of the nodes (the first from the node before the block, -1 at a term's
 * start, less one), each in `node_bytes`, then their tf - 1, each in `tf_bytes` (0: all are 1). What a block holds at
 * best is kept as (most, shortest), so that it bounds the score for any k1 and b. */
typedef struct qp_block_entry {
    uint64_t at;        /* in POSTINGS */
    uint32_t last;      /* its last node */
    uint32_t most;      /* largest tf */
    uint32_t shortest;  /* least length of its nodes; 0 of learned terms, which have none */
    uint8_t n;          /* postings - 1 */
    uint8_t node_bytes; /* 1, 2 or 4 */
    uint8_t tf_bytes;   /* 0, 1, 2 or 4 */
    uint8_t zero;
} qp_block_entry;

_Static_assert(sizeof(qp_head) == 32 && sizeof(qp_toc_entry) == 24 && sizeof(qp_document_entry) == 120 &&
                   sizeof(qp_node_entry) == 56 && sizeof(qp_term_entry) == 32 && sizeof(qp_block_entry) == 24 &&
                   sizeof(qp_info) == 392 && sizeof(qp_learned_entry) == 16,
               "no hidden padding in a file");

#endif
