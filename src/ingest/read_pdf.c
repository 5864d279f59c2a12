/* PDF by poppler's pdftotext, a child process: a crash of it stays outside, and so does its licence. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "ingest/child.h"
#include "ingest/reader.h"
#include "ingest/xml.h"

static const char install[] = "apt-get install poppler-utils";

/* ---- the title: papers cite each other by it, and few of them name it in their properties ---- */

/* What writing programs leave in the title property is often the name of a file. */
static bool is_title(qp_str s)
{
    static const char *const suffixes[] = {".doc", ".docx", ".tex", ".dvi", ".pdf", ".rtf", ".ps", ".indd", ".qxd"};

    if (s.n < 4 || s.n > 300 || !strncasecmp(s.at, "microsoft word", 14) || !strncasecmp(s.at, "untitled", 8))
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);
        if (s.n > n && !strncasecmp(s.at + s.n - n, suffixes[i], n))
            return false;
    }
    return true;
}

struct line {      /* of the first page */
    double height; /* of its highest word */
    qp_buf text;
};

struct page {
    qp_buf largest; /* the lines in the largest letters so far, those one after the other */
    double height;  /* of these letters */
    bool open;      /* the line before was one of them */
};

static double number(xmlTextReaderPtr r, const char *name, qp_arena *a)
{
    qp_str s = qp_xml_attribute(r, name, a);
    return s.n ? strtod(s.at, NULL) : 0;
}

static void end_line(struct page *p, struct line *l)
{
    bool larger = l->height > p->height * 1.05, same = !larger && l->height > p->height * 0.95;

    if (l->text.n > 2 && (larger || (same && p->open))) {
        if (larger) {
            qp_buf_clear(&p->largest);
            p->height = l->height;
        }
        qp_buf_str(&p->largest, qp_buf_view(&l->text));
        p->open = true;
    } else if (l->text.n) {
        p->open = false;
    }
    qp_buf_clear(&l->text);
    l->height = 0;
}

static void add_word(struct line *l, xmlTextReaderPtr r, qp_arena *a)
{
    double high = number(r, "yMax", a) - number(r, "yMin", a), wide = number(r, "xMax", a) - number(r, "xMin", a);

    if (xmlTextReaderRead(r) != 1 || xmlTextReaderNodeType(r) != XML_READER_TYPE_TEXT)
        return;
    qp_str word = qp_str_of((const char *)xmlTextReaderConstValue(r));
    if (word.n > 3 && high > wide)
        return; /* stands upright: the stamp of a preprint server */
    l->height = high > l->height ? high : l->height;
    qp_buf_str(&l->text, word);
    qp_buf_char(&l->text, ' ');
}

/* The properties as metadata; the title from there, else the largest letters of the first page. */
static void read_front(qp_str xhtml, qp_extract *x)
{
    struct page page = {0};
    struct line line = {0};
    qp_str title = qp_xml_text_of(xhtml, "title", x->mem);
    xmlTextReaderPtr r = qp_xml_open(xhtml);

    while (r && qp_xml_next(r)) {
        if (qp_xml_begins(r, "meta")) {
            qp_str name = qp_xml_attribute(r, "name", x->mem), content = qp_xml_attribute(r, "content", x->mem);
            if (content.n && qp_str_eq(name, QP_STR("Author")))
                qp_extract_meta(x, "author", content);
            else if (content.n && qp_str_eq(name, QP_STR("CreationDate")))
                qp_extract_meta(x, "date", content);
        } else if (qp_xml_begins(r, "word")) {
            add_word(&line, r, x->mem);
        } else if (qp_xml_ends(r, "line")) {
            end_line(&page, &line);
        }
    }
    if (r)
        xmlFreeTextReader(r);
    if (!is_title(title))
        title = qp_str_trim(qp_buf_view(&page.largest));
    if (is_title(title))
        qp_extract_title(x, title);
    qp_buf_free(&page.largest);
    qp_buf_free(&line.text);
}

/* ---- the text ---- */

/* pdftotext wants to seek: what came by standard input becomes a file. */
static qp_code set_down(qp_str bytes, char *path, qp_err *err)
{
    int fd = mkostemp(path, O_CLOEXEC);
    size_t at = 0;

    for (ssize_t n = 1; fd >= 0 && at < bytes.n && n > 0; at += n > 0 ? (size_t)n : 0)
        n = write(fd, bytes.at + at, bytes.n - at);
    qp_code code = fd < 0 || at < bytes.n ? qp_fail(err, QP_STORE, "%s: %s", path, strerror(errno)) : QP_OK;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && code)
        unlink(path);
    return code;
}

static qp_code read_file(const char *file, qp_extract *x, qp_err *err)
{
    char *path = (char *)(uintptr_t)file; /* argv wants it so; nobody writes there */
    char *const text_of[] = {"pdftotext", "-q", "-enc", "UTF-8", path, "-", NULL};
    char *const front_of[] = {"pdftotext", "-q", "-enc", "UTF-8", "-l", "1", "-bbox-layout", path, "-", NULL};
    qp_buf text = {0}, front = {0};
    qp_code code = qp_child_output(text_of, install, &text, err);

    code = code ? code : qp_read_text(&(qp_input){qp_buf_view(&text), NULL}, x, err);
    qp_buf_free(&text);
    if (!code && !qp_str_trim(qp_buf_view(&x->text)).n)
        return qp_fail(err, QP_INPUT, "no text in this PDF: its pages may be pictures, which need OCR first");
    if (!code && qp_child_output(front_of, install, &front, NULL) == QP_OK && !front.oom)
        read_front(qp_buf_view(&front), x);
    qp_buf_free(&front);
    return code;
}

qp_code qp_read_pdf(const qp_input *in, qp_extract *x, qp_err *err)
{
    char path[] = P_tmpdir "/quipu-XXXXXX";

    if (!memmem(in->bytes.at, in->bytes.n < 1024 ? in->bytes.n : 1024, "%PDF-", 5))
        return qp_fail(err, QP_INPUT, "wanted a PDF, found other bytes (it does not begin with %%PDF-)");
    if (in->path)
        return read_file(in->path, x, err);
    qp_code code = set_down(in->bytes, path, err);
    if (code)
        return code;
    code = read_file(path, x, err);
    unlink(path);
    return code;
}
