/* Man pages in their roff source (man and mdoc macros), gzipped or not: the words, the sections, and name(3) as it is
 * printed. Not a formatter: requests that only lay out are dropped. */
#include <ctype.h>
#include <strings.h>

#include "ingest/archive.h"
#include "ingest/reader.h"
#include "text/utf8.h"

/* \fB, \-, \(bu, \[co] and their like, resolved into plain text. */
static qp_str unescaped(qp_str s, qp_arena *a)
{
    static const struct {
        char name[3];
        const char *text;
    } glyphs[] = {{"bu", "\u2022"}, {"em", "\u2014"}, {"en", "\u2013"}, {"co", "\u00A9"}, {"aq", "'"},     {"dq", "\""},
                  {"lq", "\u201C"}, {"rq", "\u201D"}, {"oq", "\u2018"}, {"cq", "\u2019"}, {"ha", "^"},     {"ti", "~"},
                  {"rs", "\\"},     {"->", "\u2192"}, {"<=", "\u2264"}, {">=", "\u2265"}, {"mu", "\u00D7"}};
    char *out = qp_arena_alloc(a, s.n * 2 + 1);
    size_t n = 0;

    for (size_t i = 0; out && i < s.n; i++) {
        if (s.at[i] != '\\' || i + 1 == s.n) {
            out[n++] = s.at[i];
            continue;
        }
        char c = s.at[++i];
        if (c == 'f' || c == '*' || c == 'k' || c == 'n' || c == 's') { /* fonts, strings, registers, sizes */
            i += i + 1 < s.n && c == 's' && (s.at[i + 1] == '-' || s.at[i + 1] == '+');
            if (i + 1 < s.n && s.at[i + 1] == '[') {
                while (i + 1 < s.n && s.at[i + 1] != ']')
                    i++;
                i++;
            } else {
                i += i + 1 < s.n && s.at[i + 1] == '(' ? 3 : 1;
            }
        } else if (c == '(' || c == '[') {
            size_t from = i + 1, m = c == '(' ? 2 : 0;
            while (c == '[' && from + m < s.n && s.at[from + m] != ']')
                m++;
            for (size_t k = 0; m == 2 && from + 2 <= s.n && k < sizeof glyphs / sizeof *glyphs; k++)
                if (!memcmp(s.at + from, glyphs[k].name, 2)) {
                    memcpy(out + n, glyphs[k].text, strlen(glyphs[k].text));
                    n += strlen(glyphs[k].text);
                }
            i = from + m - (c == '(');
        } else if (c == '"') {
            break; /* a comment */
        } else if (c == '-' || c == '.' || c == '\'' || c == ' ' || c == '~') {
            out[n++] = c == '~' ? ' ' : c;
        } else if (c == 'e') {
            out[n++] = '\\';
        } /* \&, \|, \c, \/ and the rest print nothing */
    }
    return (qp_str){out ? out : "", n};
}

/* The next argument of a macro line: white space parts them, double quotes hold them together. */
static bool argument(qp_str *rest, qp_str *out)
{
    *rest = qp_str_trim(*rest);
    if (!rest->n)
        return false;
    bool quoted = rest->at[0] == '"';
    size_t from = quoted, to = from;
    while (to < rest->n && (quoted ? rest->at[to] != '"' : !isspace((unsigned char)rest->at[to])))
        to++;
    *out = qp_str_slice(*rest, from, to);
    *rest = qp_str_slice(*rest, to + quoted, rest->n);
    return true;
}

/* All arguments; joined without spaces for macros that alternate fonts (.BR printf (3)). */
static void add_arguments(qp_extract *x, qp_str rest, bool joined)
{
    qp_str one;

    qp_extract_words(x, QP_STR(" "));
    while (argument(&rest, &one)) {
        qp_str text = unescaped(one, x->mem);
        if (joined)
            qp_extract_literal(x, text);
        else
            qp_extract_words(x, text);
        if (!joined)
            qp_extract_words(x, QP_STR(" "));
    }
    qp_extract_words(x, QP_STR(" "));
}

static void add_section(qp_extract *x, qp_str rest, uint32_t level)
{
    size_t heading = qp_extract_heading_begin(x, level);

    add_arguments(x, rest, false);
    qp_extract_heading_end(x, heading);
}

/* .TH NAME 3 / .Dt NAME 3: the title "NAME(3)". */
static void add_title(qp_extract *x, qp_str rest)
{
    qp_str name, section;

    if (argument(&rest, &name) && argument(&rest, &section)) {
        name = unescaped(name, x->mem);
        section = unescaped(section, x->mem);
        qp_extract_title(x, qp_arena_fmt(x->mem, "%.*s(%.*s)", (int)name.n, name.at, (int)section.n, section.at));
    }
}

static bool is_any(qp_str name, const char *names)
{
    for (qp_str rest = qp_str_of(names); rest.n;)
        if (qp_str_eq(qp_str_split(rest, ' ', &rest), name))
            return true;
    return false;
}

static void macro(qp_extract *x, qp_str name, qp_str rest, bool *literal)
{
    qp_str one, page;

    if (is_any(name, "TH Dt")) {
        add_title(x, rest);
    } else if (is_any(name, "SH Sh")) {
        *literal = false;
        add_section(x, rest, 2);
    } else if (is_any(name, "SS Ss")) {
        add_section(x, rest, 3);
    } else if (is_any(name, "PP P LP Pp sp IP TP TQ HP It")) {
        qp_extract_block(x, is_any(name, "IP TP TQ It") ? 1 : 2);
        if (is_any(name, "IP It") && argument(&rest, &one))
            add_arguments(x, one, false);
    } else if (is_any(name, "nf EX Bd")) {
        qp_extract_block(x, 1);
        *literal = true;
    } else if (is_any(name, "fi EE Ed")) {
        qp_extract_block(x, 1);
        *literal = false;
    } else if (is_any(name, "br")) {
        qp_extract_block(x, 1);
    } else if (is_any(name, "BR RB BI IB IR RI")) {
        add_arguments(x, rest, true);
    } else if (is_any(name, "Xr") && argument(&rest, &one) && argument(&rest, &page)) {
        qp_extract_words(x, qp_arena_fmt(x->mem, " %.*s(%.*s) ", (int)one.n, one.at, (int)page.n, page.at));
    } else if (is_any(name, "B I SM SB Nm Nd Fl Ar Cm Op Pa Em Sy Va Fa Fn Ft Vt Li Ql Dq Sq UR ME MT")) {
        add_arguments(x, rest, false);
    }
}

static void read_line(qp_extract *x, qp_str line, bool *literal, bool *skipping)
{
    if (line.n && (line.at[0] == '.' || line.at[0] == '\'')) {
        qp_str rest = qp_str_trim(qp_str_slice(line, 1, line.n)), name;
        if (*skipping) { /* a macro's definition, to ".." */
            *skipping = !qp_str_starts(rest, QP_STR("."));
            return;
        }
        if (!argument(&rest, &name) || qp_str_starts(name, QP_STR("\\\"")))
            return;
        *skipping = is_any(name, "de de1 ig am");
        macro(x, name, rest, literal);
        if (*literal)
            qp_extract_block(x, 1);
    } else if (!*skipping) {
        if (*literal) {
            qp_extract_literal(x, unescaped(line, x->mem));
            qp_extract_literal(x, QP_STR("\n"));
        } else if (!qp_str_trim(line).n) {
            qp_extract_block(x, 2);
        } else {
            qp_extract_words(x, unescaped(line, x->mem));
            qp_extract_words(x, QP_STR(" "));
        }
    }
}

/* A page that is only another name of one: ".so man3/printf.3". */
static void add_alias(qp_extract *x, qp_str source)
{
    qp_str line = qp_str_trim(qp_str_split(qp_str_slice(source, 4, source.n), '\n', &(qp_str){0}));
    size_t slash = line.n, dot;

    while (slash && line.at[slash - 1] != '/')
        slash--;
    for (dot = line.n; dot > slash && line.at[dot - 1] != '.';)
        dot--;
    if (dot > slash)
        qp_extract_words(x, qp_arena_fmt(x->mem, "See %.*s(%.*s).", (int)(dot - 1 - slash), line.at + slash,
                                         (int)(line.n - dot), line.at + dot));
}

qp_code qp_read_man(const qp_input *in, qp_extract *x, qp_err *err)
{
    qp_buf plain = {0};
    qp_extract source;
    bool literal = false, skipping = false, zipped = in->bytes.n > 2 && !memcmp(in->bytes.at, "\x1F\x8B", 2);
    qp_code code = zipped ? qp_unzip(in->bytes, &plain, err) : QP_OK;

    qp_extract_init(&source, x->mem);
    if (!code)
        code = qp_read_text(&(qp_input){zipped ? qp_buf_view(&plain) : in->bytes, in->path}, &source, err);
    x->replaced = source.replaced;
    for (qp_str rest = qp_buf_view(&source.text); !code && rest.n;)
        read_line(x, qp_str_split(rest, '\n', &rest), &literal, &skipping);
    if (!code && qp_str_starts(qp_buf_view(&source.text), QP_STR(".so ")))
        add_alias(x, qp_buf_view(&source.text));
    qp_extract_free(&source);
    qp_buf_free(&plain);
    return code;
}
