/* What the files of edges in the making share: links.c takes them and puts them in order, links_write.c writes them.
 * Private to them. */
#ifndef QP_STORE_LINKS_PARTS_H
#define QP_STORE_LINKS_PARTS_H

#include "base/map.h"
#include "base/scratch.h"
#include "base/sorter.h"
#include "store/links.h"

enum { QP_LINKS_BLOCK = 1024 }; /* links that are read, and written, at once */

struct link {
    uint32_t from, to;
    uint32_t type; /* in order of arrival; in order of name once it is read again */
    float weight;
    uint32_t said; /* 0: nothing; else the place among the texts, from 1 */
};

struct qp_links {
    char *folder;
    size_t memory;
    qp_scratch *log; /* of links, as they came */
    qp_sorter *sorted;
    uint64_t n;                       /* added; once written, those that are left */
    qp_map *types, *texts;            /* as edges share types, they share texts: "source: Wikipedia" */
    uint32_t *order;                  /* of the types, by name; behind it the place of each in that order */
    const uint32_t *from, *to, *type; /* once written: mapped */
    uint64_t *arcs;                   /* if they are kept: nodes + 1 starts, */
    uint32_t *arc_node;               /* and neighbours on the same side */
};

/* The text's place, from 1; 0 of an empty one. */
qp_code qp_links_text_place(qp_links *, qp_str text, uint32_t *place, qp_err *);
qp_str qp_links_text(const qp_links *, uint32_t place); /* empty of 0 */

/* Numbers the types in order of name, so that nothing depends on the order of arrival, and writes them. */
qp_code qp_links_write_types(qp_links *, qp_writer *, qp_info *, qp_err *);
/* Puts the log in order of (from, to, type), those that are the same by weight, the largest first, then text. */
qp_code qp_links_sort(qp_links *, qp_err *);
int qp_links_by_ends(const struct link *, const struct link *); /* (from, to, type) alone: <0, 0, >0 */

typedef struct qp_links_reading { /* {.l} reads from the first link */
    const qp_links *l;
    uint64_t at; /* links read */
    struct link block[QP_LINKS_BLOCK];
} qp_links_reading;
/* The next link; as they came, or in order once they are sorted. at < l->n. */
qp_code qp_links_next(qp_links_reading *, struct link *, qp_err *);

#endif
