/* An id as it stands in a TREC run file, where blanks part the fields. White space of any kind is %20 and % is %25; what
 * else is a control character is %XX. Pure functions: any thread. */
#ifndef QP_EVAL_RUN_ID_H
#define QP_EVAL_RUN_ID_H

#include "base/arena.h"
#include "base/str.h"

void qp_run_id_add(qp_buf *, qp_str id);

/* Undoes that but for the kind of white space, which is a blank. A % that starts no such triple stands for itself, as
 * other tools write it. In the arena; null at without memory. */
qp_str qp_run_id_read(qp_arena *, qp_str written);

/* Is there white space in it that reading would not give back? */
bool qp_run_id_is_odd(qp_str id);

/* The id with a blank for each white space: what reading one that was written gives. In the arena; null at without
 * memory. */
qp_str qp_run_id_plain(qp_arena *, qp_str id);

#endif
