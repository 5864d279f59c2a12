/* BERT's WordPiece, token for token what HF tokenizers' BertTokenizer gives. Immutable after opening: any thread. */
#ifndef QP_MODEL_WORDPIECE_H
#define QP_MODEL_WORDPIECE_H

#include "base/err.h"
#include "base/map.h"
#include "model/gguf.h"

typedef struct qp_ids { /* a growing list of token ids; zero it before first use, free `at` (and `word`) */
    int32_t *at;
    uint32_t *word; /* of each the byte its word begins at, QP_NO_WORD of special ones; null unless `words` */
    uint32_t n, cap;
    bool words; /* set it before the first token is added */
    bool oom;   /* sticky */
} qp_ids;
#define QP_NO_WORD UINT32_MAX
void qp_ids_add(qp_ids *, int32_t id);
bool qp_ids_room(qp_ids *, uint32_t n); /* for n more behind at[n]; false without memory */

typedef struct qp_wordpiece {
    qp_map *vocabulary; /* GGUF's spelling: words begin with U+2581, pieces inside a word stand bare */
    int32_t cls, sep, pad, unk, mask;
    bool lowercase, strip_accents;
} qp_wordpiece;

qp_code qp_wordpiece_open(const qp_gguf *, qp_wordpiece *, qp_err *);
void qp_wordpiece_close(qp_wordpiece *);
/* Appends the tokens of text, [CLS] and [SEP] not added; stops soon after `limit` tokens. */
void qp_wordpiece_run(const qp_wordpiece *, qp_str text, uint32_t limit, qp_ids *);

#endif
