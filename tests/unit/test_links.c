/* Edges into rows, against a twin that keeps them all in a table: whatever the memory, the order and the texts. */
#include "made.h"
#include "store/links.h"

enum { NODES = 40, EDGES = 900, TYPES = 3 };

typedef struct drawn {
    uint32_t from, to, type;
    float weight;
    const char *text;
} drawn;

static const char *const type_name[TYPES] = {"b", "a", "c"};
static const uint32_t by_name[TYPES] = {1, 0, 2};
static const char *const said[] = {"", "", "one", "two", "one\ntwo"};

/* Once written, nothing that is kept crosses between passages and entities. */
static void look_at_kept(const qp_links *l)
{
    qp_csr g = qp_links_graph(l, NODES);
    for (uint32_t v = 0; v < NODES; v++)
        for (uint64_t i = g.start[v]; i < g.start[v + 1]; i++)
            assert_int_equal(v < NODES / 2, g.target[i] < NODES / 2);
}

/* The file's bytes from what is given, in this memory; read back. */
static qp_buf written(const char *folder, const drawn *e, size_t n, size_t memory, qp_info *info)
{
    const char *path = in(folder, "edges");
    const qp_links_how how = {.nodes = NODES, .keep = true};
    qp_links *l;
    qp_writer *w;
    qp_buf out = {0};
    *info = (qp_info){.nodes = NODES, .entity = NODES / 2};
    assert_int_equal(qp_links_open(folder, memory, &l, NULL), QP_OK);
    assert_int_equal(qp_writer_open(path, &w, NULL), QP_OK);
    for (size_t i = 0; i < n; i++) {
        qp_str type = qp_str_of(type_name[e[i].type]), text = qp_str_of(e[i].text);
        assert_int_equal(qp_links_add(l, e[i].from, e[i].to, type, e[i].weight, text, NULL), QP_OK);
    }
    assert_int_equal(qp_links_write(l, &how, w, info, NULL), QP_OK);
    look_at_kept(l);
    qp_writer_paste(w, QP_S_STRINGS);
    assert_int_equal(qp_writer_close(w, NULL), QP_OK);
    qp_links_free(l);
    assert_int_equal(qp_file_read(path, 0, &out, NULL), QP_OK);
    return out;
}

static const void *section(const qp_buf *file, qp_section s)
{
    qp_toc_entry e;
    memcpy(&e, file->at + sizeof(qp_head) + s * sizeof e, sizeof e);
    return file->at + e.at;
}

/* The twin: table[from][to][type] is the largest weight, -1: none. */
static void compare(const qp_buf *file, float table[NODES][NODES][TYPES], const qp_info *info)
{
    uint64_t edge = 0, arc = 0, in_edge = 0;
    const uint32_t *from = section(file, QP_S_EDGE_FROM), *to = section(file, QP_S_EDGE_TO),
                   *type = section(file, QP_S_EDGE_TYPE), *in = section(file, QP_S_IN_EDGE),
                   *both = section(file, QP_S_BOTH_NODE);
    const float *weight = section(file, QP_S_EDGE_WEIGHT);
    const uint64_t *out_at = section(file, QP_S_OUT), *in_at = section(file, QP_S_IN),
                   *both_at = section(file, QP_S_BOTH);
    for (uint32_t v = 0; v < NODES; v++) {
        assert_true(out_at[v] == edge && both_at[v] == arc && in_at[v] == in_edge);
        for (uint32_t u = 0; u < NODES; u++) {
            bool near = false;
            for (uint32_t t = 0; t < TYPES; t++) {
                float is = table[v][u][by_name[t]];
                near |= is >= 0 || table[u][v][by_name[t]] >= 0;
                if (is < 0)
                    continue;
                assert_true(from[edge] == v && to[edge] == u && type[edge] == t && weight[edge] == is);
                edge++;
            }
            if (near && u != v)
                assert_int_equal(both[arc++], u);
        }
        for (; in_edge < in_at[v + 1]; in_edge++) {
            assert_int_equal(to[in[in_edge]], v);
            assert_true(in_edge == in_at[v] || in[in_edge] > in[in_edge - 1]);
        }
    }
    assert_true(edge == info->edges && in_edge == edge && out_at[NODES] == edge && in_at[NODES] == edge);
    assert_true(arc == info->arcs && both_at[NODES] == arc);
}

static void draw(qp_random *r, drawn *e, size_t n, uint32_t heads, float table[NODES][NODES][TYPES])
{
    for (uint32_t i = 0; i < NODES * NODES * TYPES; i++)
        (&table[0][0][0])[i] = -1;
    for (size_t i = 0; i < n; i++) {
        e[i] = (drawn){(uint32_t)qp_random_below(r, NODES), (uint32_t)qp_random_below(r, heads),
                       (uint32_t)qp_random_below(r, TYPES), (float)qp_random_below(r, 4), said[qp_random_below(r, 5)]};
        float *at = &table[e[i].from][e[i].to][e[i].type];
        *at = e[i].weight > *at ? e[i].weight : *at;
    }
}

static void turn_round(drawn *e, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        drawn moved = e[i];
        e[i] = e[n - 1 - i];
        e[n - 1 - i] = moved;
    }
}

static void rows_are_the_twins(void **state)
{
    static float table[NODES][NODES][TYPES];
    drawn e[EDGES];
    qp_random r = qp_random_seed(7);
    for (int round = 0; round < 6; round++) {
        size_t n = round ? EDGES : 0;
        qp_info info, other;
        draw(&r, e, n, round % 2 ? NODES : 3, table);
        qp_buf file = written(*state, e, n, 0, &info), tight = written(*state, e, n, 1, &other);
        compare(&file, table, &info);
        assert_true(file.n == tight.n && !memcmp(file.at, tight.at, file.n));
        assert_memory_equal(&info, &other, sizeof info);
        turn_round(e, n);
        qp_buf turned = written(*state, e, n, 5000, &other);
        assert_true(file.n == turned.n && !memcmp(file.at, turned.at, file.n));
        qp_buf_free(&file);
        qp_buf_free(&tight);
        qp_buf_free(&turned);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(rows_are_the_twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
