/* ROUGE-L of an answer, as AGRAG reports it (LCS over the generated answer), and as the F-measure. */
#include <ctype.h>

#include "eval/measure.h"

enum { WORDS = 2048 };

/* rouge_score's words: runs of letters and digits, case ignored. Bytes above ASCII count as letters, where rouge_score
 * drops them. Citation marks [n] are none. */
static uint32_t words_of(qp_str s, qp_str words[WORDS])
{
    uint32_t n = 0;
    for (size_t i = 0; i < s.n && n < WORDS; i++) {
        size_t from = i;
        while (i < s.n && (isalnum((unsigned char)s.at[i]) || (unsigned char)s.at[i] >= 128))
            i++;
        bool mark = from && i < s.n && s.at[from - 1] == '[' && s.at[i] == ']';
        if (i > from && !mark)
            words[n++] = qp_str_slice(s, from, i);
    }
    return n;
}

static bool same_word(qp_str a, qp_str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (tolower((unsigned char)a.at[i]) != tolower((unsigned char)b.at[i]))
            return false;
    return true;
}

/* Length of the longest common subsequence, one row of the table at a time. */
static uint32_t lcs(const qp_str *a, uint32_t na, const qp_str *b, uint32_t nb)
{
    uint16_t row[WORDS + 1] = {0};
    for (uint32_t i = 0; i < na; i++) {
        uint16_t corner = 0; /* of the row above, one to the left */
        for (uint32_t j = 0; j < nb; j++) {
            uint16_t above = row[j + 1];
            row[j + 1] = same_word(a[i], b[j]) ? corner + 1 : above > row[j] ? above : row[j];
            corner = above;
        }
    }
    return row[nb];
}

static double best_of(const qp_outcome *o, bool f)
{
    qp_str answer[WORDS], gold[WORDS];
    double best = 0;
    uint32_t n = o->answer ? words_of(o->answer->text, answer) : 0;
    for (uint32_t i = 0; n && i < o->answer->n_gold; i++) {
        uint32_t m = words_of(o->answer->gold[i], gold), common = m ? lcs(answer, n, gold, m) : 0;
        double one = f ? 2. * common / (n + m) : (double)common / n;
        best = one > best ? one : best;
    }
    return best;
}

static double rouge_l(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return best_of(o, false);
}

static double rouge_l_f(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return best_of(o, true);
}

const qp_measure qp_measure_rouge_l = {
    .name = "rouge_l",
    .help = "share of the answer's words that stand in an accepted one, in its order",
    .definition = "max over accepted a of LCS(answer, a) / |answer|, in words",
    .citation = "Lin 2004; AGRAG, VI-A: over the generated answer",
    .wants = QP_WANTS_ANSWER,
    .of = rouge_l,
};

const qp_measure qp_measure_rouge_l_f = {
    .name = "rouge_l_f",
    .help = "ROUGE-L as the F-measure",
    .definition = "max over accepted a of 2 LCS(answer, a) / (|answer| + |a|), in words",
    .citation = "Lin 2004; the package rouge_score, no stemming",
    .wants = QP_WANTS_ANSWER,
    .of = rouge_l_f,
};
