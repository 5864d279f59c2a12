/* A GGUF file from somewhere else: refused with a reason, or every byte that our readers may ask for lies inside it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/decoder.h"
#include "model/gguf.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the BERT family reads; each row of it is touched. */
static void read_tensors(const qp_gguf *g)
{
    static const char *const names[] = {"token_embd.weight", "cls.weight", "cls.output.weight", "blk.0.attn_q.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        qp_tensor t;
        if (!qp_gguf_tensor(g, names[i], &t) || !qp_tensor_is_readable(&t) || t.cols > 4096)
            continue;
        float *row = malloc((t.cols + 1) * sizeof *row);
        for (uint32_t r = 0; row && r < t.rows && r < 4096; r++)
            qp_tensor_row(&t, r, row);
        free(row);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    qp_gguf g;
    qp_err err = {0};
    int file = memfd_create("model.gguf", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (qp_gguf_open(path, &g, &err) == QP_OK) {
        qp_model *m = NULL;
        read_tensors(&g);
        for (size_t i = 0; i < qp_gguf_texts(&g, "tokenizer.ggml.tokens"); i++)
            (void)qp_gguf_text_at(&g, "tokenizer.ggml.tokens", i);
        for (int purpose = QP_EMBEDDER; purpose <= QP_RANKER; purpose++)
            if (qp_model_open_bert(path, purpose, 1, &m, &err) == QP_OK)
                qp_model_close(m);
        qp_decoder *d = NULL;
        if (qp_decoder_takes(&g) && qp_decoder_open(&g, 1, &d, &err) == QP_OK)
            qp_decoder_close(d);
    } else if (!*err.message || strchr(err.message, '\n')) {
        abort();
    }
    qp_gguf_close(&g);
    close(file);
    return 0;
}
