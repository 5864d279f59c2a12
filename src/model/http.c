#include "model/http.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <curl/curl.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/thread.h"

#define MOST_SLOTS 64
#define MOST_LINE (4u << 20) /* bytes of one line of a stream */
#define FIRST_PAUSE 250.     /* ms */
#define MOST_PAUSE 10000.
#define MOST_BROKEN 4      /* answers that came and were no good: each may have cost money */
#define MOST_ABSENCE 5000. /* ms without a server at all: it is not there, rather than restarted */

/* ---- shared with downloads ---- */

static bool ready;

static void set_up(void)
{
    ready = curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK;
}

bool qp_http_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    return ready;
}

double qp_http_pause(int attempt, double first, double most)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    qp_random random = qp_random_seed((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)(uintptr_t)&now);
    double pause = first;
    while (--attempt > 0 && pause < most)
        pause *= 2;
    return (pause < most ? pause : most) * (.5 + .5 * qp_random_unit(&random));
}

/* ---- a client: a slot is a connection that is kept, and the right to one request ---- */

struct qp_http {
    char *name, *key;
    struct curl_slist *headers;
    double timeout, deadline; /* ms */
    int slots;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    bool busy[MOST_SLOTS];
    CURL *curl[MOST_SLOTS]; /* made at first use */
    double held;            /* qp_now_ms() until which the service wants no request */
};

static qp_code setting(const char *name, double standard, double least, double most, double *out, qp_err *err)
{
    const char *text = getenv(name);
    char *end;
    *out = standard;
    if (!text || !*text)
        return QP_OK;
    *out = strtod(text, &end);
    return end == text || *end || !(*out >= least && *out <= most)
               ? qp_fail(err, QP_INPUT, "%s is '%.40s'; wanted a number from %g to %g", name, text, least, most)
               : QP_OK;
}

static qp_code read_settings(qp_http *h, qp_err *err)
{
    double slots = 0;
    qp_code code = setting("QUIPU_HTTP_TIMEOUT", 60, .05, 86400, &h->timeout, err);
    code = code ? code : setting("QUIPU_HTTP_DEADLINE", 180, .05, 86400, &h->deadline, err);
    code = code ? code : setting("QUIPU_HTTP_CONCURRENCY", 4, 1, MOST_SLOTS, &slots, err);
    h->timeout *= 1000;
    h->deadline *= 1000;
    h->slots = (int)slots;
    return code;
}

qp_code qp_http_open(const char *name, const char *key, qp_http **out, qp_err *err)
{
    qp_http *h = qp_http_ready() ? calloc(1, sizeof *h) : NULL;
    if (!h)
        return qp_fail(err, QP_MODEL, "%s: libcurl cannot be set up", name);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->freed, NULL);
    h->name = strdup(name);
    h->key = key ? strdup(key) : NULL;
    h->headers = curl_slist_append(NULL, "Content-Type: application/json");
    qp_code code = !h->name || !h->headers || (key && !h->key) ? qp_oom(err) : read_settings(h, err);
    if (code) {
        qp_http_close(h);
        return code;
    }
    *out = h;
    return QP_OK;
}

void qp_http_close(qp_http *h)
{
    if (!h)
        return;
    for (int i = 0; i < MOST_SLOTS; i++)
        curl_easy_cleanup(h->curl[i]);
    curl_slist_free_all(h->headers);
    pthread_cond_destroy(&h->freed);
    pthread_mutex_destroy(&h->lock);
    if (h->key)
        explicit_bzero(h->key, strlen(h->key));
    free(h->key);
    free(h->name);
    free(h);
}

int qp_http_concurrency(const qp_http *h)
{
    return h->slots;
}

/* What the service tells one request, all keep to: its limit is the account's. */
static void hold(qp_http *h, double until)
{
    pthread_mutex_lock(&h->lock);
    if (until > h->held)
        h->held = until;
    pthread_mutex_unlock(&h->lock);
}

static double held_until(qp_http *h)
{
    pthread_mutex_lock(&h->lock);
    double until = h->held;
    pthread_mutex_unlock(&h->lock);
    return until;
}

static bool cancelled(const qp_http_call *c)
{
    return qp_cancelled(c->cancel);
}

static int find_free(const qp_http *h)
{
    int i = 0;
    while (i < h->slots && h->busy[i])
        i++;
    return i;
}

/* A slot of ours; -1 when the deadline passed or the caller cancelled while all were taken. */
static int take_slot(qp_http *h, const qp_http_call *c, double deadline)
{
    pthread_mutex_lock(&h->lock);
    int i = find_free(h);
    while (i == h->slots && qp_now_ms() < deadline && !cancelled(c)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50 * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&h->freed, &h->lock, &until);
        i = find_free(h);
    }
    if (i < h->slots)
        h->busy[i] = true;
    else
        i = -1;
    pthread_mutex_unlock(&h->lock);
    if (i >= 0 && !h->curl[i] && !(h->curl[i] = curl_easy_init())) {
        pthread_mutex_lock(&h->lock);
        h->busy[i] = false;
        pthread_mutex_unlock(&h->lock);
        return -1;
    }
    return i;
}

static void give_slot(qp_http *h, int i)
{
    pthread_mutex_lock(&h->lock);
    h->busy[i] = false;
    pthread_cond_signal(&h->freed);
    pthread_mutex_unlock(&h->lock);
}

/* ---- one try ---- */

typedef struct attempt {
    qp_http *http;
    const qp_http_call *call;
    CURL *curl;
    qp_buf answer;  /* whole; of a stream, the line being read, and all of an error's */
    size_t bytes;   /* so far */
    bool streaming; /* lines are handed on: the status is 200 */
    bool ended;     /* the reader has had enough */
    bool too_long;
    bool absent; /* nobody took the connection */
    long status;
    double retry_after; /* ms; what the server asks for, or 0 */
} attempt;

/* Hands the whole lines on and keeps the rest. */
static bool give_lines(attempt *a)
{
    qp_str rest = qp_buf_view(&a->answer);
    const char *end;
    while (!a->ended && rest.n && (end = memchr(rest.at, '\n', rest.n))) {
        qp_str line = {rest.at, (size_t)(end - rest.at)};
        rest = qp_str_slice(rest, line.n + 1, rest.n);
        if (line.n && line.at[line.n - 1] == '\r')
            line.n--;
        a->ended = !a->call->line(a->call->user, line);
    }
    memmove(a->answer.at, rest.at, rest.n);
    a->answer.n = rest.n;
    if (a->answer.at)
        a->answer.at[rest.n] = 0;
    a->too_long |= rest.n > MOST_LINE;
    return !a->ended && !a->too_long;
}

static size_t on_body(char *bytes, size_t one, size_t n, void *user)
{
    attempt *a = user;
    (void)one;
    if (!a->status) {
        curl_easy_getinfo(a->curl, CURLINFO_RESPONSE_CODE, &a->status);
        a->streaming = a->call->line && a->status == 200;
    }
    a->bytes += n;
    if (a->bytes > a->call->most) {
        a->too_long = true;
        return 0;
    }
    qp_buf_add(&a->answer, bytes, n);
    if (a->answer.oom || (a->streaming && !give_lines(a)))
        return 0;
    return n;
}

static int on_progress(void *user, curl_off_t d, curl_off_t e, curl_off_t f, curl_off_t g)
{
    const attempt *a = user;
    (void)d, (void)e, (void)f, (void)g;
    return cancelled(a->call);
}

static CURLcode perform(attempt *a, double deadline)
{
    const qp_http_call *c = a->call;
    CURL *curl = a->curl;
    double left = deadline - qp_now_ms();
    /* A stream may take as long as all tries together, if it keeps coming. */
    double most = c->line || a->http->timeout > left ? left : a->http->timeout;

    curl_easy_reset(curl); /* keeps the connection */
    curl_easy_setopt(curl, CURLOPT_URL, c->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, c->body.at);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->body.n);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, a->http->headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "quipu/" QUIPU_VERSION);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(most < 10000 ? most : 10000) + 1);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(most > 1 ? most : 1));
    if (c->line) {
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)(a->http->timeout / 1000) + 1);
    }
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, a);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    if (a->http->key) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, a->http->key);
    }
    CURLcode rc = curl_easy_perform(curl);
    curl_off_t after = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a->status);
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after);
    a->retry_after = after > 0 ? (double)after * 1000 : 0;
    return rc;
}

/* What the server says went wrong: its first 200 bytes on one line, unless they hold the key. */
static const char *server_says(const attempt *a, char out[220])
{
    const char *text = a->answer.at ? a->answer.at : "";
    size_t n = 0;
    if (!*text || (a->http->key && strstr(text, a->http->key)))
        return "";
    out[n++] = ':';
    out[n++] = ' ';
    for (; *text && n < 210; text++)
        if ((unsigned char)*text >= 32 && (*text != ' ' || out[n - 1] != ' '))
            out[n++] = *text;
    out[n] = 0;
    return out;
}

static qp_http_verdict judge_status(const attempt *a, qp_err *err)
{
    char said[220];
    const char *name = a->http->name, *url = a->call->url;
    if (a->status == 401 || a->status == 403) {
        qp_fail(err, QP_MODEL, "%s: %s refuses %s (HTTP %ld); keys are read from the environment", name, url,
                a->http->key ? "the key" : "a request without a key", a->status);
        return QP_HTTP_REFUSED;
    }
    qp_fail(err, QP_MODEL, "%s: %s answers HTTP %ld%s", name, url, a->status, server_says(a, said));
    return a->status == 408 || a->status == 429 || a->status >= 500 ? QP_HTTP_BROKEN : QP_HTTP_REFUSED;
}

static qp_http_verdict judge(attempt *a, CURLcode rc, qp_err *err)
{
    const char *name = a->http->name, *url = a->call->url;
    if (a->too_long) {
        qp_fail(err, QP_MODEL, "%s: %s sends more than the %zu bytes that its answer may have", name, url,
                a->call->most);
        return QP_HTTP_REFUSED;
    }
    if (a->answer.oom) {
        qp_oom(err);
        return QP_HTTP_REFUSED;
    }
    a->absent = rc == CURLE_COULDNT_CONNECT || rc == CURLE_COULDNT_RESOLVE_HOST;
    if (rc != CURLE_OK && !a->ended) {
        qp_fail(err, QP_MODEL, "%s: no answer from %s: %s", name, url, curl_easy_strerror(rc));
        switch (rc) {
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR: return QP_HTTP_REFUSED;
        default: return QP_HTTP_BROKEN;
        }
    }
    if (a->status != 200)
        return judge_status(a, err);
    if (a->streaming && a->answer.n && !a->ended) /* a last line without its end */
        a->call->line(a->call->user, qp_buf_view(&a->answer));
    return a->call->take(a->call->user, a->streaming ? (qp_str){"", 0} : qp_buf_view(&a->answer), err);
}

/* ---- all tries ---- */

/* Waits `ms`; an error if the caller cancels. */
static qp_code wait_for(const qp_http_call *c, double ms, qp_err *err)
{
    for (double until = qp_now_ms() + ms; qp_now_ms() < until;) {
        double left = until - qp_now_ms();
        if (cancelled(c))
            return qp_fail(err, QP_STOPPED, "stopped while waiting for %s", c->url);
        nanosleep(&(struct timespec){.tv_nsec = (long)((left < 20 ? left : 20) * 1e6)}, NULL);
    }
    return QP_OK;
}

/* Another request may be told to wait while this one waits. */
static qp_code wait_turn(qp_http *h, const qp_http_call *c, double deadline, qp_err *err)
{
    for (double until; (until = held_until(h)) > qp_now_ms();) {
        if (until >= deadline)
            return qp_fail(err, deadline == qp_patience_get().deadline ? QP_STOPPED : QP_MODEL,
                           "%s: %s asks to wait longer than the deadline allows", h->name, c->url);
        qp_code code = wait_for(c, until - qp_now_ms(), err);
        if (code)
            return code;
    }
    return QP_OK;
}

static qp_http_verdict try_once(qp_http *h, const qp_http_call *c, double deadline, attempt *a, qp_err *why)
{
    *a = (attempt){.http = h, .call = c};
    if (wait_turn(h, c, deadline, why))
        return QP_HTTP_REFUSED;
    int slot = take_slot(h, c, deadline);
    if (slot < 0) {
        qp_fail(why, QP_MODEL, "%s: no request to %s could be begun in time", h->name, c->url);
        return QP_HTTP_REFUSED;
    }
    a->curl = h->curl[slot];
    CURLcode rc = perform(a, deadline);
    qp_http_verdict verdict = judge(a, rc, why);
    give_slot(h, slot);
    qp_buf_free(&a->answer);
    return verdict;
}

qp_code qp_http_post(qp_http *h, const qp_http_call *call, qp_err *err)
{
    const qp_patience patience = qp_patience_get();
    const double began = qp_now_ms(), own = call->deadline ? call->deadline : began + h->deadline;
    const bool hurried = patience.deadline > 0 && patience.deadline < own;
    const double deadline = hurried ? patience.deadline : own;
    qp_http_call with_cancel = *call;
    const qp_http_call *c = &with_cancel;
    if (!with_cancel.cancel)
        with_cancel.cancel = patience.cancel;
    qp_err before = {0};
    int broken = 0;
    for (int tries = 1;; tries++) {
        qp_err why = {0};
        attempt a;
        qp_http_verdict verdict = try_once(h, c, deadline, &a, &why);
        if (cancelled(c))
            return qp_fail(err, QP_STOPPED, "stopped while waiting for %s", c->url);
        if (verdict == QP_HTTP_TAKEN)
            return QP_OK;
        if (tries > 1 && qp_now_ms() >= deadline) /* this try was cut off by us: the one before says what is wrong */
            why = before;
        before = why;
        double pause = qp_http_pause(tries, FIRST_PAUSE, MOST_PAUSE);
        if (a.retry_after > pause)
            pause = a.retry_after;
        if (a.retry_after > 0 || a.status == 429)
            hold(h, qp_now_ms() + pause);
        if (verdict == QP_HTTP_REFUSED || (c->again && !c->again(c->user)))
            return qp_fail(err, why.code ? why.code : QP_MODEL, "%s", why.message);
        if (hurried && qp_now_ms() + pause >= deadline)
            return qp_fail(err, QP_STOPPED, "the deadline passed while waiting for %s", c->url);
        broken += a.status == 200;
        if (broken == MOST_BROKEN || qp_now_ms() + pause >= deadline ||
            (a.absent && qp_now_ms() + pause >= began + MOST_ABSENCE))
            return qp_fail(err, QP_MODEL, "%.700s; gave up after %d %s%s", why.message, tries,
                           tries == 1 ? "try" : "tries",
                           a.retry_after ? ", as it asks to wait longer than the deadline allows" : "");
        qp_code code = wait_for(c, pause, err);
        if (code)
            return code;
    }
}
