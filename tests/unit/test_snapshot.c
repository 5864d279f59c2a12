/* A snapshot says what it was made of, is whole, and stays within its bounds however its bytes are damaged. */
#include "unit/made.h"

#include <signal.h>

static const struct made small = {.seed = 7,
                                  .documents = 60,
                                  .words = 40,
                                  .vocabulary = 300,
                                  .edges = 400,
                                  .types = 5,
                                  .dim = 24,
                                  .coded_from = 20,
                                  .ann_from = 30,
                                  .clusters = 9};

/* ---- the graph against a slow twin: look at every edge ---- */

static bool walked(const qp_snapshot *s, uint32_t e, qp_id v, qp_walk w, qp_id *other)
{
    if (!(w.types >> s->edge_type[e] & 1) || s->edge_from[e] == s->edge_to[e])
        return false;
    *other = s->edge_from[e] == v ? s->edge_to[e] : s->edge_from[e];
    return (s->edge_from[e] == v && w.direction != QP_IN) || (s->edge_to[e] == v && w.direction != QP_OUT);
}

static void neighbours_are_those_of_all_edges(void **state)
{
    qp_snapshot *s = make_snapshot(*state, &small);
    const qp_view *view = qp_snapshot_view(s);
    qp_arena *a = qp_arena_new();
    const qp_walk walks[] = {{~0ull, QP_BOTH, true}, {~0ull, QP_OUT, true}, {~0ull, QP_IN, true},
                             {0x5, QP_BOTH, true},   {0x2, QP_IN, true},    {0, QP_BOTH, true}};
    qp_id *via = calloc(s->nodes, sizeof *via);
    for (size_t w = 0; w < sizeof walks / sizeof *walks; w++)
        for (qp_id v = 0; v < s->nodes; v++) {
            qp_adj adj;
            uint32_t degree, count = 0;
            assert_int_equal(view->adjacent(view->self, &v, 1, walks[w], &adj, a, NULL), QP_OK);
            assert_int_equal(view->degree(view->self, &v, 1, walks[w], &degree, NULL), QP_OK);
            memset(via, 0xff, s->nodes * sizeof *via);
            for (uint32_t e = s->edges; e-- > 0;) {
                qp_id other;
                if (walked(s, e, v, walks[w], &other))
                    via[other] = e;
            }
            for (qp_id u = 0; u < s->nodes; u++)
                if (via[u] != QP_NO_ID) {
                    assert_true(count < adj.start[1]);
                    assert_int_equal(adj.node[count], u);
                    assert_int_equal(adj.edge[count++], via[u]);
                }
            assert_int_equal(adj.start[1], count);
            assert_int_equal(degree, count);
        }
    free(via);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

/* Of every k-th node. */
static void edges_between_are_those_of_all_edges(void **state)
{
    qp_snapshot *s = make_snapshot(*state, &small);
    const qp_view *view = qp_snapshot_view(s);
    qp_arena *a = qp_arena_new();
    const qp_walk walks[] = {{~0ull, QP_BOTH, true}, {0x5, QP_OUT, true}, {0, QP_BOTH, true}};
    qp_id *ids = calloc(s->nodes, sizeof *ids), *edge;
    for (size_t w = 0; w < sizeof walks / sizeof *walks; w++)
        for (uint32_t k = 1; k < 20; k++) {
            uint32_t n = 0, m, at = 0;
            for (qp_id v = 0; v < s->nodes; v += k)
                ids[n++] = v;
            assert_int_equal(view->between(view->self, ids, n, walks[w], &edge, &m, a, NULL), QP_OK);
            for (uint32_t e = 0; e < s->edges; e++)
                if (s->edge_from[e] % k == 0 && s->edge_to[e] % k == 0 && s->edge_from[e] != s->edge_to[e] &&
                    walks[w].types >> s->edge_type[e] & 1) {
                    assert_true(at < m);
                    assert_int_equal(edge[at++], e);
                }
            assert_int_equal(at, m);
        }
    free(ids);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

static void says_what_it_was_made_of(void **state)
{
    qp_snapshot *s = make_snapshot(*state, &small);
    const qp_view *view = qp_snapshot_view(s);
    qp_arena *a = qp_arena_new();
    assert_int_equal(qp_snapshot_check(s, NULL), QP_OK);
    assert_int_equal(qp_snapshot_documents(s), small.documents);
    assert_string_equal(qp_snapshot_embedder(s), "digest-of-a-model");
    assert_int_equal(qp_snapshot_document_find(s, QP_STR("d000017.md")), 17);
    assert_int_equal(qp_snapshot_document_find(s, QP_STR("d000017")), UINT32_MAX);
    uint32_t seen = 0;
    for (uint32_t d = 0; d < small.documents; d++) {
        qp_id first;
        uint32_t n;
        qp_snapshot_document_nodes(s, d, &first, &n);
        assert_int_equal(first, seen);
        for (qp_id v = first; v < first + n; v++) {
            qp_about about;
            qp_str text;
            char name[32];
            assert_int_equal(view->about(view->self, &v, 1, &about, a, NULL), QP_OK);
            assert_int_equal(view->text(view->self, QP_NODE, &v, 1, &text, a, NULL), QP_OK);
            snprintf(name, sizeof name, "d%06u.md#%u", d, v - first);
            assert_true(qp_str_eq(about.name, qp_str_of(name)));
            assert_true(qp_str_eq(about.document, qp_snapshot_document_key(s, d)));
            assert_int_equal(about.page, v - first);
            assert_true(qp_str_starts(text, about.title));
            assert_true(text.n ==
                        about.title.n + 1 + (about.heading.n ? about.heading.n + 1 : 0) + about.to - about.from);
            assert_int_equal(qp_snapshot_document_of(s, v), d);
        }
        seen += n;
    }
    assert_int_equal(seen, view->nodes);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

static void names_types_of_edges(void **state)
{
    qp_snapshot *s = make_snapshot(*state, &small);
    const qp_view *view = qp_snapshot_view(s);
    uint64_t bits;
    qp_err err = {0};
    assert_int_equal(view->types(view->self, "*", &bits, NULL), QP_OK);
    assert_true(bits == UINT64_MAX);
    assert_int_equal(view->types(view->self, "type03, type00", &bits, NULL), QP_OK);
    assert_int_equal(bits, 9);
    assert_int_equal(view->types(view->self, "type03,cites", &bits, &err), QP_INPUT);
    assert_non_null(strstr(err.message, "'cites'"));
    assert_non_null(strstr(err.message, "type04"));
    qp_link link;
    qp_str text;
    qp_arena *a = qp_arena_new();
    for (qp_id e = 0; e < view->edges; e++) {
        assert_int_equal(view->link(view->self, &e, 1, &link, NULL), QP_OK);
        assert_int_equal(view->text(view->self, QP_EDGE, &e, 1, &text, a, NULL), QP_OK);
        assert_true(qp_str_eq(text, link.type) && link.from < view->nodes && link.to < view->nodes);
    }
    qp_arena_free(a);
    qp_snapshot_close(s);
}

static void repeats_of_an_edge_are_one(void **state)
{
    qp_maker *m;
    qp_chunk chunk = {0, 1, 0, QP_STR("")};
    qp_maker_options o = {.language = "en", .embedder = ""};
    assert_int_equal(qp_maker_open(in(*state, "s.qp"), &o, &m, NULL), QP_OK);
    qp_document d = {.key = QP_STR("a"), .meta = QP_STR("{}"), .text = QP_STR("x"), .chunks = &chunk, .n_chunks = 1};
    assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
    d.key = QP_STR("b");
    assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
    assert_int_equal(qp_maker_document(m, &d, NULL), QP_BUG); /* out of order */
    assert_int_equal(qp_maker_edge(m, 0, 1, QP_STR("t"), 1, QP_STR(""), NULL), QP_OK);
    assert_int_equal(qp_maker_edge(m, 0, 1, QP_STR("t"), 3, QP_STR(""), NULL), QP_OK);
    assert_int_equal(qp_maker_edge(m, 0, 1, QP_STR("s"), 2, QP_STR(""), NULL), QP_OK);
    assert_int_equal(qp_maker_edge(m, 0, 2, QP_STR("s"), 2, QP_STR(""), NULL), QP_BUG);
    assert_int_equal(qp_maker_finish(m, NULL), QP_OK);
    qp_snapshot *s;
    assert_int_equal(qp_snapshot_open_file(in(*state, "s.qp"), 1, &s, NULL), QP_OK);
    assert_int_equal(s->edges, 2);
    qp_link link;
    assert_int_equal(s->view.link(s, &(qp_id){1}, 1, &link, NULL), QP_OK);
    assert_true(qp_str_eq(link.type, QP_STR("t")) && link.weight == 3);
    qp_snapshot_close(s);
}

static void an_empty_one_is_whole(void **state)
{
    qp_snapshot *s = make_snapshot(*state, &(struct made){.seed = 1, .vocabulary = 1});
    qp_arena *a = qp_arena_new();
    qp_list list;
    assert_int_equal(qp_snapshot_check(s, NULL), QP_OK);
    assert_int_equal(s->view.search(s, "node.bm25", &(qp_probe){.text = QP_STR("anything")}, 10, &list, a, NULL),
                     QP_OK);
    assert_int_equal(list.n, 0);
    assert_int_equal(s->view.search(s, "node.dense", &(qp_probe){0}, 10, &list, a, NULL), QP_INPUT);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

/* ---- damage ---- */

/* Uses all there is of a snapshot that may be damaged: it may fail, it may not crash. */
static void use(const qp_snapshot *s)
{
    const qp_view *view = qp_snapshot_view(s);
    qp_arena *a = qp_arena_new();
    qp_list list;
    float query[24] = {[3] = .6f, [7] = .8f}, row[24];
    view->search(view->self, "node.bm25", &(qp_probe){.text = QP_STR("q0 q1 q2 q5 q17 q100")}, 5, &list, a, NULL);
    view->search(view->self, "node.tfidf", &(qp_probe){.text = QP_STR("q3 q4 q4 q200")}, 50, &list, a, NULL);
    if (view->dim == 24) {
        view->search(view->self, "node.dense", &(qp_probe){.vector = query, .dim = 24}, 5, &list, a, NULL);
        view->search(view->self, "node.dense", &(qp_probe){.vector = query, .dim = 24, .exact = true}, 5, &list, a,
                     NULL);
    }
    for (qp_id v = 0; v < view->nodes && v < 200; v++) {
        qp_adj adj;
        qp_about about;
        qp_str text;
        uint32_t degree;
        view->adjacent(view->self, &v, 1, (qp_walk){7, QP_BOTH, true}, &adj, a, NULL);
        view->degree(view->self, &v, 1, (qp_walk){7, QP_IN, true}, &degree, NULL);
        if (!view->about(view->self, &v, 1, &about, a, NULL))
            qp_arena_str(a, about.name);
        if (!view->text(view->self, QP_NODE, &v, 1, &text, a, NULL))
            qp_arena_str(a, text);
        if (view->dim == 24)
            view->vectors(view->self, "node.dense", &v, 1, row, NULL);
    }
    for (qp_id e = 0; e < view->edges && e < 500; e++) {
        qp_link link;
        view->link(view->self, &e, 1, &link, NULL);
    }
    for (uint32_t d = 0; d < qp_snapshot_documents(s) && d < 100; d++) {
        qp_id first;
        uint32_t n;
        qp_snapshot_document_nodes(s, d, &first, &n);
        qp_arena_str(a, qp_snapshot_document_meta(s, d));
        qp_snapshot_document_find(s, qp_snapshot_document_key(s, d));
    }
    qp_arena_free(a);
}

static long often(const char *variable, long standard)
{
    const char *value = getenv(variable);
    return value ? strtol(value, NULL, 10) : standard;
}

static void write_whole(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* QUIPU_FLIPS=10000 for the long run. */
static void a_flipped_bit_anywhere_is_found(void **state)
{
    char path[300];
    snprintf(path, sizeof path, "%s/made.qp", (char *)*state);
    make_file(path, &small);
    qp_buf file = {0};
    assert_int_equal(qp_file_read(path, 0, &file, NULL), QP_OK);
    qp_random r = qp_random_seed(3);
    for (long i = often("QUIPU_FLIPS", 1000); i > 0; i--) {
        /* half of them in the first KiB, where a flip does most */
        size_t bit = qp_random_below(&r, (i & 1 ? 1024 : file.n) * 8);
        file.at[bit / 8] ^= (char)(1 << bit % 8);
        write_whole(path, file.at, file.n);
        qp_snapshot *s = NULL;
        qp_err err = {0};
        if (!qp_snapshot_open_file(path, 1, &s, &err)) {
            use(s);
            if (!qp_snapshot_check(s, &err))
                fail_msg("bit %zu flipped, and all seems well", bit);
        }
        assert_int_equal(err.code, QP_STORE);
        assert_non_null(strstr(err.message, "quipu index"));
        qp_snapshot_close(s);
        file.at[bit / 8] ^= (char)(1 << bit % 8);
    }
    qp_buf_free(&file);
}

static void a_shorter_file_is_refused(void **state)
{
    char path[300];
    snprintf(path, sizeof path, "%s/made.qp", (char *)*state);
    make_file(path, &small);
    qp_buf file = {0};
    assert_int_equal(qp_file_read(path, 0, &file, NULL), QP_OK);
    qp_random r = qp_random_seed(4);
    for (long i = often("QUIPU_CUTS", 100); i > 0; i--) {
        size_t n = qp_random_below(&r, i & 1 ? 1024 : file.n);
        write_whole(path, file.at, n);
        qp_snapshot *s;
        assert_int_equal(qp_snapshot_open_file(path, 1, &s, NULL), QP_STORE);
    }
    qp_buf_free(&file);
}

/* Somebody who also sets the checksums right can put any number anywhere. */
/* What was forged is told by nothing but what it says. */
static void set_sums(char *bytes, size_t size)
{
    qp_toc_entry *toc = (qp_toc_entry *)(bytes + sizeof(qp_head));
    for (int i = 0; i < QP_SECTIONS; i++)
        if (toc[i].at <= size && toc[i].bytes <= size - toc[i].at)
            toc[i].checksum = qp_hash64((qp_str){bytes + toc[i].at, toc[i].bytes});
}

static void forged_numbers_do_no_harm(void **state)
{
    char path[300];
    snprintf(path, sizeof path, "%s/made.qp", (char *)*state);
    make_file(path, &small);
    qp_buf file = {0};
    assert_int_equal(qp_file_read(path, 0, &file, NULL), QP_OK);
    const size_t front = sizeof(qp_head) + QP_SECTIONS * sizeof(qp_toc_entry);
    qp_random r = qp_random_seed(5);
    for (long i = often("QUIPU_FLIPS", 1000); i > 0; i--) {
        size_t at = 24 + qp_random_below(&r, (i & 1 ? 2048 : file.n - 40)), n = 1 + qp_random_below(&r, 8);
        char kept[8];
        memcpy(kept, file.at + at, sizeof kept);
        for (size_t j = 0; j < n; j++)
            file.at[at + j] = (char)(qp_random_below(&r, 2) ? 0xff : qp_random_next(&r));
        set_sums(file.at, file.n);
        qp_head *head = (qp_head *)file.at;
        head->checksum = 0;
        head->checksum = qp_hash64((qp_str){file.at, front});
        write_whole(path, file.at, file.n);
        qp_snapshot *s = NULL;
        if (!qp_snapshot_open_file(path, 1, &s, NULL)) {
            use(s);
            qp_snapshot_check(s, NULL);
        }
        qp_snapshot_close(s);
        memcpy(file.at + at, kept, sizeof kept);
    }
    qp_buf_free(&file);
}

static void a_file_cut_while_it_is_read_is_told(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they have SIGBUS for themselves */
#endif
    char path[300];
    snprintf(path, sizeof path, "%s/made.qp", (char *)*state);
    make_file(path, &small);
    qp_snapshot *s = NULL;
    qp_err err = {0};
    void (*before)(int) = signal(SIGBUS, SIG_DFL); /* cmocka has one of its own */
    assert_int_equal(qp_snapshot_open_file(path, 1, &s, NULL), QP_OK);
    assert_false(qp_snapshot_is_lost(s));
    assert_int_equal(truncate(path, 4096), 0);
    use(s);
    assert_int_equal(qp_snapshot_check(s, &err), QP_STORE);
    assert_true(qp_snapshot_is_lost(s));
    qp_snapshot_close(s);
    signal(SIGBUS, before);
}

static void a_foreign_file_is_refused(void **state)
{
    qp_snapshot *s;
    qp_err err = {0};
    assert_int_equal(qp_snapshot_open(*state, &s, &err), QP_STORE);
    assert_non_null(strstr(err.message, "no published index"));
    write_whole(in(*state, "CURRENT"), "snapshot-1.qp\n", 14);
    assert_int_equal(qp_snapshot_open(*state, &s, NULL), QP_STORE);
    write_whole(in(*state, "snapshot-1.qp"), "", 0);
    assert_int_equal(qp_snapshot_open(*state, &s, NULL), QP_STORE);
    err = (qp_err){0};
    write_whole(in(*state, "snapshot-1.qp"), "PK\3\4 some other file, long enough to hold a head", 48);
    assert_int_equal(qp_snapshot_open(*state, &s, &err), QP_STORE);
    assert_non_null(strstr(err.message, "no snapshot of ours"));
    err = (qp_err){0};
    write_whole(in(*state, "CURRENT"), "../../etc/passwd\n", 17);
    assert_int_equal(qp_snapshot_open(*state, &s, &err), QP_STORE);
    assert_non_null(strstr(err.message, "CURRENT"));
}

/* ---- where the fuzz target begins ---- */

#define SEEDS "tests/fuzz/corpus/snapshot"
static const struct {
    const char *name;
    struct made how;
} seeds[] = {
    {"lexical.qp", {.seed = 1, .documents = 4, .words = 8, .vocabulary = 20, .edges = 6, .types = 2}},
    {"coded.qp",
     {.seed = 2, .documents = 4, .words = 4, .vocabulary = 20, .edges = 4, .types = 1, .dim = 8, .coded_from = 1}},
    {"ann.qp", {.seed = 3, .documents = 12, .words = 2, .vocabulary = 9, .dim = 8, .coded_from = 1, .ann_from = 1}},
    {"learned.qp", {.seed = 4, .documents = 4, .words = 4, .vocabulary = 20, .edges = 4, .types = 1, .learned = 16}}};

/* A seed of another format is refused at its first bytes, and the fuzz target tries nothing. QUIPU_SEEDS=1 writes those above
 * anew; graph.qp and late.qp are the snapshots of `quipu index examples/inca --embedder hash` and of one short text with
 * `-o tokens=yes`. */
static void seeds_of_the_fuzz_target_open(void **state)
{
    const char *names[] = {"graph.qp", "late.qp", seeds[0].name, seeds[1].name, seeds[2].name, seeds[3].name};
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds && getenv("QUIPU_SEEDS"); i++)
        make_file(in(SEEDS, seeds[i].name), &seeds[i].how);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        qp_snapshot *s;
        qp_err err = {0};
        if (qp_snapshot_open_file(in(SEEDS, names[i]), 1, &s, &err) || qp_snapshot_check(s, &err))
            fail_msg("%s", err.message);
        qp_snapshot_close(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLDS(neighbours_are_those_of_all_edges), HOLDS(edges_between_are_those_of_all_edges),
        HOLDS(says_what_it_was_made_of),          HOLDS(names_types_of_edges),
        HOLDS(repeats_of_an_edge_are_one),        HOLDS(an_empty_one_is_whole),
        HOLDS(a_flipped_bit_anywhere_is_found),   HOLDS(a_shorter_file_is_refused),
        HOLDS(forged_numbers_do_no_harm),         HOLDS(a_file_cut_while_it_is_read_is_told),
        HOLDS(a_foreign_file_is_refused),         HOLDS(seeds_of_the_fuzz_target_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
