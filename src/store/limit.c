#include "store/limit.h"

qp_code qp_limit_look(uint64_t n, const char *what, qp_err *err)
{
    return n < QP_LIMIT
               ? QP_OK
               : qp_fail(err, QP_INPUT, "an index holds at most %u %s, and these are more: index into several folders",
                         QP_LIMIT, what);
}
