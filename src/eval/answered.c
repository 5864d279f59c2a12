#include <ctype.h>

#include "eval/measure.h"

enum { WORDS = 512, TEXT = 4096, PIECES = 8 }; /* of a name between its commas, at most */

/* SQuAD's normalisation: lower case, no punctuation, no articles, words one blank apart; citation marks [n] go first.
 * ASCII as in the script; other bytes stay. Longer texts are cut at TEXT bytes. */
static size_t normalise(qp_str s, char out[TEXT])
{
    size_t n = 0;

    for (size_t i = 0; i < s.n && n + 2 < TEXT; i++) {
        unsigned char c = (unsigned char)s.at[i];
        size_t j = i + 1;

        while (c == '[' && j < s.n && isdigit((unsigned char)s.at[j]))
            j++;
        if (c == '[' && j > i + 1 && j < s.n && s.at[j] == ']')
            i = j;
        else if (isspace(c))
            out[n++] = ' ';
        else if (!ispunct(c))
            out[n++] = (char)tolower(c);
    }
    out[n] = 0;
    return n;
}

/* The words of a normalised text without articles, as slices of it. */
static uint32_t words_of(const char *text, size_t n, qp_str words[WORDS])
{
    uint32_t count = 0;

    for (qp_str rest = {text, n}; rest.at && count < WORDS;) {
        qp_str word = qp_str_split(rest, ' ', &rest);

        if (word.n && !qp_str_eq(word, QP_STR("a")) && !qp_str_eq(word, QP_STR("an")) &&
            !qp_str_eq(word, QP_STR("the")))
            words[count++] = word;
    }
    return count;
}

/* Words of a that b has too, each as often as both have it. */
static uint32_t shared(const qp_str *a, uint32_t na, const qp_str *b, uint32_t nb)
{
    bool used[WORDS] = {false};
    uint32_t n = 0;

    for (uint32_t i = 0; i < na; i++)
        for (uint32_t j = 0; j < nb; j++)
            if (!used[j] && qp_str_eq(a[i], b[j])) {
                used[j] = true;
                n++;
                break;
            }
    return n;
}

static double token_f1(qp_str answer, qp_str gold)
{
    char a[TEXT], g[TEXT];
    qp_str aw[WORDS], gw[WORDS];
    uint32_t na = words_of(a, normalise(answer, a), aw), ng = words_of(g, normalise(gold, g), gw);
    uint32_t both = shared(aw, na, gw, ng);
    double p = na ? (double)both / na : 0, r = ng ? (double)both / ng : 0;

    if (!na || !ng)
        return na == ng;
    return p + r > 0 ? 2 * p * r / (p + r) : 0;
}

static bool exact(qp_str answer, qp_str gold)
{
    char a[TEXT], g[TEXT];
    qp_str aw[WORDS], gw[WORDS];
    uint32_t na = words_of(a, normalise(answer, a), aw), ng = words_of(g, normalise(gold, g), gw);

    for (uint32_t i = 0; i < na && na == ng; i++)
        if (!qp_str_eq(aw[i], gw[i]))
            return false;
    return na == ng;
}

static double em(const qp_outcome *o, uint32_t k)
{
    (void)k;
    for (uint32_t i = 0; o->answer && i < o->answer->n_gold; i++)
        if (exact(o->answer->text, o->answer->gold[i]))
            return 1;
    return 0;
}

static double f1(const qp_outcome *o, uint32_t k)
{
    double best = 0;

    (void)k;
    for (uint32_t i = 0; o->answer && i < o->answer->n_gold; i++) {
        double one = token_f1(o->answer->text, o->answer->gold[i]);

        best = one > best ? one : best;
    }
    return best;
}

/* Do these words stand in the answer's, one after the other? */
static bool holds(const qp_str *answer, uint32_t na, const qp_str *gold, uint32_t ng)
{
    for (uint32_t i = 0; ng && i + ng <= na; i++) {
        uint32_t j = 0;

        while (j < ng && qp_str_eq(answer[i + j], gold[j]))
            j++;
        if (j == ng)
            return true;
    }
    return false;
}

static double answer_hit(const qp_outcome *o, uint32_t k)
{
    char a[TEXT], g[TEXT];
    qp_str aw[WORDS], gw[WORDS];
    uint32_t na = o->answer ? words_of(a, normalise(o->answer->text, a), aw) : 0;

    (void)k;
    for (uint32_t i = 0; o->answer && i < o->answer->n_gold; i++)
        if (holds(aw, na, gw, words_of(g, normalise(o->answer->gold[i], g), gw)))
            return 1;
    return 0;
}

/* The first accepted answer that this is and that was not met before; n_gold: none. */
static uint32_t meet(const qp_answered *a, qp_str name, const bool *met)
{
    uint32_t i = 0;

    while (i < a->n_gold && i < WORDS && (met[i] || !exact(name, a->gold[i])))
        i++;
    return i < WORDS ? i : a->n_gold;
}

/* Where the line's first name ends: commas stand in names, too, so it is the longest run of pieces between them that is
 * an accepted answer, and where none is the first piece. */
static size_t name_end(const qp_answered *a, qp_str line)
{
    static const bool none[WORDS] = {false};
    size_t end = 0, pieces = 0;

    for (size_t i = 0; i <= line.n && pieces < PIECES; i++)
        if ((i == line.n || line.at[i] == ',') && (!pieces++ || meet(a, qp_str_slice(line, 0, i), none) < a->n_gold))
            end = i;
    return end;
}

static double entity_f1(const qp_outcome *o, uint32_t k)
{
    bool met[WORDS] = {false};
    uint32_t named = 0, right = 0, gold = o->answer ? o->answer->n_gold : 0;

    (void)k;
    for (qp_str rest = o->answer ? o->answer->text : (qp_str){0}; rest.at && rest.n;) {
        qp_str line = qp_str_split(rest, '\n', &rest);

        while (line.n) {
            size_t end = name_end(o->answer, line);
            qp_str name = qp_str_trim(qp_str_slice(line, 0, end));
            uint32_t i = name.n ? meet(o->answer, name, met) : gold;

            line = qp_str_slice(line, end + 1, line.n);
            named += name.n > 0;
            if (i < gold)
                met[i] = right++ + 1;
        }
    }
    double p = named ? (double)right / named : 0, r = gold ? (double)right / gold : 0;
    return p + r > 0 ? 2 * p * r / (p + r) : 0;
}

static uint32_t cited_right(const qp_answered *a)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < a->n_cited; i++)
        n += a->cited[i] > 0;
    return n;
}

static double cite_p(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->answer && o->answer->n_cited ? (double)cited_right(o->answer) / o->answer->n_cited : 0;
}

static double cite_r(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->answer && o->relevant ? (double)cited_right(o->answer) / o->relevant : 0;
}

static double cite_ok(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->answer && o->answer->citations ? (double)o->answer->supported / o->answer->citations : 0;
}

const qp_measure qp_measure_em = {
    .name = "em",
    .help = "exact match: the answer is an accepted one, but for case, articles and punctuation",
    .definition = "1 if normalise(answer) = normalise(a) for an accepted a, else 0; citation marks left out",
    .citation = "Rajpurkar and others 2016 (SQuAD), evaluate-v1.1.py",
    .wants = QP_WANTS_ANSWER,
    .of = em,
};

const qp_measure qp_measure_f1 = {
    .name = "f1",
    .help = "overlap in words with the nearest accepted answer",
    .definition = "max over accepted a of 2PR / (P + R), P and R over words with multiplicity",
    .citation = "Rajpurkar and others 2016 (SQuAD), evaluate-v1.1.py",
    .wants = QP_WANTS_ANSWER,
    .of = f1,
};

const qp_measure qp_measure_answer_hit = {
    .name = "answer_hit",
    .help = "does an accepted answer stand in the answer",
    .definition = "1 if normalise(a) stands in normalise(answer) for an accepted a, words whole, else 0",
    .citation = "He and others 2024 (G-Retriever), Hit; GEAR's, too",
    .wants = QP_WANTS_ANSWER,
    .of = answer_hit,
};

const qp_measure qp_measure_entity_f1 = {
    .name = "entity_f1",
    .help = "the names in the answer against the accepted ones",
    .definition =
        "2PR / (P + R); a name goes to the next comma or line, or over up to seven commas where that makes an accepted "
        "one, and is right if it equals an accepted one, normalised",
    .citation = "GEAR, evaluation metrics (entity level, exact matches)",
    .wants = QP_WANTS_ANSWER,
    .of = entity_f1,
};

const qp_measure qp_measure_cite_p = {
    .name = "cite_p",
    .help = "share of the cited documents that are relevant",
    .definition = "|cited and relevant| / |cited|, distinct documents; 0 without a citation",
    .citation = "Gao and others 2023 (ALCE), citation precision, over documents judged relevant",
    .wants = QP_WANTS_ANSWER,
    .of = cite_p,
};

const qp_measure qp_measure_cite_r = {
    .name = "cite_r",
    .help = "share of the relevant documents that are cited",
    .definition = "|cited and relevant| / R",
    .citation = "Gao and others 2023 (ALCE), citation recall, over documents judged relevant",
    .wants = QP_WANTS_ANSWER,
    .of = cite_r,
};

const qp_measure qp_measure_cite_ok = {
    .name = "cite_ok",
    .help = "share of the citations whose source has a sentence that bears the claim out",
    .definition = "|supported citations| / |citations|; 0 without a citation",
    .citation = "ours: the check that `ask` makes",
    .wants = QP_WANTS_ANSWER,
    .of = cite_ok,
};
