/* src/text/sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "text/sentence.h"

/* The sentences, joined by "|", are `wanted`. */
static void check(const char *text, const char *wanted)
{
    qp_buf got = {0};
    qp_span span;
    qp_str s = qp_str_of(text);

    for (size_t at = 0; qp_sentence_next(s, &at, &span);) {
        if (got.n)
            qp_buf_char(&got, '|');
        qp_buf_str(&got, qp_str_slice(s, span.from, span.to));
    }
    assert_string_equal(got.at ? got.at : "", wanted);
    qp_buf_free(&got);
}

static void sentences_end(void **state)
{
    (void)state;
    check("One. Two! Three? Four", "One.|Two!|Three?|Four");
    check("He said \"Stop.\" Then he left.", "He said \"Stop.\"|Then he left.");
    check("Really?! (Yes.) No...  Well.", "Really?!|(Yes.)|No...|Well.");
    check("  \n ", "");
    check("", "");
}

static void full_stops_that_end_nothing(void **state)
{
    (void)state;
    check("Dr. Smith met J. R. Jones et al. (2010), see Fig. 3. It was 3.14 m.",
          "Dr. Smith met J. R. Jones et al. (2010), see Fig. 3.|It was 3.14 m.");
    check("Use e.g. SQLite, i.e. This one. See www.sqlite.org/a?b=1 now.",
          "Use e.g. SQLite, i.e. This one.|See www.sqlite.org/a?b=1 now.");
    check("The etc. is lower. The end.", "The etc. is lower.|The end.");
    check("Better than I. You know.", "Better than I.|You know.");
}

static void blocks(void **state)
{
    (void)state;
    check("A line that\nwraps here. Next.\n\nParagraph two\n- item one\n- item two\n1. first\n| a | b |\n| c | d |",
          "A line that\nwraps here.|Next.|Paragraph two|- item one|- item two|1. first|| a | b ||| c | d |");
    check("page one\fpage two", "page one|page two");
}

static void other_scripts(void **state)
{
    (void)state;
    check("私は学生です。あなたは？「はい。」そうです", "私は学生です。|あなたは？|「はい。」|そうです");
    check("그는 갔다. 나는 왔다.", "그는 갔다.|나는 왔다.");
    check("Это пример. Вот ещё один!", "Это пример.|Вот ещё один!");
    check("यह वाक्य है। दूसरा।", "यह वाक्य है।|दूसरा।");
}

/* Whatever the bytes: spans rise, and what lies between them is white space. */
static void nothing_is_lost(void **state)
{
    (void)state;
    static const char alphabet[] = "aB. !?\n-1|\t)\"\xE3\x80\x82\xFF";
    qp_random random = qp_random_seed(1);

    for (int round = 0; round < 3000; round++) {
        char bytes[40];
        size_t n = qp_random_below(&random, sizeof bytes), at = 0, last = 0;
        qp_span span;

        for (size_t i = 0; i < n; i++)
            bytes[i] = alphabet[qp_random_below(&random, sizeof alphabet - 1)];
        while (qp_sentence_next((qp_str){bytes, n}, &at, &span)) {
            assert_true(span.from >= last && span.from < span.to && span.to <= n);
            for (; last < span.from; last++)
                assert_non_null(strchr(" \n\t", bytes[last]));
            last = span.to;
        }
        for (; last < n; last++)
            assert_non_null(strchr(" \n\t", bytes[last]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_end),   cmocka_unit_test(full_stops_that_end_nothing),
        cmocka_unit_test(blocks),          cmocka_unit_test(other_scripts),
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
