/* Speaking HTTP: what downloads and remote models share. */
#ifndef QP_MODEL_HTTP_H
#define QP_MODEL_HTTP_H

#include <stdbool.h>

/* libcurl is set up, once for the process; false if it cannot be. */
bool qp_http_ready(void);
/* A pause before try number `attempt` (1, 2, ...): doubling from `first` ms, at most `most` ms, jittered to between
 * half and all of that so that many clients do not come back together. */
double qp_http_pause(int attempt, double first, double most);

#endif
