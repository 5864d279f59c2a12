/* What the fuzz targets of readers share. */
#ifndef INGEST_FUZZ_H
#define INGEST_FUZZ_H

#include <stdlib.h>

#include "ingest/cut.h"
#include "ingest/reader.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_reader(qp_read_fn read, const uint8_t *data, size_t size)
{
    qp_arena *mem = qp_arena_new();
    qp_extract x;
    qp_document d = {0};
    qp_err err = {0};

    qp_extract_init(&x, mem);
    if (read(&(qp_input){{(const char *)data, size}, NULL}, &x, &err) == QP_OK) {
        if (qp_utf8_valid((qp_str){x.text.at, x.text.n}) != x.text.n)
            abort(); /* past a reader all text is UTF-8 without NUL */
        qp_scan_references(&x, "text");
        if (qp_cut(&x, &(qp_cutting){.unit = QP_TOKENS, .size = 32, .overlap = 8}, &d, mem, &err) == QP_OK)
            for (uint32_t i = 0; i < d.n_chunks; i++)
                if (d.chunks[i].from > d.chunks[i].to || d.chunks[i].to > d.text.n)
                    abort();
    }
    qp_extract_free(&x);
    qp_arena_free(mem);
    return 0;
}

#endif
