/* The operators, in the order of the manual. */
#include "op/ops.h"

static const qp_op *const all[] = {&qp_op_search, &qp_op_maxsim,    &qp_op_fuse,      &qp_op_hop,
                                   &qp_op_score,  &qp_op_rerank,    &qp_op_granker,   &qp_op_stex,
                                   &qp_op_join,   &qp_op_minus,     &qp_op_top,       &qp_op_link,
                                   &qp_op_ppr,    &qp_op_rwr,       &qp_op_induce,    &qp_op_paths,
                                   &qp_op_beam,   &qp_op_vote,      &qp_op_blend,     &qp_op_judge,
                                   &qp_op_ends,   &qp_op_balance,   &qp_op_gather,    &qp_op_steiner,
                                   &qp_op_enrich, &qp_op_relations, &qp_op_units,     &qp_op_budget,
                                   &qp_op_turns,  &qp_op_flow,      &qp_op_lesegr,    &qp_op_ego,
                                   &qp_op_concat, &qp_op_facts,     &qp_op_summarise, NULL};

const qp_op *const *qp_ops(void)
{
    return all;
}

const qp_op *qp_op_find(const char *name)
{
    for (const qp_op *const *op = all; *op; op++)
        if (strcmp((*op)->name, name) == 0)
            return *op;
    return NULL;
}
