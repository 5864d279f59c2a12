#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <yyjson.h>

static void tell(const cli *c, const qp_index_report *r)
{
    if (c->json) {
        printf("{\"added\":%" PRIu64 ",\"changed\":%" PRIu64 ",\"same\":%" PRIu64 ",\"failed\":%" PRIu64
               ",\"chunks\":%" PRIu64 ",\"edges\":%" PRIu64 ",\"edges_unknown\":%" PRIu64 ",\"embedded\":%" PRIu64
               ",\"weighed\":%" PRIu64 ",\"attended\":%" PRIu64 ",\"tokenised\":%" PRIu64 ",\"expanded\":%" PRIu64
               ",\"triples\":%" PRIu64 ",\"entities\":%" PRIu64 ",\"writer_asked\":%" PRIu64
               ",\"writer_remembered\":%" PRIu64 ",\"writer_dropped\":%" PRIu64 ",\"writer_unanswered\":%" PRIu64
               ",\"seconds\":{\"read\":%.3f,\"embed\":%.3f,\"publish\":%.3f}}\n",
               r->documents_added, r->documents_changed, r->documents_same, r->documents_failed, r->chunks, r->edges,
               r->edges_unknown, r->chunks_embedded, r->chunks_weighed, r->chunks_attended, r->chunks_tokenised,
               r->chunks_expanded, r->triples, r->entities, r->writer_asked, r->writer_remembered, r->writer_dropped,
               r->writer_unanswered, r->seconds_read, r->seconds_embed, r->seconds_publish);
        return;
    }
    printf("%" PRIu64 " documents added, %" PRIu64 " changed, %" PRIu64 " unchanged", r->documents_added,
           r->documents_changed, r->documents_same);
    if (r->documents_failed)
        printf(", %" PRIu64 " could not be read", r->documents_failed);
    if (r->triples)
        printf("\n%" PRIu64 " triples of %" PRIu64 " entities read", r->triples, r->entities);
    if (r->chunks || !r->entities)
        printf("\n%" PRIu64 " chunks and %" PRIu64 " edges between them in the index", r->chunks, r->edges);
    if (r->edges_unknown)
        printf(" (%" PRIu64 " edges to unknown ids left out)", r->edges_unknown);
    if (r->writer_asked || r->writer_remembered)
        printf("\nthe writer was asked %" PRIu64 " times, %" PRIu64 " answers were there; %" PRIu64
               " lines were no relation of two given entities",
               r->writer_asked, r->writer_remembered, r->writer_dropped);
    if (r->writer_unanswered)
        printf("; %" PRIu64 " got no answer", r->writer_unanswered);
    if (r->chunks_weighed)
        printf("\n%" PRIu64 " chunks weighed", r->chunks_weighed);
    if (r->chunks_attended)
        printf("\n%" PRIu64 " chunks attended to", r->chunks_attended);
    if (r->chunks_tokenised)
        printf("\n%" PRIu64 " chunks with vectors of tokens", r->chunks_tokenised);
    if (r->chunks_expanded)
        printf("\n%" PRIu64 " chunks were written questions for", r->chunks_expanded);
    printf("\n%" PRIu64 " texts embedded; read %.1f s, embed %.1f s, publish %.1f s\n", r->chunks_embedded,
           r->seconds_read, r->seconds_embed, r->seconds_publish);
}

/* What it would cost, at the prices of a million tokens that were given. */
static void tell_dry(const cli *c, const qp_index_report *r)
{
    enum { ANSWER = 120 }; /* tokens of a writer's answer: a dozen lines */
    uint64_t answers = r->writer_asked * ANSWER;
    double cost = (double)r->chunk_tokens / 1e6 * c->price_embed + (double)r->prompt_tokens / 1e6 * c->price_in +
                  (double)answers / 1e6 * c->price_out;
    if (c->json) {
        printf("{\"dry_run\":true,\"documents\":%" PRIu64 ",\"chunks\":%" PRIu64 ",\"chunk_tokens\":%" PRIu64
               ",\"entities\":%" PRIu64 ",\"writer_questions\":%" PRIu64 ",\"prompt_tokens\":%" PRIu64
               ",\"answer_tokens_about\":%" PRIu64 ",\"cost\":%.4f}\n",
               r->documents_added, r->chunks, r->chunk_tokens, r->entities, r->writer_asked, r->prompt_tokens, answers,
               cost);
        return;
    }
    printf("dry run, nothing kept: %" PRIu64 " documents, %" PRIu64 " chunks of %" PRIu64 " tokens, %" PRIu64
           " entities\n",
           r->documents_added, r->chunks, r->chunk_tokens, r->entities);
    printf("the writer would be asked %" PRIu64 " times: %" PRIu64 " tokens of prompts, about %" PRIu64 " of answers\n",
           r->writer_asked, r->prompt_tokens, answers);
    printf("cost %.4f at %g, %g and %g a million tokens embedded, asked and answered (--prices EMBED,ASK,ANSWER)\n",
           cost, c->price_embed, c->price_in, c->price_out);
}

int run_index(cli *c)
{
    qp_index *index = NULL;
    int refused = session_open(c, true, &index);
    if (refused)
        return refused;
    qp_err err = {0};
    qp_index_report report = {0};
    qp_index_options o = {.settings = c->settings,
                          .n_settings = c->n_settings,
                          .strict = c->strict,
                          .dry_run = c->dry_run,
                          .watch = session_watch(c),
                          .memory = (uint32_t)c->memory};
    qp_code code = qp_index_add(index, (const char *const *)c->args, (size_t)c->n_args, &o, &report, &err);
    qp_index_close(index);
    if (code)
        return session_fail(code, &err);
    if (c->dry_run)
        tell_dry(c, &report);
    else
        tell(c, &report);
    return 0;
}

int run_delete(cli *c)
{
    qp_index *index = NULL;
    int refused = session_open(c, false, &index);
    if (refused)
        return refused;
    qp_err err = {0};
    qp_watch watch = session_watch(c);
    uint64_t removed = 0;
    qp_code code = qp_index_delete(index, (const char *const *)c->args, (size_t)c->n_args, &watch, &removed, &err);
    qp_index_close(index);
    if (code)
        return session_fail(code, &err);
    printf(c->json ? "{\"deleted\":%" PRIu64 "}\n" : "%" PRIu64 " deleted\n", removed);
    return 0;
}

/* "documents  766" for each member; nested ones indented, MOST of them. */
static void members(yyjson_val *object, int indent)
{
    size_t i, n;
    yyjson_val *key, *value;
    enum { MOST = 20 };
    yyjson_obj_foreach(object, i, n, key, value) {
        if (indent && i == MOST) {
            printf("%*s... and %zu more; --json shows all\n", indent, "", n - MOST);
            return;
        }
        printf("%*s%-*s ", indent, "", 16 - indent, yyjson_get_str(key));
        if (yyjson_is_obj(value)) {
            putchar('\n');
            members(value, indent + 2);
        } else if (yyjson_is_str(value)) {
            printf("%s\n", yyjson_get_str(value));
        } else if (yyjson_is_real(value)) {
            printf("%.3f\n", yyjson_get_real(value));
        } else {
            printf("%" PRIu64 "\n", yyjson_get_uint(value));
        }
    }
}

static int about_store(cli *c, qp_code (*call)(qp_index *, char **, qp_err *))
{
    qp_index *index = NULL;
    int refused = session_open(c, false, &index);
    if (refused)
        return refused;
    qp_err err = {0};
    char *json = NULL;
    qp_code code = call(index, &json, &err);
    qp_index_close(index);
    if (code)
        return session_fail(code, &err);
    if (c->json) {
        puts(json);
    } else {
        yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
        members(yyjson_doc_get_root(doc), 0);
        yyjson_doc_free(doc);
    }
    qp_free(json);
    return 0;
}

int run_stats(cli *c)
{
    return about_store(c, qp_index_stats);
}

int run_check(cli *c)
{
    return about_store(c, qp_index_check);
}
