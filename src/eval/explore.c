/* Measures of knowledge-graph retrieval: how much of what is right the subgraph holds, how soon a path comes to it, and
 * the answers read off the paths. */
#include "eval/measure.h"

static double sub_recall(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->explored && o->relevant ? (double)o->explored->found / o->relevant : 0;
}

static double sub_precision(const qp_outcome *o)
{
    return o->explored && o->explored->nodes ? (double)o->explored->found / o->explored->nodes : 0;
}

static double sub_f1(const qp_outcome *o, uint32_t k)
{
    double p = sub_precision(o), r = sub_recall(o, k);
    return p + r > 0 ? 2 * p * r / (p + r) : 0;
}

static double sub_nodes(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->explored ? o->explored->nodes : 0;
}

static double sub_edges(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->explored ? o->explored->edges : 0;
}

static double sub_components(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->explored ? o->explored->components : 0;
}

static double context_tokens(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->explored ? o->explored->tokens : 0;
}

static double path_recall(const qp_outcome *o, uint32_t k)
{
    uint32_t n = 0;
    for (uint32_t g = 0; o->explored && g < o->relevant; g++)
        n += o->explored->first_path[g] < k;
    return o->relevant ? (double)n / o->relevant : 0;
}

static uint32_t right_of(const qp_outcome *o, uint32_t n)
{
    uint32_t right = 0;
    for (uint32_t i = 0; i < n && i < o->n; i++)
        right += o->grade[i] > 0;
    return right;
}

static double set_hit(const qp_outcome *o, uint32_t k)
{
    (void)k;
    return o->explored && right_of(o, o->explored->predicted) > 0;
}

static double set_f1(const qp_outcome *o, uint32_t k)
{
    (void)k;
    uint32_t predicted = o->explored ? o->explored->predicted : 0, right = right_of(o, predicted);
    double p = predicted ? (double)right / predicted : 0, r = o->relevant ? (double)right / o->relevant : 0;
    return p + r > 0 ? 2 * p * r / (p + r) : 0;
}

#define LEGO "LEGO-GraphRAG, evaluation metrics; methods.md, 4"

const qp_measure qp_measure_sub_recall = {.name = "sub_recall",
                                          .help = "share of the right entities that the extracted subgraph holds",
                                          .definition = "|A and N| / |A|, N the subgraph's nodes",
                                          .citation = LEGO,
                                          .wants = QP_WANTS_EXPLORED,
                                          .of = sub_recall};
const qp_measure qp_measure_sub_f1 = {.name = "sub_f1",
                                      .help = "the subgraph's recall against its size",
                                      .definition = "2PR / (P + R), P = |A and N| / |N|, R = |A and N| / |A|",
                                      .citation = LEGO,
                                      .wants = QP_WANTS_EXPLORED,
                                      .of = sub_f1};
const qp_measure qp_measure_sub_nodes = {.name = "sub_nodes",
                                         .help = "nodes of the extracted subgraph",
                                         .definition = "|N|",
                                         .citation = LEGO,
                                         .wants = QP_WANTS_EXPLORED,
                                         .of = sub_nodes};
const qp_measure qp_measure_sub_edges = {.name = "sub_edges",
                                         .help = "edges of the extracted subgraph",
                                         .definition = "edges between its nodes, or those extracted",
                                         .citation = LEGO,
                                         .wants = QP_WANTS_EXPLORED,
                                         .of = sub_edges};
const qp_measure qp_measure_sub_components = {.name = "sub_components",
                                              .help = "pieces that the extracted subgraph falls into",
                                              .definition = "weakly connected components",
                                              .citation = LEGO,
                                              .wants = QP_WANTS_EXPLORED,
                                              .of = sub_components};
const qp_measure qp_measure_context_tokens = {.name = "context_tokens",
                                              .help = "tokens of what a writer would be given to read",
                                              .definition = "of the paths, or the subgraph breadth first, as text",
                                              .citation = "GEAR, table of token counts",
                                              .wants = QP_WANTS_EXPLORED,
                                              .of = context_tokens};
const qp_measure qp_measure_path_recall = {.name = "path_recall",
                                           .help = "share of the right entities on the first k paths",
                                           .definition = "|A and nodes of paths 1..k| / |A|",
                                           .citation = LEGO,
                                           .wants = QP_WANTS_EXPLORED,
                                           .cut = true,
                                           .of = path_recall};
const qp_measure qp_measure_set_hit = {.name = "set_hit",
                                       .help = "is a right entity among the answers read off the best path's relations",
                                       .definition = "1 if one of the predicted answers is right, else 0",
                                       .citation = "LEGO-GraphRAG's Hit; ours: what is predicted without a writer",
                                       .wants = QP_WANTS_EXPLORED,
                                       .of = set_hit};
const qp_measure qp_measure_set_f1 = {.name = "set_f1",
                                      .help = "the answers read off the best path's relations against the right ones",
                                      .definition = "2PR / (P + R) over the predicted set",
                                      .citation = "LEGO-GraphRAG's F1; ours: what is predicted without a writer",
                                      .wants = QP_WANTS_EXPLORED,
                                      .of = set_f1};
