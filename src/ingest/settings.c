#include "ingest/settings.h"

#include <stdio.h>

#include "ingest/ingest.h"
#include "text/terms.h"

#define OPTION(member) offsetof(qp_reading, member)
static const qp_opt options[] = {
    {"chunk",
     "unit of chunk_size; auto: tokens for files and with graph=text, else chars for records; whole: a document is a "
     "chunk",
     QP_ENUM, OPTION(chunk), "auto", 0, 0, "auto|tokens|chars|whole"},
    {"chunk_size", "the longest chunk; 0: 256 tokens, or what the embedder reads if that is less; 4,096 characters",
     QP_INT, OPTION(chunk_size), "0", 0, 1e6, NULL},
    {"overlap",
     "what a chunk repeats of the one before it, at most, in whole sentences; -1: an eighth of chunk_size in tokens "
     "with "
     "graph=text, else nothing",
     QP_INT, OPTION(overlap), "-1", -1, 1e6, NULL},
    {"language", "stems of this language for BM25: en, de, fr, ..., none", QP_TEXT, OPTION(language), "en", 0, 0, NULL},
    {"include", "of a folder only files that match: \"*.md,src/**\"", QP_TEXT, OPTION(include), "", 0, 0, NULL},
    {"exclude", "of a folder no files that match", QP_TEXT, OPTION(exclude), "", 0, 0, NULL},
    {"format", "read as this, whatever the name says", QP_ENUM, OPTION(format), "auto", 0, 0,
     "auto|text|markdown|html|pdf|docx|epub|man|jsonl|csv|tsv|json"},
    {"references",
     "look in the text for DOIs, arXiv ids, man pages, [12], Name (2004), Section 3 and Table 2; auto: not in records",
     QP_ENUM, OPTION(references), "auto", 0, 0, "auto|on|off"},
    {"triples", "vectors of triples; auto: up to 2,000,000 of them", QP_ENUM, OPTION(triples), "auto", 0, 0,
     "auto|yes|no"},
    {"graph",
     "draw entities and relations out of the texts; auto: where documents have no links and no graph is given, "
     "and there is an embedder",
     QP_ENUM, OPTION(graph), "auto", 0, 0, "auto|text|links"},
    {"b", "words of an entity that is drawn out of a text, at most", QP_INT, OPTION(b), "3", 1, 7, NULL},
    {"tau", "what an n-gram must weigh in a chunk to be an entity", QP_FLOAT, OPTION(tau), "0.5", 0, 1, NULL},
    {"er", "tau is of the heaviest n-gram's weight, or of AGRAG's formula as it stands", QP_ENUM, OPTION(er),
     "relative", 0, 0, "relative|literal"},
    {"spans", "entities of texts: n-grams by their weight, proper names, or both, where n-grams stand twice at least",
     QP_ENUM, OPTION(spans), "both", 0, 0, "both|ngrams|names"},
    {"relations", "what relates two entities of a text: the words between them, or what the writer says of each chunk",
     QP_ENUM, OPTION(relations), "words", 0, 0, "words|writer"},
    {"relations_prompt", "a file with {text} and {entities}; not set: prompts/relations.txt", QP_TEXT,
     OPTION(relations_prompt), "", 0, 0, NULL},
    {"facts",
     "vectors of entities and facts that stand in the texts, drawn out of them or given: pooled from the tokens of a "
     "passage, made with it, or embedded as texts of their own",
     QP_ENUM, OPTION(facts), "pooled", 0, 0, "pooled|embedded"},
    {"phi", "entities of a larger cosine are joined as synonyms; 1: none", QP_FLOAT, OPTION(phi), "0.8", 0, 1, NULL},
    {"names", "entities are found by the words of their names, too", QP_ENUM, OPTION(names), "yes", 0, 0, "yes|no"},
    {"doc2query",
     "questions that the writer writes for each passage, which is then found by them, too: -m doc2query; 0: none",
     QP_INT, OPTION(doc2query), "0", 0, 40, NULL},
    {"doc2query_prompt", "a file with {text} and {n}; not set: prompts/doc2query.txt", QP_TEXT,
     OPTION(doc2query_prompt), "", 0, 0, NULL},
    {"tokens", "keep vectors of passages' tokens, in about two bits a dimension: -m colbert", QP_ENUM, OPTION(tokens),
     "no", 0, 0, "no|yes"},
    {"partition", "keep communities of the graph: ppr and lego within=partition", QP_ENUM, OPTION(partition), "no", 0,
     0, "no|yes"},
    {"walks", "keep random walks on the graph: ppr engine=fora", QP_ENUM, OPTION(walks), "no", 0, 0, "no|yes"},
    {0},
};

const qp_op *qp_ingest_options(void)
{
    static const qp_op op = {.name = "index",
                             .help = "reads documents into an index",
                             .opts = options,
                             .opt_size = sizeof(qp_reading)};
    return &op;
}

qp_code qp_reading_load(qp_store *store, const qp_setting *given, size_t n, qp_reading *out, qp_arena *a, qp_err *err)
{
    static const char *const shared[] = {"chunk",
                                         "chunk_size",
                                         "overlap",
                                         "language",
                                         "triples",
                                         "names",
                                         "graph",
                                         "b",
                                         "tau",
                                         "er",
                                         "spans",
                                         "relations",
                                         "relations_prompt",
                                         "facts",
                                         "phi",
                                         "partition",
                                         "walks",
                                         "doc2query",
                                         "doc2query_prompt",
                                         "tokens"};
    enum { SHARED = sizeof shared / sizeof *shared };
    qp_setting *all = qp_new(a, qp_setting, n + SHARED);
    size_t m = 0;

    if (!all)
        return qp_oom(err);
    for (size_t i = 0; i < SHARED; i++) {
        qp_str value;
        qp_code code = qp_store_get(store, shared[i], &value, a, err);
        if (code)
            return code;
        if (value.n)
            all[m++] = (qp_setting){shared[i], value.at};
    }
    if (n)
        memcpy(all + m, given, n * sizeof *given);
    qp_code code = qp_options_fill(qp_ingest_options(), all, n + m, out, a, err);
    if (code)
        return code;
    qp_terms *terms;
    code = qp_terms_open(out->language, &terms, err);
    if (code)
        return code;
    qp_terms_close(terms);
    return QP_OK;
}

qp_code qp_reading_keep(qp_store *store, const qp_reading *out, qp_err *err)
{
    char number[32];

    snprintf(number, sizeof number, "%lld", (long long)out->chunk_size);
    qp_code code = qp_store_set(store, "chunk", out->chunk, err);
    code = code ? code : qp_store_set(store, "chunk_size", number, err);
    snprintf(number, sizeof number, "%lld", (long long)out->overlap);
    code = code ? code : qp_store_set(store, "overlap", number, err);
    code = code ? code : qp_store_set(store, "triples", out->triples, err);
    code = code ? code : qp_store_set(store, "names", out->names, err);
    code = code ? code : qp_store_set(store, "graph", out->graph, err);
    code = code ? code : qp_store_set(store, "er", out->er, err);
    code = code ? code : qp_store_set(store, "spans", out->spans, err);
    code = code ? code : qp_store_set(store, "relations", out->relations, err);
    code = code ? code : qp_store_set(store, "relations_prompt", out->relations_prompt, err);
    code = code ? code : qp_store_set(store, "facts", out->facts, err);
    snprintf(number, sizeof number, "%lld", (long long)out->doc2query);
    code = code ? code : qp_store_set(store, "doc2query", number, err);
    code = code ? code : qp_store_set(store, "tokens", out->tokens, err);
    code = code ? code : qp_store_set(store, "doc2query_prompt", out->doc2query_prompt, err);
    snprintf(number, sizeof number, "%lld", (long long)out->b);
    code = code ? code : qp_store_set(store, "b", number, err);
    snprintf(number, sizeof number, "%.17g", out->tau);
    code = code ? code : qp_store_set(store, "tau", number, err);
    snprintf(number, sizeof number, "%.17g", out->phi);
    code = code ? code : qp_store_set(store, "phi", number, err);
    code = code ? code : qp_store_set(store, "partition", out->partition, err);
    code = code ? code : qp_store_set(store, "walks", out->walks, err);
    return code ? code : qp_store_set(store, "language", out->language, err);
}

qp_code qp_reading_cutting(const qp_reading *r, const qp_model *embedder, bool records, qp_cutting *out, qp_err *err)
{
    bool automatic = !strcmp(r->chunk, "auto");
    uint32_t most = 256;

    *out = (qp_cutting){.unit = QP_TOKENS};
    if (!strcmp(r->chunk, "whole"))
        out->unit = QP_WHOLE_TEXT;
    else if (!strcmp(r->chunk, "chars") || (automatic && records && strcmp(r->graph, "text")))
        out->unit = QP_CHARS;
    if (out->unit == QP_TOKENS && embedder && embedder->count) {
        out->counter = embedder;
        if (embedder->max_tokens && embedder->max_tokens / 8 * 7 < most) /* an eighth for title and heading */
            most = embedder->max_tokens / 8 * 7;
    }
    out->size = r->chunk_size ? (uint32_t)r->chunk_size : out->unit == QP_CHARS ? 4096 : most;
    bool agrag = out->unit == QP_TOKENS && !strcmp(r->graph, "text"); /* l_t = 256, l_o = 32 */
    out->overlap = r->overlap >= 0 ? (uint32_t)r->overlap : agrag ? out->size / 8 : 0;
    if (out->unit != QP_WHOLE_TEXT && out->overlap >= out->size)
        return qp_fail(err, QP_INPUT, "overlap %u is not below chunk_size %u", out->overlap, out->size);
    return QP_OK;
}

qp_digest qp_reading_digest(const qp_reading *r, const qp_cutting *c)
{
    char numbers[100];
    int n = snprintf(numbers, sizeof numbers, "%d %u %u", (int)c->unit, c->size, c->overlap);
    const qp_str parts[] = {QP_STR("reading 6"), /* a new number where the readers change what they give */
                            {numbers, (size_t)n},     qp_str_of(c->counter ? c->counter->digest : ""),
                            qp_str_of(r->references), qp_str_of(r->format),
                            qp_str_of(r->language)};
    return qp_digest_parts(parts, sizeof parts / sizeof *parts);
}
