/* Files that come with Quipu and that users may replace: prompts, pipelines, the models' registry. */
#ifndef QP_BASE_SHARE_H
#define QP_BASE_SHARE_H

#include "base/arena.h"

/* Where `name` ("prompts/answer.txt") lies: under $QUIPU_SHARE, else the installed data folder, else the source tree
 * this was built from; the first that has it. In the arena; null without memory or if none has it. */
char *qp_share_find(qp_arena *, const char *name);

#endif
