/* Readers: the bytes of one file to one extract. Foreign bytes: a reader either understands them or fails with one line
 * that says why; it never crashes, and what it takes is bounded. Any thread; one extract each.
 */
#ifndef QP_INGEST_READER_H
#define QP_INGEST_READER_H

#include "ingest/extract.h"

typedef struct qp_input {
    qp_str bytes;
    const char *path; /* null: from standard input */
} qp_input;

typedef qp_code (*qp_read_fn)(const qp_input *, qp_extract *, qp_err *);

qp_code qp_read_text(const qp_input *, qp_extract *, qp_err *);     /* pages parted by form feeds */
qp_code qp_read_markdown(const qp_input *, qp_extract *, qp_err *); /* CommonMark, tables, wiki links, front matter */
qp_code qp_read_html(const qp_input *, qp_extract *, qp_err *);
qp_code qp_read_pdf(const qp_input *, qp_extract *, qp_err *); /* by pdftotext, a child process */
qp_code qp_read_docx(const qp_input *, qp_extract *, qp_err *);
qp_code qp_read_epub(const qp_input *, qp_extract *, qp_err *);
qp_code qp_read_man(const qp_input *, qp_extract *, qp_err *); /* roff source of a man page, also gzipped */

/* Parts that readers share. */
/* HTML that is already UTF-8, appended; with `file` its anchors and links are those of that part of a larger document
 * ("chapter.xhtml#section"). */
qp_code qp_read_html_part(qp_str utf8, const char *file, qp_extract *, qp_err *);
/* Takes YAML front matter ("---" ... "---") off the beginning into the metadata; returns what follows. */
qp_str qp_front_matter(qp_str text, qp_extract *);
/* Marks DOIs, arXiv ids, man pages, and numbered references with their list, in the finished text. */
void qp_scan_references(qp_extract *, const char *format);
/* Marks "Section 3.2", "Table 2", "Eq. (5)", "Rule 5.2.1(3)" and the like where this text has what they name: "xref"
 * references with an empty target, and an anchor ("table 2") at the heading, caption or number. */
void qp_scan_cross_references(qp_extract *);

#endif
