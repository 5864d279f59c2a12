#include "ingest/xml.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

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

static void note(void *ctx, xmlErrorPtr error)
{
    qp_xml_broken *broken = ctx;

    if (broken->line || error->level != XML_ERR_FATAL)
        return;
    broken->line = error->line > 0 ? (uint64_t)error->line : 1;
    snprintf(broken->message, sizeof broken->message, "%s", error->message ? error->message : "no reason is given");
    broken->message[strcspn(broken->message, "\n")] = 0;
}

static int read_file(void *ctx, char *to, int n)
{
    size_t got = fread(to, 1, (size_t)n, ctx);

    return !got && ferror((FILE *)ctx) ? -1 : (int)got;
}

static int close_file(void *ctx)
{
    return fclose(ctx);
}

qp_code qp_xml_open_stream(const char *path, qp_str bytes, qp_xml_broken *broken, xmlTextReaderPtr *out, qp_err *err)
{
    pthread_once(&once, xmlInitParser);
    FILE *file =
        path ? fopen(path, "re") : fmemopen((char *)(uintptr_t)(bytes.n ? bytes.at : " "), bytes.n ? bytes.n : 1, "r");
    if (!file)
        return qp_fail(err, QP_INPUT, "%s: cannot be read: %s", path ? path : "standard input", strerror(errno));
    *out = xmlReaderForIO(read_file, close_file, file, NULL, NULL,
                          XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (!*out) {
        fclose(file);
        return qp_oom(err);
    }
    xmlTextReaderSetStructuredErrorHandler(*out, note, broken);
    return QP_OK;
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
