/* What the files of a maker share: maker.c takes what a snapshot is made of, maker_finish.c writes what needs all of
 * it. Private to them. */
#ifndef QP_STORE_MAKER_PARTS_H
#define QP_STORE_MAKER_PARTS_H

#include "base/str.h"
#include "store/inverted.h"
#include "store/lexicon.h"
#include "store/links.h"
#include "store/maker.h"
#include "store/tokens.h"

struct qp_kept { /* a string that was put last, and where */
    qp_buf is;
    qp_ref at;
};

struct qp_maker {
    qp_maker_options options;
    qp_writer *file;
    qp_lexicon *lexicon, *expanded; /* expanded: null where nothing is */
    qp_links *links;
    qp_info info;
    qp_buf name;    /* of the node at hand */
    uint64_t texts; /* bytes so far */
    struct qp_kept last_key, last_title, last_heading, last_format, last_language;
    enum { QP_MAKER_NODES, QP_MAKER_EDGES, QP_MAKER_VECTORS, QP_MAKER_HEADS } stage; /* what was given last */
    uint32_t vectors;
    int8_t *codes; /* nodes x dim, when they are kept */
    float *scales;
    uint32_t headed; /* nodes whose heads were given */
    float *head_scales;
    int8_t *head_code; /* of one node */
    qp_inverted *learned;
    qp_token_maker *tokens;    /* null without */
    uint32_t weighed;          /* nodes whose terms were given */
    uint32_t entities, shared; /* those of the scope "" */
};

/* Where texts mention entities; a knowledge graph by itself stays as it was given. */
bool qp_maker_draws_synonyms(const qp_maker *);

#endif
