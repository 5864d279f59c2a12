/* Abbreviations: the algorithm's own examples, and sentences of real medical texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/str.h"
#include "text/abbreviation.h"

struct pairs {
    char text[1000];
    size_t n;
};

static bool keep(void *ctx, qp_str brief, qp_str full)
{
    struct pairs *p = ctx;
    p->n += (size_t)snprintf(p->text + p->n, sizeof p->text - p->n, "%.*s = %.*s\n", (int)brief.n, brief.at,
                             (int)full.n, full.at);
    return p->n < 900;
}

static void finds(const char *text, const char *pairs)
{
    struct pairs p = {0};
    qp_abbreviations(qp_str_of(text), keep, &p);
    assert_string_equal(p.text, pairs);
}

static void of_the_paper(void **state)
{
    (void)state;
    finds("antisense of heat shock transcription factor (HSF) binds", "HSF = heat shock transcription factor\n");
    finds("the Gcn5-related N-acetyltransferase (GNAT) superfamily", "GNAT = Gcn5-related N-acetyltransferase\n");
    finds("the heat shock protein 70 (HSP70)", "HSP70 = heat shock protein 70\n");
}

static void of_real_texts(void **state)
{
    (void)state;
    finds("A computed tomography (CT) scan, or positron emission tomography (PET, see below).",
          "CT = computed tomography\nPET = positron emission tomography\n");
    finds("NSCLC (non-small cell lung cancer) is staged by TNM (tumor, node, metastasis).",
          "NSCLC = non-small cell lung cancer\nTNM = tumor, node, metastasis\n");
    finds("within 2 centimeters (cm) of it", "cm = centimeters\n");
    finds("the [estrogen receptor (ER)] is", "ER = estrogen receptor\n");
}

static void nothing_where_nothing_is_explained(void **state)
{
    (void)state;
    finds("donor (done before an allogeneic transplant)", "");
    finds("to other organs (spread) and back", "");
    finds("the plan (see Figure 2) of 1990 (NIH)", "");
    finds("a sentence. Ends (CT", "");
    finds("(CT)", "");
    finds("() (())", "");
    finds("Computed things were done. tomography (CT)", "");
}

static void shortest_end(void **state)
{
    (void)state;
    assert_true(
        qp_str_eq(qp_abbreviated(QP_STR("RBC"), QP_STR("many of the red blood cells")), QP_STR("red blood cells")));
    assert_int_equal(qp_abbreviated(QP_STR("XY"), QP_STR("red blood cells")).n, 0);
    assert_int_equal(qp_abbreviated(QP_STR("A"), QP_STR("")).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_the_paper), cmocka_unit_test(of_real_texts),
                                       cmocka_unit_test(nothing_where_nothing_is_explained),
                                       cmocka_unit_test(shortest_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
