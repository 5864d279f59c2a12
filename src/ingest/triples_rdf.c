/* RDF by serd. N-Triples are read a line at a time, so that a broken line is that line and no more. Turtle is handed to
 * serd byte by byte: where it fails, the statement is left out up to the next line that ends with a full stop, and a
 * new reader goes on behind it, with the prefixes so far.
 */
#include <errno.h>
#include <serd/serd.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "ingest/identifier.h"
#include "ingest/triples_reader.h"
#include "ingest/turtle_guard.h"

static const char label[] = "http://www.w3.org/2000/01/rdf-schema#label";

struct rdf {
    qp_reading_triples *r;
    SerdEnv *env;
    SerdReader *reader;
    qp_buf id[3]; /* subject, predicate, object of the statement at hand */
    qp_buf text;
    qp_arena *mem;
    char blank[24];    /* begins the names of this file's blank nodes */
    unsigned restarts; /* each reader counts its blank nodes from 1 */
    qp_err wrong;      /* what serd said of the statement at hand */
    qp_code code;      /* of the sink: ends the reading */
    qp_err *err;
    /* Turtle: what feeds serd */
    FILE *file;
    qp_turtle_guard guard;
    uint64_t fed, began; /* lines handed to serd; those before this reader */
    bool ended;
    bool at_stop; /* the last byte that is no white space was a full stop */
    bool at_line; /* the last byte ended a line */
};

/* ---- nodes ---- */

/* The IRI of a node, or its blank name: an id. Literals get one that no IRI has and that sorts behind all in brackets,
 * so that of an entity and a text with one name the entity has it. */
static SerdStatus id_of(struct rdf *x, const SerdNode *node, qp_buf *out)
{
    SerdChunk prefix = {0}, rest = {0};
    SerdNode whole = SERD_NODE_NULL;

    qp_buf_clear(out);
    if (node->type == SERD_BLANK) {
        qp_buf_fmt(out, "_:%s%s", x->blank, (const char *)node->buf);
        return SERD_SUCCESS;
    }
    if (node->type == SERD_LITERAL) {
        qp_buf_text(out, "literal \"");
        qp_buf_add(out, node->buf, node->n_bytes);
        qp_buf_text(out, "\"");
        return SERD_SUCCESS;
    }
    qp_buf_char(out, '<');
    if (node->type == SERD_CURIE) {
        SerdStatus status = serd_env_expand(x->env, node, &prefix, &rest);
        if (status) {
            qp_fail(&x->wrong, QP_INPUT, "the prefix of '%.100s' is not declared", (const char *)node->buf);
            return status;
        }
        qp_buf_add(out, prefix.buf, prefix.len);
        qp_buf_add(out, rest.buf, rest.len);
    } else if (serd_uri_string_has_scheme(node->buf)) {
        qp_buf_add(out, node->buf, node->n_bytes);
    } else { /* relative to the base, if one is declared */
        whole = serd_env_expand_node(x->env, node);
        qp_buf_add(out, whole.buf ? whole.buf : node->buf, whole.buf ? whole.n_bytes : node->n_bytes);
        serd_node_free(&whole);
    }
    qp_buf_char(out, '>');
    return SERD_SUCCESS;
}

/* What stands behind the last '#', '/' or ':' of an IRI, unescaped. */
static qp_str local_name(struct rdf *x, qp_str id)
{
    qp_str iri = qp_str_slice(id, 1, id.n - 1);
    size_t end = iri.n, from;

    while (end && strchr("#/:", iri.at[end - 1]))
        end--;
    for (from = end; from && !strchr("#/:", iri.at[from - 1]);)
        from--;
    return qp_percent_decoded(qp_str_slice(iri, from, end), x->mem);
}

static bool is_iri(qp_str id)
{
    return id.n && id.at[0] == '<';
}

/* ---- statements ---- */

/* What is known of an id by itself: its own name, and of an IRI the whole of it. The triple was taken, so is this. */
static qp_code describe(struct rdf *x, qp_str id, const SerdNode *node, bool relation, qp_err *err)
{
    const qp_triple_sink *sink = x->r->sink;
    qp_entity e = {.id = id, .rank = 2};

    if (node->type == SERD_BLANK)
        return QP_OK;
    if (node->type == SERD_LITERAL) {
        e.name = qp_str_trim((qp_str){(const char *)node->buf, node->n_bytes});
    } else {
        e.name = qp_str_trim(local_name(x, id));
        if (!e.name.at)
            return qp_oom(err);
    }
    if (relation)
        return sink->relation(sink->ctx, &e, err);
    if (is_iri(id)) {
        qp_buf_clear(&x->text);
        qp_buf_text(&x->text, "iri: ");
        qp_buf_str(&x->text, qp_str_slice(id, 1, id.n - 1));
        e.text = qp_buf_view(&x->text);
    }
    return x->text.oom ? qp_oom(err) : sink->entity(sink->ctx, &e, err);
}

static qp_code take_label(struct rdf *x, qp_str subject, const SerdNode *object, const SerdNode *language)
{
    qp_str text = {(const char *)object->buf, object->n_bytes};
    qp_str tag = {language && language->buf ? (const char *)language->buf : "", language ? language->n_bytes : 0};
    bool ours = !tag.n || (qp_str_starts(tag, QP_STR("en")) && (tag.n == 2 || tag.at[2] == '-'));

    return qp_reading_entity(x->r, (qp_entity){.id = subject, .name = text, .rank = ours ? 0 : 1}, x->err);
}

static qp_code take_triple(struct rdf *x, const SerdNode *const node[3])
{
    qp_str id[3];
    qp_err why = {0};
    bool taken = false;

    for (int i = 0; i < 3; i++)
        id[i] = qp_buf_view(&x->id[i]);
    if (node[2]->type == SERD_LITERAL && !node[2]->n_bytes)
        return qp_reading_left_out(x->r, x->err, "a literal without text");
    qp_code code = qp_reading_triple(x->r, (qp_triple){id[0], id[1], id[2], 1, {0}, {0}}, &taken, x->err);
    if (code || !taken)
        return code;
    for (int i = 0; i < 3 && !code; i++)
        code = describe(x, id[i], node[i], i == 1, &why);
    qp_arena_reset(x->mem);
    return qp_reading_judge(x->r, code, &why, x->err);
}

static SerdStatus on_statement(void *ctx, SerdStatementFlags flags, const SerdNode *graph, const SerdNode *subject,
                               const SerdNode *predicate, const SerdNode *object, const SerdNode *type,
                               const SerdNode *language)
{
    struct rdf *x = ctx;
    const SerdNode *const node[3] = {subject, predicate, object};
    SerdStatus status = SERD_SUCCESS;
    (void)flags, (void)graph, (void)type;

    qp_turtle_guard_statement(&x->guard);
    if (x->file)
        x->r->line = x->fed + !x->at_line;
    for (int i = 0; i < 3 && !status; i++)
        status = id_of(x, node[i], &x->id[i]);
    if (status)
        return status;
    if (x->id[0].oom || x->id[1].oom || x->id[2].oom)
        x->code = qp_oom(x->err);
    else if (object->type == SERD_LITERAL && x->id[1].n == sizeof label + 1 &&
             !memcmp(x->id[1].at + 1, label, sizeof label - 1))
        x->code = take_label(x, qp_buf_view(&x->id[0]), object, language);
    else
        x->code = take_triple(x, node);
    if (!x->code && x->file)
        x->code = qp_reading_look(x->r, x->err);
    return x->code ? SERD_ERR_UNKNOWN : SERD_SUCCESS;
}

static SerdStatus on_base(void *ctx, const SerdNode *uri)
{
    struct rdf *x = ctx;
    return serd_env_set_base_uri(x->env, uri);
}

static SerdStatus on_prefix(void *ctx, const SerdNode *name, const SerdNode *uri)
{
    struct rdf *x = ctx;
    return serd_env_set_prefix(x->env, name, uri);
}

static SerdStatus on_error(void *ctx, const SerdError *error)
{
    struct rdf *x = ctx;
    char line[500];

    if (x->wrong.code)
        return SERD_SUCCESS;
    vsnprintf(line, sizeof line, error->fmt, *error->args);
    x->wrong.code = QP_INPUT;
    snprintf(x->wrong.message, sizeof x->wrong.message, "%s", line);
    x->wrong.message[strcspn(x->wrong.message, "\n")] = 0;
    if (x->file && error->line)
        x->r->line = x->began + error->line;
    return SERD_SUCCESS;
}

/* ---- a reader ---- */

static bool renew(struct rdf *x, SerdSyntax syntax)
{
    char prefix[24];

    serd_reader_free(x->reader);
    x->reader = serd_reader_new(syntax, x, NULL, on_base, on_prefix, on_statement, NULL);
    if (!x->reader)
        return false;
    serd_reader_set_strict(x->reader, true); /* lax, it never ends where a file does within an IRI */
    serd_reader_set_error_sink(x->reader, on_error, x);
    if (x->restarts && syntax == SERD_TURTLE) { /* lines of N-Triples name theirs themselves */
        snprintf(prefix, sizeof prefix, "r%u.", x->restarts);
        serd_reader_add_blank_prefix(x->reader, (const uint8_t *)prefix);
    }
    x->restarts++;
    return true;
}

static qp_code open_rdf(struct rdf *x, SerdSyntax syntax, qp_reading_triples *r, qp_err *err)
{
    const char *slash = strrchr(r->name, '/');

    *x = (struct rdf){.r = r, .err = err, .mem = qp_arena_new(), .env = serd_env_new(NULL)};
    /* Blank nodes of two files are two, whatever the files call them. */
    snprintf(x->blank, sizeof x->blank, "%08x.",
             (unsigned)qp_hash64(qp_str_of(slash && r->source->path ? slash + 1 : r->name)));
    return x->mem && x->env && renew(x, syntax) ? QP_OK : qp_oom(err);
}

static void close_rdf(struct rdf *x)
{
    for (int i = 0; i < 3; i++)
        qp_buf_free(&x->id[i]);
    qp_buf_free(&x->text);
    qp_arena_free(x->mem);
    serd_reader_free(x->reader);
    serd_env_free(x->env);
}

/* What serd, or we, found wrong with the statement at hand; then it is forgotten. */
static qp_code leave_out(struct rdf *x, qp_err *err)
{
    qp_err wrong = x->wrong;

    x->wrong = (qp_err){0};
    return qp_reading_left_out(x->r, err, "%s", wrong.code ? wrong.message : "no RDF statement");
}

/* ---- N-Triples ---- */

static qp_code take_line(void *ctx, qp_str line, qp_err *err)
{
    struct rdf *x = ctx;
    qp_str s = qp_str_trim(line);

    if (s.at[0] == '#')
        return QP_OK;
    if (memchr(s.at, 0, s.n))
        return qp_reading_left_out(x->r, err, "a NUL in the line");
    SerdStatus status = serd_reader_read_string(x->reader, (const uint8_t *)line.at);
    if (x->code)
        return x->code;
    if (status <= SERD_FAILURE) {
        x->wrong = (qp_err){0};
        return QP_OK;
    }
    return renew(x, SERD_NTRIPLES) ? leave_out(x, err) : qp_oom(err);
}

qp_code qp_triples_ntriples(qp_reading_triples *r, qp_err *err)
{
    struct rdf x;
    qp_code code = open_rdf(&x, SERD_NTRIPLES, r, err);

    code = code ? code : qp_reading_lines(r, QP_TRIPLES_LINE, take_line, &x, err);
    close_rdf(&x);
    return code;
}

/* ---- Turtle ---- */

/* One byte at a time: so where serd fails is where we are. */
static size_t feed(void *to, size_t size, size_t n, void *ctx)
{
    struct rdf *x = ctx;
    int c = x->guard.broken ? EOF : getc_unlocked(x->file);
    (void)size, (void)n;

    if (c == EOF) {
        x->ended |= !x->guard.broken;
        return 0;
    }
    *(char *)to = (char)c;
    qp_turtle_guard_byte(&x->guard, (char)c);
    x->fed += c == '\n';
    if (!strchr(" \t\r\n", c))
        x->at_stop = c == '.';
    x->at_line = c == '\n';
    return 1;
}

static int feed_failed(void *ctx)
{
    const struct rdf *x = ctx;
    return ferror(x->file);
}

/* To behind the next line that ends with a full stop; a new reader there. */
static qp_code restart(struct rdf *x, qp_err *err)
{
    char skipped;

    serd_reader_end_stream(x->reader);
    do {
        qp_turtle_guard_reset(&x->guard);
    } while (!(x->at_stop && x->at_line) && feed(&skipped, 1, 1, x));
    x->began = x->fed;
    if (!renew(x, SERD_TURTLE))
        return qp_oom(err);
    serd_reader_start_source_stream(x->reader, feed, feed_failed, x, (const uint8_t *)x->r->name, 1);
    return QP_OK;
}

static qp_code read_statements(struct rdf *x, qp_err *err)
{
    qp_code code = restart(x, err);

    while (!code) {
        SerdStatus status = serd_reader_read_chunk(x->reader);
        code = x->code;
        if (code || (x->ended && status <= SERD_FAILURE && !x->guard.broken))
            break;
        x->r->line = x->wrong.code ? x->r->line : x->fed + !x->at_line;
        if (x->guard.broken) {
            x->wrong = (qp_err){0};
            qp_fail(&x->wrong, QP_INPUT, "%s", x->guard.broken);
        } else if (!status) {
            x->wrong = (qp_err){0}; /* a byte that was repaired */
            continue;
        }
        code = leave_out(x, err);
        code = code ? code : restart(x, err);
    }
    return code;
}

qp_code qp_triples_turtle(qp_reading_triples *r, qp_err *err)
{
    struct rdf x;
    const qp_str bytes = r->source->bytes;
    qp_code code = open_rdf(&x, SERD_TURTLE, r, err);

    if (!code) {
        x.file = r->source->path ? fopen(r->source->path, "re")
                                 : fmemopen((char *)(uintptr_t)(bytes.n ? bytes.at : "\n"), bytes.n ? bytes.n : 1, "r");
        if (!x.file)
            code = qp_fail(err, QP_INPUT, "%s: cannot be read: %s", r->name, strerror(errno));
    }
    x.at_stop = x.at_line = true;
    code = code ? code : read_statements(&x, err);
    if (!code && ferror(x.file))
        code = qp_fail(err, QP_INPUT, "%s:%llu: reading failed: %s", r->name, (unsigned long long)x.fed + 1,
                       strerror(errno));
    if (x.file)
        fclose(x.file);
    close_rdf(&x);
    return code;
}
