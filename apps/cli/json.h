/* Reading the library's JSON: what is missing reads as empty. */
#ifndef QP_CLI_JSON_H
#define QP_CLI_JSON_H

#include <yyjson.h>

#include "cli.h"

static inline const char *member(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));
    return text ? text : "";
}

/* show.c: what ask and retrieve return, for people. streamed: the answer's text is already on the terminal. */
void show_result(const cli *, yyjson_val *root, bool streamed);

#endif
