/* What the parts of an import share: from a checkpoint's folder (safetensors, config.json, a tokenizer) to one GGUF
 * file as llama.cpp's own converter lays it out (architecture "bert"; the same tensor names, tokens and keys), with
 * these keys beside them:
 *   quipu.segments      u32   cross-encoders: 1 if the passage's tokens get segment 1, 0 if all are segment 0
 *   quipu.max_tokens    u32   the longest input it was trained for, special tokens counted
 *   quipu.tokens        str   "colbert" for late interaction; its projection is token_proj.weight
 *   quipu.terms         str   "splade" for sparse encoders; their head is mlm.dense, mlm.norm and mlm.output.bias
 *   quipu.query_prefix, quipu.passage_prefix   what an embedder wants before a text of that role
 * Where it departs from that converter: a BERT pair classifier keeps its pooler (it is the dense + tanh before the
 * classifier, so it becomes `cls`), the head stays F32, and the tokenizer is chosen by what the file holds, not by the
 * architecture's name (multilingual MiniLM is a BERT with a SentencePiece vocabulary).
 */
#ifndef QP_MODEL_IMPORT_H
#define QP_MODEL_IMPORT_H

#include <ggml.h>
#include <gguf.h>
#include <yyjson.h>

#include "base/arena.h"
#include "base/err.h"

typedef struct qp_safetensors qp_safetensors; /* model/safetensors.h */

typedef enum qp_words { QP_WORDPIECE, QP_BPE, QP_UNIGRAM } qp_words;

typedef struct qp_checkpoint {
    const char *folder;
    qp_arena *mem;
    yyjson_val *config;           /* config.json; always an object */
    yyjson_val *tokenizer;        /* tokenizer.json, or null */
    yyjson_val *tokenizer_config; /* tokenizer_config.json, or null */
    qp_safetensors *weights;
    bool roberta;        /* positions start after the padding token's */
    bool classifier;     /* a cross-encoder with one score */
    bool masked;         /* has a masked-language-model head: BertForMaskedLM */
    bool late;           /* ColBERT's: token vectors are projected by linear.weight */
    bool sparse;         /* which weights terms, as SPLADE does; set by qp_import_use */
    enum ggml_type type; /* of the large matrices */
    uint32_t layers, width, ff, heads, vocab, segments;
    uint32_t positions, skip; /* rows of position embeddings used, and how many before them are not */
    qp_words words;           /* set by qp_import_vocab */
} qp_checkpoint;

typedef struct qp_import_options {
    enum ggml_type type;
    const char *name, *pooling, *segments, *license; /* null: as the checkpoint says */
    const char *query_prefix, *passage_prefix;       /* the same */
    uint32_t max_tokens;                             /* 0: the same */
} qp_import_options;

/* A checkpoint (folder or .safetensors file) as GGUF at `path`, which is written beside its place and published
 * whole. */
qp_code qp_checkpoint_convert(const char *source, const char *path, const qp_import_options *, const qp_watch *,
                              qp_err *);

/* JSON of a file in the checkpoint's folder, at most 64 MiB; *doc stays null if there is no such file. */
qp_code qp_checkpoint_json(const char *folder, const char *file, yyjson_doc **doc, qp_err *);

/* Sizes and kind, from config.json; refuses what the BERT graph cannot compute. */
qp_code qp_import_config(qp_checkpoint *, struct gguf_context *, const qp_import_options *, qp_err *);
/* Pooling, segments, longest input, prefixes: what stands beside config.json. After qp_import_vocab. */
qp_code qp_import_use(qp_checkpoint *, struct gguf_context *, const qp_import_options *, qp_err *);
qp_code qp_import_vocab(qp_checkpoint *, struct gguf_context *, qp_err *);
/* Adds the tensors' records, then writes header and data to `file`, one tensor in memory at a time. */
qp_code qp_import_weights(qp_checkpoint *, struct gguf_context *, const char *file, const qp_watch *, qp_err *);

/* A vocabulary while it is read. */
typedef enum qp_token_type {
    QP_TOKEN_NORMAL = 1,
    QP_TOKEN_UNKNOWN,
    QP_TOKEN_CONTROL,
    QP_TOKEN_USER,
    QP_TOKEN_UNUSED
} qp_token_type;

typedef struct qp_vocab {
    uint32_t n;
    const char **text; /* null: no token has this id */
    float *score;
    int32_t *type;
    qp_str charsmap; /* SentencePiece's normalisation, compiled; empty: none */
    bool prefix_space, squeeze_spaces;
} qp_vocab;

qp_code qp_vocab_set(qp_vocab *, qp_arena *, uint64_t id, qp_str text, float score, qp_token_type, const char *where,
                     qp_err *);
/* A sentencepiece.bpe.model (protobuf), its ids shifted as XLM-RoBERTa's are. The bytes are foreign. */
qp_code qp_vocab_sentencepiece(qp_vocab *, qp_arena *, qp_str bytes, const char *where, qp_err *);

/* A GGUF file's header and tensors lie within the file. QP_MODEL with the reason if not. */
qp_code qp_gguf_check(const char *path, qp_err *);
/* A checked GGUF file at `path`, published whole; the options' prefixes and longest input become keys of it. */
qp_code qp_gguf_take(const char *source, const char *path, const qp_import_options *, const qp_watch *, qp_err *);

#endif
