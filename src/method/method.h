/* The methods: compositions of operators and nothing else. */
#ifndef QP_METHOD_METHOD_H
#define QP_METHOD_METHOD_H

#include "quipu_op.h"

/* All methods, in the order of the manual; ends with null. */
const qp_op *const *qp_methods(void);
/* By name, or a pipeline's .yaml file; null with QP_INPUT and the nearest name. *owned: free with qp_pipeline_free. */
qp_code qp_method_find(const char *name, const qp_op **, bool *owned, qp_err *);
/* Is it the writer alone, whose words are the answer? */
bool qp_method_writes(const qp_op *);

#endif
