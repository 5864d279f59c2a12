#include "ingest/format.h"

#include <ctype.h>
#include <strings.h>

static const qp_format formats[] = {
    {"text", qp_read_text, 0}, {"markdown", qp_read_markdown, 0}, {"html", qp_read_html, 0},
    {"pdf", qp_read_pdf, 0},   {"docx", qp_read_docx, 0},         {"epub", qp_read_epub, 0},
    {"man", qp_read_man, 0},   {"jsonl", NULL, QP_JSONL},         {"csv", NULL, QP_CSV},
    {"tsv", NULL, QP_TSV},     {"json", NULL, QP_JSON},
};

static const struct {
    const char *suffix, *format;
} suffixes[] = {
    {".md", "markdown"},  {".markdown", "markdown"}, {".mdx", "markdown"}, {".html", "html"}, {".htm", "html"},
    {".xhtml", "html"},   {".pdf", "pdf"},           {".docx", "docx"},    {".epub", "epub"}, {".jsonl", "jsonl"},
    {".ndjson", "jsonl"}, {".csv", "csv"},           {".tsv", "tsv"},      {".json", "json"}, {".txt", "text"},
    {".text", "text"},    {".rst", "text"},          {".org", "text"},     {".tex", "text"},
};

const qp_format *qp_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

static bool ends(qp_str name, const char *suffix)
{
    size_t n = strlen(suffix);
    return name.n > n && !strncasecmp(name.at + name.n - n, suffix, n);
}

/* printf.3, printf.3.gz, SSL_new.3ssl.gz */
static bool is_man_page(qp_str name, qp_str head)
{
    bool zipped = ends(name, ".gz");

    if (zipped)
        name.n -= 3;
    for (size_t i = name.n; i > 1; i--)
        if (name.at[i - 1] == '.') {
            bool section = i < name.n && name.at[i] >= '1' && name.at[i] <= '9' && name.n - i < 6 &&
                           (i + 1 == name.n || isalpha((unsigned char)name.at[i + 1]));
            return section && (zipped || (head.n && (head.at[0] == '.' || head.at[0] == '\'')));
        }
    return false;
}

static bool is_text(qp_str head)
{
    static const char *const others[] = {"\xFF\xD8\xFF", "\x89PNG", "GIF8", "PK\x03\x04",
                                         "\177ELF",      "RIFF",    "OggS", "SQLite format 3"};
    size_t control = 0;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (qp_str_starts(head, qp_str_of(others[i])))
            return false;
    if (qp_str_starts(head, QP_STR("\xFF\xFE")) || qp_str_starts(head, QP_STR("\xFE\xFF")))
        return true;
    for (size_t i = 0; i < head.n; i++) {
        unsigned char c = (unsigned char)head.at[i];
        control += c == 0 || (c < ' ' && !strchr("\t\n\v\f\r\b\033", c));
    }
    return control * 100 <= head.n; /* a stray NUL is repaired; a program has them everywhere */
}

const qp_format *qp_format_of(qp_str name, qp_str head)
{
    static const char *const zipped[] = {".zip", ".gz", ".xlsx", ".pptx", ".odt", ".jar"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends(name, suffixes[i].suffix))
            return qp_format_named(suffixes[i].format);
    if (is_man_page(name, head))
        return qp_format_named("man");
    for (size_t i = 0; i < sizeof zipped / sizeof *zipped; i++)
        if (ends(name, zipped[i]))
            return NULL;
    if (qp_str_starts(head, QP_STR("%PDF-")))
        return qp_format_named("pdf");
    if (!is_text(head))
        return NULL;
    qp_str first = qp_str_trim(head);
    if (first.n > 14 && (!strncasecmp(first.at, "<!doctype html", 14) || !strncasecmp(first.at, "<html", 5)))
        return qp_format_named("html");
    if (!name.n && qp_str_starts(first, QP_STR("{\"")) && memchr(first.at, '}', first.n))
        return qp_format_named("jsonl"); /* standard input that looks like records */
    return qp_format_named("text");
}
