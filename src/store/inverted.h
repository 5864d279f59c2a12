/* Postings in the making: for each term the nodes that have it, with a count each (at least 1). About two bytes a
 * posting, so that the whole index fits in memory; writing turns them into blocks (layout.h).
 */
#ifndef QP_STORE_INVERTED_H
#define QP_STORE_INVERTED_H

#include "base/str.h"
#include "store/writer.h"

typedef struct qp_inverted qp_inverted;
typedef void (*qp_posting_fn)(void *ctx, uint32_t node, uint32_t count);

qp_inverted *qp_inverted_new(void);   /* null without memory */
void qp_inverted_free(qp_inverted *); /* takes null */
/* Within a term, nodes rise. False without memory. */
bool qp_inverted_add(qp_inverted *, uint32_t term, uint32_t node, uint32_t count);
uint32_t qp_inverted_df(const qp_inverted *, uint32_t term); /* nodes that have it; of a term never added, 0 */
void qp_inverted_each(const qp_inverted *, uint32_t term, qp_posting_fn, void *ctx);
/* Adds the term's postings to the section that was begun, its block entries to `blocks`. `lengths`: of all nodes, for
 * the blocks' bounds; null: there are none. */
void qp_inverted_write(const qp_inverted *, uint32_t term, const uint32_t *lengths, qp_writer *, qp_buf *blocks);

#endif
