/* libxml2's reader as we use it: no network, no DTD, no entities beyond XML's own five, and libxml2's own limits on
 * depth and sizes. One thread per reader; libxml2 itself is set up once. */
#ifndef QP_INGEST_XML_H
#define QP_INGEST_XML_H

#include <libxml/xmlreader.h>

#include "base/arena.h"
#include "base/err.h"

xmlTextReaderPtr qp_xml_open(qp_str bytes); /* null without memory; free with xmlFreeTextReader */
/* The same of a file, or with path null of bytes, as a stream: what was read is let go. *broken is filled where the XML
 * first breaks off (the last elements before, up to a block of some hundred bytes, are lost with it), and must live as
 * long as the reader. QP_INPUT: there is no such file. */
typedef struct qp_xml_broken {
    uint64_t line; /* 0: it did not */
    char message[200];
} qp_xml_broken;
qp_code qp_xml_open_stream(const char *path, qp_str bytes, qp_xml_broken *, xmlTextReaderPtr *, qp_err *);
/* To the next node. False at the end or where the XML breaks off: what stood before counts. */
bool qp_xml_next(xmlTextReaderPtr);
/* Is this the begin (or the end) of an element of that local name? */
bool qp_xml_begins(xmlTextReaderPtr, const char *local);
bool qp_xml_ends(xmlTextReaderPtr, const char *local);
/* An attribute by local name, whatever its prefix; a copy in the arena, n == 0: not there. */
qp_str qp_xml_attribute(xmlTextReaderPtr, const char *local, qp_arena *);
/* The text of the first element of that local name in a small file; a copy in the arena. */
qp_str qp_xml_text_of(qp_str bytes, const char *local, qp_arena *);

#endif
