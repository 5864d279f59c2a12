/* Metadata keys of our own in a GGUF file: `quipu model import` writes them, the models read them.
 *
 * quipu.segments. BERT adds an embedding of the segment to each token. Cross-encoders were trained either with 0 for
 * the query and 1 for the passage (ms-marco-MiniLM and its like) or with 0 throughout (RoBERTa has no choice; ours). A
 * file does not say which, llama.cpp takes 0, and the wrong choice gives wrong scores in silence. So the key decides;
 * without it a cross-encoder is taken only where both choices are one: the file has a single segment row, or the two
 * are equal. quipu-rerank-v0, which is older than the key, is known by its name: 0.
 */
#ifndef QP_MODEL_KEYS_H
#define QP_MODEL_KEYS_H

#define QP_KEY_SEGMENTS "quipu.segments"             /* u32: segment of the passage, 0 or 1 */
#define QP_KEY_MAX_TOKENS "quipu.max_tokens"         /* u32: longest input, [CLS] and [SEP] counted (max_seq_length) */
#define QP_KEY_QUERY_PREFIX "quipu.query_prefix"     /* string: what an embedder wants before a query ... */
#define QP_KEY_PASSAGE_PREFIX "quipu.passage_prefix" /* ... and before a passage */

/* string: "colbert" for an embedder whose vectors of tokens are projected by token_proj.weight */
#define QP_KEY_TOKENS "quipu.tokens"
#define QP_KEY_TERMS "quipu.terms" /* string: "splade" for a model that weights terms */

#endif
