/* src/text/terms: word boundaries against ICU's own, Snowball's published stems, scripts without spaces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <unicode/ubrk.h>
#include <unicode/ustring.h>

#include "base/file.h"
#include "text/terms.h"
#include "text/utf8.h"

struct seen {
    qp_buf terms; /* "term|term|" */
    qp_str text;
    size_t last;
};

static void see(void *ctx, qp_str term, size_t from, size_t to)
{
    struct seen *s = ctx;

    assert_true(from >= s->last && from < to && to <= s->text.n);
    assert_int_equal(qp_utf8_valid(term), term.n);
    assert_true(term.n > 0 && term.n <= QP_TERM_MAX);
    s->last = from;
    qp_buf_str(&s->terms, term);
    qp_buf_char(&s->terms, '|');
}

static void check(const char *language, const char *text, const char *wanted)
{
    struct seen s = {.text = qp_str_of(text)};
    qp_terms *t;
    qp_err err = {0};

    assert_int_equal(qp_terms_open(language, &t, &err), QP_OK);
    qp_terms_each(t, s.text, see, &s);
    assert_string_equal(s.terms.at ? s.terms.at : "", wanted);
    qp_terms_close(t);
    qp_buf_free(&s.terms);
}

static void words_fold(void **state)
{
    (void)state;
    check("none", "The Quick (\"brown\") fox can't jump 32.3 feet, right?",
          "the|quick|brown|fox|can't|jump|32.3|feet|right|");
    check(NULL, "sqlite3_open() at www.sqlite.org:80, e.g. 1,000 _ __x",
          "sqlite3_open|at|www|sqlite|org|80|e|g|1,000|__x|");
    check("", "Straße STRASSE ﬁne ＡＢＣ１２ Ἀθῆναι", "strasse|strasse|fine|abc12|ἀθῆναι|");
    check("none", "H₂O x² ½ don’t", "h2o|x2|1⁄2|don't|");
    check("none", "cafe\xCC\x81 caf\xC3\xA9", "café|café|"); /* decomposed and composed are one */
    check("none", "", "");
    check("none", " \t\n.,;'", "");
}

static void scripts_without_spaces(void **state)
{
    (void)state;
    check("ko", "검색엔진은 빠르다", "검색|색엔|엔진|진은|빠르|르다|");
    check("en", "제127조", "제|127|조|");
    check("zh", "北京大学2024年", "北京|京大|大学|2024|年|");
    check("ja", "データベースの検索", "デー|ータ|タベ|ベー|ース|スの|の検|検索|");
    check("ja", "ｶﾞｲﾄﾞ", "ガイ|イド|");                         /* half width with voicing marks */
    check("ko", "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "각|"); /* conjoining jamo are one syllable */
    check("th", "ภาษาไทย", "ภา|าษ|ษา|าไ|ไท|ทย|");
    check("en", "日", "日|");
}

static void stems(void **state)
{
    (void)state;
    /* snowballstem.org's sample vocabularies */
    check("en", "consistency consistently knightly Knock's generously", "consist|consist|knight|knock|generous|");
    check("german", "aufeinanderschlügen kategorischen", "aufeinanderschlug|kategor|");
    check("fr", "l'homme continuellement", "l|homm|continuel|");
    check("ru", "важнейшие падающую", "важн|пада|");
    check("EN", "running running RUNNING", "run|run|run|");
}

static void unknown_language(void **state)
{
    (void)state;
    qp_terms *t;
    qp_err err = {0};

    assert_int_equal(qp_terms_open("englsh", &t, &err), QP_INPUT);
    assert_non_null(strstr(err.message, "english"));
    qp_terms_close(NULL);
}

static void broken_bytes_part_words(void **state)
{
    (void)state;
    check("none",
          "ab\xFF"
          "cd \xE2\x82 x\xEF\xBF\xBDy",
          "ab|cd|x|y|");
    char *long_word = calloc(1, 5001);
    memset(long_word, 'a', 5000);
    qp_terms *t;
    struct seen s = {.text = {long_word, 5000}};
    assert_int_equal(qp_terms_open("en", &t, NULL), QP_OK);
    qp_terms_each(t, s.text, see, &s);
    assert_true(s.terms.n < 300); /* one term, cut */
    qp_buf_free(&s.terms);
    s = (struct seen){.text = QP_STR("a"
                                     "\xEF\xB7\xBA"
                                     "b")}; /* the character that NFKC makes eighteen of */
    qp_terms_each(t, s.text, see, &s);
    assert_true(s.terms.n > 20);
    qp_buf_free(&s.terms);
    qp_terms_close(t);
    free(long_word);
}

/* ---- against ICU's word iterator, wherever no departure of ours applies ---- */

struct spans {
    size_t at[20000][2], n;
};

static void keep_span(void *ctx, qp_str term, size_t from, size_t to)
{
    struct spans *s = ctx;

    (void)term;
    if (s->n < 20000) {
        s->at[s->n][0] = from;
        s->at[s->n++][1] = to;
    }
}

static void same_words_as_icu(const char *utf8)
{
    struct spans *ours = calloc(1, sizeof *ours);
    size_t n = strlen(utf8), compared = 0;
    UErrorCode status = U_ZERO_ERROR;
    UText text = UTEXT_INITIALIZER;
    qp_terms *t;

    assert_int_equal(qp_terms_open("none", &t, NULL), QP_OK);
    qp_terms_each(t, (qp_str){utf8, n}, keep_span, ours);
    utext_openUTF8(&text, utf8, (int64_t)n, &status);
    UBreakIterator *words = ubrk_open(UBRK_WORD, "", NULL, 0, &status);
    ubrk_setUText(words, &text, &status);
    assert_true(U_SUCCESS(status));
    size_t from = 0;
    for (int32_t to = ubrk_next(words); to != UBRK_DONE; from = (size_t)to, to = ubrk_next(words))
        if (ubrk_getRuleStatus(words) != UBRK_WORD_NONE) {
            assert_true(compared < ours->n);
            assert_int_equal(ours->at[compared][0], from);
            assert_int_equal(ours->at[compared++][1], to);
        }
    assert_int_equal(compared, ours->n);
    ubrk_close(words);
    utext_close(&text);
    qp_terms_close(t);
    free(ours);
}

static void boundaries_are_icus(void **state)
{
    (void)state;
    same_words_as_icu("The quick (\"brown\") fox can't jump 32.3 feet; it's 1,234.5 or 3;4 and x_1 a_b. O'Neil's '90s");
    same_words_as_icu("Naïve café — Übergröße; l’été, cafe\xCC\x81! 12\xCC\x81 3a4 ab12cd α·β");
    same_words_as_icu("Съешь же ещё этих мягких французских булок, да выпей чаю 10,5.");
    same_words_as_icu("اللغة العربية ١٢٣ हिन्दी में लिखा हुआ א\u0301ב");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_fold),
        cmocka_unit_test(scripts_without_spaces),
        cmocka_unit_test(stems),
        cmocka_unit_test(unknown_language),
        cmocka_unit_test(broken_bytes_part_words),
        cmocka_unit_test(boundaries_are_icus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
