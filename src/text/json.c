#include "text/json.h"

#include <stdlib.h>
#include <yyjson.h>

#include "text/utf8.h"

char *qp_json_text(yyjson_mut_doc *doc, bool pretty)
{
    size_t n = 0;
    qp_buf repaired = {0};
    char *json = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE | (pretty ? YYJSON_WRITE_PRETTY : 0), &n);
    if (!json || qp_utf8_valid((qp_str){json, n}) == n)
        return json;
    qp_utf8_repair((qp_str){json, n}, &repaired);
    free(json);
    if (repaired.oom) {
        qp_buf_free(&repaired);
        return NULL;
    }
    return repaired.at;
}
