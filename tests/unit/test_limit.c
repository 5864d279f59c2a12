/* What is more than can be numbered is refused in one line. Four billion rows are not made: counters are set to the
 * last number but one.
 */
#include "made.h"
#include "store/limit.h"
#include "store/links_parts.h"
#include "store/maker_parts.h"

/* Is it the first that is refused? */
static void refused(qp_code code, const qp_err *err, const char *what)
{
    assert_int_equal(code, QP_INPUT);
    assert_non_null(strstr(err->message, "an index holds at most 4294967294"));
    assert_non_null(strstr(err->message, what));
}

static void there_is_a_last_number(void **state)
{
    qp_err err = {0};
    (void)state;
    assert_int_equal(qp_limit_look(0, "nodes", &err), QP_OK);
    assert_int_equal(qp_limit_look(QP_LIMIT - 1, "nodes", &err), QP_OK);
    refused(qp_limit_look(QP_LIMIT, "nodes", &err), &err, "nodes");
    assert_true(QP_LIMIT < QP_NO_ID); /* that none has */
    assert_int_equal(qp_limit_look(UINT64_C(1) << 33, "nodes", NULL), QP_INPUT);
}

static qp_maker *begun(const char *dir)
{
    qp_maker *m;
    assert_int_equal(qp_maker_open(in(dir, "s"), &(qp_maker_options){.language = "none", .embedder = ""}, &m, NULL),
                     QP_OK);
    return m;
}

static qp_code add(qp_maker *m, const char *key, uint32_t chunks, qp_err *err)
{
    const qp_chunk chunk[] = {{0, 1, 0, QP_STR("")}, {1, 2, 0, QP_STR("")}};
    const qp_document d = {.key = qp_str_of(key),
                           .path = QP_STR(""),
                           .format = QP_STR("txt"),
                           .title = QP_STR(""),
                           .language = QP_STR(""),
                           .meta = QP_STR("{}"),
                           .text = QP_STR("ab"),
                           .chunks = chunk,
                           .n_chunks = chunks};
    return qp_maker_document(m, &d, err);
}

static void no_passage_is_one_too_many(void **state)
{
    qp_maker *m = begun(*state);
    qp_err err = {0};
    m->info.nodes = QP_LIMIT - 1;
    refused(add(m, "a", 2, &err), &err, "nodes");
    assert_int_equal(m->info.nodes, QP_LIMIT);
    qp_maker_drop(m);
}

static void no_document_is_one_too_many(void **state)
{
    qp_maker *m = begun(*state);
    qp_err err = {0};
    m->info.documents = QP_LIMIT - 1;
    assert_int_equal(add(m, "a", 0, &err), QP_OK);
    refused(add(m, "b", 0, &err), &err, "documents");
    qp_maker_drop(m);
}

static void no_entity_is_one_too_many(void **state)
{
    qp_maker *m = begun(*state);
    qp_err err = {0};
    m->info.nodes = QP_LIMIT - 1;
    assert_int_equal(qp_maker_entity(m, QP_STR(""), QP_STR("a"), QP_STR(""), &err), QP_OK);
    refused(qp_maker_entity(m, QP_STR(""), QP_STR("b"), QP_STR(""), &err), &err, "nodes");
    qp_maker_drop(m);
}

static void no_edge_is_one_too_many(void **state)
{
    qp_maker *m = begun(*state);
    qp_err err = {0};
    assert_int_equal(add(m, "a", 2, &err), QP_OK);
    m->links->n = QP_LIMIT - 1;
    assert_int_equal(qp_maker_edge(m, 0, 1, QP_STR("is"), 1, QP_STR(""), &err), QP_OK);
    refused(qp_maker_edge(m, 1, 0, QP_STR("is"), 1, QP_STR(""), &err), &err, "edges");
    qp_maker_drop(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_is_a_last_number), HOLDS(no_passage_is_one_too_many),
                                       HOLDS(no_document_is_one_too_many), HOLDS(no_entity_is_one_too_many),
                                       HOLDS(no_edge_is_one_too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
