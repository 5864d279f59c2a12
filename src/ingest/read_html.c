/* HTML by gumbo. The tree is walked without recursion, and all of it lies in an arena of its own, because gumbo frees a
 * tree by recursion; nesting deeper than any honest page's is refused before parsing, where it would cost quadratic
 * time.
 */
#include <ctype.h>
#include <gumbo.h>

#include "base/file.h"
#include "ingest/charset.h"
#include "ingest/html_guard.h"
#include "ingest/identifier.h"
#include "ingest/reader.h"
#include "text/utf8.h"

enum { DEEPEST = 2000, LONGEST = 256 << 20 };

struct walk {
    qp_extract *x;
    const char *file; /* null, or the part's name in a larger document */
    int literal;      /* inside <pre>: how deep */
    int cells;        /* of the table row at hand */
    int lists;        /* inside <li>: how deep */
    size_t heading;
};

static void *take(void *arena, size_t n)
{
    return qp_arena_alloc(arena, n ? n : 1);
}

static void keep(void *arena, void *bytes)
{
    (void)arena;
    (void)bytes;
}

static qp_str attribute(const GumboElement *e, const char *name)
{
    const GumboAttribute *a = gumbo_get_attribute(&e->attributes, name);
    return qp_str_of(a ? a->value : NULL);
}

static bool any_of(GumboTag tag, const GumboTag *tags, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tags[i] == tag)
            return true;
    return false;
}
#define ANY_OF(tag, ...) \
    any_of((tag), (const GumboTag[]){__VA_ARGS__}, sizeof((const GumboTag[]){__VA_ARGS__}) / sizeof(GumboTag))

static bool is_dropped(const GumboElement *e)
{
    return ANY_OF(e->tag, GUMBO_TAG_SCRIPT, GUMBO_TAG_STYLE, GUMBO_TAG_NAV, GUMBO_TAG_NOSCRIPT, GUMBO_TAG_TEMPLATE,
                  GUMBO_TAG_SVG, GUMBO_TAG_IFRAME, GUMBO_TAG_OBJECT, GUMBO_TAG_SELECT, GUMBO_TAG_TEXTAREA,
                  GUMBO_TAG_BUTTON) ||
           qp_str_eq(attribute(e, "role"), QP_STR("navigation")) || gumbo_get_attribute(&e->attributes, "hidden");
}

static const GumboVector *children(const GumboNode *node)
{
    if (node->type == GUMBO_NODE_DOCUMENT)
        return &node->v.document.children;
    return node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE ? &node->v.element.children : NULL;
}

/* The node after this one among those below root, in the order of the page; null: it was the last. */
static const GumboNode *following(const GumboNode *root, const GumboNode *node)
{
    const GumboVector *inside = children(node);

    if (inside && inside->length)
        return inside->data[0];
    for (; node != root; node = node->parent) {
        const GumboVector *beside = children(node->parent);
        if (node->index_within_parent + 1 < beside->length)
            return beside->data[node->index_within_parent + 1];
    }
    return NULL;
}

/* No menu holds the headings of a page. */
static bool is_title(const GumboNode *node)
{
    return node->type == GUMBO_NODE_ELEMENT && ANY_OF(node->v.element.tag, GUMBO_TAG_H1, GUMBO_TAG_H2);
}

static bool mostly_links(const GumboNode *root)
{
    enum { MOST_NODES = 2000 }; /* no menu is larger */
    size_t text = 0, linked = 0, seen = 0;

    for (const GumboNode *n = root; n; n = following(root, n)) {
        if (++seen > MOST_NODES || is_title(n))
            return false;
        if (n->type != GUMBO_NODE_TEXT)
            continue;
        bool link = false, dropped = false;
        for (const GumboNode *p = n->parent; p != root; p = p->parent) {
            link |= p->v.element.tag == GUMBO_TAG_A;
            dropped |= is_dropped(&p->v.element);
        }
        size_t bytes = dropped ? 0 : qp_str_trim(qp_str_of(n->v.text.text)).n;
        text += bytes;
        linked += link ? bytes : 0;
    }
    return linked && linked * 2 >= text;
}

/* Does a class or an id have a word that pages call their menus by? */
static bool names_menu(qp_str s)
{
    static const char *const words[] = {"menu",       "nav",         "navbar",   "navigation",
                                        "breadcrumb", "breadcrumbs", "nosearch", "pagination"};

    for (size_t at = 0; at < s.n; at++) {
        size_t from = at;
        while (at < s.n && isalnum((unsigned char)s.at[at]))
            at++;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            size_t n = strlen(words[i]);
            if (at - from >= n && !strncasecmp(s.at + at - n, words[i], n)) /* "submenu" is one too */
                return true;
        }
    }
    return false;
}

/* The menus of a site, in pages older than <nav>, stand on every page: they say nothing about this one, and their links
 * tie all pages to the same few. They are known by their name, and by holding little else than links. */
static bool is_menu(const GumboNode *node)
{
    const GumboElement *e = &node->v.element;

    return !ANY_OF(e->tag, GUMBO_TAG_HTML, GUMBO_TAG_BODY, GUMBO_TAG_MAIN, GUMBO_TAG_ARTICLE) &&
           (names_menu(attribute(e, "class")) || names_menu(attribute(e, "id"))) && mostly_links(node);
}

static bool is_paragraph(GumboTag tag)
{
    return ANY_OF(tag, GUMBO_TAG_P, GUMBO_TAG_DIV, GUMBO_TAG_SECTION, GUMBO_TAG_ARTICLE, GUMBO_TAG_MAIN,
                  GUMBO_TAG_HEADER, GUMBO_TAG_FOOTER, GUMBO_TAG_ASIDE, GUMBO_TAG_BLOCKQUOTE, GUMBO_TAG_PRE,
                  GUMBO_TAG_UL, GUMBO_TAG_OL, GUMBO_TAG_DL, GUMBO_TAG_TABLE, GUMBO_TAG_FIGURE, GUMBO_TAG_FORM,
                  GUMBO_TAG_HR, GUMBO_TAG_ADDRESS, GUMBO_TAG_DETAILS, GUMBO_TAG_CENTER, GUMBO_TAG_FIELDSET);
}

static bool is_line(GumboTag tag)
{
    return ANY_OF(tag, GUMBO_TAG_LI, GUMBO_TAG_DT, GUMBO_TAG_DD, GUMBO_TAG_TR, GUMBO_TAG_CAPTION, GUMBO_TAG_FIGCAPTION,
                  GUMBO_TAG_SUMMARY, GUMBO_TAG_LEGEND);
}

static uint32_t heading_level(GumboTag tag)
{
    return tag >= GUMBO_TAG_H1 && tag <= GUMBO_TAG_H6 ? (uint32_t)(tag - GUMBO_TAG_H1 + 1) : 0;
}

/* Inside a list item or a cell a paragraph is no blank line: the row or item stays together. */
static int lines_before(const struct walk *w, GumboTag tag)
{
    if (w->cells)
        return 0;
    return is_line(tag) || w->lists ? 1 : 2;
}

static void add_anchor(struct walk *w, qp_str name)
{
    if (!name.n)
        return;
    qp_extract_anchor(w->x, w->file ? qp_arena_fmt(w->x->mem, "%s#%.*s", w->file, (int)name.n, name.at) : name);
}

/* Of a part: links within the larger document have an empty target, and the part's file before the fragment. */
static void add_link(struct walk *w, qp_str href)
{
    size_t before = w->x->n_marks;

    qp_extract_link(w->x, href);
    if (!w->file || w->x->n_marks == before)
        return;
    qp_mark *m = &w->x->marks[before];
    if (!qp_str_eq(m->type, QP_STR("link")))
        return;
    qp_str file = qp_path_name(m->target.n ? m->target : qp_str_of(w->file));
    m->anchor =
        m->anchor.n ? qp_arena_fmt(w->x->mem, "%.*s#%.*s", (int)file.n, file.at, (int)m->anchor.n, m->anchor.at) : file;
    m->target = (qp_str){0};
}

static void read_meta(struct walk *w, const GumboElement *e)
{
    static const struct {
        const char *name, *key;
    } kept[] = {{"description", "description"}, {"author", "author"},
                {"keywords", "keywords"},       {"date", "date"},
                {"citation_doi", "doi"},        {"dc.identifier", "doi"},
                {"citation_title", "title"},    {"citation_arxiv_id", "arxiv"}};
    qp_str name = attribute(e, "name"), content = attribute(e, "content");

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (name.n == strlen(kept[i].name) && !strncasecmp(name.at, kept[i].name, name.n) && content.n)
            qp_extract_meta(w->x, kept[i].key, content);
}

static void enter_text_element(struct walk *w, const GumboElement *e)
{
    uint32_t level = heading_level(e->tag);

    if (level) {
        w->heading = qp_extract_heading_begin(w->x, level);
    } else if (e->tag == GUMBO_TAG_BR) {
        qp_extract_block(w->x, 1);
    } else if (e->tag == GUMBO_TAG_TD || e->tag == GUMBO_TAG_TH) {
        qp_extract_literal(w->x, w->cells++ ? QP_STR(" | ") : QP_STR("| "));
    } else if (is_paragraph(e->tag) || is_line(e->tag)) {
        int lines = lines_before(w, e->tag);
        if (lines)
            qp_extract_block(w->x, lines);
        else
            qp_extract_words(w->x, QP_STR(" "));
        if (e->tag == GUMBO_TAG_LI)
            qp_extract_literal(w->x, QP_STR("- "));
    }
}

/* True: its children are to be visited. */
static bool enter(struct walk *w, const GumboNode *node)
{
    const GumboElement *e = &node->v.element;

    if (is_dropped(e) || is_menu(node))
        return false;
    if (e->tag == GUMBO_TAG_META) {
        read_meta(w, e);
        return false;
    }
    if (e->tag == GUMBO_TAG_LINK) {
        if (qp_str_eq(attribute(e, "rel"), QP_STR("next")) && !w->file)
            qp_extract_reference(w->x, QP_STR("next"), qp_percent_decoded(attribute(e, "href"), w->x->mem),
                                 (qp_str){0});
        return false;
    }
    if (e->tag == GUMBO_TAG_TITLE) {
        if (!w->file && e->children.length) {
            const GumboNode *text = e->children.data[0];
            if (text->type == GUMBO_NODE_TEXT)
                qp_extract_title(w->x, qp_str_of(text->v.text.text));
        }
        return false;
    }
    if (e->tag == GUMBO_TAG_HTML && attribute(e, "lang").n)
        qp_extract_meta(w->x, "lang", attribute(e, "lang"));
    enter_text_element(w, e);
    add_anchor(w, attribute(e, "id"));
    if (e->tag == GUMBO_TAG_A) {
        if (!qp_str_eq(attribute(e, "name"), attribute(e, "id")))
            add_anchor(w, attribute(e, "name"));
        add_link(w, attribute(e, "href"));
    }
    if (e->tag == GUMBO_TAG_IMG)
        qp_extract_words(w->x, attribute(e, "alt"));
    w->literal += e->tag == GUMBO_TAG_PRE;
    w->lists += e->tag == GUMBO_TAG_LI;
    return true;
}

static void leave(struct walk *w, const GumboNode *node)
{
    GumboTag tag = node->v.element.tag;

    w->literal -= tag == GUMBO_TAG_PRE;
    w->lists -= tag == GUMBO_TAG_LI;
    if (heading_level(tag)) {
        qp_extract_heading_end(w->x, w->heading);
        const qp_mark *m = w->heading && w->heading <= w->x->n_marks ? &w->x->marks[w->heading - 1] : NULL;
        if (m && m->level == 1 && m->to > m->from)
            qp_extract_title(w->x, qp_str_slice(qp_buf_view(&w->x->text), m->from, m->to));
    } else if (tag == GUMBO_TAG_TR) {
        if (w->cells)
            qp_extract_literal(w->x, QP_STR(" |"));
        w->cells = 0;
        qp_extract_block(w->x, 1);
    } else if (is_paragraph(tag) || is_line(tag)) {
        int lines = lines_before(w, tag);
        if (lines)
            qp_extract_block(w->x, lines);
    }
}

static void text_node(struct walk *w, const GumboNode *node)
{
    qp_str s = qp_str_of(node->v.text.text);

    if (w->literal && !w->cells)
        qp_extract_literal(w->x, s);
    else
        qp_extract_words(w->x, s);
}

static void walk_tree(struct walk *w, const GumboNode *root)
{
    const GumboNode *node = root;
    bool down = true; /* false: node's children are done */

    for (;;) {
        const GumboVector *inside = children(node);

        if (down) {
            bool visit = false;
            if (node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE)
                visit = enter(w, node);
            else if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
                     node->type == GUMBO_NODE_CDATA)
                text_node(w, node);
            else
                visit = node->type == GUMBO_NODE_DOCUMENT;
            if (visit && inside->length) {
                node = inside->data[0];
                continue;
            }
            if (visit && node->type == GUMBO_NODE_ELEMENT)
                leave(w, node);
        } else if (node->type == GUMBO_NODE_ELEMENT) {
            leave(w, node);
        }
        if (node == root)
            return;
        const GumboVector *beside = children(node->parent);
        down = node->index_within_parent + 1 < beside->length;
        node = down ? beside->data[node->index_within_parent + 1] : node->parent;
    }
}

qp_code qp_read_html_part(qp_str utf8, const char *file, qp_extract *x, qp_err *err)
{
    struct walk w = {.x = x, .file = file};
    GumboOptions options = kGumboDefaultOptions;

    if (utf8.n > LONGEST)
        return qp_fail(err, QP_INPUT, "HTML of %zu bytes; at most %d are read", utf8.n, LONGEST);
    if (qp_html_depth(utf8) > DEEPEST)
        return qp_fail(err, QP_INPUT, "HTML nested deeper than %d elements", DEEPEST);
    qp_arena *tree = qp_arena_new();
    if (!tree)
        return qp_oom(err);
    options.allocator = take;
    options.deallocator = keep;
    options.userdata = tree;
    options.max_errors = 0;
    GumboOutput *out = gumbo_parse_with_options(&options, utf8.at, utf8.n);
    if (out) {
        if (file)
            qp_extract_anchor(x, qp_str_of(file));
        walk_tree(&w, out->document);
    }
    qp_arena_free(tree);
    return out && !x->oom && !x->text.oom ? QP_OK : qp_oom(err);
}

qp_code qp_read_html(const qp_input *in, qp_extract *x, qp_err *err)
{
    qp_buf recode = {0}, utf8 = {0};
    qp_str bytes = in->bytes;

    if (qp_utf8_valid(bytes) < bytes.n && !memchr(bytes.at, 0, bytes.n < 4096 ? bytes.n : 4096) &&
        qp_charset_recode(bytes, &recode))
        bytes = qp_buf_view(&recode);
    if (qp_utf8_valid(bytes) < bytes.n || qp_str_starts(bytes, QP_STR("\xEF\xBB\xBF"))) {
        x->replaced = qp_utf8_repair(bytes, &utf8);
        bytes = qp_buf_view(&utf8);
    }
    qp_code code = utf8.oom || recode.oom ? qp_oom(err) : qp_read_html_part(bytes, NULL, x, err);
    qp_buf_free(&recode);
    qp_buf_free(&utf8);
    return code;
}
