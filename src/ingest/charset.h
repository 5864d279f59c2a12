/* Pages that are no UTF-8 are in the encoding they name, or in windows-1252, as browsers take it; texts may be in that. */
#ifndef QP_INGEST_CHARSET_H
#define QP_INGEST_CHARSET_H

#include "base/str.h"

/* The page in UTF-8, added to *out; a byte that its encoding does not know becomes U+FFFD. False: it says that it is
 * UTF-8, which is for the caller to repair, or an encoding that nobody knows, or there is no memory (out->oom). */
bool qp_charset_recode(qp_str html, qp_buf *out);
/* A text in which not one character beyond ASCII is UTF-8, and that is ASCII for the most part, is windows-1252 (Latin-1 is
 * of it): in UTF-8, added to *out. False: it is something else, or there is no memory (out->oom). */
bool qp_charset_windows(qp_str text, qp_buf *out);

#endif
