/* Files of a model hub: BASE/OWNER/REPOSITORY/resolve/REVISION/PATH, which redirects to where the bytes lie. Of large
 * files the hub's answer names the SHA-256 in X-Linked-ETag.
 */
#include "model/pull.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/thread.h"
#include "model/http.h"

#define TRIES 5           /* in a row that came no further */
#define STALL_SECONDS 30L /* a transfer slower than 1 KiB/s for so long is broken */

typedef struct download {
    const qp_pull *pull;
    const char *url, *part; /* the file being filled */
    FILE *f;
    uint64_t have, before; /* bytes in it; those of earlier tries */
    uint64_t total;        /* 0: not known */
    char linked[65];       /* the hub's SHA-256, or "" */
    double start, told;
    int write_errno;
} download;

static size_t on_body(char *bytes, size_t one, size_t n, void *user)
{
    download *d = user;
    (void)one;
    if (fwrite(bytes, 1, n, d->f) != n) {
        d->write_errno = errno ? errno : EIO;
        return 0;
    }
    d->have += n;
    return n;
}

static size_t on_header(char *line, size_t one, size_t n, void *user)
{
    download *d = user;
    qp_str value, name = qp_str_split((qp_str){line, one * n}, ':', &value);
    if (name.n == 13 && !strncasecmp(name.at, "x-linked-etag", 13)) {
        value = qp_str_trim(value);
        if (value.n == 66 && value.at[0] == '"') {
            memcpy(d->linked, value.at + 1, 64);
            d->linked[64] = 0;
            if (strspn(d->linked, "0123456789abcdef") != 64)
                d->linked[0] = 0;
        }
    }
    return one * n;
}

static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up)
{
    download *d = user;
    const qp_watch *watch = d->pull->watch;
    (void)now, (void)up_total, (void)up;
    if (total > 0)
        d->total = d->before + (uint64_t)total;
    if (watch && watch->progress && qp_now_ms() - d->told > 100) {
        d->told = qp_now_ms();
        watch->progress(watch->user, &(qp_progress){.stage = "pull",
                                                    .item = d->pull->model->name,
                                                    .done = d->have,
                                                    .total = d->total,
                                                    .seconds = (d->told - d->start) / 1000});
    }
    return watch && qp_cancelled(watch->cancel);
}

static void set_options(CURL *curl, download *d)
{
    const char *token = getenv("HF_TOKEN"), *hub = d->pull->hub;
    bool plain = !strncmp(hub, "http:", 5); /* a local server, by the user's own $QUIPU_HUB */

    curl_easy_setopt(curl, CURLOPT_URL, d->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, plain ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, plain ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 20L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1024L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "quipu/" QUIPU_VERSION);
    curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)d->have);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, d);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, d);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, d);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    if (token && *token && !plain) { /* for models behind a licence; not over a wire that others can read, and curl
                                      * does not carry it to another host */
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, token);
    }
}

typedef enum outcome { WHOLE, AGAIN, AFRESH, COMPLETE_ALREADY, FAILED } outcome;

static outcome judge(CURLcode rc, long status)
{
    switch (rc) {
    case CURLE_OK: return WHOLE;
    case CURLE_RANGE_ERROR: /* the server sends from the beginning only */
    case CURLE_BAD_DOWNLOAD_RESUME: return AFRESH;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2_STREAM: return AGAIN;
    case CURLE_HTTP_RETURNED_ERROR:
        return status == 416 ? COMPLETE_ALREADY : status == 429 || status == 408 || status >= 500 ? AGAIN : FAILED;
    default: return FAILED;
    }
}

static qp_code explain(const download *d, CURLcode rc, long status, qp_err *err)
{
    const qp_pull *p = d->pull;
    qp_code code = qp_pull_stopped(p, err);
    if (code)
        return code;
    if (d->write_errno)
        return qp_fail(err, QP_STORE, "%s: writing failed: %s", d->part, strerror(d->write_errno));
    if (rc != CURLE_HTTP_RETURNED_ERROR)
        return qp_fail(err, QP_MODEL, "%s: cannot be fetched from %s: %s", p->model->name, d->url,
                       curl_easy_strerror(rc));
    if (status == 401 || status == 403)
        return qp_fail(
            err, QP_MODEL,
            "%s: %s wants a login (HTTP %ld): accept the model's licence there and set HF_TOKEN, or import a "
            "file of yours",
            p->model->name, d->url, status);
    return qp_fail(err, QP_MODEL, "%s: %s answers HTTP %ld%s", p->model->name, d->url, status,
                   status == 404 ? " (not found): the registry's entry is out of date, or $QUIPU_HUB points elsewhere"
                                 : "");
}

/* One request, appended to what is there. */
static outcome attempt(download *d, CURLcode *rc, long *status)
{
    CURL *curl = curl_easy_init();
    struct stat info;

    *rc = CURLE_OUT_OF_MEMORY;
    *status = 0;
    d->have = !stat(d->part, &info) ? (uint64_t)info.st_size : 0;
    d->before = d->have;
    d->f = curl ? fopen(d->part, "abe") : NULL;
    if (!d->f) {
        d->write_errno = errno;
        curl_easy_cleanup(curl);
        return FAILED;
    }
    set_options(curl, d);
    *rc = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    curl_easy_cleanup(curl);
    if (fclose(d->f) && !d->write_errno)
        d->write_errno = errno;
    return d->write_errno ? FAILED : judge(*rc, *status);
}

static qp_code wait_before(const qp_pull *p, int attempt, qp_err *err)
{
    qp_code code;
    for (double until = qp_now_ms() + qp_http_pause(attempt, 250, 8000); !(code = qp_pull_stopped(p, err));) {
        if (qp_now_ms() >= until)
            break;
        usleep(20000);
    }
    return code;
}

/* The file's bytes, in as many requests as it takes; a try that came further than any before resets the count. */
static qp_code transfer(download *d, qp_err *err)
{
    CURLcode rc;
    long status;
    uint64_t farthest = 0;
    for (int tries = 1;; tries++) {
        outcome how = attempt(d, &rc, &status);
        bool further = d->have > farthest;
        if (how == WHOLE || (how == COMPLETE_ALREADY && d->before))
            return QP_OK;
        if (how == AFRESH && d->before)
            unlink(d->part);
        else if (how != AGAIN || (!further && tries >= TRIES))
            return explain(d, rc, status, err);
        if (further) {
            farthest = d->have;
            tries = 1;
        }
        qp_code code = wait_before(d->pull, tries, err);
        if (code)
            return code;
    }
}

/* The digest wanted is the registry's, else the hub's; files too small for the hub to store apart have neither. */
static qp_code verify(const download *d, const qp_model_file *file, bool *wrong, qp_err *err)
{
    char hex[65];
    const char *wanted = file->sha256 ? file->sha256 : *d->linked ? d->linked : NULL;
    qp_code code = qp_sha256_file(d->part, hex, err);

    *wrong = !code && wanted && strcmp(hex, wanted);
    if (*wrong)
        return qp_fail(err, QP_MODEL, "%s: %s has the SHA-256 %s where %s says %s; not taken", d->pull->model->name,
                       d->url, hex, file->sha256 ? "the registry" : "the hub", wanted);
    if (!code && !file->sha256)
        qp_pull_say(d->pull, "%s: %s has the SHA-256 %s (%s)", d->pull->model->name, file->path, hex,
                    wanted ? "as the hub says; the registry names none" : "neither the registry nor the hub names one");
    return code;
}

static qp_code fetch_file(const qp_pull *p, size_t i, qp_err *err)
{
    const qp_model_source *s = p->source;
    const qp_model_file *file = &s->file[i];
    char *path;
    qp_code code = qp_pull_place(p, i, &path, err);
    if (code || qp_path_exists(path)) /* it has its name, so it was verified */
        return code;
    download d = {.pull = p, .start = qp_now_ms()};
    const char *slash = *s->folder ? "/" : "";
    d.url =
        qp_arena_fmt(p->mem, "%s/%s/resolve/%s/%s%s%s", p->hub, s->name, s->version, s->folder, slash, file->path).at;
    d.part = qp_arena_fmt(p->mem, "%s.part", path).at;
    if (!d.url || !d.part)
        return qp_oom(err);
    for (int round = 0;; round++) {
        qp_err why = {0};
        bool wrong = false, resumed = qp_path_exists(d.part);
        if ((code = transfer(&d, err)))
            return code;
        code = verify(&d, file, &wrong, &why);
        if (!code)
            return qp_file_publish(d.part, path, err);
        if (wrong)
            unlink(d.part);
        if (!wrong || !resumed || round) /* half of another file may have been there: once more from the start */
            return qp_fail(err, why.code, "%s", why.message);
    }
}

qp_code qp_pull_hub(const qp_pull *p, qp_err *err)
{
    qp_code code = QP_OK;
    if (!p->hub || !*p->hub)
        return qp_fail(err, QP_MODEL, "%s: no model hub: the registry has none and QUIPU_HUB is not set",
                       p->model->name);
    if (!qp_http_ready())
        return qp_fail(err, QP_MODEL, "libcurl cannot be set up");
    for (size_t i = 0; !code && i < p->source->n_files; i++) {
        code = qp_pull_stopped(p, err);
        if (!code)
            code = fetch_file(p, i, err);
    }
    return code;
}
