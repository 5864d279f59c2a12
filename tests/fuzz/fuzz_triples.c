/* Any bytes as triples, in the format that the first byte chooses: what is taken is built, and is sound. */
#include <stdint.h>
#include <stdlib.h>

#include "ingest/graph_build.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static qp_code take_name(void *ctx, qp_str name, qp_err *err)
{
    (void)ctx, (void)err;
    if (!name.n || qp_utf8_valid(name) != name.n)
        abort();
    return QP_OK;
}

static qp_code take_entity(void *ctx, qp_str scope, qp_str name, qp_str text, qp_err *err)
{
    if (qp_utf8_valid(scope) != scope.n || qp_utf8_valid(text) != text.n)
        abort();
    ++*(uint64_t *)ctx;
    return take_name(ctx, name, err);
}

static qp_code take_triple(void *ctx, uint32_t head, uint32_t relation, uint32_t tail, float weight, qp_str text,
                           qp_err *err)
{
    qp_str documents, said = qp_str_split(text, 0, &documents);
    (void)relation, (void)err;
    if (head >= *(uint64_t *)ctx || tail >= *(uint64_t *)ctx || !(weight >= 0) || qp_utf8_valid(said) != said.n ||
        qp_utf8_valid(documents) != documents.n)
        abort();
    return QP_OK;
}

static qp_code take_provenance(void *ctx, qp_str entity, qp_str document, qp_err *err)
{
    (void)ctx, (void)err;
    if (qp_utf8_valid(entity) != entity.n || qp_utf8_valid(document) != document.n)
        abort();
    return QP_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *folder = getenv("TMPDIR");
    qp_triples_report report = {0};
    qp_build_counts counts;
    qp_build *b = NULL;
    uint64_t entities = 0;
    qp_build_out out = {take_name, take_entity, take_triple, take_provenance, &entities};

    if (!size || qp_build_open(folder ? folder : "/tmp", 0, NULL, &b, NULL))
        return 0;
    qp_triple_sink sink = qp_build_sink(b);
    qp_triples_source source = {.kind = (qp_triples_kind)(QP_TRIPLES_TSV + data[0] % QP_TRIPLES_HIPPORAG),
                                .bytes = {(const char *)data + 1, size - 1}};
    if (qp_triples_read(&source, &sink, &report, NULL) == QP_OK && qp_build_finish(b, &out, &counts, NULL))
        abort();
    qp_build_close(b);
    return 0;
}
