/* Abbreviations that a text explains: "peripheral neuropathy (PN)", "PN (peripheral neuropathy)".
 *
 * Source: Schwartz and Hearst, A simple algorithm for identifying abbreviation definitions in biomedical text (PSB
 * 2003): precision .96, recall .82 on its authors' corpus. Any thread. */
#ifndef QP_TEXT_ABBREVIATION_H
#define QP_TEXT_ABBREVIATION_H

#include <stdbool.h>

#include "base/str.h"

/* Both lie in the text. False ends the search. */
typedef bool (*qp_abbreviation_fn)(void *ctx, qp_str brief, qp_str full);

void qp_abbreviations(qp_str text, qp_abbreviation_fn, void *ctx);

/* The shortest end of `words` that `brief` abbreviates: its letters and digits stand in it in their order, the first at
 * the beginning of a word. Empty: none does. */
qp_str qp_abbreviated(qp_str brief, qp_str words);

#endif
