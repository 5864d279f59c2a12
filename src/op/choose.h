/* A writer that chooses from a numbered list, under a grammar, so that whatever it writes can be read. */
#ifndef QP_OP_CHOOSE_H
#define QP_OP_CHOOSE_H

#include "quipu_op.h"

typedef struct qp_choice {
    const char *prompt;   /* a file with {question}, {items}, {k} and {example}; or null */
    const char *standard; /* the one of ours, "lego-paths.txt" */
    const char *example;  /* put for {example}; or null */
    uint32_t k;           /* how many at most */
    uint32_t window; /* items shown at a time: of longer lists each part is asked about, then what was chosen; 0: 64 */
    bool none;       /* it may choose none, by that word */
} qp_choice;

/* The places in `item` that were chosen, best first, each once; *n of them. Null after an error. */
const uint32_t *qp_choose(qp_query *, const qp_choice *, const qp_str *item, uint32_t n, uint32_t *n_chosen);
/* Yes or no to a prompt with {question} and {items}; false after an error, too. */
bool qp_agrees(qp_query *, const char *prompt, const char *standard, const qp_str *item, uint32_t n);

#endif
