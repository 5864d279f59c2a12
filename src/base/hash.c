#define XXH_INLINE_ALL
#include "base/hash.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

uint64_t qp_hash64(qp_str s)
{
    return XXH3_64bits(s.at, s.n);
}

static void to_hex(const unsigned char *bytes, size_t n, char *hex)
{
    static const char digit[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *hex++ = digit[bytes[i] >> 4];
        *hex++ = digit[bytes[i] & 15];
    }
    *hex = 0;
}

static qp_digest digest_of(XXH128_hash_t h)
{
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, h);
    qp_digest d;
    to_hex(bytes.digest, sizeof bytes.digest, d.hex);
    return d;
}

qp_digest qp_digest_of(qp_str s)
{
    return digest_of(XXH3_128bits(s.at, s.n));
}

qp_digest qp_digest_parts(const qp_str *parts, size_t n)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    for (size_t i = 0; i < n; i++) {
        uint64_t length = parts[i].n;
        XXH3_128bits_update(&state, &length, sizeof length);
        XXH3_128bits_update(&state, parts[i].at, parts[i].n);
    }
    return digest_of(XXH3_128bits_digest(&state));
}

struct qp_sha256 {
    EVP_MD_CTX *ctx;
};

qp_sha256 *qp_sha256_new(void)
{
    qp_sha256 *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    s->ctx = EVP_MD_CTX_new();
    if (!s->ctx || !EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL)) {
        EVP_MD_CTX_free(s->ctx);
        free(s);
        return NULL;
    }
    return s;
}

void qp_sha256_add(qp_sha256 *s, const void *bytes, size_t n)
{
    EVP_DigestUpdate(s->ctx, bytes, n);
}

void qp_sha256_end(qp_sha256 *s, char hex[65])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_DigestFinal_ex(s->ctx, sum, &n);
    to_hex(sum, n, hex);
    EVP_MD_CTX_free(s->ctx);
    free(s);
}

qp_code qp_sha256_file(const char *path, char hex[65], qp_err *err)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return qp_fail(err, QP_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    enum { BLOCK = 1 << 20 };
    char *block = malloc(BLOCK);
    qp_sha256 *s = qp_sha256_new();
    qp_code code = block && s ? QP_OK : qp_oom(err);
    for (size_t n; !code && (n = fread(block, 1, BLOCK, f)) > 0;)
        qp_sha256_add(s, block, n);
    if (!code && ferror(f))
        code = qp_fail(err, QP_INPUT, "%s: reading failed: %s", path, strerror(errno));
    if (s)
        qp_sha256_end(s, hex);
    free(block);
    fclose(f);
    return code;
}
