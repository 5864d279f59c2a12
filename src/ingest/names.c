#include "ingest/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <yyjson.h>

#include "base/array.h"
#include "base/file.h"
#include "ingest/identifier.h"

enum {
    OPENING = 4,
    LONG_TITLE = 20,
    SHORT_TITLE = 12
}; /* of titles: words and bytes of one looked for in an entry, letters of one that is the entry's own */

static void name(qp_names *names, qp_map *map, qp_str key, size_t document)
{
    bool added;
    uint64_t *slot = key.n ? qp_map_put(map, key, &added) : NULL;

    names->oom |= key.n && !slot;
    if (slot && added)
        *slot = document + 1;
}

static size_t who(const qp_map *map, qp_str key)
{
    const uint64_t *slot = qp_map_get(map, key);
    return slot ? (size_t)*slot - 1 : QP_NOBODY;
}

static qp_str lowered(qp_str s, qp_arena *a)
{
    char *out = qp_arena_alloc(a, s.n + 1);

    for (size_t i = 0; out && i < s.n; i++)
        out[i] = (char)tolower((unsigned char)s.at[i]);
    return (qp_str){out ? out : "", out ? s.n : 0};
}

static qp_str without_suffix(qp_str file)
{
    for (size_t i = file.n; i > 1; i--)
        if (file.at[i - 1] == '.')
            return qp_str_slice(file, 0, i - 1);
    return file;
}

/* "printf.3", "printf.3.gz", "printf.3.html" are printf(3), and so is a title that begins with PRINTF(3). */
static void name_man_page(qp_names *names, const qp_stored *d, qp_str file, size_t document)
{
    size_t n = qp_man_page_at(d->title);

    if (n)
        name(names, names->pages, lowered(qp_str_slice(d->title, 0, n), names->mem), document);
    for (int suffixes = 0; suffixes < 2; suffixes++) {
        qp_str stem = without_suffix(file), section = qp_str_slice(file, stem.n + 1, file.n);
        if (stem.n < file.n && section.n && section.n < 6 && isdigit((unsigned char)section.at[0]) &&
            (section.n == 1 || isalpha((unsigned char)section.at[1])))
            name(names, names->pages,
                 lowered(qp_arena_fmt(names->mem, "%.*s(%.*s)", (int)stem.n, stem.at, (int)section.n, section.at),
                         names->mem),
                 document);
        file = stem;
    }
}

static void name_identifier(qp_names *names, qp_str text, qp_str prefix, size_t document)
{
    size_t at, n;
    qp_str id;

    if (text.n > 300)
        return;
    if (!qp_identifier_find(text, &at, &n, &id, names->mem) &&
        !(prefix.n &&
          qp_identifier_find(qp_arena_fmt(names->mem, "arXiv:%.*s", (int)text.n, text.at), &at, &n, &id, names->mem)))
        return;
    name(names, names->identifiers, id, document);
}

static void name_identifiers(qp_names *names, const qp_stored *d, qp_str file, size_t document)
{
    static const char *const fields[] = {"doi", "DOI", "arxiv", "arxiv_id", "arxivId", "arXiv"};

    if (isdigit((unsigned char)(file.n ? file.at[0] : 0))) /* 1706.03762v5.pdf */
        name_identifier(names, without_suffix(file), QP_STR("arxiv"), document);
    if (d->meta.n < 8)
        return;
    yyjson_doc *meta = yyjson_read(d->meta.at, d->meta.n, 0);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        yyjson_val *v = yyjson_obj_get(yyjson_doc_get_root(meta), fields[i]);
        if (yyjson_is_str(v))
            name_identifier(names, (qp_str){yyjson_get_str(v), yyjson_get_len(v)},
                            i < 2 ? (qp_str){0} : QP_STR("arxiv"), document);
    }
    yyjson_doc_free(meta);
}

/* The bytes of the first OPENING words of a title key; 0: it has fewer. */
static size_t opening(qp_str key)
{
    size_t words = 0;

    for (size_t i = 0; i <= key.n; i++)
        if ((i == key.n || key.at[i] == ' ') && ++words == OPENING)
            return i;
    return 0;
}

/* A title's letters alone: a line's end may have parted a word, or joined two. */
static qp_str squeezed(qp_str key, qp_arena *a)
{
    char *out = qp_arena_alloc(a, key.n + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < key.n; i++)
        if (key.at[i] != ' ')
            out[n++] = key.at[i];
    return (qp_str){out ? out : "", n};
}

static qp_code name_title(qp_names *names, const qp_stored *d, size_t document, qp_err *err)
{
    qp_str key = qp_title_key(d->title, names->mem);
    size_t n = opening(key);

    name(names, names->titles, key, document);
    name(names, names->letters, squeezed(key, names->mem), document);
    if (!n || key.n < LONG_TITLE)
        return QP_OK;
    struct qp_long_title *grown = qp_array_room(names->long_titles, names->n_long, &names->cap_long, sizeof *grown);
    if (!grown)
        return qp_oom(err);
    names->long_titles = grown;
    bool added;
    uint64_t *slot = qp_map_put(names->openings, qp_str_slice(key, 0, n), &added);
    if (!slot)
        return qp_oom(err);
    names->long_titles[names->n_long] = (struct qp_long_title){key, document, added ? QP_NOBODY : (size_t)*slot};
    *slot = names->n_long++;
    return QP_OK;
}

/* A record's path is that of all records beside it, so it names none of them. */
static bool shares_file(qp_str format)
{
    return qp_str_eq(format, QP_STR("jsonl")) || qp_str_eq(format, QP_STR("csv")) || qp_str_eq(format, QP_STR("tsv")) ||
           qp_str_eq(format, QP_STR("json"));
}

static qp_code take_document(void *ctx, const qp_stored *d, qp_err *err)
{
    qp_names *names = ctx;
    size_t document = names->n;
    bool alone = d->path.n && !shares_file(d->format);
    qp_str path = alone ? d->path : (qp_str){0}, file = qp_path_name(alone ? d->path : d->key);

    qp_named *grown = qp_array_room(names->documents, names->n, &names->cap, sizeof *grown);
    if (!grown)
        return qp_oom(err);
    names->documents = grown;
    names->documents[names->n++] =
        (qp_named){.row = d->row, .n_chunks = d->n_chunks, .path = alone ? qp_arena_str(names->mem, path) : path};
    name(names, names->keys, d->key, document);
    name(names, names->paths, path, document);
    if (alone)
        name(names, names->stems, qp_title_key(without_suffix(file), names->mem), document);
    name_man_page(names, d, file, document);
    name_identifiers(names, d, file, document);
    return d->title.n ? name_title(names, d, document, err) : QP_OK;
}

qp_code qp_names_load(qp_store *store, qp_names *names, qp_err *err)
{
    *names = (qp_names){.keys = qp_map_new(),
                        .paths = qp_map_new(),
                        .stems = qp_map_new(),
                        .pages = qp_map_new(),
                        .identifiers = qp_map_new(),
                        .titles = qp_map_new(),
                        .letters = qp_map_new(),
                        .openings = qp_map_new(),
                        .mem = qp_arena_new()};
    if (!names->keys || !names->paths || !names->stems || !names->pages || !names->identifiers || !names->titles ||
        !names->letters || !names->openings || !names->mem)
        return qp_oom(err);
    qp_code code = qp_store_documents(store, take_document, names, err);
    return code || !names->oom ? code : qp_oom(err);
}

void qp_names_free(qp_names *names)
{
    qp_map *maps[] = {names->keys,        names->paths,  names->stems,    names->pages,
                      names->identifiers, names->titles, names->openings, names->letters};

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        qp_map_free(maps[i]);
    qp_arena_free(names->mem);
    free(names->documents);
    free(names->long_titles);
}

/* ---- links ---- */

/* folder/target without "." and ".." and double slashes; what climbs above the root stays there. */
static qp_str joined(qp_str folder, qp_str target, qp_arena *a)
{
    qp_str whole = qp_arena_fmt(a, "%.*s/%.*s", (int)folder.n, folder.at, (int)target.n, target.at), part;
    char *out = qp_arena_alloc(a, whole.n + 2);
    size_t n = 0;

    if (!out)
        return (qp_str){0};
    for (qp_str rest = whole; rest.n;) {
        part = qp_str_split(rest, '/', &rest);
        if (!part.n || qp_str_eq(part, QP_STR(".")))
            continue;
        if (qp_str_eq(part, QP_STR(".."))) {
            while (n && out[--n] != '/')
                ;
            continue;
        }
        out[n++] = '/';
        memcpy(out + n, part.at, part.n);
        n += part.n;
    }
    return (qp_str){out, n};
}

/* A path as it is, or as a server would complete it. */
static size_t who_lies_at(const qp_names *names, qp_str path, qp_arena *a)
{
    static const char *const endings[] = {".md", ".html", ".htm", "/index.html", "/index.md", "/README.md"};
    size_t found = who(names->paths, path);

    for (size_t i = 0; found == QP_NOBODY && path.n && i < sizeof endings / sizeof *endings; i++)
        found = who(names->paths, qp_arena_fmt(a, "%.*s%s", (int)path.n, path.at, endings[i]));
    return found;
}

static size_t wiki(const qp_names *names, qp_str page, qp_arena *a)
{
    qp_str key = qp_title_key(without_suffix(qp_path_name(page)), a), whole = qp_title_key(page, a);
    size_t found = who(names->stems, key);

    if (found == QP_NOBODY)
        found = who(names->stems, qp_title_key(qp_path_name(page), a));
    return found == QP_NOBODY ? who(names->titles, whole) : found;
}

size_t qp_names_link(const qp_names *names, size_t from, qp_str target, qp_arena *a)
{
    qp_str path = names->documents[from].path;
    size_t found;

    if (!target.n)
        return from;
    if (qp_str_starts(target, QP_STR("wiki:")))
        return wiki(names, qp_str_slice(target, 5, target.n), a);
    if (!path.n)
        return who(names->keys, target);
    qp_str folder = qp_str_slice(path, 0, path.n - qp_path_name(path).n);
    if (target.at[0] != '/')
        return who_lies_at(names, joined(folder, target, a), a);
    found = who_lies_at(names, joined((qp_str){"", 0}, target, a), a);
    while (found == QP_NOBODY && folder.n > 1) { /* a path from the site's root: the root is some folder above */
        folder = qp_str_slice(folder, 0, folder.n - 1);
        folder = qp_str_slice(folder, 0, folder.n - qp_path_name(folder).n);
        found = who_lies_at(names, joined(folder, target, a), a);
    }
    return found;
}

size_t qp_names_man(const qp_names *names, qp_str page, qp_arena *a)
{
    return who(names->pages, lowered(page, a));
}

size_t qp_names_key(const qp_names *names, qp_str key)
{
    return who(names->keys, key);
}

/* The document with the longest title that stands in the text, as whole words. */
static size_t titled_in(const qp_names *names, qp_str text, qp_arena *a)
{
    qp_str key = qp_title_key(text, a);
    size_t found = QP_NOBODY, longest = 0;

    for (size_t at = 0; at < key.n; at++) {
        if (at && key.at[at - 1] != ' ')
            continue;
        qp_str rest = qp_str_slice(key, at, key.n);
        size_t n = opening(rest);
        const uint64_t *slot = n ? qp_map_get(names->openings, qp_str_slice(rest, 0, n)) : NULL;
        for (size_t i = slot ? (size_t)*slot : QP_NOBODY; i != QP_NOBODY; i = names->long_titles[i].next) {
            qp_str title = names->long_titles[i].key;
            if (title.n >= longest && qp_str_starts(rest, title) && (rest.n == title.n || rest.at[title.n] == ' ')) {
                longest = title.n;
                found = names->long_titles[i].document;
            }
        }
    }
    return found;
}

/* "DOI, arXiv id, title, entry": the first of them that a document answers to. */
static size_t work(const qp_names *names, qp_str target, qp_arena *a)
{
    qp_str rest = target;
    size_t found = QP_NOBODY;

    for (int i = 0; i < 2; i++) {
        qp_str id = qp_str_split(rest, '\t', &rest);
        found = found == QP_NOBODY && id.n ? who(names->identifiers, id) : found;
    }
    qp_str title = squeezed(qp_title_key(qp_str_split(rest, '\t', &rest), a), a);
    if (found == QP_NOBODY && title.n >= SHORT_TITLE)
        found = who(names->letters, title);
    return found == QP_NOBODY && rest.n ? titled_in(names, rest, a) : found;
}

size_t qp_names_cited(const qp_names *names, qp_str target, qp_arena *a)
{
    if (qp_str_starts(target, QP_STR("work:")))
        return work(names, qp_str_slice(target, 5, target.n), a);
    return who(names->identifiers, target);
}
