/* UTF-8: is it, make it so, read it character by character. Bytes from files are foreign; past qp_utf8_repair all text
 * in Quipu is UTF-8 without NUL. Any thread.
 */
#ifndef QP_TEXT_UTF8_H
#define QP_TEXT_UTF8_H

#include "base/str.h"

#define QP_REPLACEMENT 0xFFFDu /* stands where a byte sequence was none */

/* Bytes of the longest prefix that is UTF-8 without NUL; s.n if all is. Surrogates and overlong forms are none. */
size_t qp_utf8_valid(qp_str s);

/* Appends s with every maximal broken sequence and every NUL as U+FFFD; returns how many were replaced. A byte order
 * mark is dropped, and with a UTF-16 one (either order) the bytes are read as UTF-16. */
uint64_t qp_utf8_repair(qp_str s, qp_buf *out);

/* The character at s.at[*at], which moves past it; a broken one is QP_REPLACEMENT and moves one byte. *at < s.n. */
uint32_t qp_utf8_next(qp_str s, size_t *at);

/* Writes the character in 1 to 4 bytes, returns how many. What is no scalar value is written as U+FFFD. */
size_t qp_utf8_put(char out[4], uint32_t character);

size_t qp_utf8_count(qp_str s); /* characters, of valid text */

/* The largest position <= at where a character begins (s.n counts as one). */
size_t qp_utf8_floor(qp_str s, size_t at);

#endif
