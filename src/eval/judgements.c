#include "eval/judgements.h"

#include <math.h>
#include <stdlib.h>
#include <yyjson.h>

#include "base/array.h"
#include "base/file.h"
#include "quipu_op.h"

/* A reading in progress: which file and line, and what has been gathered. */
typedef struct reader {
    const char *path;
    uint32_t line;
    qp_map *documents;
    qp_arena *mem;
    qp_judgements *out;
    qp_question *questions; /* growing */
    uint32_t cap;
    struct row *rows; /* growing: judgements as they come */
    size_t n_rows, cap_rows;
    qp_err *err;
} reader;

typedef struct row {
    uint32_t question, document;
    double grade;
} row;

uint32_t qp_document_number(qp_map *documents, qp_str id)
{
    bool added;
    uint64_t *slot = qp_map_put(documents, id, &added);

    if (!slot)
        return QP_NO_ID;
    if (added)
        *slot = qp_map_size(documents) - 1;
    return (uint32_t)*slot;
}

/* Calls take on each line that is not blank, without its line end. */
static qp_code take_lines(reader *r, qp_str bytes, qp_code (*take)(reader *, qp_str line))
{
    qp_code code = QP_OK;

    r->line = 0;
    for (qp_str rest = bytes; code == QP_OK && rest.at && rest.n;) {
        qp_str line = qp_str_split(rest, '\n', &rest);

        r->line++;
        while (line.n && line.at[line.n - 1] == '\r')
            line.n--;
        if (qp_str_trim(line).n)
            code = take(r, line);
    }
    return code;
}

static qp_code read_lines(reader *r, const char *folder, const char *name, bool needed,
                          qp_code (*take)(reader *, qp_str line))
{
    qp_buf bytes = {0};

    r->path = qp_path_join(r->mem, folder, name);
    if (!r->path)
        return qp_oom(r->err);
    if (!needed && !qp_path_exists(r->path))
        return QP_OK;
    qp_code code = qp_file_read(r->path, 0, &bytes, r->err);
    code = code ? code : take_lines(r, qp_buf_view(&bytes), take);
    qp_buf_free(&bytes);
    return code;
}

/* An id is a string, or a whole number as some sets have it. */
static qp_str json_id(reader *r, yyjson_val *object)
{
    yyjson_val *id = yyjson_obj_get(object, "_id");

    if (yyjson_is_str(id))
        return qp_arena_str(r->mem, (qp_str){yyjson_get_str(id), yyjson_get_len(id)});
    if (yyjson_is_int(id))
        return qp_arena_fmt(r->mem, "%lld", (long long)yyjson_get_sint(id));
    return (qp_str){0};
}

/* The line as a JSON object with an _id, or null and the error is set. */
static yyjson_doc *json_line(reader *r, qp_str line, qp_str *id)
{
    yyjson_read_err bad;
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)line.at, line.n, 0, NULL, &bad);

    if (!doc) {
        qp_fail(r->err, QP_INPUT, "%s:%u: not a JSON object: %s at byte %zu of the line", r->path, r->line, bad.msg,
                bad.pos);
        return NULL;
    }
    *id = yyjson_is_obj(yyjson_doc_get_root(doc)) ? json_id(r, yyjson_doc_get_root(doc)) : (qp_str){0};
    if (!id->n) {
        qp_fail(r->err, QP_INPUT, "%s:%u: wanted an object with \"_id\", a string", r->path, r->line);
        yyjson_doc_free(doc);
        return NULL;
    }
    return doc;
}

static qp_code add_question(reader *r, qp_str id, qp_str text)
{
    bool added;
    uint64_t *slot = qp_map_put(r->out->number, id, &added);

    if (!slot)
        return qp_oom(r->err);
    if (!added)
        return qp_fail(r->err, QP_INPUT, "%s:%u: question \"%.*s\" stands here a second time", r->path, r->line,
                       (int)id.n, id.at);
    if (r->out->n == r->cap) {
        uint32_t cap = r->cap ? 2 * r->cap : 256;
        qp_question *grown = qp_new(r->mem, qp_question, cap);

        if (!grown)
            return qp_oom(r->err);
        if (r->out->n)
            memcpy(grown, r->questions, r->out->n * sizeof *grown);
        r->questions = grown;
        r->cap = cap;
    }
    *slot = r->out->n;
    r->questions[r->out->n++] = (qp_question){.id = id, .text = text};
    return QP_OK;
}

/* The strings of a list; a missing list has none. */
static qp_code take_strings(reader *r, yyjson_val *list, const qp_str **out, uint32_t *n)
{
    qp_str *strings = qp_new(r->mem, qp_str, yyjson_arr_size(list) + 1);
    yyjson_arr_iter each;
    yyjson_val *item;

    if (!strings)
        return qp_oom(r->err);
    *n = 0;
    yyjson_arr_iter_init(list, &each);
    while ((item = yyjson_arr_iter_next(&each)))
        if (yyjson_is_str(item))
            strings[(*n)++] = qp_arena_str(r->mem, (qp_str){yyjson_get_str(item), yyjson_get_len(item)});
    *out = strings;
    return QP_OK;
}

static qp_code take_query(reader *r, qp_str line)
{
    qp_str id;
    yyjson_doc *doc = json_line(r, line, &id);
    yyjson_val *text = doc ? yyjson_obj_get(yyjson_doc_get_root(doc), "text") : NULL;
    qp_code code;

    if (!doc)
        return QP_INPUT;
    if (yyjson_is_str(text))
        code = add_question(r, id, qp_arena_str(r->mem, (qp_str){yyjson_get_str(text), yyjson_get_len(text)}));
    else
        code =
            qp_fail(r->err, QP_INPUT, "%s:%u: question \"%.*s\" has no \"text\"", r->path, r->line, (int)id.n, id.at);
    if (!code)
        r->questions[r->out->n - 1].record = qp_arena_str(r->mem, line);
    if (!code)
        code = take_strings(r, yyjson_obj_get(yyjson_doc_get_root(doc), "entities"),
                            &r->questions[r->out->n - 1].entities, &r->questions[r->out->n - 1].n_entities);
    yyjson_doc_free(doc);
    return code;
}

/* Statements, each by itself. */
static qp_code take_evidence(reader *r, yyjson_val *list, qp_question *q)
{
    const qp_str *given = NULL;
    uint32_t n = 0, statements = 0;
    qp_code code = take_strings(r, list, &given, &n);
    for (uint32_t i = 0; !code && i < n; i++)
        for (size_t at = 0; at < given[i].n; at++)
            statements += given[i].at[at] == ';';
    qp_str *out = code ? NULL : qp_new(r->mem, qp_str, statements + n + 1u);
    if (!code && !out)
        return qp_oom(r->err);
    for (uint32_t i = 0; !code && i < n; i++)
        for (qp_str rest = given[i]; rest.at && rest.n;) {
            qp_str one = qp_str_trim(qp_str_split(rest, ';', &rest));
            if (one.n)
                out[q->n_evidence++] = one;
        }
    q->evidence = out;
    return code;
}

static qp_code take_answer(reader *r, qp_str line)
{
    qp_str id;
    yyjson_doc *doc = json_line(r, line, &id);
    yyjson_val *list = doc ? yyjson_obj_get(yyjson_doc_get_root(doc), "answers") : NULL;
    uint64_t *number = doc ? qp_map_get(r->out->number, id) : NULL;
    qp_code code = QP_OK;

    if (!doc)
        return QP_INPUT;
    if (!yyjson_is_arr(list))
        code = qp_fail(r->err, QP_INPUT, "%s:%u: wanted \"answers\", a list of strings", r->path, r->line);
    else if (!number)
        r->out->strangers++;
    else
        code = take_strings(r, list, &r->questions[*number].answers, &r->questions[*number].n_answers);
    if (!code && number)
        code = take_evidence(r, yyjson_obj_get(yyjson_doc_get_root(doc), "evidence"), &r->questions[*number]);
    yyjson_doc_free(doc);
    return code;
}

static bool parse_grade(qp_str s, double *grade)
{
    char text[64], *end;

    s = qp_str_trim(s);
    if (!s.n || s.n >= sizeof text)
        return false;
    memcpy(text, s.at, s.n);
    text[s.n] = 0;
    *grade = strtod(text, &end);
    return *end == 0 && isfinite(*grade);
}

static qp_code add_row(reader *r, qp_str question, qp_str document, double grade)
{
    uint64_t *number = qp_map_get(r->out->number, question);
    uint32_t d;

    if (!number) {
        r->out->strangers++;
        return QP_OK;
    }
    d = qp_document_number(r->documents, document);
    row *grown = qp_array_room(r->rows, r->n_rows, &r->cap_rows, sizeof *grown);
    if (!grown)
        return qp_oom(r->err);
    r->rows = grown;
    if (d == QP_NO_ID)
        return qp_oom(r->err);
    r->rows[r->n_rows++] = (row){(uint32_t)*number, d, grade};
    return QP_OK;
}

/* "query-id TAB corpus-id TAB score", or trec_eval's "qid 0 docid grade"; a first line without a number is a header. */
static qp_code take_qrel(reader *r, qp_str line)
{
    qp_str field[4] = {{0}}, rest = line;
    char sep = memchr(line.at, '\t', line.n) ? '\t' : ' ';
    uint32_t n = 0;
    double grade;

    while (rest.at && n < 4) {
        qp_str next = qp_str_split(rest, sep, &rest);

        if (sep == '\t' || next.n) /* columns set apart by several blanks */
            field[n++] = next;
    }
    if (rest.at || n < 3 || !parse_grade(field[n - 1], &grade)) {
        if (r->line == 1 && n >= 3 && !rest.at)
            return QP_OK;
        return qp_fail(r->err, QP_INPUT, "%s:%u: wanted query-id, corpus-id, score, found \"%.*s\"", r->path, r->line,
                       (int)(line.n < 80 ? line.n : 80), line.at);
    }
    return add_row(r, field[0], field[n - 2], grade);
}

static int by_question_document(const void *left, const void *right)
{
    const row *a = left, *b = right;

    if (a->question != b->question)
        return a->question < b->question ? -1 : 1;
    return a->document < b->document ? -1 : a->document > b->document;
}

static int by_grade(const void *left, const void *right)
{
    const qp_judgement *a = left, *b = right;

    if (a->grade != b->grade)
        return a->grade > b->grade ? -1 : 1;
    return a->document < b->document ? -1 : a->document > b->document;
}

/* One question's rows, sorted by document, into its judgements and its ideal ranking. */
static qp_code settle(reader *r, qp_question *q, const row *rows, size_t n)
{
    qp_judgement *judged = qp_new(r->mem, qp_judgement, n), *best = qp_new(r->mem, qp_judgement, n);
    double *ideal = qp_new(r->mem, double, n);
    uint32_t *gold = qp_new(r->mem, uint32_t, n);

    if (!judged || !best || !ideal || !gold)
        return qp_oom(r->err);
    for (size_t i = 0; i < n; i++) {
        if (i && rows[i].document == rows[i - 1].document) {
            if (rows[i].grade != rows[i - 1].grade)
                return qp_fail(r->err, QP_INPUT, "%s: question \"%.*s\" judges one document twice, as %g and as %g",
                               r->path, (int)q->id.n, q->id.at, rows[i - 1].grade, rows[i].grade);
            continue;
        }
        judged[q->n_judged++] = (qp_judgement){rows[i].document, rows[i].grade};
        if (rows[i].grade > 0)
            best[q->relevant++] = judged[q->n_judged - 1];
    }
    qsort(best, q->relevant, sizeof *best, by_grade);
    for (uint32_t i = 0; i < q->relevant; i++)
        ideal[i] = best[i].grade, gold[i] = best[i].document;
    q->judged = judged;
    q->ideal = ideal;
    q->gold = gold;
    return QP_OK;
}

static qp_code settle_all(reader *r)
{
    qp_code code = QP_OK;

    if (r->n_rows)
        qsort(r->rows, r->n_rows, sizeof *r->rows, by_question_document);
    for (size_t i = 0, j; i < r->n_rows && code == QP_OK; i = j) {
        for (j = i; j < r->n_rows && r->rows[j].question == r->rows[i].question; j++)
            ;
        code = settle(r, &r->questions[r->rows[i].question], r->rows + i, j - i);
    }
    return code;
}

/* Answers that are names of entities: each is a document that is right. */
static qp_code judge_by_answers(reader *r)
{
    qp_code code = QP_OK;

    for (uint32_t i = 0; i < r->out->n && !code; i++)
        for (uint32_t j = 0; j < r->questions[i].n_answers && !code; j++)
            code = add_row(r, r->questions[i].id, r->questions[i].answers[j], 1);
    return code;
}

static qp_code read_folder(reader *r, const char *folder, bool named_answers)
{
    char *qrels = qp_path_join(r->mem, folder, "qrels.tsv");
    qp_code code = read_lines(r, folder, "queries.jsonl", true, take_query);

    if (code == QP_OK)
        code = read_lines(r, folder, "answers.jsonl", false, take_answer);
    if (code == QP_OK && named_answers && qrels && !qp_path_exists(qrels))
        return judge_by_answers(r);
    return code == QP_OK ? read_lines(r, folder, "qrels.tsv", false, take_qrel) : code;
}

static qp_code read_hipporag(reader *r, const char *path, const qp_titled *titled)
{
    qp_beir lines;
    qp_code code = qp_hipporag_read(path, titled, &lines, r->err);

    r->path = path;
    code = code ? code : take_lines(r, qp_buf_view(&lines.queries), take_query);
    code = code ? code : take_lines(r, qp_buf_view(&lines.answers), take_answer);
    code = code ? code : take_lines(r, qp_buf_view(&lines.qrels), take_qrel);
    qp_beir_free(&lines);
    return code;
}

qp_code qp_judgements_read(const char *dataset, const qp_titled *titled, bool named_answers, qp_map *documents,
                           qp_arena *mem, qp_judgements *out, qp_err *err)
{
    reader r = {.documents = documents, .mem = mem, .out = out, .err = err};
    qp_code code;

    *out = (qp_judgements){.number = qp_map_new()};
    if (!out->number)
        return qp_oom(err);
    code = titled ? read_hipporag(&r, dataset, titled) : read_folder(&r, dataset, named_answers);
    if (code == QP_OK)
        code = settle_all(&r);
    free(r.rows);
    out->at = r.questions;
    if (code != QP_OK)
        qp_judgements_free(out);
    return code;
}

void qp_judgements_free(qp_judgements *j)
{
    qp_map_free(j->number);
    *j = (qp_judgements){0};
}

double qp_question_grade(const qp_question *q, uint32_t document)
{
    uint32_t low = 0, high = q->n_judged;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (q->judged[middle].document < document)
            low = middle + 1;
        else
            high = middle;
    }
    return low < q->n_judged && q->judged[low].document == document ? q->judged[low].grade : 0;
}
