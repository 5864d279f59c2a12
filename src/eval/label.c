#include "eval/measure.h"

static double accuracy(const qp_outcome *o, uint32_t k)
{
    (void)k;
    for (uint32_t i = 0; o->answer && i < o->answer->n_gold; i++)
        if (qp_str_eq(o->answer->text, o->answer->gold[i]))
            return 1;
    return 0;
}

static double macro_recall(const qp_outcome *o, uint32_t k)
{
    return o->answer ? accuracy(o, k) * o->answer->share : 0;
}

const qp_measure qp_measure_accuracy = {
    .name = "accuracy",
    .help = "the label, or the answer, is the right one to the letter",
    .definition = "1 if the text equals an accepted one, else 0",
    .citation = "AGRAG, IV-A (ACC of classification)",
    .wants = QP_WANTS_ANSWER,
    .of = accuracy,
};

const qp_measure qp_measure_macro_recall = {
    .name = "macro_recall",
    .help = "recall of labels, each label counting the same however many texts have it",
    .definition = "accuracy N / (L n), N questions of L labels, n of them with this one's: its mean is the mean over "
                  "labels of recall",
    .citation = "AGRAG, IV-A (REC, macro)",
    .wants = QP_WANTS_ANSWER,
    .of = macro_recall,
};
