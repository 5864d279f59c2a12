/* The graph of entities that an index holds, a line each, parted by tabs: "fact", two entities and what relates them; "mention", an
 * entity and the id of a document that has it. Synonyms, which are of vectors, are left out.
 *
 *     entities STORE
 */
#include <stdio.h>

#include "base/err.h"
#include "store/snapshot.h"

enum { BLOCK = 4096 };

static void tell(const char *what, qp_str a, qp_str b, qp_str c)
{
    printf("%s\t%.*s\t%.*s\t%.*s\n", what, (int)a.n, a.at, (int)b.n, b.at, (int)c.n, c.at);
}

static qp_code tell_edges(const qp_view *v, qp_id first, uint32_t n, qp_arena *mem, qp_err *err)
{
    qp_id ids[BLOCK], ends[2 * BLOCK];
    qp_link link[BLOCK];
    qp_about about[2 * BLOCK];
    for (uint32_t i = 0; i < n; i++)
        ids[i] = first + i;
    qp_code code = v->link(v->self, ids, n, link, err);
    for (uint32_t i = 0; !code && i < n; i++) {
        ends[2 * i] = link[i].from;
        ends[2 * i + 1] = link[i].to;
    }
    code = code ? code : v->about(v->self, ends, 2 * n, about, mem, err);
    for (uint32_t i = 0; !code && i < n; i++) {
        bool from = link[i].from >= v->entity, to = link[i].to >= v->entity;
        if (from && to && !qp_str_eq(link[i].type, QP_STR("synonym")))
            tell("fact", about[2 * i].name, about[2 * i + 1].name, link[i].type);
        else if (from != to)
            tell("mention", about[2 * i + !from].name, about[2 * i + from].document, QP_STR(""));
    }
    return code;
}

int main(int argc, char **argv)
{
    qp_err err = {0};
    qp_snapshot *s = NULL;
    qp_arena *mem = qp_arena_new();
    qp_code code = argc == 2 ? qp_snapshot_open(argv[1], &s, &err) : qp_fail(&err, QP_USAGE, "entities STORE");
    const qp_view *v = code ? NULL : qp_snapshot_view(s);
    for (uint32_t at = 0; !code && at < v->edges; at += BLOCK) {
        code = tell_edges(v, at, v->edges - at < BLOCK ? v->edges - at : BLOCK, mem, &err);
        qp_arena_reset(mem);
    }
    if (code)
        fprintf(stderr, "entities: %s\n", err.message);
    qp_snapshot_close(s);
    qp_arena_free(mem);
    return (int)code;
}
