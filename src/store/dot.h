/* Inner products of int8 codes: the inner loop of dense search (that of floats is in base/vector.h). */
#ifndef QP_STORE_DOT_H
#define QP_STORE_DOT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int32_t qp_dot_i8(const int8_t *a, const int8_t *b, uint32_t n); /* exact for n up to 2^16 */
/* Of a with each of the rows, dim bytes each, end to end: what many times qp_dot_i8 gives, some three times as fast. */
void qp_dot_i8_rows(const int8_t *a, const int8_t *rows, uint32_t n, uint32_t dim, int32_t *out);

/* v = scale * code, |code| <= 127; gives the scale, 0 for the zero vector. */
float qp_quantise(const float *v, uint32_t n, int8_t *code);

#ifdef __cplusplus
}
#endif
#endif
