/* Metadata filters: what passes, what does not, and how a wrong one is told. */
#include "unit/made.h"

#include "store/where.h"

static const struct {
    const char *key, *title, *format, *meta;
} documents[] = {
    {"a", "Graphs for all", "md", "{\"year\": 2001, \"lang\": \"en\", \"tags\": [\"x\", \"y\"], \"draft\": false}"},
    {"b", "ÜBER Straßen", "html",
     "{\"year\": \"1999\", \"lang\": \"de\", \"author\": {\"name\": \"Ada\"}, \"n\": null}"},
    {"c", "", "md", "{\"date\": \"2020-05-17\", \"tags\": [], \"odd name\": 1, \"draft\": true, \"file.size\": 9}"},
    {"d", "Plain", "pdf", "{}"},
    {"e", "Broken", "pdf", "{no json"},
};

static qp_snapshot *five_documents(const char *dir)
{
    qp_maker *m;
    qp_maker_options o = {.language = "en", .embedder = ""};
    assert_int_equal(qp_maker_open(in(dir, "made.qp"), &o, &m, NULL), QP_OK);
    for (size_t i = 0; i < 5; i++) {
        const qp_chunk chunks[2] = {{0, 2, 0, QP_STR("")}, {2, 4, 0, QP_STR("")}};
        qp_document d = {.key = qp_str_of(documents[i].key),
                         .title = qp_str_of(documents[i].title),
                         .path = QP_STR("/some/where"),
                         .format = qp_str_of(documents[i].format),
                         .meta = qp_str_of(documents[i].meta),
                         .text = QP_STR("text"),
                         .chunks = chunks,
                         .n_chunks = 2};
        assert_int_equal(qp_maker_document(m, &d, NULL), QP_OK);
    }
    assert_int_equal(qp_maker_finish(m, NULL), QP_OK);
    qp_snapshot *s;
    assert_int_equal(qp_snapshot_open_file(in(dir, "made.qp"), 1, &s, NULL), QP_OK);
    return s;
}

static void passes_what_it_says(void **state)
{
    static const struct {
        const char *filter, *documents;
    } cases[] = {
        {"year = 2001", "a"},
        {"year >= 1999", "ab"},
        {"year < 2000", "b"},
        {"year != 2001", "b"},
        {"not year = 2001", "bcde"},
        {"year = '2001'", "a"},
        {"lang = 'en' or lang = 'de'", "ab"},
        {"lang in ('de', 'fr')", "b"},
        {"lang ~ 'E'", "ab"},
        {"year in (1999, 2001) and not lang = 'en'", "b"},
        {"tags = 'y'", "a"},
        {"tags != 'z'", "ac"},
        {"tags exists", "ac"},
        {"tags ~ 'X'", "a"},
        {"author.name = 'Ada'", "b"},
        {"author exists", "b"},
        {"author = 'Ada'", ""},
        {"author.name.first = 1", ""},
        {"date >= '2020-01-01' and date < '2021'", "c"},
        {"`odd name` = 1", "c"},
        {"file.size > 8", "c"},
        {"`file.size` = 9", "c"},
        {"file exists", ""},
        {"draft = true", "c"},
        {"draft = false", "a"},
        {"draft exists AND NOT draft = true", "a"},
        {"n = null", "b"},
        {"id = 'd'", "d"},
        {"id in ('a','e')", "ae"},
        {"title ~ 'graph'", "a"},
        {"title ~ 'über STRASSEN'", "b"},
        {"title exists", "abde"},
        {"path ~ '/SOME'", "abcde"},
        {"format = 'md' and (draft = true or year = 2001)", "ac"},
        {"format = 'md' or format = 'pdf' and id = 'd'", "acd"},
        {"lang < 5", ""},
        {"title = 'it''s'", ""},
        {"not (not id = 'a')", "a"},
        {"  id  =  \"b\"  ", "b"},
    };
    qp_snapshot *s = five_documents(*state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qp_arena *a = qp_arena_new();
        const uint64_t *allow;
        qp_err err = {0};
        char found[8];
        int n = 0;
        qp_code code = qp_snapshot_where(s, cases[i].filter, &allow, a, &err);
        if (code && code != QP_NONE) /* that says of which field no document has heard */
            fail_msg("%s", err.message);
        for (unsigned v = 0; v < 10 && !code; v += 2) {
            assert_int_equal(*allow >> v & 1, *allow >> (v + 1) & 1); /* both chunks or none */
            if (*allow >> v & 1)
                found[n++] = (char)('a' + v / 2);
        }
        found[n] = 0;
        if (strcmp(found, cases[i].documents))
            fail_msg("%s: passes '%s', not '%s'", cases[i].filter, found, cases[i].documents);
        qp_arena_free(a);
    }
    qp_snapshot_close(s);
}

static void tells_where_it_is_wrong(void **state)
{
    static const struct {
        const char *filter, *place;
    } cases[] = {
        {"", "character 1:"},
        {"year", "character 5:"},
        {"year >=", "character 8:"},
        {"year >= and", "character 9:"},
        {"year = 2001 lang", "character 13:"},
        {"(year = 1", "character 10:"},
        {"year = 'open", "character 8:"},
        {"year = 2020-05-17", "in quotes"},
        {"in = 3", "a field's name"},
        {"year in 3", "character 9:"},
        {"year in (3", "character 11:"},
        {"year in ()", "character 10:"},
        {"a ~ 3", "'text' in quotes"},
        {"a = 1 and", "character 10:"},
        {"a = 1 )", "character 7:"},
        {"= 3", "character 1:"},
        {"a <> 3", "character 4:"},
        {"a = -", "character 5:"},
        {"a = `b`", "a value"},
        {"a # 1", "one of ="},
        {"year=2001or year=1999", "character 6:"}, /* a number that runs into a word is neither */
        {"'ä' = 1", "character 1:"},
        {"name = 'äöü' x", "character 14:"},
    };
    qp_snapshot *s = five_documents(*state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qp_arena *a = qp_arena_new();
        const uint64_t *allow;
        qp_err err = {0};
        assert_int_equal(qp_snapshot_where(s, cases[i].filter, &allow, a, &err), QP_INPUT);
        if (!strstr(err.message, cases[i].place))
            fail_msg("%s: %s", cases[i].filter, err.message);
        qp_arena_free(a);
    }
    qp_snapshot_close(s);
}

static void deep_and_long_ones_end(void **state)
{
    qp_snapshot *s = five_documents(*state);
    qp_arena *a = qp_arena_new();
    const uint64_t *allow;
    qp_buf filter = {0};
    for (int i = 0; i < 100000; i++)
        qp_buf_text(&filter, i % 2 ? "(" : "not ");
    assert_int_equal(qp_snapshot_where(s, filter.at, &allow, a, NULL), QP_INPUT);
    qp_buf_clear(&filter);
    for (int i = 0; i < 3000; i++)
        qp_buf_fmt(&filter, "%sid = 'a'", i ? " or " : "");
    assert_int_equal(qp_snapshot_where(s, filter.at, &allow, a, NULL), QP_OK);
    assert_int_equal(*allow, 3);
    qp_buf_free(&filter);
    qp_arena_free(a);
    qp_snapshot_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {HOLDS(passes_what_it_says), HOLDS(tells_where_it_is_wrong),
                                       HOLDS(deep_and_long_ones_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
