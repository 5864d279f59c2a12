/* Reference lists: each style's entries, told apart and taken apart. The entries are real ones, shortened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/bibliography.h"
#include "ingest/reader.h"

/* "number|surname|year|title|identifier" of each entry, a line each. */
static void lists(const char *text, const char *wanted)
{
    qp_arena *mem = qp_arena_new();
    qp_buf out = {0};
    qp_extract x;
    qp_bibliography b;
    qp_extract_init(&x, mem);
    assert_int_equal(qp_read_text(&(qp_input){qp_str_of(text), NULL}, &x, NULL), QP_OK);
    assert_true(qp_bibliography_find(&x, &b));
    for (size_t i = 0; i < b.n; i++) {
        const qp_entry *c = &b.at[i];
        qp_str id = c->doi.n ? c->doi : c->arxiv;
        qp_buf_fmt(&out, "%u|%.*s|%.*s|%.*s|%.*s\n", c->number, (int)c->surname.n, c->surname.at, (int)c->year.n,
                   c->year.at ? c->year.at : "", (int)c->title.n, c->title.at ? c->title.at : "", (int)id.n,
                   id.at ? id.at : "");
    }
    assert_string_equal(out.n ? out.at : "", wanted);
    qp_buf_free(&out);
    qp_extract_free(&x);
    qp_arena_free(mem);
}

static void numbered(void **state)
{
    (void)state;
    lists("Text.\n\n7. References\n\n"
          "[1] P. R. Amestoy, T. A. Davis, and I. S. Duff. An approximate minimum degree ordering\n"
          "algorithm. SIAM J. Matrix Anal. Appl., 17(4):886-905, 1996.\n"
          "[2] A. Q. Jiang, D. d. l. Casas et al., \"Mistral 7b,\" arXiv preprint arXiv:2310.06825, 2023.\n"
          "[3] Ann Name and Bob Other. 2021. What is it? A study. In Proc. doi:10.1145/361002.\n361007\n",
          "1|Amestoy|1996|An approximate minimum degree ordering algorithm|\n"
          "2|Jiang|2023|Mistral 7b|arxiv:2310.06825\n"
          "3|Name|2021|What is it?|10.1145/361002.361007\n");
}

/* A page ends within an entry, and between two; a running title stands between. */
static void by_author_and_year(void **state)
{
    (void)state;
    lists("References\n"
          "Kleiber C, Zeileis A (2008). Applied Econometrics with R. Springer-Verlag, New York. doi:\n"
          "10.1007/978-0-387-77318-6. URL http://CRAN.R-project.org/package=AER.\n"
          "R Core Team (2017). R: A Language and Environment. R Foundation for Statistical\n\n12\n\n\f"
          "Computing, Vienna, Austria.\n\nAchim Zeileis, Gabor Grothendieck\n\n13\n\n"
          "van de Wiel MA (2004a). \"Testing for Structural Change: A \"Long\" Story.\" Journal of Statis-\ntical "
          "Software, "
          "7(2), 1-38.\n\nA. Reference card\n\nzoo(x)\n",
          "0|Kleiber|2008|Applied Econometrics with R|10.1007/978-0-387-77318-6\n"
          "0|R Core Team|2017|R: A Language and Environment|\n"
          "0|van de Wiel|2004a|Testing for Structural Change: A|\n");
}

static void with_the_year_at_the_end(void **state)
{
    (void)state;
    lists("Bibliography\n\n"
          "Douglas Bates. Fitting linear mixed models in R. R News, 5(1):27-30, May 2005. "
          "URL\nhttp://CRAN.R-project.org/doc/.\n"
          "Jason C. Hsu. Multiple Comparisons: Theory and Methods. CRC Press, Chapman & Hall,\nLondon, 1996.\n"
          "Torsten Hothorn, Frank Bretz, and Peter Westfall. multcomp: Simultaneous Inference,\n2008.\n"
          "Ruth Marcus and Peritz Eric.\nMultiple Comparisons and Tests Using the SAS System. SAS "
          "Institute Inc.,\nCary, NC, 1999.\n",
          "0|Bates|2005|Fitting linear mixed models in R|\n"
          "0|Hsu|1996|Multiple Comparisons: Theory and Methods|\n"
          "0|Hothorn|2008|multcomp: Simultaneous Inference|\n"
          "0|Marcus|1999|Multiple Comparisons and Tests Using the SAS System|\n");
}

static void of_items(void **state)
{
    (void)state;
    lists("References\n\n- (1)\n- Gao et al. (2021)\u00a0Luyu Gao and Jamie Callan. 2021. Complement lexical "
          "retrieval. In ECIR.\n"
          "- Henderson R, Diggle P, Dobson A. Joint modelling of measurements. Biostatistics 2000;1(4):465-80.\n"
          "- Vehtari, A., Gelman, A., and Gabry, J. (2017). Practical Bayesian model evaluation. Statistics. 27(5).\n",
          "0|Gao|2021|Complement lexical retrieval|\n"
          "0|Henderson|2000|Joint modelling of measurements|\n"
          "0|Vehtari|2017|Practical Bayesian model evaluation|\n");
}

static void three_thousand_references(void **state)
{
    (void)state;
    qp_buf text = {0};
    qp_extract x;
    qp_bibliography b;
    qp_arena *mem = qp_arena_new();
    qp_extract_init(&x, mem);
    qp_buf_text(&text, "See [2999].\n\nReferences\n\n");
    for (int i = 1; i <= 3000; i++)
        qp_buf_fmt(&text, "[%d] A. Author. Work of number %d. Journal, 1999.\n", i, i);
    assert_int_equal(qp_read_text(&(qp_input){qp_buf_view(&text), NULL}, &x, NULL), QP_OK);
    qp_buf_free(&text);
    assert_true(qp_bibliography_find(&x, &b));
    assert_int_equal(b.n, 3000);
    assert_int_equal(b.at[2998].number, 2999);
    qp_scan_references(&x, "text");
    assert_int_equal(x.n_marks, 3000);
    qp_extract_free(&x);
    qp_arena_free(mem);
}

static void nothing_of_the_kind(void **state)
{
    (void)state;
    lists("No list here.\n", "");
    lists("References\n", "");
    lists("References\n\nAsk my former employer, who knows me well.\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbered),
        cmocka_unit_test(by_author_and_year),
        cmocka_unit_test(with_the_year_at_the_end),
        cmocka_unit_test(of_items),
        cmocka_unit_test(three_thousand_references),
        cmocka_unit_test(nothing_of_the_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
