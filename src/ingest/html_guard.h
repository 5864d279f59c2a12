/* How deep a page nests, told before a parser is given it. */
#ifndef QP_INGEST_HTML_GUARD_H
#define QP_INGEST_HTML_GUARD_H

#include "base/str.h"

/* The deepest nesting the tags could make: void elements and those whose end tag may be left out do not nest. */
size_t qp_html_depth(qp_str html);

#endif
