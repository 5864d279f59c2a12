/* Time, and where it went. */
#ifndef QP_BASE_CLOCK_H
#define QP_BASE_CLOCK_H

#include <stdint.h>

double qp_now_ms(void); /* monotonic, milliseconds */

#endif
