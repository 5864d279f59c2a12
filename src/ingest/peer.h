/* What other systems leave on disk, read as passages, a graph, and where its entities stand.
 *
 * LightRAG's working folder (file stores): kv_store_text_chunks.json and graph_chunk_entity_relation.graphml. A chunk
 * is a document: called as LightRAG's document for the first chunk of it, with "#1", "#2", ... behind it for the
 * others; file path and id of the chunk are metadata. Entities keep type and description, relations are their keywords
 * and keep description and weight; an entity stands in the chunks that its source_id names.
 *
 * HippoRAG's openie_results_ner_MODEL.json: a document is a passage, called by its idx; entities stand where a triple
 * of the passage has them.
 *
 * Foreign bytes: what is broken is told with its file and left out. One thread.
 */
#ifndef QP_INGEST_PEER_H
#define QP_INGEST_PEER_H

#include <yyjson.h>

#include "ingest/batch.h"

typedef enum qp_peer { QP_PEER_NONE, QP_PEER_LIGHTRAG, QP_PEER_HIPPORAG, QP_PEER_GRAPHRAG } qp_peer;

/* What a folder is, by the names of its files; *file (in the arena): the one that says so. */
qp_code qp_peer_of(const char *folder, qp_arena *, qp_peer *, char **file, qp_err *);
/* The passages of a folder of LightRAG's, or of a file of HippoRAG's; the graph is noted (qp_source_graph_note). */
qp_code qp_peer_read(qp_job *, qp_batch *, qp_peer, const char *file, qp_err *);

/* For the readers of graphs: the path of LightRAG's chunks beside its graph; the caller's; null without memory. */
char *qp_peer_chunks_beside(const char *graph);
/* One JSON file, whole, or without a path these bytes; QP_INPUT says where it breaks. */
qp_code qp_peer_json(const char *path, qp_str bytes, yyjson_doc **, qp_err *);
/* The key of the document that a chunk of LightRAG's becomes; `at` null: it is none. In the arena. */
qp_str qp_peer_chunk_key(qp_str id, yyjson_val *chunk, qp_arena *);

#endif
