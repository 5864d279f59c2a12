#include "eval/ranking.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/file.h"
#include "eval/run_id.h"
#include "quipu_op.h"

enum { FIELDS = 6 }; /* qid Q0 docid rank score tag */

typedef struct line {
    uint32_t question;
    qp_ranked hit;
    qp_str id; /* of the document: trec_eval breaks ties by it */
} line;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Splits at runs of blanks; the number of fields, FIELDS + 1 if there are more. */
static int split_blanks(qp_str s, qp_str field[FIELDS])
{
    int n = 0;

    for (size_t i = 0; i < s.n;) {
        size_t from;

        while (i < s.n && is_blank(s.at[i]))
            i++;
        from = i;
        while (i < s.n && !is_blank(s.at[i]))
            i++;
        if (i == from)
            break;
        if (n == FIELDS)
            return FIELDS + 1;
        field[n++] = (qp_str){s.at + from, i - from};
    }
    return n;
}

static bool parse_score(qp_str s, float *score)
{
    char text[64], *end;

    if (!s.n || s.n >= sizeof text)
        return false;
    memcpy(text, s.at, s.n);
    text[s.n] = 0;
    *score = (float)strtod(text, &end); /* trec_eval compares floats */
    return *end == 0 && *score == *score;
}

static int by_score(const void *left, const void *right)
{
    const line *a = left, *b = right;

    if (a->question != b->question)
        return a->question < b->question ? -1 : 1;
    if (a->hit.score != b->hit.score)
        return a->hit.score > b->hit.score ? -1 : 1;
    return qp_str_cmp(b->id, a->id);
}

typedef struct lines {
    line *at;
    size_t n, cap;
} lines;

static qp_code add_line(lines *all, line one, qp_err *err)
{
    line *grown = qp_array_room(all->at, all->n, &all->cap, sizeof *grown);
    if (!grown)
        return qp_oom(err);
    all->at = grown;
    all->at[all->n++] = one;
    return QP_OK;
}

/* Ids with other white space than blanks, by what is read of them where they were written to a run. */
static qp_code find_odd(const qp_map *ids, qp_map **odd, qp_arena *mem, qp_err *err)
{
    *odd = qp_map_new();
    if (!*odd)
        return qp_oom(err);
    for (size_t i = 0; i < qp_map_size(ids); i++) {
        qp_str id = qp_map_key(ids, i);
        if (!qp_run_id_is_odd(id))
            continue;
        bool added;
        qp_str plain = qp_run_id_plain(mem, id);
        uint64_t *number = plain.at ? qp_map_put(*odd, plain, &added) : NULL;
        if (!number)
            return qp_oom(err);
        if (added)
            *number = *qp_map_get(ids, id);
    }
    return QP_OK;
}

/* An id to the letter comes before one that differs in its white space. */
static uint64_t *known(const qp_map *ids, const qp_map *odd, qp_str id)
{
    uint64_t *number = qp_map_get(ids, id);
    return number ? number : qp_map_get(odd, id);
}

typedef struct reading {
    const qp_judgements *judgements;
    qp_map *documents;
    qp_map *odd_questions, *odd_documents; /* see find_odd */
} reading;

static qp_code parse(const char *path, qp_str bytes, const reading *r, lines *all, uint64_t *strangers, qp_arena *mem,
                     qp_err *err)
{
    uint32_t number = 0;
    qp_code code = QP_OK;

    for (qp_str rest = bytes; code == QP_OK && rest.at && rest.n;) {
        qp_str text = qp_str_split(rest, '\n', &rest), field[FIELDS], id;
        int n = split_blanks(text, field);
        uint64_t *question, *found;
        float score;
        uint32_t document;

        number++;
        if (n == 0)
            continue;
        if (n != FIELDS || !parse_score(field[4], &score))
            return qp_fail(err, QP_INPUT, "%s:%u: wanted `qid Q0 docid rank score tag`, found \"%.*s\"", path, number,
                           (int)(text.n < 80 ? text.n : 80), text.at);
        id = qp_run_id_read(mem, field[0]);
        if (!id.at)
            return qp_oom(err);
        question = known(r->judgements->number, r->odd_questions, id);
        if (!question) {
            ++*strangers;
            continue;
        }
        id = qp_run_id_read(mem, field[2]);
        found = id.at ? known(r->documents, r->odd_documents, id) : NULL;
        document = found ? (uint32_t)*found : qp_document_number(r->documents, id);
        if (!id.at || document == QP_NO_ID)
            return qp_oom(err);
        code = add_line(all, (line){(uint32_t)*question, {document, score}, id}, err);
    }
    return code;
}

/* Sorted lines into one ranking a question; a document's best line counts. */
static qp_code rank(const lines *all, uint32_t depth, size_t n_documents, qp_ranking *of, qp_arena *mem, qp_err *err)
{
    uint32_t *seen = calloc(n_documents + 1, sizeof *seen); /* question number + 1 that last had the document */
    qp_code code = seen ? QP_OK : qp_oom(err);

    for (size_t i = 0, j; code == QP_OK && i < all->n; i = j) {
        uint32_t question = all->at[i].question, n = 0;
        qp_ranked *hits;

        for (j = i; j < all->n && all->at[j].question == question; j++)
            ;
        hits = qp_new(mem, qp_ranked, j - i < depth ? j - i : depth);
        if (!hits)
            code = qp_oom(err);
        for (size_t h = i; code == QP_OK && h < j && n < depth; h++) {
            if (seen[all->at[h].hit.document] != question + 1)
                hits[n++] = all->at[h].hit;
            seen[all->at[h].hit.document] = question + 1;
        }
        of[question] = (qp_ranking){hits, n};
    }
    free(seen);
    return code;
}

qp_code qp_rankings_read(const char *path, const qp_judgements *judgements, qp_map *documents, uint32_t depth,
                         qp_ranking *of, uint64_t *strangers, qp_arena *mem, qp_err *err)
{
    qp_buf bytes = {0};
    lines all = {0};
    qp_code code = qp_file_read(path, 0, &bytes, err);

    *strangers = 0;
    memset(of, 0, judgements->n * sizeof *of);
    reading r = {.judgements = judgements, .documents = documents};
    if (code == QP_OK)
        code = find_odd(judgements->number, &r.odd_questions, mem, err);
    if (code == QP_OK)
        code = find_odd(documents, &r.odd_documents, mem, err);
    if (code == QP_OK)
        code = parse(path, qp_buf_view(&bytes), &r, &all, strangers, mem, err);
    qp_map_free(r.odd_questions);
    qp_map_free(r.odd_documents);
    qp_buf_free(&bytes);
    if (code == QP_OK && all.n) {
        qsort(all.at, all.n, sizeof *all.at, by_score);
        code = rank(&all, depth, qp_map_size(documents), of, mem, err);
    }
    free(all.at);
    return code;
}

qp_code qp_rankings_write(const char *path, const char *tag, const qp_judgements *judgements, const qp_map *documents,
                          const qp_ranking *of, qp_err *err)
{
    qp_buf out = {0};
    qp_code code;

    for (uint32_t q = 0; q < judgements->n; q++) {
        float last = INFINITY;

        for (uint32_t i = 0; i < of[q].n; i++) {
            float score = of[q].at[i].score;

            if (!(score < last))
                score = nextafterf(last, -INFINITY);
            last = score;
            qp_run_id_add(&out, judgements->at[q].id);
            qp_buf_text(&out, " Q0 ");
            qp_run_id_add(&out, qp_map_key(documents, of[q].at[i].document));
            qp_buf_fmt(&out, " %u %.9g ", i + 1, (double)score);
            qp_run_id_add(&out, qp_str_of(tag));
            qp_buf_char(&out, '\n');
        }
    }
    code = out.oom ? qp_oom(err) : qp_file_write(path, qp_buf_view(&out), err);
    qp_buf_free(&out);
    return code;
}
