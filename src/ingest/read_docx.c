/* DOCX: a ZIP with XML. Paragraphs, headings by style or outline level, tables, links, bookmarks, the title of the
 * properties. */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "ingest/archive.h"
#include "ingest/reader.h"
#include "ingest/xml.h"

struct docx {
    qp_extract *x;
    qp_map *styles;  /* style id -> heading level, 100 = title */
    qp_map *targets; /* relationship id -> place in target */
    qp_str *target;
    size_t n_targets;
    size_t heading; /* of the paragraph at hand */
    bool title, in_text, in_cell, first_cell;
};
enum { TITLE = 100, MOST_TARGETS = 20000 };

static bool wanted(const char *name)
{
    static const char *const names[] = {"word/document.xml", "word/styles.xml", "word/_rels/document.xml.rels",
                                        "docProps/core.xml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* "heading 1" (Word keeps these names in English), "Title": the level; 0: none. */
static uint32_t level_of(qp_str name)
{
    if (name.n == 5 && !strncasecmp(name.at, "title", 5))
        return TITLE;
    if (name.n < 8 || strncasecmp(name.at, "heading", 7) != 0)
        return 0;
    name = qp_str_trim(qp_str_slice(name, 7, name.n));
    return name.n == 1 && name.at[0] >= '1' && name.at[0] <= '9' ? (uint32_t)(name.at[0] - '0') : 0;
}

static void load_styles(struct docx *d, qp_str xml)
{
    xmlTextReaderPtr r = xml.n ? qp_xml_open(xml) : NULL;
    qp_str id = {0};

    while (r && qp_xml_next(r)) {
        if (qp_xml_begins(r, "style"))
            id = qp_xml_attribute(r, "styleId", d->x->mem);
        uint32_t level = 0;
        if (qp_xml_begins(r, "name"))
            level = level_of(qp_xml_attribute(r, "val", d->x->mem));
        else if (qp_xml_begins(r, "outlineLvl"))
            level = (uint32_t)atoi(qp_xml_attribute(r, "val", d->x->mem).n ? qp_xml_attribute(r, "val", d->x->mem).at
                                                                           : "9") +
                    1;
        if (level && id.n && (level <= 9 || level == TITLE)) {
            bool added;
            uint64_t *slot = qp_map_put(d->styles, id, &added);
            if (slot && added)
                *slot = level;
        }
    }
    if (r)
        xmlFreeTextReader(r);
}

static void load_targets(struct docx *d, qp_str xml)
{
    xmlTextReaderPtr r = xml.n ? qp_xml_open(xml) : NULL;

    d->target = qp_new(d->x->mem, qp_str, MOST_TARGETS);
    while (r && d->target && d->n_targets < MOST_TARGETS && qp_xml_next(r)) {
        if (!qp_xml_begins(r, "Relationship"))
            continue;
        uint64_t *slot = qp_map_put(d->targets, qp_xml_attribute(r, "Id", d->x->mem), NULL);
        if (slot)
            *slot = d->n_targets;
        d->target[d->n_targets++] = qp_xml_attribute(r, "Target", d->x->mem);
    }
    if (r)
        xmlFreeTextReader(r);
}

static void begin(struct docx *d, xmlTextReaderPtr r)
{
    qp_extract *x = d->x;

    if (qp_xml_begins(r, "p")) {
        if (d->in_cell)
            qp_extract_words(x, QP_STR(" "));
        else
            qp_extract_block(x, 2);
    } else if (qp_xml_begins(r, "pStyle")) {
        const uint64_t *level = qp_map_get(d->styles, qp_xml_attribute(r, "val", x->mem));
        d->title = level && *level == TITLE;
        if (level && *level != TITLE && !d->in_cell)
            d->heading = qp_extract_heading_begin(x, (uint32_t)*level);
        else if (d->title)
            d->heading = qp_extract_heading_begin(x, 1);
    } else if (qp_xml_begins(r, "numPr") && !d->in_cell && !d->heading) {
        qp_extract_block(x, 1);
        qp_extract_literal(x, QP_STR("- "));
    } else if (qp_xml_begins(r, "t")) {
        d->in_text = !xmlTextReaderIsEmptyElement(r);
    } else if (qp_xml_begins(r, "tab") || qp_xml_begins(r, "noBreakHyphen")) {
        qp_extract_words(x, qp_xml_begins(r, "tab") ? QP_STR(" ") : QP_STR("-"));
    } else if (qp_xml_begins(r, "br") || qp_xml_begins(r, "cr")) {
        if (d->in_cell)
            qp_extract_words(x, QP_STR(" "));
        else
            qp_extract_block(x, 1);
    } else if (qp_xml_begins(r, "tbl") && !d->in_cell) {
        qp_extract_block(x, 2);
    } else if (qp_xml_begins(r, "tr")) {
        qp_extract_block(x, 1);
        d->first_cell = true;
    } else if (qp_xml_begins(r, "tc")) {
        qp_extract_literal(x, d->first_cell ? QP_STR("| ") : QP_STR(" | "));
        d->first_cell = false;
        d->in_cell = true;
    } else if (qp_xml_begins(r, "bookmarkStart")) {
        qp_extract_anchor(x, qp_xml_attribute(r, "name", x->mem));
    } else if (qp_xml_begins(r, "hyperlink")) {
        const uint64_t *slot = qp_map_get(d->targets, qp_xml_attribute(r, "id", x->mem));
        qp_str anchor = qp_xml_attribute(r, "anchor", x->mem);
        if (slot)
            qp_extract_link(x, d->target[*slot]);
        else if (anchor.n)
            qp_extract_reference(x, QP_STR("link"), (qp_str){0}, anchor);
    }
}

static void end(struct docx *d, xmlTextReaderPtr r)
{
    qp_extract *x = d->x;

    if (qp_xml_ends(r, "t")) {
        d->in_text = false;
    } else if (qp_xml_ends(r, "p") && d->heading) {
        qp_extract_heading_end(x, d->heading);
        const qp_mark *m = &x->marks[d->heading - 1];
        if (d->title)
            qp_extract_title(x, qp_str_slice(qp_buf_view(&x->text), m->from, m->to));
        d->heading = 0;
        d->title = false;
    } else if (qp_xml_ends(r, "tc")) {
        d->in_cell = false;
    } else if (qp_xml_ends(r, "tr")) {
        qp_extract_literal(x, QP_STR(" |"));
        qp_extract_block(x, 1);
    } else if (qp_xml_ends(r, "tbl")) {
        qp_extract_block(x, 2);
    }
}

static qp_code read_body(struct docx *d, qp_str xml, qp_err *err)
{
    xmlTextReaderPtr r = qp_xml_open(xml);

    if (!r)
        return qp_oom(err);
    while (qp_xml_next(r)) {
        int type = xmlTextReaderNodeType(r);
        if (type == XML_READER_TYPE_ELEMENT)
            begin(d, r);
        if (d->in_text && (type == XML_READER_TYPE_TEXT || type == XML_READER_TYPE_SIGNIFICANT_WHITESPACE ||
                           type == XML_READER_TYPE_WHITESPACE))
            qp_extract_words(d->x, qp_str_of((const char *)xmlTextReaderConstValue(r)));
        if (type == XML_READER_TYPE_END_ELEMENT || type == XML_READER_TYPE_ELEMENT)
            end(d, r);
    }
    xmlFreeTextReader(r);
    return d->x->oom || d->x->text.oom ? qp_oom(err) : QP_OK;
}

qp_code qp_read_docx(const qp_input *in, qp_extract *x, qp_err *err)
{
    struct docx d = {.x = x, .styles = qp_map_new(), .targets = qp_map_new()};
    qp_archive zip = {0};
    qp_code code = d.styles && d.targets ? qp_archive_open(in->bytes, wanted, &zip, err) : qp_oom(err);

    if (!code) {
        qp_str body = qp_archive_file(&zip, QP_STR("word/document.xml"));
        load_styles(&d, qp_archive_file(&zip, QP_STR("word/styles.xml")));
        load_targets(&d, qp_archive_file(&zip, QP_STR("word/_rels/document.xml.rels")));
        qp_str core = qp_archive_file(&zip, QP_STR("docProps/core.xml"));
        qp_extract_title(x, qp_xml_text_of(core, "title", x->mem));
        qp_str author = qp_xml_text_of(core, "creator", x->mem);
        if (author.n)
            qp_extract_meta(x, "author", author);
        code = body.n ? read_body(&d, body, err)
                      : qp_fail(err, QP_INPUT, "wanted a DOCX, found an archive without word/document.xml");
        qp_archive_close(&zip);
    }
    qp_map_free(d.styles);
    qp_map_free(d.targets);
    return code;
}
