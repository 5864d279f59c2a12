#include "ingest/xml.h"

#include <limits.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void silence(void *ctx, xmlErrorPtr error)
{
    (void)ctx;
    (void)error;
}

xmlTextReaderPtr qp_xml_open(qp_str bytes)
{
    pthread_once(&once, xmlInitParser);
    if (bytes.n > INT_MAX)
        return NULL;
    xmlTextReaderPtr r =
        xmlReaderForMemory(bytes.n ? bytes.at : " ", bytes.n ? (int)bytes.n : 1, NULL, NULL,
                           XML_PARSE_NONET | XML_PARSE_RECOVER | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (r)
        xmlTextReaderSetStructuredErrorHandler(r, silence, NULL);
    return r;
}

bool qp_xml_next(xmlTextReaderPtr r)
{
    return xmlTextReaderRead(r) == 1;
}

static bool is(xmlTextReaderPtr r, int type, const char *local)
{
    return xmlTextReaderNodeType(r) == type && xmlStrEqual(xmlTextReaderConstLocalName(r), BAD_CAST local);
}

bool qp_xml_begins(xmlTextReaderPtr r, const char *local)
{
    return is(r, XML_READER_TYPE_ELEMENT, local);
}

bool qp_xml_ends(xmlTextReaderPtr r, const char *local)
{
    return is(r, XML_READER_TYPE_END_ELEMENT, local) ||
           (is(r, XML_READER_TYPE_ELEMENT, local) && xmlTextReaderIsEmptyElement(r) == 1);
}

qp_str qp_xml_attribute(xmlTextReaderPtr r, const char *local, qp_arena *a)
{
    qp_str out = {0};

    while (!out.n && xmlTextReaderMoveToNextAttribute(r) == 1)
        if (xmlStrEqual(xmlTextReaderConstLocalName(r), BAD_CAST local))
            out = qp_arena_str(a, qp_str_of((const char *)xmlTextReaderConstValue(r)));
    xmlTextReaderMoveToElement(r);
    return out;
}

qp_str qp_xml_text_of(qp_str bytes, const char *local, qp_arena *a)
{
    xmlTextReaderPtr r = bytes.n ? qp_xml_open(bytes) : NULL;
    bool inside = false;
    qp_str out = {0};

    while (r && !out.n && qp_xml_next(r)) {
        if (inside && xmlTextReaderNodeType(r) == XML_READER_TYPE_TEXT)
            out = qp_arena_str(a, qp_str_trim(qp_str_of((const char *)xmlTextReaderConstValue(r))));
        inside = qp_xml_begins(r, local) || (inside && !qp_xml_ends(r, local));
    }
    if (r)
        xmlFreeTextReader(r);
    return out;
}
