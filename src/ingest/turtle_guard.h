/* What keeps a Turtle file from taking all memory or all stack: it follows the bytes on their way to the parser, tells
 * brackets from those in strings, and breaks where they are nested too deeply or a statement has no end. One thread.
 */
#ifndef QP_INGEST_TURTLE_GUARD_H
#define QP_INGEST_TURTLE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct qp_turtle_guard { /* begins as zeros */
    enum {
        QP_TURTLE_PLAIN,
        QP_TURTLE_IRI,
        QP_TURTLE_COMMENT,
        QP_TURTLE_OPENED, /* one quote */
        QP_TURTLE_TWO,    /* two: an empty string, or the third makes it long */
        QP_TURTLE_SHORT,
        QP_TURTLE_LONG,
    } in;
    char quote;         /* of the string */
    unsigned quotes;    /* in a row, in a long string */
    bool escaped;       /* the next byte is */
    unsigned depth;     /* of [ and ( */
    size_t bytes;       /* since the last statement */
    const char *broken; /* why it must not go on, or null */
} qp_turtle_guard;

void qp_turtle_guard_byte(qp_turtle_guard *, char);
void qp_turtle_guard_statement(qp_turtle_guard *); /* one was read */
void qp_turtle_guard_reset(qp_turtle_guard *);     /* as at the begin of a statement */

#endif
