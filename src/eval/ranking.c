#include "eval/ranking.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/file.h"
#include "quipu_op.h"

enum { FIELDS = 6 }; /* qid Q0 docid rank score tag */

typedef struct line {
    uint32_t question;
    qp_ranked hit;
    qp_str id; /* of the document: trec_eval breaks ties by it */
} line;

/* The id with every byte that would split or confuse a line as %XX. */
static void add_escaped(qp_buf *out, qp_str id)
{
    for (size_t i = 0; i < id.n; i++) {
        unsigned char c = (unsigned char)id.at[i];

        if (c <= ' ' || c == '%' || c == 0x7f)
            qp_buf_fmt(out, "%%%02X", c);
        else
            qp_buf_char(out, (char)c);
    }
}

/* Undoes add_escaped; a % that starts no such triple stands for itself, as other tools write it. */
static qp_str unescaped(qp_arena *mem, qp_str s)
{
    char *to;
    size_t n = 0;

    if (!s.n || !memchr(s.at, '%', s.n))
        return qp_arena_str(mem, s);
    to = qp_new(mem, char, s.n + 1);
    for (size_t i = 0; to && i < s.n; i++) {
        if (s.at[i] == '%' && i + 2 < s.n && isxdigit((unsigned char)s.at[i + 1]) &&
            isxdigit((unsigned char)s.at[i + 2])) {
            char hex[3] = {s.at[i + 1], s.at[i + 2], 0};

            to[n++] = (char)strtol(hex, NULL, 16);
            i += 2;
        } else {
            to[n++] = s.at[i];
        }
    }
    return (qp_str){to, to ? n : 0};
}

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

static qp_code parse(const char *path, qp_str bytes, const qp_judgements *judgements, qp_map *documents, lines *all,
                     uint64_t *strangers, qp_arena *mem, qp_err *err)
{
    uint32_t number = 0;
    qp_code code = QP_OK;

    for (qp_str rest = bytes; code == QP_OK && rest.at && rest.n;) {
        qp_str text = qp_str_split(rest, '\n', &rest), field[FIELDS], id;
        int n = split_blanks(text, field);
        uint64_t *question;
        float score;
        uint32_t document;

        number++;
        if (n == 0)
            continue;
        if (n != FIELDS || !parse_score(field[4], &score))
            return qp_fail(err, QP_INPUT, "%s:%u: wanted `qid Q0 docid rank score tag`, found \"%.*s\"", path, number,
                           (int)(text.n < 80 ? text.n : 80), text.at);
        id = unescaped(mem, field[0]);
        if (!id.at)
            return qp_oom(err);
        question = qp_map_get(judgements->number, id);
        if (!question) {
            ++*strangers;
            continue;
        }
        id = unescaped(mem, field[2]);
        document = qp_document_number(documents, id);
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
    if (code == QP_OK)
        code = parse(path, qp_buf_view(&bytes), judgements, documents, &all, strangers, mem, err);
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
            add_escaped(&out, judgements->at[q].id);
            qp_buf_text(&out, " Q0 ");
            add_escaped(&out, qp_map_key(documents, of[q].at[i].document));
            qp_buf_fmt(&out, " %u %.9g ", i + 1, (double)score);
            add_escaped(&out, qp_str_of(tag));
            qp_buf_char(&out, '\n');
        }
    }
    code = out.oom ? qp_oom(err) : qp_file_write(path, qp_buf_view(&out), err);
    qp_buf_free(&out);
    return code;
}
