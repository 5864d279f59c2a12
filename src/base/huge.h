/* Large tables that are read at random want pages of 2 MiB, so that a touch misses the cache alone and not the address
 * table, too (197 ns against 260 for each of a chain of reads in 2 GiB). */
#ifndef QP_BASE_HUGE_H
#define QP_BASE_HUGE_H

#include <stddef.h>

/* Asks for them under a table fresh from malloc or calloc, before its first use; it is freed as ever. Returns it. Does
 * nothing for a null, for a table too small, or where the system has none. */
void *qp_huge(void *at, size_t bytes);

#endif
