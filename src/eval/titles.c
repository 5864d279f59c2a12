#include "eval/titles.h"

#include "base/map.h"

enum { OPENING = 60 }; /* bytes of a text that tell it from another with the same title */

struct qp_titles {
    const qp_snapshot *snapshot;
    qp_map *first;  /* title -> document + 1 */
    uint32_t *next; /* the next document with the same title, + 1; 0: none */
    qp_arena *mem;
};

static qp_code take(qp_titles *t, uint32_t document, qp_err *err)
{
    const qp_view *view = qp_snapshot_view(t->snapshot);
    qp_about about;
    qp_id node;
    uint32_t n;
    qp_snapshot_document_nodes(t->snapshot, document, &node, &n);
    if (!n)
        return QP_OK;
    qp_code code = view->about(view->self, &node, 1, &about, t->mem, err);
    uint64_t *slot = code || !about.title.n ? NULL : qp_map_put(t->first, about.title, NULL);
    if (!slot)
        return code || !about.title.n ? code : qp_oom(err);
    t->next[document] = (uint32_t)*slot;
    *slot = document + 1;
    return QP_OK;
}

qp_code qp_titles_make(const qp_snapshot *s, qp_titles **out, qp_arena *mem, qp_err *err)
{
    qp_titles *t = qp_new(mem, qp_titles, 1);
    *out = t;
    if (!t)
        return qp_oom(err);
    *t = (qp_titles){.snapshot = s,
                     .first = qp_map_new(),
                     .next = qp_new(mem, uint32_t, qp_snapshot_documents(s)),
                     .mem = mem};
    qp_code code = t->first && t->next ? QP_OK : qp_oom(err);
    for (uint32_t d = qp_snapshot_documents(s); d > 0 && !code; d--) /* so that the first is found first */
        code = take(t, d - 1, err);
    return code;
}

void qp_titles_free(qp_titles *t)
{
    if (t)
        qp_map_free(t->first);
}

static bool begins_so(qp_titles *t, uint32_t document, qp_str text)
{
    const qp_view *view = qp_snapshot_view(t->snapshot);
    qp_str own, start = qp_str_slice(qp_str_trim(text), 0, OPENING);
    qp_id node;
    uint32_t n;
    qp_snapshot_document_nodes(t->snapshot, document, &node, &n);
    return view->text(view->self, QP_NODE, &node, 1, &own, t->mem, NULL) == QP_OK && start.n &&
           memmem(own.at, own.n, start.at, start.n);
}

qp_str qp_titles_find(void *self, qp_str title, qp_str text)
{
    qp_titles *t = self;
    const uint64_t *slot = qp_map_get(t->first, title);
    uint32_t found = slot ? (uint32_t)*slot : 0;
    for (uint32_t d = found; d && t->next[found - 1]; d = t->next[d - 1])
        if (begins_so(t, d - 1, text)) {
            found = d;
            break;
        }
    return found ? qp_snapshot_document_key(t->snapshot, found - 1) : (qp_str){0};
}
