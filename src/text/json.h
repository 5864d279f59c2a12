/* JSON as everybody reads it. */
#ifndef QP_TEXT_JSON_H
#define QP_TEXT_JSON_H

#include <stdbool.h>

typedef struct yyjson_mut_doc yyjson_mut_doc;

/* The document as text: UTF-8, whatever its strings hold (a file's name is any bytes): what is none stands as U+FFFD.
 * malloc's; null without memory. */
char *qp_json_text(yyjson_mut_doc *, bool pretty);

#endif
