/* Speaking HTTP with somebody else's models: one client for a service, used by any thread, with at most so many
 * requests under way. A request is tried again after what passes (a refused or reset connection, 408, 429, 5xx, a
 * broken answer) with growing jittered pauses, until its deadline; one to a server that is not there at all, for five
 * seconds; one that was answered (200), and no good answer came, four times in all. Where a server asks one request to
 * wait (429, Retry-After), the others wait as long before they begin. What comes back is foreign: capped in size,
 * checked by the caller.
 *
 * The environment sets, in seconds: QUIPU_HTTP_TIMEOUT, for one try (60); QUIPU_HTTP_DEADLINE, for all tries together
 * (180); and QUIPU_HTTP_CONCURRENCY, requests at a time (4).
 */
#ifndef QP_MODEL_HTTP_H
#define QP_MODEL_HTTP_H

#include "base/err.h"
#include "base/str.h"

/* libcurl is set up, once for the process; false if it cannot be. */
bool qp_http_ready(void);
/* A pause before try number `attempt` + 1 (attempt = 1, 2, ...): doubling from `first` ms, at most `most` ms, jittered
 * to between half and all of that so that many clients do not come back together. */
double qp_http_pause(int attempt, double first, double most);

typedef struct qp_http qp_http;

/* `name` stands in messages; `key` (null: none) is sent as a bearer token and never appears in one. The strings are
 * copied. */
qp_code qp_http_open(const char *name, const char *key, qp_http **, qp_err *);
void qp_http_close(qp_http *); /* takes null */
int qp_http_concurrency(const qp_http *);

typedef enum qp_http_verdict {
    QP_HTTP_TAKEN,  /* a good answer */
    QP_HTTP_BROKEN, /* cut short or not what it should be: worth another try */
    QP_HTTP_REFUSED /* wrong for good; the verdict's function filled err */
} qp_http_verdict;

typedef struct qp_http_call {
    const char *url;
    qp_str body;     /* JSON */
    size_t most;     /* bytes of an answer that are read; more is an error */
    double deadline; /* qp_now_ms() by which it must be over; 0: the client's own */
    /* Judges a whole answer; why a broken one is broken goes into err too. */
    qp_http_verdict (*take)(void *user, qp_str answer, qp_err *);
    /* Or, for a stream, is called with each line as it comes, without its end: false ends the reading. `take` is then
     * called with an empty answer, once the stream is over. */
    bool (*line)(void *user, qp_str line);
    bool (*again)(void *user); /* before another try: forget what was read; false: it cannot be taken back. Or null */
    void *user;
    volatile const int *cancel; /* or null */
} qp_http_call;

/* QP_MODEL with one line if there is no good answer; QP_STOPPED if cancelled. */
qp_code qp_http_post(qp_http *, const qp_http_call *, qp_err *);

#endif
