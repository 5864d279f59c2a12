/* A model behind HTTP: what its parts share. */
#ifndef QP_MODEL_HTTP_MODEL_H
#define QP_MODEL_HTTP_MODEL_H

#include <yyjson.h>

#include "model/http.h"
#include "model/model.h"

typedef enum qp_provider { QP_OPENAI, QP_OLLAMA, QP_JINA, QP_COHERE } qp_provider;

typedef struct qp_http_model {
    qp_model model;
    qp_provider provider;
    char *name; /* "openai:MODEL@URL", as it was given */
    char *id;   /* MODEL */
    char *base; /* URL without a slash at its end */
    char digest[33];
    qp_http *http;
} qp_http_model;

/* BASE/path, freed by the caller; null without memory. */
char *qp_http_url(const qp_http_model *, const char *path);
/* A text as a JSON string: foreign bytes made valid UTF-8, an empty text a space (services refuse it). In doc's
 * memory. */
yyjson_mut_val *qp_http_text(yyjson_mut_doc *, qp_str);

qp_code qp_http_embed(void *, qp_role, const qp_str *text, uint32_t n, float *out, qp_err *);
qp_code qp_http_rank(void *, qp_str query, const qp_str *text, uint32_t n, float *score, qp_err *);
qp_code qp_http_generate(void *, const qp_message *, uint32_t n, const qp_sampling *, qp_str *out, qp_arena *,
                         qp_err *);
/* Finds out the dimension by embedding one word. */
qp_code qp_http_probe(qp_http_model *, qp_err *);

#endif
