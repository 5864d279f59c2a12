/* Hashes: XXH3 for keys and checksums (fast, not against an adversary), SHA-256 for files that come from elsewhere. */
#ifndef QP_BASE_HASH_H
#define QP_BASE_HASH_H

#include "base/err.h"
#include "base/str.h"

uint64_t qp_hash64(qp_str); /* the same on every machine: it stands in files */

/* 128 bits as 32 lower-case hexadecimal digits: the identity of a text, a chunk's settings, a model. */
typedef struct {
    char hex[33];
} qp_digest;
qp_digest qp_digest_of(qp_str);
/* Of several parts, each with its length hashed in, so ("ab","c") differs from ("a","bc"). */
qp_digest qp_digest_parts(const qp_str *parts, size_t n);

/* SHA-256 of a file's bytes as 64 lower-case hexadecimal digits. */
qp_code qp_sha256_file(const char *path, char hex[65], qp_err *);
/* Incremental, for a download. */
typedef struct qp_sha256 qp_sha256;
qp_sha256 *qp_sha256_new(void);
void qp_sha256_add(qp_sha256 *, const void *, size_t);
void qp_sha256_end(qp_sha256 *, char hex[65]); /* also frees */

#endif
