/* Metadata filters: `year >= 2001 and (lang in ('en', 'de') or not tags exists) and title ~ 'graph'`.
 *
 *   expression  and, or, not, parentheses; `and` binds closer than `or`
 *   test        FIELD = != < <= > >= VALUE     FIELD ~ 'part'     FIELD in (VALUE, ...)     FIELD exists
 *   FIELD       id, title, path, format, language of the document; else a field of its metadata: year, file.mtime,
 *               author.name (where no field has that name, dots go into objects); one with other characters between
 *               backquotes: `date of issue`
 *   VALUE       'text' or "text" (a quote inside is doubled), a number, true, false, null
 *
 * Words of the language may be written in any case. Numbers compare with numbers, and with texts that are numbers; all
 * else compares by bytes, so that ISO dates come out in order. `~` looks for a part, upper and lower case alike. A list
 * passes a test if one of its items does, != if none is equal. A field that is not there passes no test, so `not` of
 * any test on it holds.
 */
#ifndef QP_STORE_WHERE_H
#define QP_STORE_WHERE_H

#include "base/arena.h"
#include "base/err.h"

typedef enum qp_where_kind {
    QP_W_AND,
    QP_W_OR,
    QP_W_NOT, /* of left and right; of left */
    QP_W_EQUAL,
    QP_W_UNEQUAL,
    QP_W_LESS,
    QP_W_AT_MOST,
    QP_W_MORE,
    QP_W_AT_LEAST,
    QP_W_HAS,
    QP_W_IN,
    QP_W_EXISTS
} qp_where_kind;

typedef enum qp_value_kind { QP_V_NULL, QP_V_FALSE, QP_V_TRUE, QP_V_NUMBER, QP_V_TEXT } qp_value_kind;

typedef struct qp_value {
    qp_value_kind kind;
    double number;
    qp_str text; /* of QP_W_HAS: folded */
} qp_value;

typedef struct qp_where {
    qp_where_kind kind;
    const struct qp_where *left, *right;
    const qp_str *path; /* the field, cut at its dots; the pieces are parts of one text */
    uint32_t n_path;
    const qp_value *values; /* one, or those of `in` */
    uint32_t n_values;
} qp_where;

/* QP_INPUT: what was wanted, what was found, at which character. All in the arena; it keeps no part of the text. */
qp_code qp_where_parse(const char *expression, const qp_where **, qp_arena *, qp_err *);

/* The whole text as a number? */
bool qp_number_of(qp_str, double *);
/* Case folded and compatibility composed (NFKC), for looking for parts; broken UTF-8 as it is. */
void qp_fold(qp_str, qp_buf *out);

#endif
