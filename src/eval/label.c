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
    return o->answer ? accuracy(o, k) * o->answer->recalled : 0;
}

static double macro_f1(const qp_outcome *o, uint32_t k)
{
    return o->answer ? accuracy(o, k) * o->answer->shared : 0;
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
    .wants = QP_WANTS_CLASSES,
    .of = macro_recall,
};

const qp_measure qp_measure_macro_f1 = {
    .name = "macro_f1",
    .help = "F1 of labels, or of answers that are one of a few, each counting the same",
    .definition =
        "accuracy 2 N / (L (n + p)), p the times it was answered: its mean is the mean of F1 over the L labels "
        "that are right somewhere; the interval takes n and p as they are",
    .citation = "CG-RAG, 5.1 (F1 of PubMedQA and PapersWithCodeQA)",
    .wants = QP_WANTS_CLASSES,
    .of = macro_f1,
};
