/* What building a graph consists of; see ingest/graph_build.h. graph_build.c adds; graph_names.c gives names and
 * places, graph_join.c puts triples together, which is finishing. */
#ifndef QP_INGEST_GRAPH_PARTS_H
#define QP_INGEST_GRAPH_PARTS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/scratch.h"
#include "base/sorter.h"
#include "ingest/graph_build.h"
#include "ingest/tell.h"

/* A record of `known`: scope NUL id NUL, then either of
 *   MENTION      dictionary (4 bytes), number in it (4)
 *   DESCRIPTION  rank (1; UNNAMED: no name), order of adding (8), length of the name (4), name, text
 * so that of an id first all its numbers come, then its descriptions with the best name first. */
enum { MENTION = 0, DESCRIPTION = 1, UNNAMED = 255 };

struct logged {          /* a triple as it waits */
    uint32_t head, tail; /* numbers in the dictionary of the time */
    float weight;
    uint32_t relation; /* place in qp_build.relation */
};

struct said {
    uint64_t triple; /* how many were logged before it */
    uint64_t n;      /* bytes of its text, with its document */
};

struct dictionary {     /* one that was full */
    uint64_t triples;   /* logged under it */
    uint32_t mentioned; /* names of it that are in triples */
    uint32_t names;
};

struct named {          /* a name of the dictionary at hand */
    uint64_t described; /* hash of what was last said of it */
    bool mentioned;     /* by a triple */
};

struct relation {
    qp_str id, name; /* in the arena */
    unsigned rank;   /* of the name */
    bool used;       /* by a triple */
    bool told;       /* qp_build_relation spoke of it: its id stands for nothing else */
};

struct qp_build {
    char *folder;
    size_t budget;
    qp_tell tell;
    uint64_t looked; /* calls of qp_build_look */
    qp_buf key;      /* scope NUL id: of the name looked up; the scope stays */
    size_t scope;
    qp_map *names; /* the dictionary at hand: key to number, which is its place in `named` too */
    struct named *named;
    size_t cap_named, bytes; /* bytes: about what the dictionary takes */
    struct dictionary *dictionaries;
    size_t n_dictionaries, cap_dictionaries;
    uint64_t triples, triples_before; /* logged; before this dictionary */
    uint64_t descriptions;
    qp_buf record;
    qp_sorter *known;
    qp_scratch *log;
    qp_scratch *said;       /* of triples with a text or document: struct said, then those; null: none has one */
    qp_scratch *provenance; /* two lengths, an entity, a document, and so on; null: there are none */
    qp_map *relations;      /* id to place */
    struct relation *relation;
    size_t n_relations, cap_relations, relation_bytes;
    uint64_t texts_cut;
    qp_arena *mem;
};

/* Hands the dictionary at hand to the sort. */
qp_code qp_build_turn(qp_build *, qp_err *);

/* What `known` says of each id as one record: scope NUL name NUL id NUL, count of mentions (4 bytes), the mentions (8
 * each), text. They are sorted, and no two have the same scope and name. `known` is used up; relations have their
 * names. */
qp_code qp_build_name(qp_build *, qp_sorter **named, qp_build_counts *, qp_err *);

typedef struct qp_named_record { /* one of them; views of it */
    qp_str scope, name, id, mentions, text;
} qp_named_record;
qp_named_record qp_named_parse(qp_str record);

/* The place of each relation in byte order of names, which are unique then; of those that triples use. */
qp_code qp_build_relations(qp_build *, uint32_t *place, const qp_build_out *, qp_build_counts *, qp_err *);

/* Looks at cancel and tells how far it is, now and then: to be called for each record. */
qp_code qp_build_look(qp_build *, qp_err *);

#endif
