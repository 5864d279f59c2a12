/* An open snapshot, as the files that read it see it. Private to src/store.
 *
 * At open: magic, version, size of the file, checksum of head and table of contents, and for each section that it lies
 * in the file and has the size the counts call for. So an array may be read at any index below its count. What the
 * arrays hold (references into STRINGS, ids, block sizes) is checked where it is read, by the functions below: a
 * damaged or forged file gives an error or an empty answer, never a read outside the map.
 */
#ifndef QP_STORE_MAPPED_H
#define QP_STORE_MAPPED_H

#include <pthread.h>

#include "base/file.h"
#include "store/layout.h"
#include "store/snapshot.h"
#include "text/terms.h"

enum { QP_KEPT_WORDS = 8 };

typedef struct qp_postings { /* of words, or of learned terms */
    const qp_block_entry *block;
    uint64_t blocks;
    const uint8_t *at; /* bytes */
    uint64_t bytes;
    uint32_t nodes; /* of the snapshot */
} qp_postings;

typedef struct qp_lexical { /* what lexical search reads: of texts, or of texts with their questions */
    const qp_term_entry *term;
    uint32_t terms;
    qp_postings of;
    const uint32_t *length;
    const float *norm; /* null of texts with questions */
    const qp_lexical_info *sums;
} qp_lexical;

typedef struct qp_range { /* of nodes: passages, or entities */
    qp_id from, to;
} qp_range;

struct qp_snapshot {
    qp_mapped map;
    char *path;
    uint64_t number;
    const qp_head *head;
    const qp_toc_entry *toc;
    const qp_info *info;
    uint32_t documents, nodes, edges, types, dim, learned_terms, entity, heads, head_dim; /* info's, known to fit */
    const qp_document_entry *document;
    const qp_node_entry *node;
    const qp_ref *type;
    const uint32_t *edge_from, *edge_to, *in_edge, *both_node;
    const uint32_t *edge_type;
    uint32_t synonym; /* the type whose edges only a walk across takes; UINT32_MAX: none */
    const float *edge_weight, *vector, *scale;
    const uint64_t *out, *in, *both;
    const float *type_vector, *triple_vector; /* or null */
    const uint32_t *triple_edge;
    const int8_t *triple_code;
    const float *triple_scale;
    const int8_t *head_code;
    const float *head_scale, *type_head;
    const int8_t *code;
    const uint8_t *ann_level;
    const uint64_t *ann_upper;
    const uint32_t *ann_base, *ann_links;
    const uint32_t *said_edge, *part, *part_start, *part_member, *walk_stop;
    const qp_ref *said;
    const uint64_t *walk;
    qp_lexical texts, expanded; /* expanded.length is null where nothing was */
    const qp_learned_entry *learned, *centroid_list;
    qp_postings learned_of, centroid_of;
    uint32_t token_dim, centroids; /* token_dim 0: no vectors of tokens */
    const uint64_t *token_start;
    const uint16_t *token_centroid;
    const uint8_t *token_residual;
    const float *centroid;
    char *embedder, *language, *sparse, *attention, *expander;
    bool arcs_seen, parts_seen, walks_seen; /* BOTH, PART, WALKS were looked at */
    qp_view view;
    pthread_mutex_t lock; /* of words, and of telling bits */
    uint8_t *type_bit;    /* of each type, in a walk's mask; null: not told */
    qp_terms *words[QP_KEPT_WORDS];
};

/* Does only a walk across take this edge, or is its other end of the same half and no synonym? edge < edges. */
static inline bool qp_snapshot_crosses(const qp_snapshot *s, uint32_t edge)
{
    return (s->edge_from[edge] < s->entity) != (s->edge_to[edge] < s->entity) || s->edge_type[edge] == s->synonym;
}

/* The file that CURRENT names, in the arena; QP_NONE: nothing is published. */
qp_code qp_snapshot_current(const char *dir, char **path, uint64_t *number, qp_arena *, qp_err *);

/* QP_STORE: what is wrong, in which section; names the file. */
qp_code qp_snapshot_damaged(const qp_snapshot *, const char *section, const char *what, qp_err *);
const char *qp_section_name(qp_section);

/* Of a file just mapped: checks its head and that its sections lie in it, then sets what points into them. QP_STORE. */
qp_code qp_snapshot_sections(qp_snapshot *, qp_err *);

/* The checksums alone: the part of qp_snapshot_check that finds damage. */
qp_code qp_snapshot_sums(const qp_snapshot *, qp_err *);

/* The bytes of a reference into STRINGS (or TEXTS); false if it points outside. */
bool qp_snapshot_ref(const qp_snapshot *, qp_section, qp_ref, qp_str *);
/* The same for documents' and nodes' strings: what points outside is an empty string. */
qp_str qp_snapshot_string(const qp_snapshot *, qp_ref);
/* Which of n things, sorted by name, is called so; their names are `stride` bytes apart. UINT32_MAX: none. */
uint32_t qp_snapshot_find(const qp_snapshot *, const qp_ref *names, size_t stride, uint32_t n, qp_str name);

/* A tool to cut questions into terms; give it back after use. */
qp_code qp_snapshot_take_words(qp_snapshot *, qp_terms **, qp_err *);
void qp_snapshot_give_words(qp_snapshot *, qp_terms *);

/* The blocks of a term with this first block and df; null if they lie outside, or there are none. */
const qp_block_entry *qp_postings_blocks(const qp_postings *, uint64_t first, uint32_t df, uint32_t *n);
/* A block's nodes and tfs, at most QP_BLOCK; `before` is the last node of the block before, UINT32_MAX at a term's
 * start. False if it is damaged: nodes then hold nothing to be used. tfs are always at least 1. */
bool qp_block_nodes(const qp_postings *, const qp_block_entry *, uint32_t before, uint32_t *node);
bool qp_block_tfs(const qp_postings *, const qp_block_entry *, uint32_t *tf);

/* ---- searches, each for one index name of the view ---- */
qp_code qp_snapshot_dense(const qp_snapshot *, qp_range, const qp_probe *, uint32_t k, qp_list *, qp_arena *, qp_err *);
qp_code qp_snapshot_lexical(qp_snapshot *, const qp_lexical *, qp_range, const qp_probe *, bool tfidf, uint32_t k,
                            qp_list *, qp_arena *, qp_err *);
qp_code qp_snapshot_learned(const qp_snapshot *, qp_range, const qp_probe *, uint32_t k, qp_list *, qp_arena *,
                            qp_err *);
qp_code qp_snapshot_late(const qp_snapshot *, const qp_probe *, uint32_t k, qp_list *, qp_arena *, qp_err *);
/* Walks the ann links from `entry` to about the best `width` nodes by the codes' product; QP_STORE if they are
 * damaged. */
struct qp_best;
qp_code qp_snapshot_ann(const qp_snapshot *, qp_id entry, const int8_t *query, float scale, struct qp_best *,
                        qp_arena *, qp_err *);

/* Edges by their type's vector, or by their triple's own. */
qp_code qp_snapshot_dense_edges(const qp_snapshot *, const qp_probe *, bool triples, uint32_t k, qp_list *, qp_arena *,
                                qp_err *);
/* By the cosine of one attention head, of nodes or edges. */
qp_code qp_snapshot_head_search(const qp_snapshot *, qp_range, const qp_probe *, bool nodes, uint32_t k, qp_list *,
                                qp_arena *, qp_err *);
qp_code qp_snapshot_heads(const qp_snapshot *, bool nodes, const qp_id *, uint32_t n, float *out, qp_err *);

/* ---- walks, for the view ---- */
qp_code qp_snapshot_adjacent(void *, const qp_id *, uint32_t n, qp_walk, qp_adj *, qp_arena *, qp_err *);
qp_code qp_snapshot_between(void *, const qp_id *, uint32_t n, qp_walk, qp_id **edge, uint32_t *m, qp_arena *,
                            qp_err *);
qp_code qp_snapshot_incident(void *, const qp_id *, uint32_t n, qp_walk, qp_adj *, qp_arena *, qp_err *);
qp_code qp_snapshot_degree(void *, const qp_id *, uint32_t n, qp_walk, uint32_t *out, qp_err *);
qp_code qp_snapshot_arcs(void *, qp_walk, qp_arcs *, qp_arena *, qp_err *);
qp_code qp_snapshot_types(void *, const char *names, uint64_t *bits, qp_err *);
/* QP_BUG for a node that is not there; QP_STORE for one whose edges lie outside. */
qp_code qp_snapshot_no_node(const qp_snapshot *, qp_id, qp_err *);

/* ---- texts, for the view ---- */
qp_code qp_snapshot_text(void *, qp_kind, const qp_id *, uint32_t n, qp_str *out, qp_arena *, qp_err *);
qp_code qp_snapshot_about(void *, const qp_id *, uint32_t n, qp_about *out, qp_arena *, qp_err *);
qp_code qp_snapshot_link(void *, const qp_id *, uint32_t n, qp_link *out, qp_err *);

/* ---- entities, for the view ---- */
qp_code qp_snapshot_find_entities(void *, qp_str scope, const qp_str *name, uint32_t n, qp_id *out, qp_err *);
qp_code qp_snapshot_scope(void *, qp_str scope, qp_id *first, uint32_t *n, qp_err *);

/* ---- what was computed beforehand ---- */
qp_code qp_snapshot_parts(void *, qp_parts *, qp_err *);
qp_code qp_snapshot_stops(void *, qp_stops *, qp_err *);

void qp_view_of(qp_snapshot *); /* fills the view */

#endif
