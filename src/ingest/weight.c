#include "ingest/weight.h"

#include <math.h>
#include <stdlib.h>

bool qp_weight_parse(qp_str s, float *out)
{
    char digits[64], *end;

    *out = 1;
    s = qp_str_trim(s);
    if (!s.n)
        return true;
    if (s.n >= sizeof digits)
        return false;
    memcpy(digits, s.at, s.n);
    digits[s.n] = 0;
    *out = strtof(digits, &end);
    return !*end && isfinite(*out) && *out >= 0;
}
