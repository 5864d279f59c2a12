/* Questions and what is known to be right about them, from a data set folder in BEIR's layout:
 * queries.jsonl {"_id","text"}, qrels.tsv (query-id, corpus-id, score; a header line; trec_eval's four columns are read
 * too) and answers.jsonl {"_id","answers":[...],"evidence":[...]}, whose statements may stand in one string, "; "
 * between. qrels.tsv and answers.jsonl may be absent, queries.jsonl may not.
 *
 * A line that cannot be read refuses the whole folder, with its number: a measure over half the judgements would be a
 * wrong number that looks right. Read once, then read-only: any thread.
 */
#ifndef QP_EVAL_JUDGEMENTS_H
#define QP_EVAL_JUDGEMENTS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "eval/hipporag.h"

typedef struct qp_judgement {
    uint32_t document; /* number in the map of documents */
    double grade;      /* above 0: relevant */
} qp_judgement;

typedef struct qp_question {
    qp_str id, text;
    qp_str record;              /* its line of queries.jsonl; empty: it came from elsewhere */
    const qp_judgement *judged; /* documents rising, each once */
    uint32_t n_judged;
    const double *ideal;  /* the grades above 0, falling */
    const uint32_t *gold; /* the documents of `ideal`, in its order */
    uint32_t relevant;    /* how many those are */
    const qp_str *answers;
    uint32_t n_answers;
    const qp_str *evidence; /* statements that the answers rest on */
    uint32_t n_evidence;
    const qp_str *entities; /* names of entities that it starts from; none are given as none */
    uint32_t n_entities;
} qp_question;

typedef struct qp_judgements {
    const qp_question *at; /* in the order of queries.jsonl */
    uint32_t n;
    qp_map *number;     /* question id -> number */
    uint64_t strangers; /* judgements and answers of questions that queries.jsonl does not have: left out */
} qp_judgements;

/* named_answers: without qrels.tsv, what an answer is called is the document (an entity's name) that is right.
 * titled null: a folder in BEIR's layout; else a question file of HippoRAG's. `documents` numbers document ids in the
 * order they were put; ids seen here for the first time are added. What is read lives in the arena; the map of numbers
 * is freed with qp_judgements_free. */
qp_code qp_judgements_read(const char *dataset, const qp_titled *, bool named_answers, qp_map *documents, qp_arena *,
                           qp_judgements *, qp_err *);
void qp_judgements_free(qp_judgements *);

/* The grade of a document for a question; 0 where it was not judged. */
double qp_question_grade(const qp_question *, uint32_t document);

/* The number of a document's id, added if new; QP_NO_ID without memory. */
uint32_t qp_document_number(qp_map *documents, qp_str id);

#endif
