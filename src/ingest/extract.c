#include "ingest/extract.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <yyjson.h>

#include "base/array.h"
#include "ingest/identifier.h"

void qp_extract_init(qp_extract *x, qp_arena *mem)
{
    *x = (qp_extract){.mem = mem};
}

void qp_extract_free(qp_extract *x)
{
    qp_buf_free(&x->text);
    qp_buf_free(&x->meta);
    free(x->marks);
    x->marks = NULL;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void due_space(qp_extract *x)
{
    if (x->space && x->text.n && !is_space(x->text.at[x->text.n - 1]))
        qp_buf_char(&x->text, ' ');
    x->space = false;
}

void qp_extract_words(qp_extract *x, qp_str s)
{
    size_t at = 0;

    while (at < s.n) {
        size_t from = at;

        while (at < s.n && !is_space(s.at[at]))
            at++;
        if (at > from) {
            due_space(x);
            qp_buf_add(&x->text, s.at + from, at - from);
        }
        if (at < s.n) {
            x->space = true;
            while (at < s.n && is_space(s.at[at]))
                at++;
        }
    }
}

void qp_extract_literal(qp_extract *x, qp_str s)
{
    due_space(x);
    qp_buf_str(&x->text, s);
}

void qp_extract_block(qp_extract *x, int lines)
{
    int there = 0;

    x->space = false;
    while (x->text.n && (x->text.at[x->text.n - 1] == ' ' || x->text.at[x->text.n - 1] == '\t'))
        x->text.n--;
    if (!x->text.n)
        return;
    while ((size_t)there < x->text.n && x->text.at[x->text.n - 1 - (size_t)there] == '\n')
        there++;
    for (; there < lines; there++)
        qp_buf_char(&x->text, '\n');
}

void qp_extract_title(qp_extract *x, qp_str title)
{
    title = qp_str_trim(title);
    if (x->title.n || !title.n)
        return;
    char *copy = qp_arena_alloc(x->mem, title.n + 1);
    if (!copy) {
        x->oom = true;
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < title.n; i++) /* one line, whatever the file says */
        if (title.at[i] && !is_space(title.at[i]))
            copy[n++] = title.at[i];
        else if (n && copy[n - 1] != ' ')
            copy[n++] = ' ';
    x->title = (qp_str){copy, n};
}

void qp_extract_mark(qp_extract *x, qp_mark mark)
{
    qp_mark *grown = qp_array_room(x->marks, x->n_marks, &x->cap, sizeof *grown);
    if (!grown) {
        x->oom = true;
        return;
    }
    x->marks = grown;
    qp_str *own[] = {&mark.type, &mark.target, &mark.anchor};
    for (int i = 0; i < 3; i++)
        if (own[i]->n) {
            *own[i] = qp_arena_str(x->mem, *own[i]);
            x->oom |= !own[i]->at;
        }
    x->marks[x->n_marks++] = mark;
}

size_t qp_extract_heading_begin(qp_extract *x, uint32_t level)
{
    qp_extract_block(x, 2);
    qp_extract_mark(x, (qp_mark){.kind = QP_MARK_HEADING, .level = level, .from = x->text.n, .to = x->text.n});
    return x->n_marks;
}

void qp_extract_heading_end(qp_extract *x, size_t heading)
{
    if (heading && heading <= x->n_marks)
        x->marks[heading - 1].to = x->text.n;
    qp_extract_block(x, 2);
}

void qp_extract_anchor(qp_extract *x, qp_str name)
{
    name = qp_str_trim(name);
    if (name.n && name.n <= 500)
        qp_extract_mark(x, (qp_mark){.kind = QP_MARK_ANCHOR, .from = x->text.n, .target = name});
}

void qp_extract_reference(qp_extract *x, qp_str type, qp_str target, qp_str anchor)
{
    if (target.n + anchor.n && target.n <= 2000 && anchor.n <= 500)
        qp_extract_mark(
            x,
            (qp_mark){.kind = QP_MARK_REFERENCE, .from = x->text.n, .type = type, .target = target, .anchor = anchor});
}

/* Does s begin with a scheme ("http:") or name a host ("//")? */
static bool leaves(qp_str s)
{
    size_t i = 0;

    if (qp_str_starts(s, QP_STR("//")))
        return true;
    while (i < s.n && (isalnum((unsigned char)s.at[i]) || strchr("+-.", s.at[i])))
        i++;
    return i > 1 && i < s.n && s.at[i] == ':';
}

void qp_extract_link(qp_extract *x, qp_str href)
{
    qp_str id, rest = {0};

    href = qp_str_trim(href);
    if (!href.n || href.n > 2000)
        return;
    if (leaves(href)) {
        if (qp_identifier_in_address(href, &id, x->mem))
            qp_extract_reference(x, QP_STR("cites"), id, (qp_str){0});
        return;
    }
    qp_str target = qp_str_split(href, '#', &rest);
    target = qp_str_split(target, '?', &(qp_str){0});
    qp_extract_reference(x, QP_STR("link"), qp_percent_decoded(target, x->mem), qp_percent_decoded(rest, x->mem));
}

void qp_extract_meta(qp_extract *x, const char *key, qp_str value)
{
    yyjson_doc *old = x->meta.n ? yyjson_read(x->meta.at, x->meta.n, 0) : NULL;
    yyjson_mut_doc *doc = old ? yyjson_doc_mut_copy(old, NULL) : yyjson_mut_doc_new(NULL);
    char *json = NULL;
    size_t n = 0;

    if (doc && !old)
        yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
    if (doc && !yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), key)) {
        yyjson_mut_obj_add_strncpy(doc, yyjson_mut_doc_get_root(doc), key, value.at, value.n);
        json = yyjson_mut_write(doc, 0, &n);
    }
    if (json) {
        qp_buf_clear(&x->meta);
        qp_buf_add(&x->meta, json, n);
    }
    free(json);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(old);
}
