/* Where a question starts: the entities it names, as nodes.
 *
 * Given names (`entities` of a query) are looked up as they stand, then without regard to case and punctuation, by
 * words. Where none are given, the names that stand in the question itself are taken, the longest first, words used
 * once; and where there are none, the entities that words and meaning find, as far as they score `threshold` of the
 * best.
 */
#include <ctype.h>

#include "op/ops.h"
#include "op/prompt.h"

typedef struct link_opt {
    const char *how, *prompt;
    int64_t top;
    double threshold;
} link_opt;

static const qp_opt opts[] = {{"how", "auto, or writer: it says which names stand in the question", QP_ENUM,
                               offsetof(link_opt, how), "auto", 0, 0, "auto|writer"},
                              {"prompt", "a file with {question}; not set: prompts/link.txt", QP_TEXT,
                               offsetof(link_opt, prompt), NULL, 0, 0, NULL},
                              {"top", "how many entities at most, where they have to be searched", QP_INT,
                               offsetof(link_opt, top), "3", 1, 1000, NULL},
                              {"threshold", "share of the best one's score that the others must have", QP_FLOAT,
                               offsetof(link_opt, threshold), "0.9", 0, 1, NULL},
                              {0}};

enum { MOST_WORDS = 8, MOST_NAMES = 64 };

/* Lower case letters and digits, other runs a blank; UTF-8 stays. 0: it does not fit. */
static size_t plain(qp_str s, char *out, size_t cap)
{
    size_t n = 0, i = 0;
    for (; i < s.n && n + 1 < cap; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c >= 128 || isalnum(c))
            out[n++] = (char)tolower(c);
        else if (n && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    while (n && out[n - 1] == ' ')
        n--;
    return i < s.n ? 0 : n;
}

static bool same_but_for_case(qp_str a, qp_str b)
{
    char x[1024], y[1024];
    size_t n = plain(a, x, sizeof x), m = plain(b, y, sizeof y);
    return n == m && n && !memcmp(x, y, n); /* long ones are the same as they stand, or not */
}

/* Of the entities those that may be returned; *among stays null where all may. */
static bool entities_of(qp_query *q, const uint64_t **among)
{
    const qp_view *g = q->graph;
    qp_id first = g->entity;
    uint32_t n = g->nodes - g->entity;
    *among = NULL;
    if (g->scope(g->self, q->scope, &first, &n, &q->err))
        return false;
    if (!q->allow && first == g->entity && n == g->nodes - g->entity)
        return true;
    uint64_t *bits = qp_new(q->mem, uint64_t, g->nodes / 64 + 1);
    if (!bits)
        qp_oom(&q->err);
    for (qp_id v = first; bits && v < first + n; v++)
        if (qp_query_allows(q, v))
            bits[v / 64] |= UINT64_C(1) << (v % 64);
    *among = bits;
    return bits;
}

static qp_list search(qp_query *q, const char *index, qp_str text, uint32_t k, const uint64_t *among)
{
    qp_probe probe = {.text = text, .allow = among};
    qp_list found = {0};
    if (!strcmp(index, "entity.dense")) {
        probe.vector = qp_query_vector(q);
        probe.dim = q->graph->dim;
    }
    if (q->err.code == QP_OK)
        q->graph->search(q->graph->self, index, &probe, k, &found, q->mem, &q->err);
    return found;
}

/* A name as it stands; else the entity of the same words, if the first that words find has them. */
static qp_id find_name(qp_query *q, qp_str name, const uint64_t *among)
{
    qp_id id = QP_NO_ID;
    if (q->graph->find(q->graph->self, q->scope, &name, 1, &id, &q->err) || id != QP_NO_ID)
        return id;
    qp_list near = search(q, "entity.bm25", name, 5, among);
    for (uint32_t i = 0; i < near.n && q->err.code == QP_OK; i++) {
        qp_about about;
        if (!q->graph->about(q->graph->self, &near.at[i].id, 1, &about, q->mem, &q->err) &&
            same_but_for_case(about.name, name))
            return near.at[i].id;
    }
    return QP_NO_ID;
}

typedef struct starts {
    qp_hit at[MOST_NAMES];
    uint32_t n;
} starts;

static void take(starts *s, qp_id id, float score)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i].id == id)
            return;
    if (id != QP_NO_ID && s->n < MOST_NAMES)
        s->at[s->n++] = (qp_hit){id, QP_NO_ID, score, NULL};
}

/* ---- names in the question ---- */

typedef struct word {
    size_t from, to;
    bool used;
} word;

/* Letters and digits, and what joins two of them: "mecklenburg-strelitz", "d'Arc", "william_of_orange". */
static bool in_word(qp_str text, size_t i)
{
    unsigned char c = (unsigned char)text.at[i];
    if (c >= 128 || isalnum(c))
        return true;
    return i && i + 1 < text.n && strchr("'-_", c) && isalnum((unsigned char)text.at[i - 1]) &&
           isalnum((unsigned char)text.at[i + 1]);
}

static uint32_t cut_words(qp_str text, word *words, uint32_t most)
{
    uint32_t n = 0;
    for (size_t i = 0; i < text.n && n < most;) {
        while (i < text.n && !in_word(text, i))
            i++;
        size_t from = i;
        while (i < text.n && in_word(text, i))
            i++;
        if (i > from)
            words[n++] = (word){from, i, false};
    }
    return n;
}

/* The entity that the words name, as they stand or in the small letters that a graph out of texts keeps its names
 * in. */
static qp_id named(qp_query *q, qp_str words)
{
    char folded[1024];
    qp_str name = {folded, plain(words, folded, sizeof folded)};
    qp_id id = QP_NO_ID;
    if (!q->graph->find(q->graph->self, q->scope, &words, 1, &id, &q->err) && id == QP_NO_ID && name.n)
        q->graph->find(q->graph->self, q->scope, &name, 1, &id, &q->err);
    return id;
}

/* Runs of words that are an entity's name: the longest first. */
static void names_in_question(qp_query *q, starts *s)
{
    word words[256];
    uint32_t n = cut_words(q->text, words, 256);
    for (uint32_t length = n < MOST_WORDS ? n : MOST_WORDS; length; length--)
        for (uint32_t i = 0; i + length <= n && q->err.code == QP_OK; i++) {
            bool unused = true;
            for (uint32_t j = i; j < i + length; j++)
                unused &= !words[j].used;
            qp_str name = qp_str_slice(q->text, words[i].from, words[i + length - 1].to);
            if (!unused || (length == 1 && name.n < 4)) /* "of", "who" */
                continue;
            qp_id id = named(q, name);
            if (id == QP_NO_ID)
                continue;
            take(s, id, 1);
            for (uint32_t j = i; j < i + length; j++)
                words[j].used = true;
        }
}

/* The lines that are names of entities; marks of lists before them are none of them. */
static void take_lines(qp_query *q, qp_str lines, const uint64_t *among, starts *s)
{
    for (qp_str rest = lines; rest.at && rest.n && q->err.code == QP_OK;) {
        qp_str line = qp_str_trim(qp_str_split(rest, '\n', &rest));
        while (line.n && strchr("-* ", *line.at))
            line = qp_str_slice(line, 1, line.n);
        if (line.n)
            take(s, find_name(q, line, among), 1);
    }
}

static void ask_writer(qp_query *q, const link_opt *o, const uint64_t *among, starts *s)
{
    qp_str prompt = qp_prompt(q, o->prompt, "link.txt", &(qp_field){"question", q->text}, 1);
    qp_str said = q->err.code == QP_OK ? qp_write(q, prompt, (qp_sampling){.max_tokens = 128}) : (qp_str){0};
    take_lines(q, said, among, s);
}

/* What words find, and what meaning finds, each against its own best. */
static void search_question(qp_query *q, const link_opt *o, const uint64_t *among, starts *s)
{
    static const char *const indices[] = {"entity.bm25", "entity.dense"};
    for (int i = 0; i < 2; i++) {
        if (i && (!q->embedder || !q->graph->dim))
            break;
        qp_list found = search(q, indices[i], q->text, (uint32_t)o->top, among);
        for (uint32_t j = 0; j < found.n && s->n < (uint32_t)o->top; j++)
            if (found.at[j].score >= o->threshold * found.at[0].score)
                take(s, found.at[j].id, found.at[j].score / found.at[0].score);
    }
}

static qp_set run(qp_query *q, const qp_set *in, int n_in, const void *opt)
{
    starts *s = qp_new(q->mem, starts, 1);
    const uint64_t *among;
    (void)in, (void)n_in;
    if (!s)
        qp_oom(&q->err);
    if (!s || !entities_of(q, &among))
        return (qp_set){0};
    for (uint32_t i = 0; i < q->n_entities && q->err.code == QP_OK; i++)
        take(s, find_name(q, q->entities[i], among), 1);
    if (q->n_entities && !s->n && q->err.code == QP_OK)
        qp_fail(
            &q->err, QP_NONE,
            "no entity of the graph is called '%.*s': names stand as in the file; leave them out, and the question is "
            "searched for them",
            (int)(q->entities[0].n < 100 ? q->entities[0].n : 100), q->entities[0].at);
    const link_opt *o = opt;
    if (!q->n_entities && *o->how == 'w')
        ask_writer(q, o, among, s);
    if (!q->n_entities && !s->n)
        names_in_question(q, s);
    if (!q->n_entities && !s->n)
        search_question(q, o, among, s);
    q->started = (qp_list){s->at, s->n};
    return qp_set_of(q->err.code == QP_OK ? q->started : (qp_list){0});
}

static unsigned asks(const void *opt)
{
    return *((const link_opt *)opt)->how == 'w' ? QP_NEEDS_WRITER : 0;
}

const qp_op qp_op_link = {
    .name = "link",
    .help = "the entities that the question starts from: given, named in it, or found by words and meaning",
    .source = "LEGO-GraphRAG, entity linking; methods.md, 4",
    .opts = opts,
    .opt_size = sizeof(link_opt),
    .asks = asks,
    .run = run,
};

qp_list qp_link_lines(qp_query *q, qp_str lines)
{
    starts *s = qp_new(q->mem, starts, 1);
    const uint64_t *among;
    if (!s)
        qp_oom(&q->err);
    if (!s || !entities_of(q, &among))
        return (qp_list){0};
    take_lines(q, lines, among, s);
    for (uint32_t i = 0; i < s->n; i++)
        s->at[i].score = (float)(s->n - i);
    return q->err.code == QP_OK ? (qp_list){s->at, s->n} : (qp_list){0};
}

qp_set qp_link_entities(qp_query *q)
{
    return qp_run(q, &qp_op_link, NULL, 0, &(link_opt){.how = "auto", .top = 3, .threshold = .9});
}
