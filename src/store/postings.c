/* Reading blocks of postings out of a mapped snapshot. */
#include "store/mapped.h"

const qp_block_entry *qp_postings_blocks(const qp_postings *p, uint64_t first, uint32_t df, uint32_t *n)
{
    uint64_t wanted = ((uint64_t)df + QP_BLOCK - 1) / QP_BLOCK;
    if (!wanted || df > p->nodes || first > p->blocks || wanted > p->blocks - first)
        return NULL;
    *n = (uint32_t)wanted;
    return p->block + first;
}

/* Where a block's numbers lie; null if outside, or if their widths cannot be. */
static const uint8_t *bytes_of(const qp_postings *p, const qp_block_entry *b)
{
    uint64_t n = (b->n + 1u) * ((uint64_t)b->node_bytes + b->tf_bytes);
    bool widths =
        (b->node_bytes == 1 || b->node_bytes == 2 || b->node_bytes == 4) && (b->tf_bytes <= 2 || b->tf_bytes == 4);
    return widths && b->n < QP_BLOCK && b->at <= p->bytes && n <= p->bytes - b->at ? p->at + b->at : NULL;
}

static void read_numbers(const uint8_t *at, uint32_t n, uint8_t width, uint32_t *out)
{
    switch (width) {
    case 1:
        for (uint32_t i = 0; i < n; i++)
            out[i] = at[i];
        break;
    case 2:
        for (uint32_t i = 0; i < n; i++)
            out[i] = at[2 * i] | (uint32_t)at[2 * i + 1] << 8;
        break;
    case 4: memcpy(out, at, n * sizeof *out); break;
    default: memset(out, 0, n * sizeof *out);
    }
}

bool qp_block_nodes(const qp_postings *p, const qp_block_entry *b, uint32_t before, uint32_t *node)
{
    const uint8_t *at = bytes_of(p, b);
    if (!at)
        return false;
    uint32_t n = b->n + 1u;
    read_numbers(at, n, b->node_bytes, node);
    uint64_t sum = (uint64_t)(uint32_t)(before + 1);
    for (uint32_t i = 0; i < n; i++) {
        sum += node[i];
        node[i] = (uint32_t)sum++;
    }
    /* They rise; so if the last, before it was cut to 32 bits, is the one it should be and is a node, all are. */
    return sum == (uint64_t)b->last + 1 && b->last < p->nodes;
}

bool qp_block_tfs(const qp_postings *p, const qp_block_entry *b, uint32_t *tf)
{
    const uint8_t *at = bytes_of(p, b);
    if (!at)
        return false;
    uint32_t n = b->n + 1u;
    read_numbers(at + (size_t)n * b->node_bytes, n, b->tf_bytes, tf);
    for (uint32_t i = 0; i < n; i++)
        tf[i] += tf[i] != UINT32_MAX;
    return true;
}
