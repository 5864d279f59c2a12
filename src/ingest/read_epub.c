/* EPUB: a ZIP with a package file that lists chapters in XHTML. The book is one document; each chapter's file name is
 * an anchor, so links between chapters are edges inside it. */
#include <ctype.h>
#include <strings.h>

#include "base/file.h"
#include "base/map.h"
#include "ingest/archive.h"
#include "ingest/identifier.h"
#include "ingest/reader.h"
#include "ingest/xml.h"
#include "text/utf8.h"

enum { MOST_ITEMS = 10000 };

struct package {
    qp_map *items; /* id -> place in href */
    qp_str *href;
    size_t n;
    qp_str *spine; /* ids, in reading order */
    size_t n_spine;
};

static bool wanted(const char *name)
{
    qp_str s = qp_str_of(name);
    return qp_str_ends(s, QP_STR(".xml")) || qp_str_ends(s, QP_STR(".opf")) || qp_str_ends(s, QP_STR(".xhtml")) ||
           qp_str_ends(s, QP_STR(".html")) || qp_str_ends(s, QP_STR(".htm"));
}

static void load_package(struct package *p, qp_str xml, qp_arena *a)
{
    xmlTextReaderPtr r = qp_xml_open(xml);

    while (r && qp_xml_next(r)) {
        if (qp_xml_begins(r, "item") && p->n < MOST_ITEMS) {
            uint64_t *slot = qp_map_put(p->items, qp_xml_attribute(r, "id", a), NULL);
            if (slot)
                *slot = p->n;
            p->href[p->n++] = qp_percent_decoded(qp_xml_attribute(r, "href", a), a);
        } else if (qp_xml_begins(r, "itemref") && p->n_spine < MOST_ITEMS) {
            p->spine[p->n_spine++] = qp_xml_attribute(r, "idref", a);
        }
    }
    if (r)
        xmlFreeTextReader(r);
}

/* Where the package lies: META-INF/container.xml says. */
static qp_str package_path(const qp_archive *zip, qp_arena *a)
{
    xmlTextReaderPtr r = qp_xml_open(qp_archive_file(zip, QP_STR("META-INF/container.xml")));
    qp_str path = {0};

    while (r && !path.n && qp_xml_next(r))
        if (qp_xml_begins(r, "rootfile"))
            path = qp_xml_attribute(r, "full-path", a);
    if (r)
        xmlFreeTextReader(r);
    return path;
}

/* <title/>, <script .../>: nothing in XML; in HTML they begin a text that only their end tag ends. */
static void blank_empty(qp_buf *b)
{
    static const char *const names[] = {"<title", "<script", "<style", "<iframe", "<textarea"};

    for (char *at = b->at; at && (at = memchr(at, '<', b->n - (size_t)(at - b->at))); at++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            size_t n = strlen(names[i]);
            if (strncasecmp(at, names[i], n) || !(isspace((unsigned char)at[n]) || at[n] == '/'))
                continue;
            char *end = strchr(at, '>');
            if (!end)
                return;
            if (end[-1] == '/')
                memset(at, ' ', (size_t)(end - at) + 1);
            break;
        }
}

static qp_code read_book(const qp_archive *zip, struct package *p, qp_extract *x, qp_err *err)
{
    qp_str path = package_path(zip, x->mem), xml = qp_archive_file(zip, path);
    qp_str folder = qp_str_slice(path, 0, path.n - qp_path_name(path).n);
    qp_code code = QP_OK;

    if (!xml.n)
        return qp_fail(err, QP_INPUT, "wanted an EPUB, found an archive without a package file");
    load_package(p, xml, x->mem);
    qp_extract_title(x, qp_xml_text_of(xml, "title", x->mem));
    qp_str author = qp_xml_text_of(xml, "creator", x->mem);
    if (author.n)
        qp_extract_meta(x, "author", author);
    for (size_t i = 0; !code && i < p->n_spine; i++) {
        const uint64_t *slot = qp_map_get(p->items, p->spine[i]);
        if (!slot)
            continue;
        qp_str name =
            qp_arena_fmt(x->mem, "%.*s%.*s", (int)folder.n, folder.at, (int)p->href[*slot].n, p->href[*slot].at);
        qp_str part = qp_archive_file(zip, name), file = qp_path_name(name);
        qp_buf utf8 = {0};
        x->replaced += qp_utf8_repair(part, &utf8);
        blank_empty(&utf8);
        qp_extract_block(x, 2);
        code = utf8.oom ? qp_oom(err)
               : utf8.n ? qp_read_html_part(qp_buf_view(&utf8), qp_arena_str(x->mem, file).at, x, err)
                        : QP_OK;
        qp_buf_free(&utf8);
    }
    return code;
}

qp_code qp_read_epub(const qp_input *in, qp_extract *x, qp_err *err)
{
    struct package p = {.items = qp_map_new(),
                        .href = qp_new(x->mem, qp_str, MOST_ITEMS),
                        .spine = qp_new(x->mem, qp_str, MOST_ITEMS)};
    qp_archive zip = {0};
    qp_code code = p.items && p.href && p.spine ? qp_archive_open(in->bytes, wanted, &zip, err) : qp_oom(err);

    if (!code) {
        code = read_book(&zip, &p, x, err);
        qp_archive_close(&zip);
    }
    qp_map_free(p.items);
    return code;
}
