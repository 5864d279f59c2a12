#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int stopped; /* set by Ctrl-C; the library looks at it between items */

static void on_interrupt(int number)
{
    if (stopped) { /* a second time: the user means it; the store survives a kill */
        signal(number, SIG_DFL);
        raise(number);
    }
    stopped = 1;
}

int session_fail(qp_code code, const qp_err *err)
{
    fprintf(stderr, "quipu: %s\n", *err->message ? err->message : "failed without a word: please report this");
    return code;
}

int session_open(const cli *c, bool create, qp_index **index)
{
    qp_err err = {0};
    qp_open_options o = {.embedder = c->embedder,
                         .ranker = c->reranker,
                         .writer = c->writer,
                         .sparse = c->sparse,
                         .attention = c->attention,
                         .threads = (int)c->threads,
                         .seed = (uint64_t)c->seed};
    qp_code code = qp_index_open(c->store, create, &o, index, &err);
    return code ? session_fail(code, &err) : 0;
}

/* "1,234 of 5,678 (62/s, 1 min 12 s left)", redrawn in place. */
static void draw(const qp_progress *p)
{
    char line[200];
    double rate = p->seconds > 0 ? (double)p->done / p->seconds : 0;
    int n = snprintf(line, sizeof line, "%-8s %llu", p->stage, (unsigned long long)p->done);
    if (p->total)
        n += snprintf(line + n, sizeof line - (size_t)n, " of %llu", (unsigned long long)p->total);
    if (rate > 0)
        n += snprintf(line + n, sizeof line - (size_t)n, "  %.*f/s", rate < 10 ? 1 : 0, rate);
    if (rate > 0 && p->total > p->done) {
        double left = (double)(p->total - p->done) / rate;
        if (left >= 60)
            snprintf(line + n, sizeof line - (size_t)n, "  %d min %02d s left", (int)left / 60, (int)left % 60);
        else
            snprintf(line + n, sizeof line - (size_t)n, "  %.0f s left", left);
    }
    fprintf(stderr, "\r\033[K%s", line);
    if (p->total && p->done >= p->total)
        fputc('\n', stderr);
}

static void on_progress(void *user, const qp_progress *p)
{
    static char finished[32]; /* a stage may say more than once that it is at its end: one line is enough */
    bool end = p->total && p->done >= p->total;
    (void)user;
    if (end && !strcmp(finished, p->stage))
        return;
    snprintf(finished, sizeof finished, "%s", end ? p->stage : "");
    if (isatty(STDERR_FILENO))
        draw(p);
    else if (end) /* a log file: one line per stage */
        fprintf(stderr, "%s: %llu in %.1f s\n", p->stage, (unsigned long long)p->done, p->seconds);
}

static void on_warning(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "%squipu: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", line);
}

qp_watch session_watch(const cli *c)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is told as a full disk is */
    qp_watch watch = {.cancel = &stopped};
    if (!c->quiet) {
        watch.progress = on_progress;
        watch.warn = on_warning;
    }
    return watch;
}
