/* From the text of a filter to its tree, by recursive descent. */
#include <math.h>
#include <stdlib.h>
#include <strings.h>
#include <utf8proc.h>

#include "store/where.h"

enum { DEEPEST = 200, LONGEST = 64 << 10, LONGEST_NUMBER = 63 };

typedef enum token_kind { END, WORD, NAME, TEXT, NUMBER, SIGN } token_kind; /* NAME: between backquotes */

struct parser {
    const char *text, *at;
    qp_arena *mem;
    qp_err *err;
    token_kind kind; /* the token at hand */
    qp_str token;    /* as written */
    qp_str value;    /* of NAME and TEXT: without quotes */
    int depth;
    bool failed;
};

static size_t character(const struct parser *p) /* the token's, from 1 */
{
    size_t n = 1;
    for (const char *c = p->text; c < p->token.at; c++)
        n += (*c & 0xc0) != 0x80;
    return n;
}

static void fail(struct parser *p, const char *wanted)
{
    qp_str found = p->kind == END ? QP_STR("the end") : p->token;
    if (!p->failed)
        qp_fail(p->err, QP_INPUT, "filter, character %zu: %s was wanted, '%.*s' was found: %.300s", character(p),
                wanted, (int)(found.n < 60 ? found.n : 60), found.at, p->text);
    p->failed = true;
}

static void no_memory(struct parser *p)
{
    if (!p->failed)
        qp_oom(p->err);
    p->failed = true;
}

/* ---- tokens ---- */

static bool starts_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool in_word(char c)
{
    return starts_word(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

static void quoted(struct parser *p)
{
    char quote = *p->at++;
    const char *closing = p->at; /* a quote said twice stands for itself */
    while (*closing && (*closing != quote || closing[1] == quote))
        closing += *closing == quote ? 2 : 1;
    char *out = qp_arena_alloc(p->mem, (size_t)(closing - p->at) + 1), *end = out;
    if (!out) {
        no_memory(p);
        return;
    }
    for (; p->at < closing; p->at++) {
        p->at += *p->at == quote;
        *end++ = *p->at;
    }
    p->kind = quote == '`' ? NAME : TEXT;
    p->value = (qp_str){out, (size_t)(end - out)};
    if (!*p->at)
        fail(p, "a closing quote");
    else
        p->at++;
}

static void next(struct parser *p)
{
    while (*p->at == ' ' || (*p->at >= '\t' && *p->at <= '\r'))
        p->at++;
    p->token.at = p->at;
    char c = *p->at;
    if (!c) {
        p->kind = END;
    } else if (c == '\'' || c == '"' || c == '`') {
        quoted(p);
    } else if (starts_word(c)) {
        p->kind = WORD;
        while (in_word(*p->at))
            p->at++;
    } else if ((c >= '0' && c <= '9') || ((c == '-' || c == '+' || c == '.') && p->at[1] >= '.' && p->at[1] <= '9')) {
        p->kind = NUMBER;
        for (p->at++; in_word(*p->at) || (*p->at == '+' && (p->at[-1] | 32) == 'e');)
            p->at++;
    } else {
        p->kind = SIGN;
        p->at += (c == '!' || c == '<' || c == '>' || c == '=') && p->at[1] == '=' ? 2 : 1;
    }
    p->token.n = (size_t)(p->at - p->token.at);
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->kind == WORD && p->token.n == strlen(word) && !strncasecmp(p->token.at, word, p->token.n);
}

static bool is_sign(const struct parser *p, const char *sign)
{
    return p->kind == SIGN && qp_str_eq(p->token, qp_str_of(sign));
}

static bool take_word(struct parser *p, const char *word)
{
    bool here = is_word(p, word);
    if (here)
        next(p);
    return here;
}

static bool take_sign(struct parser *p, const char *sign)
{
    bool here = is_sign(p, sign);
    if (here)
        next(p);
    return here;
}

/* ---- values ---- */

bool qp_number_of(qp_str s, double *number)
{
    char digits[LONGEST_NUMBER + 1], *end;
    if (!s.n || s.n > LONGEST_NUMBER || !((s.at[0] >= '0' && s.at[0] <= '9') || strchr("+-.", s.at[0])))
        return false;
    memcpy(digits, s.at, s.n);
    digits[s.n] = 0;
    *number = strtod(digits, &end);
    return !*end && end == digits + s.n && isfinite(*number);
}

void qp_fold(qp_str s, qp_buf *out)
{
    bool ascii = true;
    for (size_t i = 0; ascii && i < s.n; i++)
        ascii = (unsigned char)s.at[i] < 0x80;
    utf8proc_uint8_t *folded = NULL;
    ssize_t n = ascii || s.n > INT32_MAX ? -1
                                         : utf8proc_map((const utf8proc_uint8_t *)s.at, (utf8proc_ssize_t)s.n, &folded,
                                                        UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
    if (n >= 0)
        qp_buf_add(out, folded, (size_t)n);
    for (size_t i = 0; n < 0 && i < s.n; i++)
        qp_buf_char(out, (char)(s.at[i] >= 'A' && s.at[i] <= 'Z' ? s.at[i] | 32 : s.at[i]));
    free(folded);
}

static void value(struct parser *p, qp_value *v)
{
    *v = (qp_value){0};
    if (p->kind == TEXT) {
        v->kind = QP_V_TEXT;
        v->text = p->value;
    } else if (p->kind == NUMBER && qp_number_of(p->token, &v->number)) {
        v->kind = QP_V_NUMBER;
    } else if (is_word(p, "true") || is_word(p, "false")) {
        v->kind = is_word(p, "true") ? QP_V_TRUE : QP_V_FALSE;
    } else if (!is_word(p, "null")) {
        fail(p, p->kind == NUMBER ? "a number (a date stands in quotes)" : "a value ('text' in quotes, or a number)");
        return;
    }
    next(p);
}

static void list_of_values(struct parser *p, qp_where *w)
{
    qp_buf values = {0};
    if (!take_sign(p, "("))
        fail(p, "( and values");
    do {
        qp_value v;
        value(p, &v);
        qp_buf_add(&values, &v, sizeof v);
    } while (!p->failed && take_sign(p, ","));
    if (!p->failed && !take_sign(p, ")"))
        fail(p, ", or )");
    w->n_values = (uint32_t)(values.n / sizeof(qp_value));
    qp_value *kept = qp_new(p->mem, qp_value, w->n_values ? w->n_values : 1);
    if (!kept || values.oom)
        no_memory(p);
    else if (values.n)
        memcpy(kept, values.at, values.n);
    w->values = kept;
    qp_buf_free(&values);
}

/* ---- tests ---- */

static void field(struct parser *p, qp_where *w)
{
    static const char *const reserved[] = {"and", "or", "not", "in", "exists", "true", "false", "null"};
    bool name = p->kind == NAME || p->kind == WORD;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        name = name && !is_word(p, reserved[i]);
    if (!name) {
        fail(p, "a field's name");
        return;
    }
    qp_str rest = qp_arena_str(p->mem, p->kind == NAME ? p->value : p->token);
    w->n_path = 1;
    for (size_t i = 0; p->kind == WORD && i < rest.n; i++)
        w->n_path += rest.at[i] == '.';
    qp_str *path = qp_new(p->mem, qp_str, w->n_path);
    if (!path || !rest.at) {
        no_memory(p);
        return;
    }
    for (uint32_t i = 0; i + 1 < w->n_path; i++)
        path[i] = qp_str_split(rest, '.', &rest);
    path[w->n_path - 1] = rest;
    w->path = path;
    next(p);
}

static qp_where *new_node(struct parser *p, qp_where_kind kind, const qp_where *left, const qp_where *right)
{
    qp_where *w = qp_new(p->mem, qp_where, 1);
    if (!w) {
        no_memory(p);
        return NULL;
    }
    w->kind = kind;
    w->left = left;
    w->right = right;
    return w;
}

static void compared_value(struct parser *p, qp_where *w)
{
    qp_value *v = qp_new(p->mem, qp_value, 1);
    if (!v) {
        no_memory(p);
        return;
    }
    if (w->kind == QP_W_HAS && p->kind != TEXT)
        fail(p, "a 'text' in quotes");
    value(p, v);
    if (w->kind == QP_W_HAS) {
        qp_buf folded = {0};
        qp_fold(v->text, &folded);
        v->text = qp_arena_str(p->mem, qp_buf_view(&folded));
        if (folded.oom || !v->text.at)
            no_memory(p);
        qp_buf_free(&folded);
    }
    w->values = v;
    w->n_values = 1;
}

static const qp_where *test(struct parser *p)
{
    static const struct {
        const char *sign;
        qp_where_kind kind;
    } signs[] = {{"=", QP_W_EQUAL},    {"==", QP_W_EQUAL}, {"!=", QP_W_UNEQUAL},  {"<", QP_W_LESS},
                 {"<=", QP_W_AT_MOST}, {">", QP_W_MORE},   {">=", QP_W_AT_LEAST}, {"~", QP_W_HAS}};
    qp_where *w = new_node(p, QP_W_EXISTS, NULL, NULL);
    if (!w)
        return NULL;
    field(p, w);
    if (p->failed || take_word(p, "exists"))
        return w;
    if (take_word(p, "in")) {
        w->kind = QP_W_IN;
        list_of_values(p, w);
        return w;
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (take_sign(p, signs[i].sign)) {
            w->kind = signs[i].kind;
            compared_value(p, w);
            return w;
        }
    fail(p, "one of = != < <= > >= ~ in exists");
    return w;
}

/* ---- and, or, not ---- */

static const qp_where *either(struct parser *p);

static const qp_where *single(struct parser *p)
{
    if (++p->depth > DEEPEST)
        fail(p, "a filter of at most 200 parentheses and nots");
    const qp_where *w = NULL;
    if (p->failed) {
        w = NULL;
    } else if (take_word(p, "not")) {
        w = new_node(p, QP_W_NOT, single(p), NULL);
    } else if (take_sign(p, "(")) {
        w = either(p);
        if (!p->failed && !take_sign(p, ")"))
            fail(p, "and, or, or )");
    } else {
        w = test(p);
    }
    p->depth--;
    return w;
}

static const qp_where *both(struct parser *p)
{
    const qp_where *w = single(p);
    while (!p->failed && take_word(p, "and"))
        w = new_node(p, QP_W_AND, w, single(p));
    return w;
}

static const qp_where *either(struct parser *p)
{
    const qp_where *w = both(p);
    while (!p->failed && take_word(p, "or"))
        w = new_node(p, QP_W_OR, w, both(p));
    return w;
}

qp_code qp_where_parse(const char *expression, const qp_where **out, qp_arena *a, qp_err *err)
{
    if (strlen(expression) > LONGEST) /* a tree as deep as it has words must not use up the stack */
        return qp_fail(err, QP_INPUT, "filter: %zu bytes were found, at most %d are read: %.60s...", strlen(expression),
                       LONGEST, expression);
    struct parser p = {.text = expression, .at = expression, .mem = a, .err = err};
    next(&p);
    *out = p.failed ? NULL : either(&p);
    if (!p.failed && p.kind != END)
        fail(&p, "and, or, or the end");
    return p.failed ? (err && err->code ? err->code : QP_INPUT) : QP_OK;
}
