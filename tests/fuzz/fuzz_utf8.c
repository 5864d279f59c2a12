/* Any bytes: repaired they are UTF-8, their terms are UTF-8 and lie in order, their sentences too. */
#include <stdint.h>
#include <stdlib.h>

#include "text/sentence.h"
#include "text/terms.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(void *ctx, qp_str term, size_t from, size_t to)
{
    size_t *last = ctx;

    if (qp_utf8_valid(term) != term.n || !term.n || term.n > QP_TERM_MAX || from < *last || to <= from)
        abort();
    *last = from;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_str bytes = {(const char *)data, size};
    qp_buf fixed = {0};
    qp_terms *terms;
    size_t last = 0, at = 0;
    qp_span span;

    qp_utf8_repair(bytes, &fixed);
    if (qp_utf8_valid(qp_buf_view(&fixed)) != fixed.n)
        abort();
    if (qp_terms_open("en", &terms, NULL))
        abort();
    qp_terms_each(terms, qp_buf_view(&fixed), take, &last);
    last = 0;
    qp_terms_each(terms, bytes, take, &last);
    while (qp_sentence_next(bytes, &at, &span))
        if (span.from >= span.to || span.to > size)
            abort();
    qp_terms_close(terms);
    qp_buf_free(&fixed);
    return 0;
}
