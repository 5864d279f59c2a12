/* src/ingest/graph_build: against a slow twin on random graphs, in memory and spilled: the same bytes. */
#include "made.h"

#include "base/map.h"
#include "graph_lines.h"

/* ---- the twin: all in arrays ---- */

struct thing {
    char scope[8], id[40], name[200], text[200];
    unsigned rank;
    bool used;
};
struct arc {
    unsigned head, relation, tail;
    float weight;
};
struct twin {
    struct thing *entity, *relation;
    struct arc *arc;
    qp_map *entities, *relations; /* scope and id to place */
    size_t arcs;
    uint64_t duplicates, loops, renamed;
};

static unsigned place_of(qp_map *places, struct thing *all, const char *scope, const char *id)
{
    char key[60];
    bool added;
    sprintf(key, "%s|%s", scope, id);
    uint64_t *place = qp_map_put(places, qp_str_of(key), &added);
    if (added) {
        struct thing *t = &all[ *place = qp_map_size(places) - 1];
        *t = (struct thing){.rank = 1000};
        strcpy(t->scope, scope);
        strcpy(t->id, id);
        strcpy(t->name, id);
    }
    return (unsigned)*place;
}

static void describe(struct thing *t, const char *name, unsigned rank, const char *text)
{
    if (*name && rank < t->rank) {
        t->rank = rank;
        strcpy(t->name, name);
    }
    if (*text && !strstr(t->text, text)) /* texts are of one length, so one is never part of another */
        sprintf(t->text + strlen(t->text), "%s%s", *t->text ? "\n" : "", text);
}

static int by_name(const void *a, const void *b)
{
    const struct thing *x = *(struct thing *const *)a, *y = *(struct thing *const *)b;
    int scope = strcmp(x->scope, y->scope), name = strcmp(x->name, y->name);
    return scope ? scope : name ? name : strcmp(x->id, y->id);
}

static void order(struct twin *w, struct thing *all, size_t n, unsigned *place, struct thing **sorted, size_t *kept)
{
    *kept = 0;
    for (size_t i = 0; i < n; i++)
        if (all[i].used)
            sorted[(*kept)++] = &all[i];
    for (bool again = true; again;) {
        again = false;
        qsort(sorted, *kept, sizeof *sorted, by_name);
        for (size_t i = *kept; i-- > 1;)
            if (!strcmp(sorted[i]->scope, sorted[i - 1]->scope) && !strcmp(sorted[i]->name, sorted[i - 1]->name)) {
                sprintf(sorted[i]->name + strlen(sorted[i]->name), " (%s)", sorted[i]->id);
                again = true;
                w->renamed++;
            }
    }
    for (size_t i = 0; i < *kept; i++)
        place[sorted[i] - all] = (unsigned)i;
}

static int by_ends(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;
    const unsigned p[] = {x->head, x->tail, x->relation}, q[] = {y->head, y->tail, y->relation};
    for (int i = 0; i < 3; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return (x->weight < y->weight) - (x->weight > y->weight);
}

static void twin_finish(struct twin *w, qp_buf *out)
{
    size_t entities = qp_map_size(w->entities), relations = qp_map_size(w->relations);
    unsigned *entity = calloc(entities + 1, sizeof *entity), *relation = calloc(relations + 1, sizeof *relation);
    struct thing **sorted = calloc(entities + relations + 1, sizeof *sorted);
    size_t n;

    order(w, w->relation, relations, relation, sorted, &n);
    for (size_t i = 0; i < n; i++)
        qp_buf_fmt(out, "R %s\n", sorted[i]->name);
    order(w, w->entity, entities, entity, sorted, &n);
    for (size_t i = 0; i < n; i++)
        qp_buf_fmt(out, "E %s|%s|%s\n", sorted[i]->scope, sorted[i]->name, sorted[i]->text);
    for (size_t i = 0; i < w->arcs; i++) {
        struct arc *a = &w->arc[i];
        *a = (struct arc){entity[a->head], relation[a->relation], entity[a->tail], a->weight};
    }
    qsort(w->arc, w->arcs, sizeof *w->arc, by_ends);
    for (size_t i = 0; i < w->arcs; i++) {
        const struct arc *a = &w->arc[i];
        if (i && a->head == a[-1].head && a->tail == a[-1].tail && a->relation == a[-1].relation) {
            w->duplicates++;
            continue;
        }
        w->loops += a->head == a->tail;
        qp_buf_fmt(out, "T %u %u %u %g\n", a->head, a->relation, a->tail, a->weight);
    }
    free(entity);
    free(relation);
    free(sorted);
}

/* ---- random graphs ---- */

struct made_graph {
    unsigned events, names, relations, scopes;
};

static qp_str str(const char *s)
{
    return qp_str_of(s);
}

static void event(qp_random *r, const struct made_graph *how, qp_build *b, struct twin *w, const char *scope)
{
    char head[40], tail[40], relation[40], text[40], name[40];
    unsigned what = (unsigned)qp_random_below(r, 12);

    sprintf(head, "id%llu", (unsigned long long)qp_random_below(r, how->names));
    sprintf(tail, "id%llu", (unsigned long long)qp_random_below(r, how->names));
    sprintf(relation, "r%llu", (unsigned long long)qp_random_below(r, how->relations));
    sprintf(name, "n%llu", (unsigned long long)qp_random_below(r, how->names / 2 + 1));
    sprintf(text, "color: %04llu", (unsigned long long)qp_random_below(r, 3));
    if (what == 0) {
        unsigned rank = (unsigned)qp_random_below(r, 3);
        assert_int_equal(qp_build_entity(b, &(qp_entity){.id = str(head), .name = str(name), .rank = rank}, NULL),
                         QP_OK);
        struct thing *e = &w->entity[place_of(w->entities, w->entity, scope, head)];
        describe(e, name, rank, "");
        e->used = true;
    } else if (what == 1) {
        assert_int_equal(qp_build_entity(b, &(qp_entity){.id = str(head), .text = str(text)}, NULL), QP_OK);
        struct thing *e = &w->entity[place_of(w->entities, w->entity, scope, head)];
        describe(e, "", 0, text);
        e->used = true;
    } else if (what == 2) {
        sprintf(name, "R%llu", (unsigned long long)qp_random_below(r, 3));
        assert_int_equal(qp_build_relation(b, &(qp_entity){.id = str(relation), .name = str(name), .rank = 1}, NULL),
                         QP_OK);
        describe(&w->relation[place_of(w->relations, w->relation, "", relation)], name, 1, "");
    } else {
        float weight = (float)qp_random_below(r, 4) / 2;
        assert_int_equal(qp_build_triple(b, &(qp_triple){str(head), str(relation), str(tail), weight, {0}, {0}}, NULL),
                         QP_OK);
        unsigned h = place_of(w->entities, w->entity, scope, head), t = place_of(w->entities, w->entity, scope, tail);
        unsigned k = place_of(w->relations, w->relation, "", relation);
        w->entity[h].used = w->entity[t].used = w->relation[k].used = true;
        w->arc[w->arcs++] = (struct arc){h, k, t, weight};
    }
}

static void compare(const char *dir, const struct made_graph *how, size_t budget, uint64_t seed, bool spills)
{
    qp_random r = qp_random_seed(seed);
    size_t room = 2 * how->events + 2;
    struct twin w = {.entity = calloc(room, sizeof(struct thing)),
                     .relation = calloc(room, sizeof(struct thing)),
                     .arc = calloc(room, sizeof(struct arc)),
                     .entities = qp_map_new(),
                     .relations = qp_map_new()};
    qp_buf ours = {0}, twins = {0};
    qp_build_counts counts;
    qp_build_out out = into(&ours);
    qp_build *b = NULL;

    assert_int_equal(qp_build_open(dir, budget, NULL, &b, NULL), QP_OK);
    char scope[8] = "";
    for (unsigned i = 0; i < how->events; i++) {
        if (how->scopes && qp_random_below(&r, 20) == 0) {
            sprintf(scope, "%.0llu", (unsigned long long)qp_random_below(&r, how->scopes));
            assert_int_equal(qp_build_scope(b, str(scope), NULL), QP_OK);
        }
        event(&r, how, b, &w, scope);
    }
    assert_int_equal(qp_build_finish(b, &out, &counts, NULL), QP_OK);
    qp_build_close(b);
    twin_finish(&w, &twins);
    assert_int_equal(ours.n, twins.n);
    assert_true(qp_str_eq(qp_buf_view(&ours), qp_buf_view(&twins)));
    assert_int_equal(counts.duplicates, w.duplicates);
    assert_int_equal(counts.self_loops, w.loops);
    assert_int_equal(counts.renamed, w.renamed);
    assert_int_equal(counts.spilled > 0, spills);
    qp_buf_free(&ours);
    qp_buf_free(&twins);
    free(w.entity);
    free(w.relation);
    free(w.arc);
    qp_map_free(w.entities);
    qp_map_free(w.relations);
}

static void as_twin(void **state)
{
    compare(*state, &(struct made_graph){0, 1, 1, 0}, 0, 1, false);
    for (uint64_t seed = 2; seed < 200; seed++)
        compare(*state, &(struct made_graph){(unsigned)seed * 3, (unsigned)(seed % 17) + 1, 3, seed % 4}, 0, seed,
                false);
    compare(*state, &(struct made_graph){40000, 9000, 50, 3}, 64 << 20, 1000, false);
}

static void as_twin_spilled(void **state)
{
    compare(*state, &(struct made_graph){40000, 9000, 50, 3}, 0, 1000, true);
    compare(*state, &(struct made_graph){60000, 400, 5, 0}, 0, 1001, true);
    compare(*state, &(struct made_graph){20000, 20000, 20, 0}, 0, 1002, true);
}

/* ---- what is refused, and limits ---- */

static void refused(void **state)
{
    char *long_name = malloc(QP_BUILD_NAME + 1);
    qp_build *b = NULL;
    qp_buf lines = {0};
    qp_build_counts counts;
    qp_build_out out = into(&lines);

    memset(long_name, 'x', QP_BUILD_NAME + 1);
    assert_int_equal(qp_build_open(*state, 0, NULL, &b, NULL), QP_OK);
    const struct {
        qp_triple t;
        const char *message;
    } bad[] = {
        {{QP_STR(""), QP_STR("r"), QP_STR("t"), 1, {0}, {0}}, "wanted a head, found nothing"},
        {{QP_STR("h"), QP_STR(""), QP_STR("t"), 1, {0}, {0}}, "wanted a relation, found nothing"},
        {{QP_STR("h"), QP_STR("r"), {long_name, QP_BUILD_NAME + 1}, 1, {0}, {0}},
         "a tail of 1048577 bytes; at most 1048576"},
        {{QP_STR("h\xFF"), QP_STR("r"), QP_STR("t"), 1, {0}, {0}}, "broken byte or NUL at byte 1"},
        {{QP_STR("h\0h"), QP_STR("r"), QP_STR("t"), 1, {0}, {0}}, "broken byte or NUL at byte 1"},
        {{QP_STR("h"), QP_STR("r"), QP_STR("t"), -1, {0}, {0}}, "found -1"},
        {{QP_STR("h"), QP_STR("r"), QP_STR("t"), NAN, {0}, {0}}, "wanted a weight"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        qp_err err = {0};
        assert_int_equal(qp_build_triple(b, &bad[i].t, &err), QP_INPUT);
        assert_non_null(strstr(err.message, bad[i].message));
    }
    assert_int_equal(
        qp_build_triple(b, &(qp_triple){{long_name, QP_BUILD_NAME}, QP_STR("r"), QP_STR("t"), -0.0f, {0}, {0}}, NULL),
        QP_OK);
    assert_int_equal(qp_build_finish(b, &out, &counts, NULL), QP_OK);
    assert_int_equal(counts.entities, 2);
    assert_int_equal(counts.triples, 1);
    assert_non_null(strstr(lines.at, "T 1 0 0 0\n"));
    qp_build_close(b);
    qp_buf_free(&lines);
    free(long_name);
}

static void too_many_relations(void **state)
{
    qp_build *b = NULL;
    qp_err err = {0};
    char name[20];
    qp_code code = QP_OK;

    assert_int_equal(qp_build_open(*state, 8 << 20, NULL, &b, NULL), QP_OK);
    for (int i = 0; i < QP_BUILD_RELATIONS; i++) {
        sprintf(name, "r%d", i);
        code = qp_build_triple(b, &(qp_triple){QP_STR("h"), str(name), QP_STR("t"), 1, {0}, {0}}, &err);
        assert_int_equal(code, QP_OK);
    }
    code = qp_build_triple(b, &(qp_triple){QP_STR("h"), QP_STR("last"), QP_STR("t"), 1, {0}, {0}}, &err);
    assert_int_equal(code, QP_STORE);
    assert_non_null(strstr(err.message, "more than 1048576 relations; 'last' is one too many"));
    qp_build_close(b);
}

/* Texts are joined, each once, up to a limit; what is beyond is counted. */
static void texts(void **state)
{
    char *text = malloc(QP_BUILD_TEXT + 1);
    qp_build *b = NULL;
    qp_buf lines = {0};
    qp_build_counts counts;
    qp_build_out out = into(&lines);

    memset(text, 'y', QP_BUILD_TEXT + 1);
    assert_int_equal(qp_build_open(*state, 0, NULL, &b, NULL), QP_OK);
    const qp_str given[] = {
        QP_STR("a: 1"), QP_STR("b: 2"), QP_STR("a: 1"), {text, QP_BUILD_TEXT + 1}, {text, QP_BUILD_TEXT - 4},
        QP_STR("c: 3")};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        assert_int_equal(qp_build_entity(b, &(qp_entity){.id = QP_STR("e"), .text = given[i]}, NULL), QP_OK);
    assert_int_equal(qp_build_finish(b, &out, &counts, NULL), QP_OK);
    assert_string_equal(lines.at, "E |e|a: 1\nb: 2\nc: 3\n");
    assert_int_equal(counts.texts_cut, 2);
    qp_build_close(b);
    qp_buf_free(&lines);
    free(text);
}

/* An ontology names its relations; an id that is nothing but a relation is no entity. */
static void labels_of_relations(void **state)
{
    qp_build *b = NULL;
    qp_buf lines = {0};
    qp_build_counts counts;
    qp_build_out out = into(&lines);

    assert_int_equal(qp_build_open(*state, 0, NULL, &b, NULL), QP_OK);
    qp_build_relation(b, &(qp_entity){.id = QP_STR("<p31>"), .name = QP_STR("p31"), .rank = 2}, NULL);
    qp_build_triple(b, &(qp_triple){QP_STR("a"), QP_STR("<p31>"), QP_STR("b"), 1, {0}, {0}}, NULL);
    qp_build_entity(b, &(qp_entity){.id = QP_STR("<p31>"), .name = QP_STR("instance of")}, NULL);
    assert_int_equal(qp_build_finish(b, &out, &counts, NULL), QP_OK);
    assert_string_equal(lines.at, "R instance of\nE |a|\nE |b|\nT 0 0 1 1\n");
    qp_build_close(b);
    qp_buf_free(&lines);
}

/* Texts and documents wait on disk beside their triples, and come back to them whatever the order; of equal triples each
 * once. */
static void texts_stay_with_their_triples(void **state)
{
    enum { MANY = 30000 };
    qp_build *b = NULL;
    qp_buf lines = {0}, wanted = {0};
    qp_build_counts counts;
    qp_build_out out = into(&lines);

    assert_int_equal(qp_build_open(*state, 0, NULL, &b, NULL), QP_OK);
    for (uint32_t i = MANY; i--;) {
        char head[12], text[200];
        snprintf(head, sizeof head, "%05u", i);
        snprintf(text, sizeof text, "is: %0*u", i % 150, i);
        qp_triple t = {str(head), QP_STR("r"), QP_STR("00000"), 1, str(i % 3 ? text : ""), str(i % 5 ? "" : head)};
        assert_int_equal(qp_build_triple(b, &t, NULL), QP_OK);
    }
    for (int i = 0; i < 3; i++) {
        qp_triple t = {QP_STR("00001"), QP_STR("r"), QP_STR("00000"), 2, str(i ? "again: 1" : "a: 0"), QP_STR("d")};
        assert_int_equal(qp_build_triple(b, &t, NULL), QP_OK);
    }
    assert_int_equal(qp_build_finish(b, &out, &counts, NULL), QP_OK);
    qp_buf_text(&wanted, "R r\n");
    for (uint32_t i = 0; i < MANY; i++)
        qp_buf_fmt(&wanted, "E |%05u|\n", i);
    for (uint32_t i = 0; i < MANY; i++) {
        qp_buf_fmt(&wanted, "T %u 0 0 %d", i, i == 1 ? 2 : 1);
        if (i % 3)
            qp_buf_fmt(&wanted, " is: %0*u", i % 150, i);
        if (i % 5 == 0)
            qp_buf_fmt(&wanted, " < %05u", i);
        qp_buf_text(&wanted, i == 1 ? "\na: 0\nagain: 1 < d\n" : "\n");
    }
    assert_int_equal(lines.n, wanted.n);
    assert_memory_equal(lines.at, wanted.at, lines.n);
    qp_buf_free(&lines);
    qp_buf_free(&wanted);
    qp_build_close(b);
}

static qp_code refuse(void *ctx, uint32_t head, uint32_t relation, uint32_t tail, float weight, qp_str text,
                      qp_err *err)
{
    (void)ctx, (void)head, (void)relation, (void)tail, (void)weight, (void)text;
    return qp_fail(err, QP_STORE, "the disk is full");
}

static void ends_early(void **state)
{
    static volatile int cancel;
    qp_watch watch = {.cancel = &cancel};
    qp_build_counts counts;
    qp_buf lines = {0};

    for (int stopped = 0; stopped < 2; stopped++) {
        qp_build *b = NULL;
        qp_err err = {0};
        qp_build_out out = into(&lines);
        out.triple = stopped ? out.triple : refuse;
        cancel = 0;
        assert_int_equal(qp_build_open(*state, 0, &watch, &b, NULL), QP_OK);
        for (int i = 0; i < 20000; i++) {
            char name[20];
            sprintf(name, "%d", i);
            qp_build_triple(b, &(qp_triple){str(name), QP_STR("r"), QP_STR("t"), 1, {0}, {0}}, NULL);
        }
        cancel = stopped;
        assert_int_equal(qp_build_finish(b, &out, &counts, &err), stopped ? QP_STOPPED : QP_STORE);
        assert_non_null(strstr(err.message, stopped ? "stopped" : "the disk is full"));
        qp_build_close(b);
    }
    qp_buf_free(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLDS(as_twin),
        HOLDS(as_twin_spilled),
        HOLDS(refused),
        HOLDS(too_many_relations),
        HOLDS(texts),
        HOLDS(texts_stay_with_their_triples),
        HOLDS(labels_of_relations),
        HOLDS(ends_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
