#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "base/clock.h"
#include "ingest/lines.h"
#include "ingest/triples_reader.h"
#include "text/utf8.h"

enum {
    MOST_TOLD = 5, /* lines left out that are told one by one */
    LOOK = 1 << 12 /* lines between two looks at the clock */
};

/* ---- which reader ---- */

static bool ends(qp_str name, const char *end)
{
    size_t n = strlen(end);

    return name.n >= n && !strncasecmp(name.at + name.n - n, end, n);
}

static bool holds(qp_str s, const char *part)
{
    return s.n && memmem(s.at, s.n, part, strlen(part));
}

bool qp_triples_has_names(qp_str head)
{
    return qp_str_starts(head, QP_STR("id\tname"));
}

qp_triples_kind qp_triples_kind_of(qp_str name, qp_str head)
{
    if (qp_str_starts(head, QP_STR("\xEF\xBB\xBF")))
        head = qp_str_slice(head, 3, head.n);
    if (ends(name, ".nt"))
        return QP_TRIPLES_NTRIPLES;
    if (ends(name, ".ttl"))
        return QP_TRIPLES_TURTLE;
    if (ends(name, ".graphml") || (ends(name, ".xml") && holds(head, "<graphml")))
        return QP_TRIPLES_GRAPHML;
    if (ends(name, "nodes.csv"))
        return QP_TRIPLES_NODES;
    if (ends(name, "edges.csv"))
        return QP_TRIPLES_EDGES;
    if (ends(name, "graphs.jsonl"))
        return QP_TRIPLES_GRAPHS;
    if (ends(name, "entities.tsv") && qp_triples_has_names(head))
        return QP_TRIPLES_ENTITIES;
    if (ends(name, "relations.tsv") && qp_triples_has_names(head))
        return QP_TRIPLES_RELATIONS;
    if (ends(name, "mentions.tsv") && qp_str_starts(head, QP_STR("entity\tdocument")))
        return QP_TRIPLES_MENTIONS;
    if (ends(name, "triples.tsv") || qp_str_starts(head, QP_STR("head\trelation\ttail")))
        return QP_TRIPLES_TSV;
    return QP_TRIPLES_NONE;
}

qp_code qp_triples_read(const qp_triples_source *source, const qp_triple_sink *sink, qp_triples_report *report,
                        qp_err *err)
{
    static const qp_triples_fn readers[] = {
        [QP_TRIPLES_TSV] = qp_triples_tsv,
        [QP_TRIPLES_NTRIPLES] = qp_triples_ntriples,
        [QP_TRIPLES_TURTLE] = qp_triples_turtle,
        [QP_TRIPLES_NODES] = qp_triples_nodes,
        [QP_TRIPLES_EDGES] = qp_triples_edges,
        [QP_TRIPLES_GRAPHML] = qp_triples_graphml,
        [QP_TRIPLES_GRAPHS] = qp_triples_graphs,
        [QP_TRIPLES_ENTITIES] = qp_triples_entities,
        [QP_TRIPLES_RELATIONS] = qp_triples_relations,
        [QP_TRIPLES_MENTIONS] = qp_triples_mentions,
        [QP_TRIPLES_LIGHTRAG] = qp_triples_lightrag,
        [QP_TRIPLES_HIPPORAG] = qp_triples_hipporag,
    };
    const char *name = source->path ? source->path : "standard input";
    qp_reading_triples r = {.source = source, .sink = sink, .report = report, .name = name};

    if (source->kind <= QP_TRIPLES_NONE || source->kind > QP_TRIPLES_HIPPORAG)
        return qp_fail(err, QP_INPUT, "%s: no file of triples that we know", name);
    r.tell = (qp_tell){.watch = source->watch, .stage = "read", .item = name, .began = qp_now_ms()};
    qp_code code = readers[source->kind](&r, err);
    for (int i = 0; i < 5; i++)
        qp_buf_free(&r.fixed[i]);
    if (code)
        return code;
    if (r.left_out > MOST_TOLD && source->watch && source->watch->warn) {
        char line[4200];
        snprintf(line, sizeof line, "%s: %llu lines left out", name, (unsigned long long)r.left_out);
        source->watch->warn(source->watch->user, line);
    }
    return qp_tell_step(&r.tell, true, err);
}

/* ---- for the readers ---- */

qp_code qp_reading_left_out(qp_reading_triples *r, qp_err *err, const char *format, ...)
{
    const qp_watch *watch = r->source->watch;
    qp_err why = {0};
    char reason[800], line[1100];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    qp_fail(&why, QP_INPUT, "%s:%llu: %s", r->name, (unsigned long long)r->line, reason);
    if (r->source->strict)
        return qp_fail(err, QP_INPUT, "%s", why.message);
    if (!r->report->left_out++)
        r->report->first = why;
    if (r->left_out++ < MOST_TOLD && watch && watch->warn) {
        snprintf(line, sizeof line, "%s; left out", why.message);
        watch->warn(watch->user, line);
    }
    return QP_OK;
}

qp_code qp_reading_judge(qp_reading_triples *r, qp_code code, const qp_err *why, qp_err *err)
{
    if (code == QP_INPUT)
        return qp_reading_left_out(r, err, "%s", why->message);
    return code ? qp_fail(err, code, "%s:%llu: %s", r->name, (unsigned long long)r->line, why->message) : QP_OK;
}

qp_code qp_reading_look(qp_reading_triples *r, qp_err *err)
{
    return ++r->tell.done % LOOK ? QP_OK : qp_tell_step(&r->tell, false, err);
}

qp_code qp_reading_lines(qp_reading_triples *r, size_t longest, qp_code (*take)(void *ctx, qp_str line, qp_err *),
                         void *ctx, qp_err *err)
{
    qp_lines *lines = NULL;
    qp_str line;
    bool whole;
    qp_code code = qp_lines_open(r->source->path, r->source->bytes, longest, &lines, err);

    while (!code) {
        code = qp_lines_next(lines, &line, &whole, err);
        if (code || !line.at)
            break;
        r->line = qp_lines_number(lines);
        if (!whole)
            code = qp_reading_left_out(r, err, "a line of more than %zu MiB", longest >> 20);
        else if (qp_str_trim(line).n)
            code = take(ctx, line, err);
        code = code ? code : qp_reading_look(r, err);
    }
    qp_lines_close(lines);
    return code;
}

/* Without white space around it, and UTF-8 without NUL. */
static qp_str clean(qp_reading_triples *r, qp_str s, int which)
{
    qp_buf *fixed = &r->fixed[which];

    s = qp_str_trim(s);
    if (qp_utf8_valid(s) == s.n)
        return s;
    qp_buf_clear(fixed);
    r->report->repaired += qp_utf8_repair(s, fixed);
    return qp_buf_view(fixed);
}

static bool oom(const qp_reading_triples *r)
{
    return r->fixed[0].oom || r->fixed[1].oom || r->fixed[2].oom || r->fixed[3].oom || r->fixed[4].oom;
}

qp_code qp_reading_triple(qp_reading_triples *r, qp_triple t, bool *taken, qp_err *err)
{
    qp_err why = {0};

    t.head = clean(r, t.head, 0);
    t.relation = clean(r, t.relation, 1);
    t.tail = clean(r, t.tail, 2);
    t.text = clean(r, t.text, 3);
    t.document = clean(r, t.document, 4);
    if (oom(r))
        return qp_oom(err);
    qp_code code = r->sink->triple(r->sink->ctx, &t, &why);
    r->report->triples += !code;
    if (taken)
        *taken = !code;
    return qp_reading_judge(r, code, &why, err);
}

static qp_code hand_on(qp_reading_triples *r, qp_code (*take)(void *, const qp_entity *, qp_err *), qp_entity e,
                       bool *taken, qp_err *err)
{
    qp_err why = {0};

    e.id = clean(r, e.id, 0);
    e.name = clean(r, e.name, 1);
    e.text = clean(r, e.text, 2);
    if (oom(r))
        return qp_oom(err);
    qp_code code = take(r->sink->ctx, &e, &why);
    *taken = !code;
    return qp_reading_judge(r, code, &why, err);
}

qp_code qp_reading_entity(qp_reading_triples *r, qp_entity e, qp_err *err)
{
    bool taken = false;
    qp_code code = hand_on(r, r->sink->entity, e, &taken, err);
    r->report->entities += taken;
    return code;
}

qp_code qp_reading_relation(qp_reading_triples *r, qp_entity e, qp_err *err)
{
    bool taken;
    return hand_on(r, r->sink->relation, e, &taken, err);
}

qp_code qp_reading_provenance(qp_reading_triples *r, qp_str entity, qp_str document, qp_err *err)
{
    qp_err why = {0};

    entity = clean(r, entity, 0);
    document = clean(r, document, 1);
    if (oom(r))
        return qp_oom(err);
    return r->sink->provenance
               ? qp_reading_judge(r, r->sink->provenance(r->sink->ctx, entity, document, &why), &why, err)
               : QP_OK;
}

qp_code qp_reading_scope(qp_reading_triples *r, qp_str id, bool *taken, qp_err *err)
{
    qp_err why = {0};

    id = clean(r, id, 0);
    if (oom(r))
        return qp_oom(err);
    qp_code code = r->sink->scope(r->sink->ctx, id, &why);
    *taken = !code;
    return qp_reading_judge(r, code, &why, err);
}
