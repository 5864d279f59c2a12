/* An extract to chunks: packed sentences, never cut inside one unless it alone is too long.
 *
 * A chunk is a stretch of the text, from its first sentence's begin to its last one's end. A heading begins a new chunk
 * once the one at hand is a quarter full, so that small sections share one and a chunk's heading path is that of its
 * begin. Any thread; the result lives in the arena, beside the extract's text.
 */
#ifndef QP_INGEST_CUT_H
#define QP_INGEST_CUT_H

#include "ingest/extract.h"
#include "quipu_op.h"
#include "store/document.h"

typedef enum qp_unit { QP_TOKENS, QP_CHARS, QP_WHOLE_TEXT } qp_unit;

typedef struct qp_cutting {
    qp_unit unit;
    uint32_t size, overlap;  /* in that unit; overlap < size */
    const qp_model *counter; /* of tokens; null: words of the text */
} qp_cutting;

/* Fills text, title, chunks, references and anchors of the document. A text of white space alone gives one empty chunk
 * if there is a title (it is found by that), else QP_INPUT. Marks become references of the chunk they stand in; each
 * chunk but the first of a section has a "parent" reference to the section's first chunk, and that to the first chunk
 * of the section around it: target empty, anchor "@" and the chunk's ordinal. */
qp_code qp_cut(const qp_extract *, const qp_cutting *, qp_document *, qp_arena *, qp_err *);

#endif
