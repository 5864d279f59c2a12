/* Semantic scores of texts for the question, as LEGO-GraphRAG's end-to-end models give them: the embedder's cosine, the
 * reranker's score, or the cosine of what the writer makes of both in its last layer (its "LLM embeddings"). What was
 * made of the index's own texts when they were indexed is not made again.
 */
#ifndef QP_OP_EEM_H
#define QP_OP_EEM_H

#include "op/op.h"

#define QP_EEM_OPTION(type)                                                                                           \
    QP_OPTION("eem", "what scores texts: the embedder, the reranker, or vectors of the writer's last layer", QP_ENUM, \
              offsetof(type, eem), "embed", 0, 0, "embed|rerank|writer")
#define QP_ITEM_OPTION(type)                                                                                        \
    QP_OPTION("item", "what of a triple is scored: both its nodes (their mean), its relation, or the whole triple", \
              QP_ENUM, offsetof(type, item), "triple", 0, 0, "node|edge|triple")

/* eem: "embed" | "rerank" | "writer". One number for each of n texts; null after an error. Rerank counts model
 * passes. */
const float *qp_eem_texts(qp_query *, const char *eem, const qp_str *text, uint32_t n);
/* The same of what nodes, edges or triples say, though the index keeps vectors of them. */
const float *qp_eem_told(qp_query *, const char *eem, qp_kind, const qp_id *, uint32_t n);
/* The same of edges, told as `item` ("node" | "edge" | "triple") says. */
const float *qp_eem_edges(qp_query *, const char *eem, const char *item, const qp_id *edge, uint32_t n);

/* A path as text, from its beginning to its last hit: "A -> rel -> B"; against an edge's arrow "~rel". */
qp_str qp_path_text(qp_query *, const qp_hit *last);

#endif
