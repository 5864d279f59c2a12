/* src/ingest/triples: each reader on files made by hand and on what other people's writers wrote, good and bad. */
#include "made.h"

#include <yyjson.h>

#include "graph_lines.h"
#include "ingest/lines.h"
#include "ingest/turtle_guard.h"

struct result {
    qp_buf lines;
    qp_triples_report report;
    qp_build_counts counts;
    qp_err err;
    qp_code code;
};

struct given {
    qp_triples_kind kind;
    qp_str bytes;
    const char *path;
};

/* Reads all of them into one graph. */
static struct result read_all(const char *dir, const struct given *given, size_t n, bool strict)
{
    struct result out = {0};
    qp_build *b = NULL;

    assert_int_equal(qp_build_open(dir, 0, NULL, &b, NULL), QP_OK);
    qp_triple_sink sink = qp_build_sink(b);
    for (size_t i = 0; i < n && !out.code; i++) {
        qp_triples_source source = {.kind = given[i].kind, .path = given[i].path, .bytes = given[i].bytes};
        source.strict = strict;
        out.code = qp_triples_read(&source, &sink, &out.report, &out.err);
    }
    if (!out.code) {
        qp_build_out to = into(&out.lines);
        assert_int_equal(qp_build_finish(b, &to, &out.counts, NULL), QP_OK);
    }
    qp_build_close(b);
    return out;
}

static struct result read_bytes(const char *dir, qp_triples_kind kind, const char *bytes)
{
    return read_all(dir, &(struct given){kind, qp_str_of(bytes), NULL}, 1, false);
}

static void gives(const char *dir, qp_triples_kind kind, const char *bytes, const char *lines, uint64_t left_out)
{
    struct result r = read_bytes(dir, kind, bytes);

    if (r.code)
        fail_msg("%s", r.err.message);
    if (r.report.left_out > left_out)
        fail_msg("%s", r.report.first.message);
    assert_string_equal(r.lines.at ? r.lines.at : "", lines);
    assert_int_equal(r.report.left_out, left_out);
    assert_int_equal(r.report.first.code, left_out ? QP_INPUT : QP_OK);
    qp_buf_free(&r.lines);
}

/* The reason of the first line that is left out; with `strict` it is the end. */
static void complains(const char *dir, qp_triples_kind kind, const char *bytes, const char *message)
{
    struct given given = {kind, qp_str_of(bytes), NULL};
    struct result r = read_all(dir, &given, 1, false);

    assert_int_equal(r.code, QP_OK);
    assert_true(r.report.left_out > 0);
    if (!strstr(r.report.first.message, message))
        fail_msg("wanted '%s', found '%s'", message, r.report.first.message);
    assert_null(strchr(r.report.first.message, '\n'));
    qp_buf_free(&r.lines);
    r = read_all(dir, &given, 1, true);
    assert_int_equal(r.code, QP_INPUT);
    assert_non_null(strstr(r.err.message, message));
    qp_buf_free(&r.lines);
}

/* ---- tab-separated ---- */

static void tsv(void **state)
{
    const char *d = *state;

    gives(d, QP_TRIPLES_TSV, "", "", 0);
    gives(d, QP_TRIPLES_TSV,
          "head\trelation\ttail\nJack Frost\tstarred_actors\tScott MacDonald\r\n\n Jack Frost \thas_genre\tHorror\t0.5",
          "R has_genre\nR starred_actors\nE |Horror|\nE |Jack Frost|\nE |Scott MacDonald|\nT 1 0 0 0.5\nT 1 1 2 1\n",
          0);
    gives(d, QP_TRIPLES_TSV,
          "head\trelation\ttail\tpassage\na\tr\tb\tm11\na\tr\tb\tm1\na\tr\tb\t\nb\tr\ta\na\tr\tb\t m11\n",
          "R r\nE |a|\nE |b|\nT 0 0 1 1 < m1\nm11\nT 1 0 0 1\n", 0);
    gives(d, QP_TRIPLES_TSV, "head\trelation\ttail\tweight\na\tr\tb\t2\n", "R r\nE |a|\nE |b|\nT 0 0 1 2\n", 0);
    gives(d, QP_TRIPLES_TSV, "\xEF\xBB\xBFhead\trelation\ttail\na\tr\ta\na\tr\ta\nb\tr\ta\nhead\tr\ta\n",
          "R r\nE |a|\nE |b|\nE |head|\nT 0 0 0 1\nT 1 0 0 1\nT 2 0 0 1\n", 0);
    gives(d, QP_TRIPLES_TSV, "a\tr\n\tr\tb\na\tr\tb\tc\na\tr\tb\t1\t2\na\tr\t \na\n\t\t\na\tr\tok\n",
          "R r\nE |a|\nE |ok|\nT 0 0 1 1\n", 6);
    complains(d, QP_TRIPLES_TSV, "a\tr\tb\nc\tr\n",
              "standard input:2: wanted head, relation, tail and perhaps a weight");
    complains(d, QP_TRIPLES_TSV, "a\tr\tb\t1\t2\n", "found more than 4 fields");
    complains(d, QP_TRIPLES_TSV, "a\tr\tb\theavy\n",
              "standard input:1: wanted a weight that is a number of at least 0, found 'heavy'");
    complains(d, QP_TRIPLES_TSV, "\n\n\tr\tb\n", "standard input:3: wanted a head, found nothing");
}

/* A name of more than a megabyte, a line of many: left out, what stands around them is read. */
static void long_names(void **state)
{
    qp_buf file = {0};
    char *name = malloc(8 << 20);

    memset(name, 'x', 8 << 20);
    qp_buf_text(&file, "a\tr\tb\n");
    qp_buf_add(&file, name, (1 << 20) + 1);
    qp_buf_text(&file, "\tr\tb\na\tr\t");
    qp_buf_add(&file, name, 1 << 20);
    qp_buf_text(&file, "\n");
    qp_buf_add(&file, name, 8 << 20);
    qp_buf_text(&file, "\tr\tb\na\tr\tc\n");
    struct result r = read_bytes(*state, QP_TRIPLES_TSV, file.at);
    assert_int_equal(r.report.left_out, 2);
    assert_int_equal(r.report.triples, 3);
    assert_int_equal(r.counts.entities, 4);
    assert_string_equal(r.report.first.message, "standard input:2: a head of 1048577 bytes; at most 1048576 are kept");
    qp_buf_free(&r.lines);
    qp_buf_free(&file);
    free(name);
}

static void broken_bytes(void **state)
{
    const struct given given = {QP_TRIPLES_TSV, QP_STR("a\xFF\tr\tb\0c\n"), NULL};
    struct result r = read_all(*state, &given, 1, false);

    assert_string_equal(r.lines.at, "R r\nE |a\xEF\xBF\xBD|\nE |b\xEF\xBF\xBD"
                                    "c|\nT 0 0 1 1\n");
    assert_int_equal(r.report.repaired, 2);
    assert_int_equal(r.report.left_out, 0);
    qp_buf_free(&r.lines);
}

static void lines_of_any_length(void **state)
{
    qp_random random = qp_random_seed(7);
    (void)state;

    for (int round = 0; round < 30; round++) {
        qp_buf file = {0};
        size_t lengths[200], n = 1 + qp_random_below(&random, 200), longest = 40000;
        for (size_t i = 0; i < n; i++) {
            lengths[i] = qp_random_below(&random, 2) ? qp_random_below(&random, 50) : qp_random_below(&random, 70000);
            for (size_t j = 0; j < lengths[i]; j++)
                qp_buf_char(&file, (char)('a' + (i + j) % 26));
            qp_buf_text(&file, i % 3 ? "\n" : "\r\n");
        }
        qp_lines *lines = NULL;
        qp_str line;
        bool whole;
        assert_int_equal(qp_lines_open(NULL, qp_buf_view(&file), longest, &lines, NULL), QP_OK);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(qp_lines_next(lines, &line, &whole, NULL), QP_OK);
            assert_int_equal(qp_lines_number(lines), i + 1);
            if (whole)
                assert_int_equal(line.n, lengths[i]);
            else
                assert_true(lengths[i] + (i % 3 == 0) > longest && line.n <= longest);
            for (size_t j = 0; j < line.n; j++)
                assert_int_equal(line.at[j], 'a' + (i + j) % 26);
        }
        assert_int_equal(qp_lines_next(lines, &line, &whole, NULL), QP_OK);
        assert_null(line.at);
        qp_lines_close(lines);
        qp_buf_free(&file);
    }
}

/* ---- RDF ---- */

static void ntriples(void **state)
{
    const char *d = *state;

    gives(d, QP_TRIPLES_NTRIPLES,
          "# a comment\n"
          "<http://ex.org/a#Paris> <http://ex.org/p/in> <http://ex.org/b/France> .\n"
          "<http://ex.org/b/France> <http://www.w3.org/2000/01/rdf-schema#label> \"La France\"@fr .\n"
          "<http://ex.org/b/France> <http://www.w3.org/2000/01/rdf-schema#label> \"France (country)\"@en .\n"
          "<http://ex.org/b/France> <http://ex.org/p/motto> \"Libert\\u00e9\\n\"@fr .\n"
          "<http://ex.org/a#Paris> <http://ex.org/p/near> _:x .\n",
          "R in\nR motto\nR near\nE |France (country)|iri: http://ex.org/b/France\nE |Libert\xC3\xA9|\n"
          "E |Paris|iri: http://ex.org/a#Paris\nE |_:2b5d204f.x|\nT 0 1 1 1\nT 2 0 0 1\nT 2 2 3 1\n",
          0);
    /* one name, three things: the first IRI has it, the other is told apart by its IRI, the text by being one */
    gives(d, QP_TRIPLES_NTRIPLES,
          "<http://a/Paris> <http://p/is> <http://b/Paris> .\n<http://a/Paris> <http://p/is> \"Paris\" .\n",
          "R is\nE |Paris|iri: http://a/Paris\nE |Paris (<http://b/Paris>)|iri: http://b/Paris\n"
          "E |Paris (literal \"Paris\")|\nT 0 0 1 1\nT 0 0 2 1\n",
          0);
    gives(d, QP_TRIPLES_NTRIPLES, "<http://a/> <http://p/x%20y/> <urn:isbn:3> .\n",
          "R x y\nE |3|iri: urn:isbn:3\nE |a|iri: http://a/\nT 1 0 0 1\n", 0);
    complains(d, QP_TRIPLES_NTRIPLES, "<http://a> <http://b> <http://c> .\n<http://a> <http://b .\n",
              "standard input:2: ");
    complains(d, QP_TRIPLES_NTRIPLES, "<http://a> <http://b> \"\" .\n", "standard input:1: a literal without text");
}

/* A syntax error far into the file: that line, and no other. */
static void an_error_far_in(void **state)
{
    enum { LINES = 200000, WRONG = 123456 };
    qp_buf file = {0};

    for (int i = 1; i <= LINES; i++)
        if (i == WRONG)
            qp_buf_text(&file, "<http://ex.org/e1> <http://ex.org/p> <http://ex.org/e2\n");
        else
            qp_buf_fmt(&file, "<http://ex.org/e%d> <http://ex.org/p> <http://ex.org/e%d> .\n", i, i + 1);
    struct result r = read_bytes(*state, QP_TRIPLES_NTRIPLES, file.at);
    assert_int_equal(r.code, QP_OK);
    assert_int_equal(r.report.triples, LINES - 1);
    assert_int_equal(r.counts.triples, LINES - 1);
    assert_int_equal(r.counts.entities, LINES + 1);
    assert_int_equal(r.report.left_out, 1);
    assert_non_null(strstr(r.report.first.message, "standard input:123456: "));
    qp_buf_free(&r.lines);
    qp_buf_free(&file);
}

static const char prefixes[] =
    "@prefix ex: <http://ex.org/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n";

static void turtle(void **state)
{
    const char *d = *state;
    char file[2000];

    snprintf(file, sizeof file,
             "%s@base <http://base.org/> .\nex:a ex:p <b>, \"c [(\" ;\n  rdfs:label \"An A\" .\nex:p rdfs:label "
             "\"pays\" .\n",
             prefixes);
    gives(d, QP_TRIPLES_TURTLE, file,
          "R pays\nE |An A|iri: http://ex.org/a\nE |b|iri: http://base.org/b\nE |c [(|\nT 0 0 1 1\nT 0 0 2 1\n", 0);
    /* a broken statement of several lines is left out whole; prefixes stay */
    snprintf(file, sizeof file, "%sex:a ex:p ex:b .\nex:c ex:p \"x\n  ex:q ex:r ;\n  ex:s ex:t .\nex:d ex:p ex:e .\n",
             prefixes);
    gives(d, QP_TRIPLES_TURTLE, file,
          "R p\nE |a|iri: http://ex.org/a\nE |b|iri: http://ex.org/b\nE |d|iri: http://ex.org/d\n"
          "E |e|iri: http://ex.org/e\nT 0 0 1 1\nT 2 0 3 1\n",
          1);
    complains(d, QP_TRIPLES_TURTLE, file, "standard input:4: ");
    complains(d, QP_TRIPLES_TURTLE, "a:b a:c a:d .\n", "prefix");
    complains(d, QP_TRIPLES_TURTLE, "<http://a> <http://b> ", "standard input:1: ");
}

/* Brackets without end must not take the stack, nor what is inside strings count as brackets. */
static void nested(void **state)
{
    qp_buf file = {0};

    qp_buf_text(&file, "<http://a> <http://p> ");
    for (int i = 0; i < 100000; i++)
        qp_buf_text(&file, i % 2 ? "( " : "[ <http://p> ");
    qp_buf_text(&file, "\n.\n<http://a> <http://p> \"\"\"(((\"\" [\"\"\" .\n");
    struct result r = read_bytes(*state, QP_TRIPLES_TURTLE, file.at);
    assert_int_equal(r.code, QP_OK);
    assert_int_equal(r.report.left_out, 1);
    assert_non_null(strstr(r.report.first.message, "nested more than 200 deep"));
    assert_non_null(strstr(r.lines.at, "|(((\"\" [|"));
    qp_buf_free(&r.lines);
    qp_buf_free(&file);
}

static void guard(void **state)
{
    static const struct {
        const char *bytes;
        unsigned depth;
    } all[] = {{"[ ( ) ", 1},
               {"\"[\" [", 1},
               {"'[' '\\'[' \"\" [", 1},
               {"\"\"\"[\"\" [\"\"\" (", 1},
               {"<http://a[> # [\n[", 1},
               {"''' \\''''[ ''' [", 1},
               {"] ) [", 1},
               {"\"never closed [\n[", 1}};
    (void)state;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        qp_turtle_guard g = {0};
        for (const char *at = all[i].bytes; *at; at++)
            qp_turtle_guard_byte(&g, *at);
        if (g.depth != all[i].depth)
            fail_msg("%s: %u", all[i].bytes, g.depth);
    }
}

/* ---- CSV ---- */

static void csv(void **state)
{
    const struct given both[] = {
        {QP_TRIPLES_EDGES, QP_STR("source,target,type,weight\n1,2,\"is in, or near\",0.5\n2,3,,\n"), NULL},
        {QP_TRIPLES_NODES, QP_STR("id,Label,pop\n1,\"Paris, \"\"the\"\" city\",2000000\n2,France,\n3,,7\n4,Alone,\n"),
         NULL}};
    struct result r = read_all(*state, both, 2, true);

    assert_int_equal(r.code, QP_OK);
    assert_string_equal(r.lines.at, "R is in, or near\nR link\nE |3|pop: 7\nE |Alone|id: 4\nE |France|id: 2\n"
                                    "E |Paris, \"the\" city|id: 1\npop: 2000000\nT 2 1 0 1\nT 3 0 2 0.5\n");
    assert_int_equal(r.report.entities, 4);
    qp_buf_free(&r.lines);
    gives(*state, QP_TRIPLES_NODES, "personId:ID,name,text\n7,Ann,\"tall, kind\"\n",
          "E |Ann|personId:ID: 7\ntext: tall, kind\n", 0);
    gives(*state, QP_TRIPLES_EDGES, ":START_ID,:END_ID,:TYPE\na,b,KNOWS\n", "R KNOWS\nE |a|\nE |b|\nT 0 0 1 1\n", 0);
    gives(*state, QP_TRIPLES_EDGES, "source,target,weight,since,by\na,b,2,1871,Ann\nb,a,1,,\na,b,1,1872,Ann\n",
          "R link\nE |a|\nE |b|\nT 0 0 1 2 since: 1872\nby: Ann\nsince: 1871\nby: Ann\nT 1 0 0 1\n", 0);
    complains(*state, QP_TRIPLES_EDGES, "source,target\na,b\na,\n",
              "standard input:3: wanted an edge with columns source and target, found no more than ");
    complains(*state, QP_TRIPLES_EDGES, "source,target,weight\na,b,-2\n", "found '-2'");
    complains(*state, QP_TRIPLES_NODES, "color,size\nred,3\n",
              "standard input:2: wanted a node with a column id or name");
}

/* ---- names beside the triples ---- */

static void names(void **state)
{
    const struct given all[] = {{QP_TRIPLES_TSV, QP_STR("m.1\tp7\tm.2\nm.2\tp8\tm.3\n"), NULL},
                                {QP_TRIPLES_ENTITIES, QP_STR("id\tname\nm.1\tLima\nm.2\t Peru \n"), NULL},
                                {QP_TRIPLES_RELATIONS, QP_STR("id\tname\r\np7\tcapital of\r\n"), NULL}};
    struct result r = read_all(*state, all, 3, true);

    assert_int_equal(r.code, QP_OK);
    assert_string_equal(r.lines.at,
                        "R capital of\nR p8\nE |Lima|id: m.1\nE |Peru|id: m.2\nE |m.3|\nT 0 0 1 1\nT 1 1 2 1\n");
    qp_buf_free(&r.lines);
    complains(*state, QP_TRIPLES_ENTITIES, "id\tname\nm.1\n", "standard input:2: wanted an id and a name");
    complains(*state, QP_TRIPLES_RELATIONS, "id\tname\np\ta\tb\n", "standard input:2: wanted an id and a name");
}

/* ---- GraphML ---- */

static const char graphml[] = "<?xml version='1.0'?><graphml xmlns='http://graphml.graphdrawing.org/xmlns'>"
                              "<key id='d0' for='node' attr.name='label' attr.type='string'/>"
                              "<key id='d1' for='edge' attr.name='weight' attr.type='double'/>"
                              "<key id='d2' for='edge' attr.name='relation'><default>knows</default></key>"
                              "<key id='d3' for='node' attr.name='age'><default>30</default></key>"
                              "<key id='d4' for='edge' attr.name='since'/>"
                              "<graph edgedefault='directed'>\n"
                              "<node id='n0'><data key='d0'>Ann &amp; co</data><data key='d3'>41</data></node>\n"
                              "<node id='n1'/>\n"
                              "<edge source='n0' target='n1'><data key='d1'>2</data><data key='d4'>1871</data></edge>\n"
                              "<edge source='n1' target='n0'><data key='d2'>likes</data></edge>\n";

static void xml(void **state)
{
    static const char lines[] =
        "R knows\nR likes\nE |Ann & co|age: 41\nid: n0\nE |n1|age: 30\nT 0 0 1 2 since: 1871\nT 1 1 0 1\n";
    char file[2000];

    snprintf(file, sizeof file, "%s</graph></graphml>\n", graphml);
    gives(*state, QP_TRIPLES_GRAPHML, file, lines, 0);
    snprintf(file, sizeof file, "%s<edge source='n0' tar", graphml); /* cut off: what stood well before counts */
    gives(*state, QP_TRIPLES_GRAPHML, file, "E |Ann & co|age: 41\nid: n0\nE |n1|age: 30\n", 1);
    complains(*state, QP_TRIPLES_GRAPHML, file, "standard input:6: the XML breaks off");
    complains(*state, QP_TRIPLES_GRAPHML, "<graphml><graph>\n<edge source='a'/></graph></graphml>",
              "standard input:2: wanted a tail");
    /* Keys declared inside a value, many enough that the list of them moves. */
    size_t n = (size_t)snprintf(file, sizeof file, "<graphml><key id='d'/><graph><node id='a'><data key='d'>");
    for (int i = 0; i < 80; i++)
        n += (size_t)snprintf(file + n, sizeof file - n, "<key id='k%d'/>", i);
    snprintf(file + n, sizeof file - n, "x</data></node></graph></graphml>");
    gives(*state, QP_TRIPLES_GRAPHML, file, "E |a|d: x\n", 0);
    /* A key that nobody declared is called what it says. */
    gives(*state, QP_TRIPLES_GRAPHML,
          "<graphml><graph><node id='a'><data key='label'>Ann</data><data key='age'>41</data></node>"
          "<edge source='a' target='a'><data key='weight'>2</data><data "
          "key='relation'>is</data></edge></graph></graphml>",
          "R is\nE |Ann|age: 41\nid: a\nT 0 0 0 2\n", 0);
}

/* ---- a small graph per question ---- */

static void graphs(void **state)
{
    const char *d = *state;

    gives(d, QP_TRIPLES_GRAPHS,
          "{\"_id\": \"q2\", \"triples\": [[\"a\", \"r\", \"b\", 2]]}\n\n{\"_id\": \"q1\", \"triples\": [[\"a\", "
          "\"s\", \"a\"]]}\n",
          "R r\nR s\nE q1|a|\nE q2|a|\nE q2|b|\nT 0 1 0 1\nT 1 0 2 2\n", 0);
    gives(d, QP_TRIPLES_GRAPHS,
          "{\"_id\": \"q\", \"triples\": [[\"a\", \"r\"], [\"a\", 3, \"b\"], [\"a\", \"r\", \"c\"]]}\n{\"_id\": \"z\", "
          "\"triples\": []}\n",
          "R r\nE q|a|\nE q|c|\nT 0 0 1 1\n", 2);
    complains(d, QP_TRIPLES_GRAPHS, "{\"_id\": \"q\", \"triples\": []}\n{\"_id\": \"q\", \"tri\n",
              "standard input:2: no JSON at byte");
    complains(d, QP_TRIPLES_GRAPHS, "{\"triples\": []}\n", "wanted {\"_id\": question");
    complains(d, QP_TRIPLES_GRAPHS, "[1]\n", "wanted {\"_id\": question");
}

/* ---- files ---- */

static void kinds(void **state)
{
    static const struct {
        const char *name, *head;
        qp_triples_kind kind;
    } all[] = {{"triples.tsv", "a\tr\tb\n", QP_TRIPLES_TSV},
               {"kb.txt", "head\trelation\ttail\n", QP_TRIPLES_TSV},
               {"kb.tsv", "src\tdst\n", QP_TRIPLES_NONE},
               {"dump.NT", "", QP_TRIPLES_NTRIPLES},
               {"onto.ttl", "", QP_TRIPLES_TURTLE},
               {"nodes.csv", "id\n", QP_TRIPLES_NODES},
               {"my-edges.csv", "source\n", QP_TRIPLES_EDGES},
               {"g.graphml", "", QP_TRIPLES_GRAPHML},
               {"g.xml", "<?xml?><graphml ", QP_TRIPLES_GRAPHML},
               {"g.xml", "<?xml?><html ", QP_TRIPLES_NONE},
               {"graphs.jsonl", "{", QP_TRIPLES_GRAPHS},
               {"relations.tsv", "id\tname\n", QP_TRIPLES_RELATIONS},
               {"entities.tsv", "id\tname\nQ1\tEarth\n", QP_TRIPLES_ENTITIES},
               {"entities.tsv", "Q1\tEarth\n", QP_TRIPLES_NONE},
               {"queries.jsonl", "{", QP_TRIPLES_NONE}};
    (void)state;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(qp_triples_kind_of(qp_str_of(all[i].name), qp_str_of(all[i].head)), all[i].kind);
}

static void no_file(void **state)
{
    for (qp_triples_kind kind = QP_TRIPLES_TSV; kind <= QP_TRIPLES_RELATIONS; kind++) {
        const struct given given = {kind, {0}, "/nowhere/triples"};
        struct result r = read_all(*state, &given, 1, false);
        assert_int_equal(r.code, QP_INPUT);
        assert_non_null(strstr(r.err.message, "/nowhere/triples: cannot be read: No such file"));
    }
}

struct heard {
    int warnings, told;
    char last[300];
};

static void hear(void *user, const char *line)
{
    struct heard *h = user;
    h->warnings++;
    snprintf(h->last, sizeof h->last, "%.299s", line);
}

static void see(void *user, const qp_progress *p)
{
    struct heard *h = user;
    h->told++;
    assert_string_equal(p->stage, "read");
}

/* Of many broken lines a few are told and the rest counted; cancel ends it. */
static void watched(void **state)
{
    static volatile int cancel;
    struct heard heard = {0};
    qp_watch watch = {.progress = see, .warn = hear, .user = &heard, .cancel = &cancel};
    qp_build *b = NULL;
    qp_buf file = {0};
    qp_triples_report report = {0};
    qp_err err = {0};

    for (int i = 0; i < 10000; i++)
        qp_buf_text(&file, i % 2 ? "a\tr\tb\n" : "a\tr\n");
    assert_int_equal(qp_build_open(*state, 0, NULL, &b, NULL), QP_OK);
    qp_triple_sink sink = qp_build_sink(b);
    qp_triples_source source = {.kind = QP_TRIPLES_TSV, .bytes = qp_buf_view(&file), .watch = &watch};
    assert_int_equal(qp_triples_read(&source, &sink, &report, &err), QP_OK);
    assert_int_equal(report.left_out, 5000);
    assert_int_equal(heard.warnings, 6);
    assert_string_equal(heard.last, "standard input: 5000 lines left out");
    assert_true(heard.told > 0);
    cancel = 1;
    assert_int_equal(qp_triples_read(&source, &sink, &report, &err), QP_STOPPED);
    qp_build_close(b);
    qp_buf_free(&file);
}

/* ---- other people's data ---- */

static void data_set(void **state)
{
    static const struct {
        const char *file;
        qp_triples_kind kind;
        uint64_t triples, entities, relations; /* as the data sets' READMEs say */
    } all[] = {{"metaqa/triples.tsv", QP_TRIPLES_TSV, 130173, 42873, 9},
               {"webqsp-paths/triples.tsv", QP_TRIPLES_TSV, 33200, 18389, 1055},
               {"fb15k237-graph/triples.tsv", QP_TRIPLES_TSV, 310116, 14541, 237},
               {"pathquestion/pq-2h/triples.tsv", QP_TRIPLES_TSV, 1211, 0, 0},
               {"pwcqa/triples.tsv", QP_TRIPLES_TSV, 25898, 0, 0}};
    const char *data = getenv("QUIPU_DATA");
    int read = 0;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", data ? data : "../shared/data", all[i].file);
        if (!qp_path_exists(path))
            continue;
        const struct given given = {all[i].kind, {0}, path};
        struct result r = read_all(*state, &given, 1, true);
        if (r.code)
            fail_msg("%s", r.err.message);
        assert_int_equal(r.counts.triples, all[i].triples);
        if (all[i].entities) {
            assert_int_equal(r.counts.entities, all[i].entities);
            assert_int_equal(r.counts.relations, all[i].relations);
        }
        qp_buf_free(&r.lines);
        read++;
    }
    if (!read) {
        print_message("no data sets here (QUIPU_DATA)\n");
        skip();
    }
}

/* What rdflib read of Turtle, and what networkx wrote as GraphML: tests/reference/graph_*.py. */
static void as_others(void **state)
{
    static const struct {
        const char *file, *values;
        qp_triples_kind kind;
    } all[] = {{"turtle.ttl", "turtle.txt", QP_TRIPLES_TURTLE},
               {"turtle.nt", "turtle.txt", QP_TRIPLES_NTRIPLES},
               {"networkx.graphml", "networkx.txt", QP_TRIPLES_GRAPHML}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char path[100], values[100];
        qp_buf wanted = {0};
        snprintf(path, sizeof path, "tests/reference/graph/%s", all[i].file);
        snprintf(values, sizeof values, "tests/reference/graph/%s", all[i].values);
        const struct given given = {all[i].kind, {0}, path};
        assert_int_equal(qp_file_read(values, 0, &wanted, NULL), QP_OK);
        struct result r = read_all(*state, &given, 1, true);
        if (r.code)
            fail_msg("%s", r.err.message);
        assert_string_equal(r.lines.at, wanted.at);
        qp_buf_free(&r.lines);
        qp_buf_free(&wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOLDS(tsv),
        HOLDS(long_names),
        HOLDS(broken_bytes),
        HOLDS(lines_of_any_length),
        HOLDS(ntriples),
        HOLDS(turtle),
        HOLDS(nested),
        HOLDS(guard),
        HOLDS(an_error_far_in),
        HOLDS(csv),
        HOLDS(names),
        HOLDS(xml),
        HOLDS(graphs),
        HOLDS(kinds),
        HOLDS(no_file),
        HOLDS(watched),
        HOLDS(data_set),
        HOLDS(as_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
