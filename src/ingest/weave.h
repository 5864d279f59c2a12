/* A graph out of the passages' words (AGRAG, III-A): which n-grams are entities, where they stand, what relates them.
 *
 * Entities: n-grams of up to b words, v in chunk t,
 *     ER(v, t) = count(v, t) / (|t| ln(|T| + 1)) ln((|T| + 1) / (df(v) + 1)),
 * kept if above tau. As that stays far below any useful tau for a chunk of 256 words, it is divided by the chunk's
 * largest first; `literal` leaves that out. No n-gram begins or ends with a stop word, holds no letter, or goes over a
 * comma or the end of a sentence. What stands there in letters of another case is one entity, named in small letters.
 * In a short chunk every n-gram weighs nearly as much as the heaviest, so beside proper names only those count that
 * stand twice in the texts, unless `spans` says NGRAMS: the formula and nothing else. Proper names are entities
 * whatever they weigh: the longest run of words with capital letters, stop words inside it; one that only begins
 * sentences is none. So are both forms of an abbreviation that a text explains, "peripheral neuropathy (PN)"
 * (text/abbreviation.h), joined by a fact "abbreviated", which stands for "next to" between them, too.
 *
 * Relations: two entities that follow one another in a sentence, the longest at each place; the relation is the words
 * between them, at most QP_WEAVE_WORDS ("next to" if there are none), its weight how often. Or a writer is asked, once
 * for each chunk, prompt and model, under a grammar that has no other entities than the chunk's; several chunks at a
 * time where it is a service. A chunk that gets no answer is without relations until the next run, which asks again.
 * Mentions: an entity and each chunk whose text (or title) has it. Entities of other graphs of the index are looked for
 * in the texts, too; where an n-gram is one of them but for case, it is theirs.
 *
 * Places, with `places`: an entity's is where it is first mentioned, a fact's reaches from head to tail, a relation's is
 * the words of its first fact. A fact of another graph has the least span that holds both names, in the documents that
 * it is from as far as they are there (qp_triple), else in any; its relation has none.
 *
 * Everything is a function of the texts, so adding or deleting a document leaves what a fresh index would have.
 */
#ifndef QP_INGEST_WEAVE_H
#define QP_INGEST_WEAVE_H

#include "quipu_op.h"
#include "store/store.h"

enum { QP_WEAVE_WORDS = 12, QP_WEAVE_NAME = 16 /* words of a name that is looked for */ };

typedef struct qp_weaving {
    bool extract; /* entities and relations out of the texts; else only those of other graphs are looked for */
    uint32_t b;   /* 1 to 7 */
    double tau;   /* 0 to 1 */
    bool literal;
    const qp_model *writer; /* says what relates a chunk's entities; null: the words between them do */
    const char *prompt;     /* a file with {text} and {entities}; null: prompts/relations.txt */
    bool places;            /* note where entities and facts stand, to have their vectors from there */
    bool ask_nothing;       /* count what would be asked: no relations then */
    enum { QP_WEAVE_BOTH, QP_WEAVE_NGRAMS, QP_WEAVE_NAMES } spans;
} qp_weaving;

typedef struct qp_woven {
    uint64_t entities, relations, triples, mentions;
    uint64_t asked, remembered; /* chunks the writer was asked about; whose answers were there */
    uint64_t unanswered;        /* of those asked */
    uint64_t dropped;           /* lines that were no relation of two entities it was given */
    uint64_t prompt_tokens;     /* of all questions, asked or not */
    qp_err why;                 /* there was no answer to the first of the unanswered */
} qp_woven;

/* Draws the graph and keeps it in place of the one before, unless texts and settings are those it was drawn from
 * (*same). `tell` is called now and then; an error of it ends the run, and all stays as it was. */
qp_code qp_weave(qp_store *, const qp_weaving *, qp_code (*tell)(void *ctx, uint64_t done, uint64_t total, qp_err *),
                 void *ctx, qp_woven *, bool *same, qp_err *);
/* Was a graph drawn? Are there others? */
qp_code qp_weave_there(qp_store *, bool *yes, qp_err *);
qp_code qp_weave_others(qp_store *, bool *yes, qp_err *);

#endif
