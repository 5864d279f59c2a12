/* Markdown by md4c: CommonMark with tables, strike-through and wiki links. A heading is an anchor by the name GitHub
 * gives it. A block of raw HTML is read as HTML is; of tags inside a paragraph the ids, names and links count.
 */
#include <ctype.h>
#include <md4c.h>
#include <strings.h>

#include "ingest/reader.h"
#include "text/utf8.h"

struct build {
    qp_extract *x;
    size_t heading, heading_from;
    bool literal; /* in a code block */
    bool first_cell;
    bool raw; /* in a block of raw HTML */
    int lists;
    bool item;   /* a list item began: the next paragraph stands on its line */
    qp_buf html; /* raw HTML gathered until it ends */
};

static qp_str attribute(const MD_ATTRIBUTE *a)
{
    return (qp_str){a->text ? a->text : "", a->text ? a->size : 0};
}

/* GitHub's rule: lower case, spaces to hyphens, no punctuation but hyphen and underscore. */
static void add_slug(struct build *b, qp_str heading)
{
    qp_str key = qp_str_trim(heading);
    char *out = qp_arena_alloc(b->x->mem, key.n + 1);
    size_t n = 0;

    if (!out)
        return;
    for (size_t i = 0; i < key.n; i++) {
        unsigned char c = (unsigned char)key.at[i];
        if (c >= 0x80 || isalnum(c) || c == '_' || c == '-')
            out[n++] = (char)tolower(c);
        else if (c == ' ')
            out[n++] = '-';
    }
    if (n)
        qp_extract_mark(b->x, (qp_mark){.kind = QP_MARK_ANCHOR, .from = b->heading_from, .target = {out, n}});
}

/* The tags of gathered raw HTML, in any case: ids, names and links. */
static void take_html(struct build *b)
{
    static const char *const names[] = {"id=", "name=", "href="};
    qp_str s = qp_buf_view(&b->html);
    bool tag = false;

    for (size_t i = 0; i < s.n; i++) {
        if (s.at[i] == '<')
            tag = true;
        else if (s.at[i] == '>')
            tag = false;
        for (int k = 0; tag && k < 3; k++) {
            size_t n = strlen(names[k]);
            if (i == 0 || !isspace((unsigned char)s.at[i - 1]) || s.n - i <= n + 1 ||
                strncasecmp(s.at + i, names[k], n))
                continue;
            char quote = s.at[i + n];
            if (quote != '"' && quote != '\'')
                continue;
            const char *end = memchr(s.at + i + n + 1, quote, s.n - i - n - 1);
            if (!end)
                continue;
            qp_str value = {s.at + i + n + 1, (size_t)(end - (s.at + i + n + 1))};
            if (k == 2)
                qp_extract_link(b->x, value);
            else
                qp_extract_anchor(b->x, value);
        }
    }
    qp_buf_clear(&b->html);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct build *b = user;

    switch (type) {
    case MD_BLOCK_H:
        b->heading = qp_extract_heading_begin(b->x, ((MD_BLOCK_H_DETAIL *)detail)->level);
        b->heading_from = b->x->text.n;
        break;
    case MD_BLOCK_LI:
        qp_extract_block(b->x, 1);
        qp_extract_literal(b->x, QP_STR("- "));
        b->lists++;
        b->item = true;
        break;
    case MD_BLOCK_TR:
        qp_extract_block(b->x, 1);
        b->first_cell = true;
        break;
    case MD_BLOCK_TD:
    case MD_BLOCK_TH:
        qp_extract_literal(b->x, b->first_cell ? QP_STR("| ") : QP_STR(" | "));
        b->first_cell = false;
        break;
    case MD_BLOCK_CODE:
        qp_extract_block(b->x, b->lists ? 1 : 2);
        b->literal = true;
        break;
    case MD_BLOCK_HTML:
        qp_extract_block(b->x, b->lists ? 1 : 2);
        b->item = false;
        b->raw = true;
        break;
    case MD_BLOCK_DOC:
    case MD_BLOCK_THEAD:
    case MD_BLOCK_TBODY: break;
    default:
        if (!b->item)
            qp_extract_block(b->x, b->lists ? 1 : 2);
        b->item = false;
    }
    return b->x->oom || b->x->text.oom;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct build *b = user;

    (void)detail;
    switch (type) {
    case MD_BLOCK_H: {
        qp_extract_heading_end(b->x, b->heading);
        const qp_mark *m = &b->x->marks[b->heading - 1];
        qp_str heading = qp_str_slice(qp_buf_view(&b->x->text), m->from, m->to);
        if (m->level == 1)
            qp_extract_title(b->x, heading);
        add_slug(b, heading);
        break;
    }
    case MD_BLOCK_LI:
        b->lists--;
        b->item = false;
        break;
    case MD_BLOCK_TR:
        qp_extract_literal(b->x, QP_STR(" |"));
        qp_extract_block(b->x, 1);
        break;
    case MD_BLOCK_HTML:
        b->raw = false;
        b->x->oom |= qp_read_html_part(qp_buf_view(&b->html), NULL, b->x, NULL) == QP_STORE;
        qp_buf_clear(&b->html);
        break;
    case MD_BLOCK_CODE:
        b->literal = false;
        qp_extract_block(b->x, 1);
        break;
    case MD_BLOCK_P:
    case MD_BLOCK_TABLE:
    case MD_BLOCK_QUOTE: qp_extract_block(b->x, b->lists ? 1 : 2); break;
    default: break;
    }
    return b->x->oom || b->x->text.oom;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct build *b = user;

    if (type == MD_SPAN_A) {
        qp_extract_link(b->x, attribute(&((MD_SPAN_A_DETAIL *)detail)->href));
    } else if (type == MD_SPAN_WIKILINK) {
        qp_str anchor, page = qp_str_split(attribute(&((MD_SPAN_WIKILINK_DETAIL *)detail)->target), '#', &anchor);
        if (page.n)
            qp_extract_reference(b->x, QP_STR("link"), qp_arena_fmt(b->x->mem, "wiki:%.*s", (int)page.n, page.at),
                                 anchor);
        else
            qp_extract_reference(b->x, QP_STR("link"), page, anchor);
    }
    return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *user)
{
    (void)type;
    (void)detail;
    (void)user;
    return 0;
}

/* &amp; and its like; md4c leaves entities to whoever prints. The five of XML and numbers; others stay as they are. */
static void add_entity(qp_extract *x, qp_str s)
{
    static const struct {
        qp_str name, text;
    } known[] = {{{"&amp;", 5}, {"&", 1}},        {{"&lt;", 4}, {"<", 1}},         {{"&gt;", 4}, {">", 1}},
                 {{"&quot;", 6}, {"\"", 1}},      {{"&apos;", 6}, {"'", 1}},       {{"&nbsp;", 6}, {" ", 1}},
                 {{"&mdash;", 7}, {"\u2014", 3}}, {{"&ndash;", 7}, {"\u2013", 3}}, {{"&copy;", 6}, {"\u00A9", 2}},
                 {{"&hellip;", 8}, {"\u2026", 3}}};
    char bytes[4];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (qp_str_eq(s, known[i].name)) {
            qp_extract_words(x, known[i].text);
            return;
        }
    if (s.n > 3 && s.n < 12 && s.at[1] == '#') {
        bool hexadecimal = (s.at[2] | 0x20) == 'x';
        uint32_t c = 0;
        for (size_t i = hexadecimal ? 3 : 2; i + 1 < s.n && isxdigit((unsigned char)s.at[i]) && c <= 0x10FFFF; i++) {
            uint32_t d = (uint32_t)(isdigit((unsigned char)s.at[i]) ? s.at[i] - '0' : (s.at[i] | 0x20) - 'a' + 10);
            c = c * (hexadecimal ? 16 : 10) + d;
        }
        qp_extract_words(x, (qp_str){bytes, qp_utf8_put(bytes, c ? c : QP_REPLACEMENT)});
        return;
    }
    qp_extract_words(x, s);
}

static int text(MD_TEXTTYPE type, const MD_CHAR *at, MD_SIZE n, void *user)
{
    struct build *b = user;
    qp_str s = {at, n};

    b->item = false;
    switch (type) {
    case MD_TEXT_HTML:
        qp_buf_str(&b->html, s);
        if (!b->raw && n && at[n - 1] == '>')
            take_html(b);
        break;
    case MD_TEXT_ENTITY: add_entity(b->x, s); break;
    case MD_TEXT_NULLCHAR: qp_extract_words(b->x, QP_STR("\xEF\xBF\xBD")); break;
    case MD_TEXT_BR: qp_extract_block(b->x, 1); break;
    case MD_TEXT_SOFTBR: qp_extract_words(b->x, QP_STR(" ")); break;
    default:
        if (b->literal)
            qp_extract_literal(b->x, s);
        else
            qp_extract_words(b->x, s);
    }
    return b->x->text.oom;
}

qp_code qp_read_markdown(const qp_input *in, qp_extract *x, qp_err *err)
{
    static const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_WIKILINKS | MD_FLAG_TASKLISTS |
                 MD_FLAG_PERMISSIVEAUTOLINKS,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = text,
    };
    struct build b = {.x = x};
    qp_input raw = {in->bytes, in->path};
    qp_extract plain;

    qp_extract_init(&plain, x->mem); /* the source as text, repaired, with line ends made one */
    qp_code code = qp_read_text(&raw, &plain, err);
    if (!code && plain.text.n > UINT32_MAX / 2)
        code = qp_fail(err, QP_INPUT, "Markdown of %zu bytes; at most 2 GiB are read", plain.text.n);
    if (!code) {
        x->replaced = plain.replaced;
        qp_str source = qp_front_matter(qp_buf_view(&plain.text), x);
        if (md_parse(source.at, (MD_SIZE)source.n, &parser, &b) || x->oom || x->text.oom)
            code = qp_oom(err);
    }
    qp_extract_free(&plain);
    qp_buf_free(&b.html);
    return code;
}
