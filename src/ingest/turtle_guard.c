#include "ingest/turtle_guard.h"

enum { DEEPEST = 200, LONGEST = 64 << 20 };

void qp_turtle_guard_reset(qp_turtle_guard *g)
{
    *g = (qp_turtle_guard){0};
}

void qp_turtle_guard_statement(qp_turtle_guard *g)
{
    g->bytes = 0;
}

static void plain(qp_turtle_guard *g, char c)
{
    if (c == '<') {
        g->in = QP_TURTLE_IRI;
    } else if (c == '#') {
        g->in = QP_TURTLE_COMMENT;
    } else if (c == '"' || c == '\'') {
        g->in = QP_TURTLE_OPENED;
        g->quote = c;
    } else if (c == '[' || c == '(') {
        if (++g->depth > DEEPEST)
            g->broken = "brackets nested more than 200 deep";
    } else if ((c == ']' || c == ')') && g->depth) {
        g->depth--;
    }
}

static void string(qp_turtle_guard *g, char c)
{
    bool quote = c == g->quote;

    switch (g->in) {
    case QP_TURTLE_OPENED: g->in = quote ? QP_TURTLE_TWO : QP_TURTLE_SHORT; break;
    case QP_TURTLE_TWO:
        g->in = quote ? QP_TURTLE_LONG : QP_TURTLE_PLAIN;
        g->quotes = 0;
        if (!quote)
            plain(g, c);
        break;
    case QP_TURTLE_SHORT: g->in = quote || c == '\n' ? QP_TURTLE_PLAIN : QP_TURTLE_SHORT; break;
    default: g->quotes = quote ? g->quotes + 1 : 0; g->in = g->quotes == 3 ? QP_TURTLE_PLAIN : QP_TURTLE_LONG;
    }
}

void qp_turtle_guard_byte(qp_turtle_guard *g, char c)
{
    if (++g->bytes > LONGEST)
        g->broken = "more than 64 MiB without the end of a statement: a quote that is never closed?";
    if (g->escaped) {
        g->escaped = false;
        return;
    }
    g->escaped = c == '\\' && g->in != QP_TURTLE_COMMENT;
    if (g->in == QP_TURTLE_PLAIN)
        plain(g, c);
    else if (g->in == QP_TURTLE_IRI)
        g->in = c == '>' || (unsigned char)c <= ' ' ? QP_TURTLE_PLAIN : QP_TURTLE_IRI;
    else if (g->in == QP_TURTLE_COMMENT)
        g->in = c == '\n' ? QP_TURTLE_PLAIN : QP_TURTLE_COMMENT;
    else
        string(g, c);
}
