#include "eval/hipporag.h"

#include <stdlib.h>
#include <yyjson.h>

#include "base/file.h"

typedef struct item {
    const qp_titled *titled;
    yyjson_val *root;
    qp_buf id;
    qp_beir *out;
} item;

static qp_str str_of(yyjson_val *v)
{
    return (qp_str){yyjson_is_str(v) ? yyjson_get_str(v) : "", yyjson_get_len(v)};
}

static yyjson_val *field(yyjson_val *object, const char *name, const char *other)
{
    yyjson_val *v = yyjson_obj_get(object, name);
    return v ? v : yyjson_obj_get(object, other);
}

static void add_line(qp_buf *out, yyjson_mut_doc *doc)
{
    size_t n = 0;
    char *line = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &n);
    if (line)
        qp_buf_add(out, line, n);
    else
        out->oom = true;
    qp_buf_char(out, '\n');
    free(line);
}

static void add_query(const item *i, yyjson_mut_doc *doc)
{
    yyjson_mut_val *line = yyjson_mut_obj(doc);
    qp_str question = str_of(yyjson_obj_get(i->root, "question"));
    yyjson_mut_doc_set_root(doc, line);
    yyjson_mut_obj_add_strn(doc, line, "_id", i->id.at, i->id.n);
    yyjson_mut_obj_add_strn(doc, line, "text", question.at, question.n);
    add_line(&i->out->queries, doc);
}

static void add_answers(const item *i, yyjson_mut_doc *doc)
{
    yyjson_val *answer = yyjson_obj_get(i->root, "answer"), *aliases = yyjson_obj_get(i->root, "answer_aliases"), *one;
    yyjson_mut_val *line = yyjson_mut_obj(doc), *list = yyjson_mut_arr(doc);
    size_t k, n;
    if (yyjson_is_str(answer))
        yyjson_mut_arr_append(list, yyjson_val_mut_copy(doc, answer));
    yyjson_arr_foreach(aliases, k, n, one)
        yyjson_mut_arr_append(list, yyjson_val_mut_copy(doc, one));
    if (!yyjson_mut_arr_size(list))
        return;
    yyjson_mut_doc_set_root(doc, line);
    yyjson_mut_obj_add_strn(doc, line, "_id", i->id.at, i->id.n);
    yyjson_mut_obj_add_val(doc, line, "answers", list);
    add_line(&i->out->answers, doc);
}

/* Tabs part the columns of qrels.tsv. */
static void add_column(qp_buf *out, qp_str s)
{
    for (size_t k = 0; k < s.n; k++)
        qp_buf_char(out, s.at[k] == '\t' || s.at[k] == '\n' || s.at[k] == '\r' ? ' ' : s.at[k]);
    qp_buf_char(out, '\t');
}

static void add_gold(const item *i, qp_str title, qp_str text)
{
    qp_str document = i->titled->find(i->titled->self, title, text);
    add_column(&i->out->qrels, qp_buf_view(&i->id));
    add_column(&i->out->qrels, document.n ? document : title);
    qp_buf_text(&i->out->qrels, "1\n");
}

/* MuSiQue: paragraphs that are marked as supporting. */
static void add_paragraphs(const item *i)
{
    yyjson_val *paragraph;
    size_t k, n;
    yyjson_arr_foreach(yyjson_obj_get(i->root, "paragraphs"), k, n, paragraph)
        if (yyjson_get_bool(yyjson_obj_get(paragraph, "is_supporting")))
            add_gold(i, str_of(yyjson_obj_get(paragraph, "title")), str_of(field(paragraph, "paragraph_text", "text")));
}

static bool is_supporting(yyjson_val *facts, yyjson_val *title)
{
    yyjson_val *fact;
    size_t k, n;
    yyjson_arr_foreach(facts, k, n, fact)
        if (yyjson_equals(yyjson_arr_get_first(fact), title))
            return true;
    return false;
}

/* HotpotQA and 2Wiki: context is [title, [sentence, ...]], supporting_facts [title, sentence number]. */
static void add_context(const item *i)
{
    yyjson_val *facts = yyjson_obj_get(i->root, "supporting_facts"), *passage;
    size_t k, n;
    yyjson_arr_foreach(yyjson_obj_get(i->root, "context"), k, n, passage) {
        yyjson_val *title = yyjson_arr_get_first(passage);
        if (yyjson_is_str(title) && is_supporting(facts, title))
            add_gold(i, str_of(title), str_of(yyjson_arr_get_first(yyjson_arr_get(passage, 1))));
    }
}

static qp_code add_item(item *i, const char *path, size_t number, qp_err *err)
{
    yyjson_val *id = field(i->root, "_id", "id");
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    qp_buf_clear(&i->id);
    if (yyjson_is_str(id))
        qp_buf_str(&i->id, str_of(id));
    else
        qp_buf_fmt(&i->id, "%zu", yyjson_is_uint(id) ? (size_t)yyjson_get_uint(id) : number);
    if (!doc || i->id.oom)
        return yyjson_mut_doc_free(doc), qp_oom(err);
    if (!str_of(yyjson_obj_get(i->root, "question")).n) {
        yyjson_mut_doc_free(doc);
        return qp_fail(err, QP_INPUT, "%s: item %zu has no \"question\"", path, number);
    }
    add_query(i, doc);
    add_answers(i, doc);
    add_paragraphs(i);
    add_context(i);
    yyjson_mut_doc_free(doc);
    return QP_OK;
}

qp_code qp_hipporag_read(const char *path, const qp_titled *titled, qp_beir *out, qp_err *err)
{
    qp_buf bytes = {0};
    yyjson_read_err why;
    item i = {.titled = titled, .out = out};
    size_t n, number = 0;
    *out = (qp_beir){0};
    qp_code code = qp_file_read(path, 0, &bytes, err);
    yyjson_doc *doc = code ? NULL : yyjson_read_opts(bytes.at, bytes.n, 0, NULL, &why);
    if (!code && !yyjson_is_arr(yyjson_doc_get_root(doc)))
        code = qp_fail(err, QP_INPUT, "%s: wanted a JSON array of questions, as HippoRAG's data sets are", path);
    if (!code) {
        yyjson_arr_foreach(yyjson_doc_get_root(doc), number, n, i.root)
            if ((code = add_item(&i, path, number, err)))
                break;
    }
    if (!code && (out->queries.oom || out->answers.oom || out->qrels.oom))
        code = qp_oom(err);
    qp_buf_free(&i.id);
    yyjson_doc_free(doc);
    qp_buf_free(&bytes);
    return code;
}

void qp_beir_free(qp_beir *b)
{
    qp_buf_free(&b->queries);
    qp_buf_free(&b->answers);
    qp_buf_free(&b->qrels);
}
