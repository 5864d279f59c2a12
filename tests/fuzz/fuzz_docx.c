/* Any bytes as docx: read, scanned for references, cut, or refused. */
#include "ingest_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_reader(qp_read_docx, data, size);
}
