/* Knowledge graphs in the store: what was put is what is read, two graphs are one, and what is gone leaves nothing. */
#include <sqlite3.h>

#include "store/graph.h"
#include "store/store.h"
#include "unit/made.h"

enum { NAMES = 40, TRIPLES = 300, DIM = 6 };

typedef struct sample {       /* triples over names "n00".."n39", sorted as a build sorts them */
    uint32_t names[NAMES], n; /* which names it has */
    struct {
        uint32_t head, tail, relation;
        float weight;
    } at[TRIPLES];
    uint32_t m;
} sample;

static int by_ends(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(uint32_t)); /* below 256, so bytes compare as numbers do */
}

static void draw(sample *s, uint64_t seed)
{
    qp_random r = qp_random_seed(seed);
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < NAMES; i++)
        if (qp_random_below(&r, 3))
            s->names[s->n++] = i;
    for (int i = 0; i < TRIPLES; i++) {
        s->at[i].head = (uint32_t)qp_random_below(&r, s->n);
        s->at[i].tail = (uint32_t)qp_random_below(&r, s->n);
        s->at[i].relation = (uint32_t)qp_random_below(&r, 3);
        s->at[i].weight = 1;
    }
    qsort(s->at, TRIPLES, sizeof *s->at, by_ends);
    for (int i = 0; i < TRIPLES; i++)
        if (!s->m || by_ends(&s->at[i], &s->at[s->m - 1]))
            s->at[s->m++] = s->at[i];
}

static const char *name_of(uint32_t i)
{
    static char text[2][8];
    static int turn;
    turn = !turn;
    snprintf(text[turn], sizeof *text, "n%02u", i);
    return text[turn];
}

static void put(qp_store *s, const char *source, const sample *what)
{
    static const char *const relations[] = {"knows", "likes", "made"};
    qp_graph_put *p = NULL;
    qp_err err = {0};
    qp_code code = qp_graph_begin(s, qp_str_of(source), QP_STR("digest"), &p, NULL, &err);
    for (int i = 0; !code && i < 3; i++)
        code = qp_graph_relation(p, qp_str_of(relations[i]), &err);
    for (uint32_t i = 0; !code && i < what->n; i++)
        code = qp_graph_entity(p, QP_STR(""), qp_str_of(name_of(what->names[i])),
                               what->names[i] % 7 ? QP_STR("") : qp_str_of(source), &err);
    for (uint32_t i = 0; !code && i < what->m; i++)
        code = qp_graph_triple(p, what->at[i].head, what->at[i].relation, what->at[i].tail, what->at[i].weight,
                               QP_STR(""), &err);
    if (qp_graph_end(p, code, &err))
        fail_msg("%s", err.message);
}

/* Vectors that can be told again: of a text, a direction by its hash. */
static void embed_all(qp_store *s)
{
    qp_arena *a = qp_arena_new();
    for (;;) {
        qp_pending p[16];
        float v[16 * DIM];
        uint32_t got;
        assert_int_equal(qp_store_pending(s, QP_MADE_VECTOR, "model", 16, p, &got, NULL, a, NULL), QP_OK);
        if (!got)
            break;
        for (uint32_t i = 0; i < got; i++) {
            qp_random r = qp_random_seed(qp_hash64(p[i].text));
            random_unit(&r, DIM, v + i * DIM);
        }
        assert_int_equal(qp_store_vectors(s, "model", DIM, p, got, v, NULL), QP_OK);
        qp_arena_reset(a);
    }
    qp_arena_free(a);
}

static qp_snapshot *publish(const char *dir, qp_store *s)
{
    qp_snapshot *out;
    qp_err err = {0};
    embed_all(s);
    if (qp_store_publish(s, NULL, &err) || qp_snapshot_open(dir, &out, &err) || qp_snapshot_check(out, &err))
        fail_msg("%s", err.message);
    return out;
}

static qp_store *open_store(const char *dir)
{
    qp_store *s;
    qp_err err = {0};
    if (qp_store_open(dir, true, true, &s, &err))
        fail_msg("%s", err.message);
    return s;
}

static bool has(const sample *s, uint32_t name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->names[i] == name)
            return true;
    return false;
}

/* Is (head, relation, tail), by names, in a sample? */
static bool says(const sample *s, uint32_t head, uint32_t relation, uint32_t tail)
{
    for (uint32_t i = 0; i < s->m; i++)
        if (s->names[s->at[i].head] == head && s->names[s->at[i].tail] == tail && s->at[i].relation == relation)
            return true;
    return false;
}

static qp_id find(const qp_snapshot *s, uint32_t name)
{
    qp_id id;
    qp_str text = qp_str_of(name_of(name));
    assert_int_equal(s->view.find((void *)(uintptr_t)s, QP_STR(""), &text, 1, &id, NULL), QP_OK);
    return id;
}

static void two_graphs_are_one(void **state)
{
    sample *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    draw(a, 1);
    draw(b, 2);
    qp_store *store = open_store(*state);
    put(store, "a.tsv", a);
    put(store, "b.tsv", b);
    qp_snapshot *s = publish(*state, store);
    qp_arena *mem = qp_arena_new();
    uint32_t edges = 0, entities = 0;
    for (uint32_t x = 0; x < NAMES; x++) {
        entities += has(a, x) || has(b, x);
        assert_int_equal(find(s, x) != QP_NO_ID, has(a, x) || has(b, x));
        for (uint32_t y = 0; y < NAMES; y++)
            for (uint32_t r = 0; r < 3; r++)
                edges += says(a, x, r, y) || says(b, x, r, y);
    }
    assert_int_equal(s->edges, edges);
    assert_int_equal(qp_snapshot_entities(s), entities);
    for (qp_id e = 0; e < s->edges; e++) {
        qp_link l;
        qp_about ends[2];
        qp_str text;
        float v[DIM], twin[DIM];
        assert_int_equal(s->view.link(s, &e, 1, &l, NULL), QP_OK);
        assert_int_equal(s->view.about(s, (qp_id[]){l.from, l.to}, 2, ends, mem, NULL), QP_OK);
        uint32_t x = (uint32_t)atoi(ends[0].name.at + 1), y = (uint32_t)atoi(ends[1].name.at + 1);
        uint32_t r = *l.type.at == 'k' ? 0 : *l.type.at == 'l' ? 1 : 2;
        assert_true(says(a, x, r, y) || says(b, x, r, y));
        /* its vector is that of its text */
        assert_int_equal(s->view.text(s, QP_TRIPLE, &e, 1, &text, mem, NULL), QP_OK);
        assert_int_equal(s->view.vectors(s, "triple.dense", &e, 1, v, NULL), QP_OK);
        qp_random random = qp_random_seed(qp_hash64(text));
        random_unit(&random, DIM, twin);
        assert_memory_equal(v, twin, sizeof v);
    }
    qp_arena_free(mem);
    qp_snapshot_close(s);
    qp_store_close(store);
    free(a);
    free(b);
}

/* Of the best ten triples by their vectors, those that codes find. */
static void triples_are_found_by_their_codes(void **state)
{
    enum { ASKED = 50, K = 10 };
    sample *a = malloc(sizeof *a);
    draw(a, 5);
    qp_store *store = open_store(*state);
    put(store, "a.tsv", a);
    qp_snapshot *s = publish(*state, store);
    qp_arena *mem = qp_arena_new();
    qp_random random = qp_random_seed(6);
    uint32_t kept = 0;
    for (int i = 0; i < ASKED; i++) {
        float query[DIM];
        qp_list found[2];
        random_unit(&random, DIM, query);
        for (int exact = 0; exact < 2; exact++)
            assert_int_equal(s->view.search(s, "triple.dense", &(qp_probe){.vector = query, .dim = DIM, .exact = exact},
                                            K, &found[exact], mem, NULL),
                             QP_OK);
        assert_int_equal(found[1].n, K);
        for (uint32_t k = 0; k < K; k++)
            kept += found[0].at[k].id == found[1].at[k].id && found[0].at[k].score == found[1].at[k].score;
        for (uint32_t e = 0; e < s->edges; e++) { /* the exact ones are the best of all */
            float v[DIM], dot = 0;
            assert_int_equal(s->view.vectors(s, "triple.dense", &e, 1, v, NULL), QP_OK);
            for (int d = 0; d < DIM; d++)
                dot += v[d] * query[d];
            bool listed = false;
            for (uint32_t k = 0; k < K; k++)
                listed |= found[1].at[k].id == e;
            assert_true(listed || dot <= found[1].at[K - 1].score + 1e-6f);
        }
    }
    assert_true(kept >= ASKED * K * .999);
    qp_arena_free(mem);
    qp_snapshot_close(s);
    qp_store_close(store);
    free(a);
}

static void read_all(const char *dir, qp_buf *bytes)
{
    qp_arena *a = qp_arena_new();
    char *path;
    uint64_t number;
    assert_int_equal(qp_snapshot_current(dir, &path, &number, a, NULL), QP_OK);
    assert_int_equal(qp_file_read(path, 0, bytes, NULL), QP_OK);
    qp_arena_free(a);
}

static void what_is_gone_leaves_nothing(void **state)
{
    char one[300], other[300];
    sample *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    qp_buf left = {0}, never = {0};
    uint64_t n;
    snprintf(one, sizeof one, "%s/one", (char *)*state);
    snprintf(other, sizeof other, "%s/other", (char *)*state);
    draw(a, 3);
    draw(b, 4);
    qp_store *s = open_store(one), *t = open_store(other);
    put(s, "/x/b.tsv", b);
    qp_snapshot_close(publish(one, s));
    put(s, "/x/a.tsv", a);
    put(s, "/x/b.tsv", a); /* replaced, then gone */
    qp_snapshot_close(publish(one, s));
    assert_int_equal(qp_store_graph_prune(s, QP_STR("/x"), &QP_STR("/x/a.tsv"), 1, &n, NULL), QP_OK);
    assert_int_equal(n, 1);
    qp_snapshot_close(publish(one, s));
    put(t, "/x/a.tsv", a);
    qp_snapshot_close(publish(other, t));
    read_all(one, &left);
    read_all(other, &never);
    assert_int_equal(left.n, never.n);
    assert_memory_equal(left.at, never.at, left.n);
    qp_buf_free(&left);
    qp_buf_free(&never);
    qp_store_close(s);
    qp_store_close(t);
    free(a);
    free(b);
}

/* How many entities and relations a graph has is what a file says: foreign. */
static void counts_that_lie_are_damage(void **state)
{
    static const char *const lies[] = {"UPDATE graph SET entities = -1", "UPDATE graph SET entities = 1 << 62",
                                       "UPDATE graph SET entities = 1", "UPDATE graph SET relations = -1",
                                       "UPDATE graph SET relations = 1"};
    char path[300];
    sample *a = malloc(sizeof *a);
    sqlite3 *db;
    draw(a, 5);
    qp_store *s = open_store(*state);
    snprintf(path, sizeof path, "%s/truth.db", (char *)*state);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        qp_err err = {0};
        put(s, "/x/a.tsv", a);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, lies[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        assert_int_equal(qp_store_publish(s, NULL, &err), QP_STORE);
        assert_non_null(strstr(err.message, "damaged"));
    }
    qp_store_close(s);
    free(a);
}

static void a_scope_is_a_graph_of_its_own(void **state)
{
    qp_store *store = open_store(*state);
    qp_graph_put *p = NULL;
    assert_int_equal(qp_graph_begin(store, QP_STR("graphs"), QP_STR("d"), &p, NULL, NULL), QP_OK);
    assert_int_equal(qp_graph_relation(p, QP_STR("is"), NULL), QP_OK);
    static const char *const scopes[] = {"", "q1", "q1", "q2"}, *const names[] = {"sun", "moon", "sun", "sun"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(qp_graph_entity(p, qp_str_of(scopes[i]), qp_str_of(names[i]), QP_STR(""), NULL), QP_OK);
    assert_int_equal(qp_graph_triple(p, 1, 0, 2, 1, QP_STR(""), NULL), QP_OK);
    assert_int_equal(qp_graph_triple(p, 4, 0, 2, 1, QP_STR(""), NULL), QP_BUG); /* there is no fifth entity */
    assert_int_equal(qp_graph_end(p, QP_OK, NULL), QP_OK);
    qp_snapshot *s = publish(*state, store);
    qp_id first, id[2];
    uint32_t n;
    assert_int_equal(s->view.scope(s, QP_STR("q1"), &first, &n, NULL), QP_OK);
    assert_int_equal(n, 2);
    const qp_str asked[] = {QP_STR("sun"), QP_STR("moon")};
    assert_int_equal(s->view.find(s, QP_STR("q2"), asked, 2, id, NULL), QP_OK);
    assert_true(id[0] != QP_NO_ID && id[0] >= first + n && id[1] == QP_NO_ID);
    assert_int_equal(s->view.scope(s, QP_STR("q3"), &first, &n, NULL), QP_OK);
    assert_int_equal(n, 0);
    qp_snapshot_close(s);
    qp_store_close(store);
}

/* Two files tell of the same edge: both are kept, what both say once, and it is read where the edge is. Which documents
 * it is from is no part of that. */
static void an_edge_has_its_text(void **state)
{
    const qp_str said[2][3] = {{QP_STR("since: 1871"), QP_STR(""), QP_STR("by: Ann\0d1\nd2")},
                               {QP_STR("until: 1880\0d2"), QP_STR("\0d1"), QP_STR("by: Ann")}};
    static const char *const wanted[] = {"since: 1871\nuntil: 1880", "", "by: Ann"};
    qp_store *store = open_store(*state);
    for (int file = 0; file < 2; file++) {
        qp_graph_put *p = NULL;
        assert_int_equal(qp_graph_begin(store, file ? QP_STR("2") : QP_STR("1"), QP_STR("d"), &p, NULL, NULL), QP_OK);
        assert_int_equal(qp_graph_relation(p, QP_STR("near"), NULL), QP_OK);
        for (int i = 0; i < 4; i++)
            assert_int_equal(qp_graph_entity(p, QP_STR(""), (qp_str){"abcd" + i, 1}, QP_STR(""), NULL), QP_OK);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(qp_graph_triple(p, i, 0, i + 1, 1, said[file][i], NULL), QP_OK);
        assert_int_equal(qp_graph_end(p, QP_OK, NULL), QP_OK);
    }
    qp_snapshot *s = publish(*state, store);
    qp_arena *mem = qp_arena_new();
    for (qp_id e = 0; e < 3; e++) {
        char edge[100], triple[100];
        qp_str text;
        qp_link link;
        snprintf(edge, sizeof edge, "near%s%s", *wanted[e] ? "\n" : "", wanted[e]);
        snprintf(triple, sizeof triple, "%c -> near -> %c%s", 'a' + (int)e, 'b' + (int)e,
                 e ? e == 1 ? "" : "; by: Ann" : "; since: 1871; until: 1880");
        assert_int_equal(s->view.link(s, &e, 1, &link, NULL), QP_OK);
        assert_string_equal(qp_arena_str(mem, link.text).at, wanted[e]);
        assert_int_equal(s->view.text(s, QP_EDGE, &e, 1, &text, mem, NULL), QP_OK);
        assert_string_equal(qp_arena_str(mem, text).at, edge);
        assert_int_equal(s->view.text(s, QP_TRIPLE, &e, 1, &text, mem, NULL), QP_OK);
        assert_string_equal(qp_arena_str(mem, text).at, triple);
    }
    qp_arena_free(mem);
    qp_snapshot_close(s);
    qp_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(two_graphs_are_one),         HOLDS(what_is_gone_leaves_nothing),
                                       HOLDS(counts_that_lie_are_damage), HOLDS(a_scope_is_a_graph_of_its_own),
                                       HOLDS(an_edge_has_its_text),       HOLDS(triples_are_found_by_their_codes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
