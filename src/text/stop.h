/* Stop words: words of so little content ("the", "of") that they are no key words. For quotes, support and entities;
 * the lexical indices leave nothing out. */
#ifndef QP_TEXT_STOP_H
#define QP_TEXT_STOP_H

#include "base/str.h"

/* Is this English word one, in any case? Snowball's English list, and the question words. Other languages' words are
 * not. Any thread. */
bool qp_is_stop_word(qp_str word);

#endif
