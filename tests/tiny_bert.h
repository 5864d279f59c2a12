/* Variants of the tiny BERT (tests/reference/bert.py), with other metadata. Include after cmocka.h. */
#ifndef TINY_BERT_H
#define TINY_BERT_H

#include <gguf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "model/keys.h"

#define TINY "tests/reference/bert/tiny.gguf"

/* A copy with other pooling and segments (-1: no key); the caller frees the path and removes the file. */
static inline char *tiny_bert(uint32_t pooling, int segments)
{
    char *path = strdup("/tmp/quipu-bert-XXXXXX.gguf");
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    struct gguf_context *g = gguf_init_from_file(TINY, (struct gguf_init_params){.no_alloc = true});
    assert_non_null(g);
    size_t data = gguf_get_data_offset(g);
    gguf_set_val_u32(g, "bert.pooling_type", pooling);
    if (segments >= 0)
        gguf_set_val_u32(g, QP_KEY_SEGMENTS, (uint32_t)segments);
    /* llama.cpp takes the ids of BERT's own vocabulary where a file names none */
    static const char *const special[] = {"padding", "unknown", "bos", "eos"};
    for (uint32_t i = 0; i < 4; i++) {
        char key[60];
        snprintf(key, sizeof key, "tokenizer.ggml.%s_token_id", special[i]);
        gguf_set_val_u32(g, key, i);
    }
    gguf_set_val_u32(g, "tokenizer.ggml.seperator_token_id", 3);
    assert_true(gguf_write_to_file(g, path, true));
    gguf_free(g);
    qp_buf whole = {0};
    assert_int_equal(qp_file_read(TINY, 0, &whole, NULL), QP_OK);
    FILE *f = fopen(path, "ab");
    assert_int_equal(fwrite(whole.at + data, 1, whole.n - data, f), whole.n - data);
    fclose(f);
    qp_buf_free(&whole);
    return path;
}

#endif
