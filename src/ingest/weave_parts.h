/* What drawing a graph out of texts consists of; see ingest/weave.h. weave_grams.c chooses the entities, weave_find.c
 * finds them and what relates them, weave_alias.c what is said to be the same, weave_ask.c words the writer's
 * questions, weave_round.c asks them, weave.c puts the graph into the store, weave_given.c the places of other graphs. */
#ifndef QP_INGEST_WEAVE_PARTS_H
#define QP_INGEST_WEAVE_PARTS_H

#include "base/map.h"
#include "base/table.h"
#include "ingest/weave.h"
#include "store/graph.h"
#include "text/phrase.h"

enum { QP_WEAVE_DIGEST = 32 };
#define QP_WEAVE_NEXT_TO QP_STR("next to")
#define QP_WEAVE_ABBREVIATED QP_STR("abbreviated")
#define QP_WEAVE_SOURCE QP_STR("quipu:text") /* no path: sources of other graphs begin with "/" */

struct place { /* bytes of what a passage is found by; to = 0: none, or nobody looked for it */
    uint32_t passage, from, to;
};

struct mention {
    uint32_t entity, chunk;
    int64_t document;
    struct place at;
};

struct fact {
    uint32_t head, tail, relation; /* in order of arrival; then places in the order of names */
    float weight;
    struct place at, words; /* from head to tail; between them */
};
typedef struct qp_weave_work {
    qp_store *store;
    const qp_weaving *how;
    qp_code (*tell)(void *ctx, uint64_t done, uint64_t total, qp_err *);
    void *ctx;
    uint64_t done, total;
    double chunks; /* |T| */
    qp_phrases *phrases;
    qp_buf text; /* of a chunk: title and text */
    const qp_word *word;
    size_t n_words;
    qp_buf passages;         /* digests, QP_WEAVE_DIGEST bytes each: those that places are in */
    uint32_t title, text_at; /* of the chunk at hand: bytes of its title, place of its text in what it is found by */
    qp_map *names;           /* of entities; first those whose source says where they stand, then others' of graphs */
    uint32_t told, given;    /* how many the first are; both together */
    bool facts_too;          /* of other graphs, not only their entities, have places */
    qp_map *documents;       /* key -> the first passage, and 2^32 times how many; only with places */
    qp_table runs;           /* hash of a run of words -> 2 x (entity + 1), 0 for none; + 1 if a longer run begins so */
    qp_map *relations;
    struct mention *mention;
    size_t n_mentions, cap_mentions;
    struct fact *fact;
    size_t n_facts, cap_facts;
    qp_buf scratch;
    qp_woven counts;
    qp_buf prompt;  /* of the writer, as it is in its file */
    qp_buf wording; /* filled in for a chunk */
    uint32_t *here; /* entities of the chunk at hand, each once */
    size_t n_here, cap_here;
    qp_arena *round; /* of the questions that wait to be asked together */
    struct question *question;
    size_t n_questions;
    int failures; /* of the writer, since it last answered */
} qp_weave_work;

struct question { /* to the writer, about a chunk */
    qp_digest key;
    qp_str prompt;
    const uint32_t *entity; /* of the chunk, n of them */
    size_t n;
    qp_buf said;
};
/* A chunk's words come to be at hand. */
qp_code qp_weave_cut(qp_weave_work *, const qp_passage *, qp_err *);
/* The text has its vector from there, if that is anywhere. */
qp_code qp_weave_put_place(const qp_weave_work *, qp_graph_put *, qp_str text, struct place, qp_err *);
/* Those of other graphs' entities and facts; mentions are sorted, entities in them have these ranks. */
qp_code qp_weave_given_places(qp_weave_work *, qp_graph_put *, const uint32_t *rank, qp_err *);
/* The n-grams that are entities of the texts get numbers. */
qp_code qp_weave_choose(qp_weave_work *, qp_err *);
/* The entities of other graphs get numbers, before those. */
qp_code qp_weave_given(qp_weave_work *, qp_err *);
/* A run of words becomes the name of an entity, unless another of the same words was given. */
qp_code qp_weave_name(qp_weave_work *, qp_str name, const qp_word *, size_t n, qp_err *);
/* These words of the chunk at hand become an entity, unless they are one. */
qp_code qp_weave_keep(qp_weave_work *, size_t at, size_t n, qp_err *);
uint32_t qp_weave_entity(const qp_weave_work *, size_t at, size_t n); /* that they are; UINT32_MAX: none */
/* Words [first, last] of the chunk at hand, where it lies in what its passage is found by. */
struct place qp_weave_place(const qp_weave_work *, size_t first, size_t last);
/* The abbreviations that the chunk at hand explains: `join` facts between their forms, else both are made entities. */
qp_code qp_weave_aliases(qp_weave_work *, bool join, qp_err *);
/* It stands at the places, if they are any. */
qp_code qp_weave_fact(qp_weave_work *, uint32_t head, qp_str relation, uint32_t tail, struct place at,
                      struct place words, qp_err *);
/* What the writer says of the entities `here`: at once if it said so before, else with the round. */
qp_code qp_weave_ask(qp_weave_work *, qp_err *);
/* One question's answer becomes facts. */
qp_code qp_weave_take(qp_weave_work *, const struct question *, qp_str said, qp_err *);
/* Up to MOST_LINES of "entity | relation | entity"; ends in a NUL. */
void qp_weave_grammar(const qp_weave_work *, const struct question *, qp_buf *out);
/* The question, copied, waits for its round. */
qp_code qp_weave_wait(qp_weave_work *, const struct question *, qp_err *);
/* Is this question among those that wait? */
bool qp_weave_waits(const qp_weave_work *, qp_digest key);
/* The questions that wait are asked, as many together as the writer takes, and taken in the order of their chunks. */
qp_code qp_weave_round(qp_weave_work *, qp_err *);
/* QP_MODEL if there were questions and no answer at all. */
qp_code qp_weave_answered(const qp_weave_work *, qp_err *);
/* All mentions and facts. */
qp_code qp_weave_find(qp_weave_work *, qp_err *);

#endif
