/* A JSON schema to a GBNF grammar, so that what a writer gives is JSON of that shape. */
#ifndef QP_MODEL_SCHEMA_H
#define QP_MODEL_SCHEMA_H

#include "base/err.h"
#include "base/str.h"

/* Understands: type (object, array, string, number, integer, boolean, null, or a list of them), properties in the order
 * given (required; others may be left out), items, minItems, maxItems, enum, const, anyOf, oneOf, minLength, maxLength,
 * $ref within the schema ("#/$defs/x", recursion too). {} is any JSON. Titles, descriptions, defaults and
 * additionalProperties are passed over; any other keyword is QP_INPUT, because it would not be kept. */
qp_code qp_schema_grammar(qp_str schema, qp_buf *grammar, qp_err *);

#endif
