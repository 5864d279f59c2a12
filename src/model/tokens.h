/* Text to token ids, with whatever tokeniser a GGUF file names. Immutable after opening: any thread. */
#ifndef QP_MODEL_TOKENS_H
#define QP_MODEL_TOKENS_H

#include "model/wordpiece.h"

typedef struct qp_tokenizer {
    qp_wordpiece wordpiece;    /* BERT's, ours; or */
    struct llama_model *llama; /* SentencePiece and BPE, by llama.cpp; null: WordPiece */
    const struct llama_vocab *vocab;
    int32_t begin, end; /* [CLS] and [SEP], or <s> and </s> */
    uint32_t between;   /* how many `end` stand between query and passage */
} qp_tokenizer;

qp_code qp_tokenizer_open(const qp_gguf *, qp_tokenizer *, qp_err *);
void qp_tokenizer_close(qp_tokenizer *);
/* Appends the tokens of text, `begin` and `end` not added; at most `limit` of them. */
void qp_tokenizer_run(const qp_tokenizer *, qp_str text, uint32_t limit, qp_ids *);

#endif
