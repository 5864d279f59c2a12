/* src/ingest: readers, cutting, records, patterns, and the edges that come out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "ingest/cut.h"
#include "ingest/format.h"
#include "ingest/glob.h"
#include "ingest/identifier.h"
#include "ingest/resolve.h"
#include "ingest/source.h"
#include "text/utf8.h"

/* ---- one file ---- */

struct reading {
    qp_arena *mem;
    qp_extract x;
    qp_document d;
};

static qp_code read_as(struct reading *r, qp_read_fn read, qp_str bytes, qp_err *err)
{
    *r = (struct reading){.mem = qp_arena_new()};
    qp_extract_init(&r->x, r->mem);
    qp_code code = read(&(qp_input){bytes, NULL}, &r->x, err);
    if (!code) {
        qp_scan_references(&r->x, "text");
        qp_scan_cross_references(&r->x);
    }
    return code ? code : qp_cut(&r->x, &(qp_cutting){.unit = QP_TOKENS, .size = 40}, &r->d, r->mem, err);
}

static void done(struct reading *r)
{
    qp_extract_free(&r->x);
    qp_arena_free(r->mem);
}

/* "type:target#anchor@chunk" of every reference, a line each; parents left out. */
static bool refers(const struct reading *r, const char *wanted)
{
    char line[500];

    for (uint32_t i = 0; i < r->d.n_references; i++) {
        const qp_reference *f = &r->d.references[i];
        snprintf(line, sizeof line, "%.*s:%.*s#%.*s@%d", (int)f->type.n, f->type.at, (int)f->target.n, f->target.at,
                 (int)f->anchor.n, f->anchor.at, f->chunk == QP_WHOLE ? -1 : (int)f->chunk);
        if (!strcmp(line, wanted))
            return true;
    }
    return false;
}

static void html(void **state)
{
    (void)state;
    struct reading r;
    static const char page[] =
        "<!doctype html><html lang=en><head><title> The\n page </title><style>x{}</style><script>no()</script>"
        "<link rel=next href=two.html></head><body><nav>menu</nav><div id=side-nav><p>To <a href=/index.html>the "
        "start</a></div>"
        "<p class=menu>Soup, <a href=soup.html>hot</a>."
        "<h1 id=top>The page</h1><p>One &amp; <b>two</b>.</p>"
        "<a name=old></a><p>See <a href='guide/a%20b.html#sec'>this</a>, <a "
        "href=https://doi.org/10.1145/361002.361007>x"
        "</a>.</p><table><tr><th>k<th>v<tr><td>1<td>2</table><ul><li>first<li>second</ul><pre>a\n  b</pre>";
    assert_int_equal(read_as(&r, qp_read_html, qp_str_of(page), NULL), QP_OK);
    assert_string_equal(r.x.text.at, "Soup, hot.\n\nThe page\n\nOne & two.\n\nSee this, x.\n\n| k | v |\n| 1 | 2 "
                                     "|\n\n- first\n- second\n\na\n  b\n\n");
    assert_true(qp_str_eq(r.d.title, QP_STR("The page")));
    assert_true(refers(&r, "link:guide/a b.html#sec@0"));
    assert_true(refers(&r, "cites:10.1145/361002.361007#@0"));
    assert_true(refers(&r, "next:two.html#@0"));
    assert_false(refers(&r, "link:/index.html#@0")); /* of a menu */
    assert_int_equal(r.d.n_anchors, 2);
    assert_non_null(strstr(r.x.meta.at, "\"lang\":\"en\""));
    done(&r);
    /* what browsers take it for */
    assert_int_equal(read_as(&r, qp_read_html, QP_STR("<p>caf\xE9"), NULL), QP_OK);
    assert_string_equal(r.x.text.at, "caf\u00E9\n\n");
    done(&r);
    qp_buf deep = {0};
    for (int i = 0; i < 100000; i++)
        qp_buf_text(&deep, "<div>");
    assert_int_equal(read_as(&r, qp_read_html, qp_buf_view(&deep), NULL), QP_INPUT);
    done(&r);
    qp_buf_free(&deep);
}

static void markdown(void **state)
{
    (void)state;
    struct reading r;
    assert_int_equal(
        read_as(&r, qp_read_markdown,
                QP_STR("---\ntitle: Notes\nyear: 2001\ntags: [a, b]\n---\n# Part One\n\nText with [a link](b.md#x), "
                       "[[Some Page|label]] and [[#here]].\n\n## Sub section\n\n- item\n- item two\n\n"
                       "| a | b |\n|---|---|\n| 1 | 2 |\n\n```c\nint  x;\n```\n"),
                NULL),
        QP_OK);
    assert_true(qp_str_eq(r.d.title, QP_STR("Notes")));
    assert_string_equal(r.x.meta.at, "{\"year\":2001,\"tags\":[\"a\",\"b\"]}");
    assert_true(refers(&r, "link:b.md#x@0"));
    assert_true(refers(&r, "link:wiki:Some Page#@0"));
    assert_true(refers(&r, "link:#here@0"));
    assert_non_null(strstr(r.x.text.at, "- item\n- item two\n"));
    assert_non_null(strstr(r.x.text.at, "| a | b |\n| 1 | 2 |"));
    assert_non_null(strstr(r.x.text.at, "int  x;"));
    assert_true(qp_str_eq(r.d.anchors[1], QP_STR("sub-section")));
    done(&r);
}

static void numbered_references(void **state)
{
    (void)state;
    struct reading r;
    assert_int_equal(read_as(&r, qp_read_text,
                             QP_STR(
                                 "As shown in [2], and by printf(3) too. See arXiv:1706.03762v5 also.\n\nReferences\n\n"
                                 "[1] A. Author. A long title of some paper. 1999.\n"
                                 "[2] B. Writer. Another thing. doi:10.1000/ABC.5.\n"),
                             NULL),
                     QP_OK);
    assert_true(
        refers(&r, "cites:work:10.1000/abc.5\t\tAnother thing\tB. Writer. Another thing. doi:10.1000/ABC.5.#@0"));
    assert_true(refers(&r, "man:printf(3)#@0"));
    assert_true(refers(&r, "cites:arxiv:1706.03762#@0"));
    assert_true(
        refers(&r, "cites:work:\t\tA long title of some paper\tA. Author. A long title of some paper. 1999.#@-1"));
    done(&r);
}

/* Which chunk of 40 words or fewer holds the text. */
static int chunk_with(const struct reading *r, const char *words)
{
    const char *at = strstr(r->x.text.at, words);
    for (uint32_t i = 0; at && i < r->d.n_chunks; i++)
        if ((size_t)(at - r->x.text.at) < r->d.chunks[i].to)
            return (int)i;
    return -1;
}

/* Does the chunk that says `words` refer to the label, and does that stand in the chunk with `place`? */
static bool leads(const struct reading *r, const char *words, const char *label, const char *place)
{
    char line[100];
    snprintf(line, sizeof line, "xref:#%s@%d", label, chunk_with(r, words));
    for (uint32_t i = 0; i < r->d.n_anchors; i++)
        if (qp_str_eq(r->d.anchors[i], qp_str_of(label)))
            return refers(r, line) && (int)r->d.anchor_chunk[i] == chunk_with(r, place);
    return false;
}

/* The layout that a paper has once it was a PDF. */
static void cross_references_of_paper(void **state)
{
    (void)state;
    struct reading r;
    static const char paper[] =
        "A Paper About Chunks\n\n1 Introduction\n3 Method ........ 12\n\n"
        "We go on as follows. Section 3 has the method, Sections 4.1-4.2 and Appendix A the rest; as shown in\n"
        "Table 2, it is fast. By Theorem 1 it ends. Section 3 of the Companies Act and Figure 1 in [5] are not ours, "
        "nor is Table 7.\n\n"
        "3 Method\n\nThe score of a node is the sum over those around it, which is what one would expect of it.\n\n"
        "s(v) = a + b    (5)\n\n"
        "Theorem 1. It ends after finitely many steps, whatever the input may be and whoever has made it.\n\n"
        "4 Results\n\n4.1 Speed\n\nIt is measured as Eq. (5) says, on all the data there is, twice over, and then "
        "again.\n\n"
        "Table 2: Speed of all methods, in milliseconds, on one core of a machine of today.\n\n"
        "4.2 Quality\n\nFig. 1 and Figure 1b show what comes out, for each of the methods and each of the data "
        "sets.\n\n"
        "Figure 1. Quality of the methods, each with its interval.\n\nA Proofs\n\nThey are left to the reader.\n";
    assert_int_equal(read_as(&r, qp_read_text, qp_str_of(paper), NULL), QP_OK);
    assert_true(leads(&r, "We go on", "section 3", "3 Method\n\nThe"));
    assert_true(leads(&r, "We go on", "section 4.1", "4.1 Speed"));
    assert_true(leads(&r, "We go on", "section 4.2", "4.2 Quality"));
    assert_true(leads(&r, "Appendix A", "section a", "A Proofs"));
    assert_true(leads(&r, "Table 2, it", "table 2", "Table 2: Speed"));
    assert_true(leads(&r, "By Theorem", "theorem 1", "Theorem 1. It"));
    assert_true(leads(&r, "Eq. (5)", "equation 5", "s(v) ="));
    assert_true(leads(&r, "Fig. 1 and", "figure 1", "Figure 1. Quality"));
    for (uint32_t i = 0; i < r.d.n_references; i++) { /* nothing said of others is ours */
        assert_false(qp_str_eq(r.d.references[i].anchor, QP_STR("table 7")));
        assert_false(r.d.references[i].chunk == 1 && qp_str_eq(r.d.references[i].anchor, QP_STR("figure 1")));
    }
    done(&r);
}

/* Regulation (EU) 2016/679, Articles 6 to 8, shortened. */
static void cross_references_of_regulation(void **state)
{
    (void)state;
    struct reading r;
    static const char law[] =
        "General Data Protection Regulation\n\nArticle 6\nLawfulness of processing\n\n"
        "6.1 Processing shall be lawful only if and to the extent that at least one of the following applies: (a) the "
        "data subject has given consent to the processing of his or her personal data for one or more specific "
        "purposes.\n\n"
        "6.3 The basis for the processing referred to in paragraph 6.1(c) and (e) shall be laid down by Union law or "
        "Member State law to which the controller is subject, whatever the purpose.\n\n"
        "Article 7\nConditions for consent\n\n"
        "(1) Where processing is based on consent, the controller shall be able to demonstrate that the data subject "
        "has consented to processing of his or her personal data, at any time and to whoever asks for it.\n\n"
        "(2) Any part of a declaration which infringes paragraph (1) is not binding, and Article 16 TFEU stays as it "
        "was before this came into force, as do all of the other provisions there are.\n\n"
        "Article 8\nConditions applicable to child's consent\n\n"
        "Where point (a) of Article 6 applies, in relation to the offer of information society services directly to a "
        "child, the processing shall be lawful where the child is at least 16 years old. See also Article 7(2), and "
        "Article 5 of the Treaty.\n";
    assert_int_equal(read_as(&r, qp_read_text, qp_str_of(law), NULL), QP_OK);
    assert_true(leads(&r, "The basis for", "section 6.1", "6.1 Processing"));
    assert_true(leads(&r, "which infringes", "section 7(1)", "(1) Where"));
    assert_true(leads(&r, "Where point (a)", "article 6", "Article 6\n"));
    assert_true(leads(&r, "See also", "section 7(2)", "(2) Any part"));
    done(&r);
}

static void man_page(void **state)
{
    (void)state;
    struct reading r;
    assert_int_equal(read_as(&r, qp_read_man,
                             QP_STR(".\\\" comment\n.TH PRINTF 3 2020\n.SH NAME\nprintf \\- formatted \\fIoutput\\fP\n"
                                    ".SH SEE ALSO\n.BR puts (3),\n.BR scanf (3)\n"),
                             NULL),
                     QP_OK);
    assert_true(qp_str_eq(r.d.title, QP_STR("PRINTF(3)")));
    assert_non_null(strstr(r.x.text.at, "printf - formatted output"));
    assert_true(refers(&r, "man:puts(3)#@0"));
    assert_true(refers(&r, "man:scanf(3)#@0"));
    done(&r);
}

static void broken_files(void **state)
{
    (void)state;
    struct reading r;
    qp_err err = {0};
    static const qp_read_fn zips[] = {qp_read_docx, qp_read_epub};

    assert_int_equal(read_as(&r, qp_read_pdf, QP_STR("\x01\x02 junk"), &err), QP_INPUT);
    done(&r);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_as(&r, zips[i], QP_STR("no zip at all"), NULL), QP_INPUT);
        done(&r);
    }
    assert_int_equal(read_as(&r, qp_read_text, QP_STR(" \n\n"), &err), QP_INPUT);
    done(&r);
    assert_int_equal(read_as(&r, qp_read_text,
                             QP_STR("a\0b\xFF"
                                    "c\r\nd"),
                             NULL),
                     QP_OK);
    assert_int_equal(r.x.replaced, 2);
    assert_string_equal(r.x.text.at, "a\uFFFDb\uFFFDc\nd");
    done(&r);
    assert_int_equal(read_as(&r, qp_read_text, QP_STR("Ein K\xE4se \x96 f\xFCr 2 \x80"), NULL), QP_OK);
    assert_int_equal(r.x.replaced, 0);
    assert_string_equal(r.x.text.at, "Ein K\u00E4se \u2013 f\u00FCr 2 \u20AC");
    done(&r);
    assert_int_equal(read_as(&r, qp_read_text, QP_STR("caf\u00E9, and one byte lost: \xE9 here"), NULL), QP_OK);
    assert_int_equal(r.x.replaced, 1); /* UTF-8, for a character of it is there */
    done(&r);
}

/* Made by Python's zipfile, the seeds of the fuzz targets too. */
static void read_archive(struct reading *r, qp_read_fn read, const char *path)
{
    qp_buf bytes = {0};
    assert_int_equal(qp_file_read(path, 0, &bytes, NULL), QP_OK);
    assert_int_equal(read_as(r, read, qp_buf_view(&bytes), NULL), QP_OK);
    qp_buf_free(&bytes);
}

static void office_and_books(void **state)
{
    (void)state;
    struct reading r;
    read_archive(&r, qp_read_docx, "tests/fuzz/corpus/docx/simple.docx");
    assert_true(qp_str_eq(r.d.title, QP_STR("The Title")));
    assert_string_equal(r.x.text.at, "The Title\n\nFirst part\n\nSome text, a link\n\n| a | b |\n\n");
    assert_true(refers(&r, "link:other.docx#@0"));
    assert_true(qp_str_eq(r.d.anchors[0], QP_STR("here")));
    done(&r);
    read_archive(&r, qp_read_epub, "tests/fuzz/corpus/epub/simple.epub");
    assert_true(qp_str_eq(r.d.title, QP_STR("The Book")));
    assert_string_equal(r.x.text.at, "One\n\nFirst, see two.\n\nTwo\n\nSecond.\n\n");
    assert_true(refers(&r, "link:#two.xhtml#s@0"));
    assert_true(qp_str_eq(r.d.anchors[2], QP_STR("two.xhtml#s")));
    done(&r);
}

/* A file written by hand: a page with a title in larger letters, and one more. */
static void pdf(void **state)
{
    (void)state;
    static const char *const objects[] = {
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Contents 5 0 R/Resources<</Font<</F 7 0 R>>>>>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Contents 6 0 R/Resources<</Font<</F 7 0 R>>>>>>",
        ("<</Length 90>>stream\nBT /F 24 Tf 20 350 Td (On Small Files) Tj ET "
         "BT /F 12 Tf 20 300 Td (The first page.) Tj ET\nendstream"),
        "<</Length 46>>stream\nBT /F 12 Tf 20 300 Td (The second page.) Tj ET\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"};
    qp_buf file = {0};
    struct reading r;
    if (access("/usr/bin/pdftotext", X_OK))
        skip();
    qp_buf_text(&file, "%PDF-1.4\n");
    for (int i = 0; i < 7; i++)
        qp_buf_fmt(&file, "%d 0 obj%s endobj\n", i + 1, objects[i]);
    qp_buf_text(&file, "trailer<</Size 8/Root 1 0 R>>\n");
    qp_err err = {0};
    if (read_as(&r, qp_read_pdf, qp_buf_view(&file), &err))
        fail_msg("%s", err.message);
    assert_non_null(strstr(r.x.text.at, "The first page."));
    assert_true(qp_str_eq(r.d.title, QP_STR("On Small Files")));
    assert_int_equal(r.d.chunks[0].page, 1);
    assert_int_equal(r.d.n_chunks, 1);
    const qp_mark *last = &r.x.marks[r.x.n_marks - 1];
    assert_true(last->kind == QP_MARK_PAGE && last->level == 2);
    assert_true(qp_str_starts(qp_str_slice(r.d.text, last->from, r.d.text.n), QP_STR("The second page.")));
    done(&r);
    qp_buf_free(&file);
}

/* ---- cutting ---- */

static void chunks_fit_and_lose_nothing(void **state)
{
    (void)state;
    qp_buf text = {0};
    for (int i = 0; i < 500; i++)
        qp_buf_fmt(&text, "Sentence number %d has some words. ", i);
    for (int i = 0; i < 5000; i++)
        qp_buf_char(&text, 'x'); /* a word that fits nowhere */
    for (uint32_t overlap = 0; overlap < 30; overlap += 13) {
        struct reading r = {.mem = qp_arena_new()};
        qp_extract_init(&r.x, r.mem);
        qp_extract_literal(&r.x, qp_buf_view(&text));
        qp_cutting how = {.unit = QP_CHARS, .size = 100, .overlap = overlap ? 60 : 0};
        assert_int_equal(qp_cut(&r.x, &how, &r.d, r.mem, NULL), QP_OK);
        uint64_t reached = 0;
        for (uint32_t i = 0; i < r.d.n_chunks; i++) {
            const qp_chunk *c = &r.d.chunks[i];
            assert_true(c->to > c->from && c->to - c->from <= 100 && c->to > reached);
            for (uint64_t k = reached; k < c->from; k++)
                assert_int_equal(text.at[k], ' ');
            reached = c->to;
        }
        assert_true(reached == text.n);
        done(&r);
    }
    qp_buf_free(&text);
}

static void headings_make_paths_and_parents(void **state)
{
    (void)state;
    struct reading r;
    qp_buf text = {0};
    qp_buf_text(&text, "# Book\n\n## One\n\n");
    for (int i = 0; i < 60; i++)
        qp_buf_fmt(&text, "Words of section one, %d. ", i);
    qp_buf_text(&text, "\n\n### Deep\n\n");
    for (int i = 0; i < 30; i++)
        qp_buf_fmt(&text, "Words of the deep, %d. ", i);
    assert_int_equal(read_as(&r, qp_read_markdown, qp_buf_view(&text), NULL), QP_OK);
    const qp_chunk *last = &r.d.chunks[r.d.n_chunks - 1];
    assert_true(qp_str_eq(last->heading, QP_STR("One > Deep"))); /* the title itself is left out */
    assert_true(refers(&r, "parent:#@0@1"));
    bool deep_under_one = false;
    for (uint32_t i = 1; i < r.d.n_chunks; i++) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, "parent:#@0@%u", i);
        deep_under_one |= qp_str_eq(r.d.chunks[i].heading, QP_STR("One > Deep")) && refers(&r, wanted);
    }
    assert_true(deep_under_one);
    done(&r);
    qp_buf_free(&text);
}

/* ---- names and patterns ---- */

static void identifiers(void **state)
{
    (void)state;
    qp_arena *a = qp_arena_new();
    qp_str id;
    size_t at, n;

    assert_true(qp_identifier_find(QP_STR("see (doi:10.1000/x(y)z). Then"), &at, &n, &id, a));
    assert_true(qp_str_eq(id, QP_STR("10.1000/x(y)z")));
    assert_true(qp_identifier_in_address(QP_STR("https://arxiv.org/pdf/1706.03762v2"), &id, a));
    assert_true(qp_str_eq(id, QP_STR("arxiv:1706.03762")));
    assert_false(qp_identifier_find(QP_STR("version 10.1 / 3 and 10.12345678"), &at, &n, &id, a));
    assert_int_equal(qp_man_page_at(QP_STR("SSL_new(3ssl) x")), 13);
    assert_int_equal(qp_man_page_at(QP_STR("f(x)")), 0);
    assert_true(qp_str_eq(qp_title_key(QP_STR(" The  \"Quick\" Brown-Fox\u2026 "), a), QP_STR("the quick brown fox")));
    qp_arena_free(a);
}

static void patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool fits;
    } cases[] = {
        {"*.md", "a.md", true},
        {"*.md", "d/a.md", false},
        {"**/*.md", "d/e/a.md", true},
        {"**/*.md", "a.md", true},
        {"d/**", "d/e/a", true},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"a/**/b", "axb", false},
        {"[a-c]?", "bz", true},
        {"[!a-c]?", "bz", false},
        {"a*b*c", "aXbYbZc", true},
        {"\\*", "*", true},
        {"**/a*/c", "x/ab/ac/c", true},
        {"", "", true},
        {"*", "", true},
        {"**/foo.md", "x/barfoo.md", false},
        {"a/**/b", "a/xb", false},
        {"**/obj", "myobj", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (qp_glob(qp_str_of(cases[i].pattern), qp_str_of(cases[i].path)) != cases[i].fits)
            fail_msg("%s against %s", cases[i].pattern, cases[i].path);
    assert_int_equal(qp_ignore_line(QP_STR("build/"), QP_STR("x/build"), true), 1);
    assert_int_equal(qp_ignore_line(QP_STR("build/"), QP_STR("x/build"), false), -1);
    assert_int_equal(qp_ignore_line(QP_STR("!keep.txt"), QP_STR("keep.txt"), false), 0);
    assert_int_equal(qp_ignore_line(QP_STR("/top"), QP_STR("x/top"), false), -1);
}

/* ---- folders into a store, and the edges between ---- */

struct world {
    char folder[64], index[80];
    qp_store *store;
    qp_index_report report;
    char warned[2000];
};

static void hear(void *user, const char *line)
{
    struct world *w = user;
    size_t n = strlen(w->warned);
    snprintf(w->warned + n, sizeof w->warned - n, "%s\n", line);
}

static void place(const struct world *w, const char *name, const char *bytes)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", w->folder, name);
    char *slash = strrchr(path, '/');
    *slash = 0;
    assert_int_equal(qp_dir_make(path, NULL), QP_OK);
    *slash = '/';
    assert_int_equal(qp_file_write(path, qp_str_of(bytes), NULL), QP_OK);
}

static void world_new(struct world *w)
{
    qp_err err = {0};
    *w = (struct world){.folder = P_tmpdir "/quipu-test-XXXXXX"};
    assert_non_null(mkdtemp(w->folder));
    snprintf(w->index, sizeof w->index, "%s/.quipu", w->folder);
    assert_int_equal(qp_store_open(w->index, true, true, &w->store, &err), QP_OK);
}

static void world_end(struct world *w)
{
    char line[120];
    qp_store_close(w->store);
    snprintf(line, sizeof line, "rm -r %s", w->folder);
    assert_int_equal(system(line), 0);
}

/* Reads a source and resolves: all of qp_ingest but vectors and publishing. */
static void take(struct world *w, const char *source)
{
    qp_index_options options = {.watch = {.warn = hear, .user = w}};
    qp_job job = {.store = w->store, .options = &options, .report = &w->report, .mem = qp_arena_new()};
    qp_err err = {0};

    w->report = (qp_index_report){0};
    w->warned[0] = 0;
    assert_int_equal(qp_reading_load(w->store, NULL, 0, &job.reading, job.mem, &err), QP_OK);
    assert_int_equal(qp_reading_cutting(&job.reading, NULL, false, &job.files, &err), QP_OK);
    assert_int_equal(qp_reading_cutting(&job.reading, NULL, true, &job.records, &err), QP_OK);
    job.files_digest = qp_reading_digest(&job.reading, &job.files);
    job.records_digest = qp_reading_digest(&job.reading, &job.records);
    assert_int_equal(qp_source_prepare(&job, &err), QP_OK);
    if (qp_source_read(&job, source, &err))
        fail_msg("%s", err.message);
    assert_int_equal(qp_resolve(w->store, &options.watch, &w->report, &err), QP_OK);
    qp_map_free(job.seen);
    qp_map_free(job.path_of);
    qp_map_free(job.key_of);
    qp_map_free(job.broken);
    qp_arena_free(job.mem);
}

static void a_folder_of_linked_files(void **state)
{
    (void)state;
    struct world w;
    world_new(&w);
    place(&w, "index.html",
          "<title>Start</title><p>To <a href=sub/b.md>b</a> and <a href=/sub/>sub</a>, <a href=#x>me</a>.");
    place(&w, "sub/b.md", "# The Page of Many Words Here\n\nBack [up](../index.html) and [[c page]].\n");
    place(&w, "sub/c page.txt", "Cites [1], and ls(1).\n\nReferences\n\n[1] X. The page of many words here. 2001.\n");
    place(&w, "man/ls.1", ".TH LS 1\n.SH NAME\nls \\- list\n.SH SEE ALSO\n.BR dir (1)\n");
    place(&w, "bad.pdf", "junk");
    place(&w, "empty.txt", "");
    place(&w, "ignored.txt", "no");
    place(&w, ".quipuignore", "ignored.*\n");
    place(&w, ".hidden", "no");
    char loop[100];
    snprintf(loop, sizeof loop, "%s/sub/loop", w.folder);
    assert_int_equal(symlink("..", loop), 0);
    take(&w, w.folder);
    assert_int_equal(w.report.documents_added, 4);
    assert_int_equal(w.report.documents_failed, 2);
    assert_non_null(strstr(w.warned, "bad.pdf"));
    /* index -> b; b -> index, b -> "c page"; "c page" -> b (title), "c page" -> ls(1) */
    assert_int_equal(w.report.edges, 5);
    take(&w, w.folder);
    assert_int_equal(w.report.documents_same, 4);
    assert_int_equal(w.report.documents_added + w.report.documents_changed, 0);
    place(&w, "sub/b.md", "# The Page of Many Words Here\n\nNothing.\n");
    place(&w, "man/ls.1", "");
    take(&w, w.folder);
    assert_int_equal(w.report.documents_changed, 1);
    assert_int_equal(w.report.edges, 3); /* a file that broke stays as it was */
    world_end(&w);
}

static void a_data_set(void **state)
{
    (void)state;
    struct world w;
    char set[100];
    world_new(&w);
    place(&w, "set/corpus.jsonl",
          "{\"_id\":\"a\",\"title\":\"A\",\"text\":\"Alpha.\",\"year\":2001}\n{broken\n"
          "{\"_id\":\"b\",\"text\":\"Beta.\"}\n{\"_id\":\"a\",\"text\":\"again\"}\n\n{\"_id\":\"c\"}\n");
    place(&w, "set/edges.tsv",
          "src\tdst\ttype\tweight\na\tb\tcites\t1\na\tb\tcites\t2\nb\tnobody\tcites\t1\na\ta\tcites\t1\n"
          "only\nb\ta\tref\n");
    snprintf(set, sizeof set, "%s/set", w.folder);
    take(&w, set);
    assert_int_equal(w.report.documents_added, 2);
    assert_int_equal(w.report.documents_failed, 4); /* a broken line, an id twice, no text, no edge */
    assert_non_null(strstr(w.warned, "corpus.jsonl:2"));
    assert_non_null(strstr(w.warned, "corpus.jsonl:4"));
    assert_non_null(strstr(w.warned, "'b' to 'nobody'"));
    assert_int_equal(w.report.edges, 2);
    assert_int_equal(w.report.edges_unknown, 1);
    place(&w, "table.csv", "id,name,note\n1,\"A, b\",\"x\ny\"\n2,C,\n");
    snprintf(set, sizeof set, "%s/table.csv", w.folder);
    take(&w, set);
    assert_int_equal(w.report.documents_added, 2);
    place(&w, "semicolons.csv", "id;name\n7;\"A, b\"\n");
    snprintf(set, sizeof set, "%s/semicolons.csv", w.folder);
    take(&w, set);
    uint64_t n;
    assert_int_equal(qp_store_remove(w.store, QP_STR("7"), &n, NULL), QP_OK); /* the id is a column of its own */
    place(&w, "hippo.json", "[{\"title\":\"T\",\"text\":\"Body\",\"idx\":17}]");
    snprintf(set, sizeof set, "%s/hippo.json", w.folder);
    take(&w, set);
    assert_int_equal(w.report.documents_added, 1);
    assert_int_equal(qp_store_remove(w.store, QP_STR("17"), &n, NULL), QP_OK);
    assert_int_equal(n, 1);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html),
        cmocka_unit_test(markdown),
        cmocka_unit_test(numbered_references),
        cmocka_unit_test(cross_references_of_paper),
        cmocka_unit_test(cross_references_of_regulation),
        cmocka_unit_test(man_page),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(office_and_books),
        cmocka_unit_test(pdf),
        cmocka_unit_test(chunks_fit_and_lose_nothing),
        cmocka_unit_test(headings_make_paths_and_parents),
        cmocka_unit_test(identifiers),
        cmocka_unit_test(patterns),
        cmocka_unit_test(a_folder_of_linked_files),
        cmocka_unit_test(a_data_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
