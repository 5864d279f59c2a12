/* Time. */
#ifndef QP_BASE_CLOCK_H
#define QP_BASE_CLOCK_H

double qp_now_ms(void); /* monotonic, milliseconds */

#endif
