#include "cli.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

static unsigned long long whole(yyjson_val *object, const char *key)
{
    return yyjson_get_uint(yyjson_obj_get(object, key));
}

/* A name may be a megabyte long; a person reads its beginning (--json has it all). */
static void put(const char *text)
{
    enum { LONGEST = 200 };
    size_t n = strlen(text), shown = n < LONGEST ? n : LONGEST;
    while (shown < n && shown && ((unsigned char)text[shown] & 0xC0) == 0x80) /* not within a character */
        shown--;
    print_plain(text, shown);
    fputs(shown < n ? "..." : "", stdout);
}

/* "Title > 2. Chapter > 2.1. Section", or the id where there is no title. */
static void print_name(yyjson_val *node)
{
    const char *title = member(node, "title"), *heading = member(node, "heading");
    fputs(bold(), stdout);
    put(*title ? title : member(node, "id"));
    printf("%s%s", plain(), *heading ? " > " : "");
    put(heading);
}

/* "manual.pdf, page 3, bytes 100-250": bytes of the document's text. */
static void print_place(yyjson_val *at, unsigned long long from, unsigned long long to)
{
    if (!*member(at, "document")) /* an entity */
        return;
    fputs(dim(), stdout);
    put(member(at, "document"));
    if (yyjson_is_uint(yyjson_obj_get(at, "page")))
        printf(", page %llu", whole(at, "page"));
    printf(", bytes %llu-%llu%s\n", from, to, plain());
}

static unsigned long long span(yyjson_val *at, size_t end)
{
    return yyjson_get_uint(yyjson_arr_get(yyjson_obj_get(at, "span"), end));
}

/* The innermost of "Chapter > Section". */
static const char *innermost(const char *heading)
{
    for (const char *next; (next = strstr(heading, " > ")); heading = next + 3)
        ;
    return heading;
}

static void print_edge(const char *relation, bool forward)
{
    fputs(forward ? "-" : "<-", stdout);
    put(relation);
    fputs(forward ? "-> " : "- ", stdout);
}

/* The way over the graph that led to a hit: each step by its title, or by its section where the title is the same. */
static void print_via(yyjson_val *hit, int indent)
{
    yyjson_val *via = yyjson_obj_get(hit, "via"), *step;
    const char *before = "";
    size_t i, n;
    printf("%*s%s", indent, "", dim());
    yyjson_arr_foreach(via, i, n, step) {
        const char *title = member(step, "title"), *heading = member(step, "heading"), *relation;
        if (i == 0 || strcmp(title, before) != 0) {
            put(*title ? title : member(step, "id"));
            fputs(*heading ? " > " : "", stdout);
        }
        put(innermost(heading));
        putchar(' ');
        before = title;
        relation = member(step, "relation");
        if (*relation)
            print_edge(relation, yyjson_get_bool(yyjson_obj_get(step, "forward")));
    }
    printf("%s%s\n", n ? "here" : "found by search", plain());
}

static void print_hits(yyjson_val *root, bool texts, bool explain)
{
    yyjson_val *hits = yyjson_obj_get(root, "hits"), *hit;
    size_t i, n;
    yyjson_arr_foreach(hits, i, n, hit) {
        const char *text = member(hit, "text");
        printf("%3llu  ", whole(hit, "rank"));
        print_name(hit);
        printf("  %.4f", yyjson_get_num(yyjson_obj_get(hit, "score")));
        bool entity = !*member(hit, "document");
        fputs(entity ? "\n" : "\n     ", stdout);
        print_place(hit, span(hit, 0), span(hit, 1));
        if (texts && (!entity || strcmp(text, member(hit, "title")) != 0))
            print_wrapped(text, strlen(text), 5, 3);
        if (explain)
            print_via(hit, 5);
    }
}

static void print_paths(yyjson_val *root)
{
    yyjson_val *paths = yyjson_obj_get(root, "paths"), *path;
    size_t i, n;
    yyjson_arr_foreach(paths, i, n, path) {
        yyjson_val *nodes = yyjson_obj_get(path, "nodes"), *relations = yyjson_obj_get(path, "relations");
        printf("%s%3zu  %.4f  ", i ? "" : "\n", i + 1, yyjson_get_num(yyjson_obj_get(path, "score")));
        for (size_t j = 0; j < yyjson_arr_size(nodes); j++) {
            const char *relation = j ? yyjson_get_str(yyjson_arr_get(relations, j - 1)) : NULL;
            if (relation) {
                printf(" %s", dim());
                print_edge(relation + (*relation == '~'), *relation != '~');
                fputs(plain(), stdout);
            }
            put(yyjson_get_str(yyjson_arr_get(nodes, j)));
        }
        putchar('\n');
    }
}

static yyjson_val *hit_of(yyjson_val *root, const char *id)
{
    yyjson_val *hits = yyjson_obj_get(root, "hits"), *hit;
    size_t i, n;
    yyjson_arr_foreach(hits, i, n, hit)
        if (strcmp(member(hit, "id"), id) == 0)
            return hit;
    return NULL;
}

/* Citations come by their number: those of one source are shown as one, with what they quote of it. Where the answer
 * itself is quoted it is not told twice. */
static void print_citations(yyjson_val *root)
{
    yyjson_val *all = yyjson_obj_get(root, "citations");
    bool quoted = !*member(root, "writer");
    for (size_t i = 0, end, n = yyjson_arr_size(all); i < n; i = end) {
        yyjson_val *c = yyjson_arr_get(all, i), *same;
        unsigned long long from = span(c, 0), to = span(c, 1);
        for (end = i; (same = yyjson_arr_get(all, end)) && whole(same, "n") == whole(c, "n"); end++) {
            from = span(same, 0) < from ? span(same, 0) : from;
            to = span(same, 1) > to ? span(same, 1) : to;
        }
        printf("\n[%llu] ", whole(c, "n"));
        print_name(c);
        fputs(*member(c, "document") ? "\n    " : "\n", stdout);
        print_place(c, from, to);
        yyjson_val *hit = hit_of(root, member(c, "id"));
        if (hit)
            print_via(hit, 4);
        for (size_t j = i; j < end && !quoted; j++) {
            const char *quote = member(yyjson_arr_get(all, j), "quote");
            if (*quote)
                print_wrapped(quote, strlen(quote), 4, 3);
        }
    }
}

static void print_answer(yyjson_val *root, bool streamed)
{
    const char *answer = member(root, "answer");
    if (streamed)
        printf("\n\n%schecked against the sources:%s\n", dim(), plain());
    print_wrapped(answer, strlen(answer), 0, 0);
    if (!*member(root, "writer"))
        printf("%s(quoted from the sources; a writer composes an answer: --writer MODEL, see `quipu model list`)%s\n",
               dim(), plain());
    print_citations(root);
    yyjson_val *without = yyjson_obj_get(root, "unsupported_sentences"), *sentence;
    size_t i, n;
    if (yyjson_arr_size(without))
        printf("\nwithout support in the sources:\n");
    yyjson_arr_foreach(without, i, n, sentence)
        print_wrapped(yyjson_get_str(sentence), yyjson_get_len(sentence), 4, 3);
    putchar('\n');
}

static void print_trace(yyjson_val *root)
{
    yyjson_val *trace = yyjson_obj_get(root, "trace"), *step;
    size_t i, n;
    printf("\n%s%6s %6s %6s %9s %9s  %s%s\n", bold(), "in", "out", "passes", "ms", "model ms", "operator", plain());
    yyjson_arr_foreach(trace, i, n, step) {
        printf("%6llu %6llu %6llu %9.2f %9.2f  %*s%s %s%s", whole(step, "in"), whole(step, "out"),
               whole(step, "model_passes"), yyjson_get_num(yyjson_obj_get(step, "ms")),
               yyjson_get_num(yyjson_obj_get(step, "model_ms")), 2 * (int)yyjson_get_int(yyjson_obj_get(step, "depth")),
               "", member(step, "op"), dim(), member(step, "options"));
        if (whole(step, "paths_cut"))
            printf("; the budget cut %llu paths that go on", whole(step, "paths_cut"));
        printf("%s\n", plain());
    }
}

static void print_timings(yyjson_val *root)
{
    yyjson_val *timings = yyjson_obj_get(root, "timings_ms"), *key, *value;
    size_t i, n;
    printf("%s%s:", dim(), member(root, "method"));
    yyjson_obj_foreach(timings, i, n, key, value)
        printf(" %s %.1f ms%s", yyjson_get_str(key), yyjson_get_num(value), i + 1 < n ? "," : "");
    printf("; %llu model passes%s\n", whole(root, "model_passes"), plain());
}

/* The label, and the candidates it was chosen from. */
static void print_labels(yyjson_val *root)
{
    yyjson_val *labels = yyjson_obj_get(root, "labels"), *label;
    size_t i, n;
    yyjson_arr_foreach(labels, i, n, label) {
        printf("%s", i ? "     " : bold());
        put(member(label, "label"));
        printf("%s  %s%.4f, ", plain(), dim(), yyjson_get_num(yyjson_obj_get(label, "score")));
        put(member(label, "id"));
        printf("%s\n", plain());
    }
}

void show_result(const cli *c, yyjson_val *root, bool streamed)
{
    bool labelled = yyjson_obj_get(root, "labels") != NULL, answered = labelled || yyjson_obj_get(root, "answer");
    if (labelled)
        print_labels(root);
    else if (answered)
        print_answer(root, streamed);
    if (!answered || c->explain)
        print_hits(root, !answered, c->explain);
    if (!answered || c->explain)
        print_paths(root);
    if (c->explain)
        print_trace(root);
    print_timings(root);
}
