/* Any bytes as JSONL: records come out, or are refused one by one. */
#include <stdint.h>

#include "ingest/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const qp_record_kind kinds[] = {QP_JSONL, QP_CSV, QP_JSON};

    for (int i = 0; i < 3; i++) {
        qp_records *records;
        qp_str json;
        uint64_t line;
        qp_arena *mem = qp_arena_new();

        if (qp_records_open(kinds[i], NULL, (qp_str){(const char *)data, size}, &records, NULL) == QP_OK) {
            while (qp_records_next(records, &json, &line, NULL) == QP_OK && json.at) {
                qp_record record;
                qp_record_parse(json, &record, mem, NULL);
                qp_arena_reset(mem);
            }
            qp_records_close(records);
        }
        qp_arena_free(mem);
    }
    return 0;
}
