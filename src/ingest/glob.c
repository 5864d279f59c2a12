#include "ingest/glob.h"

#include "base/file.h"

/* [abc], [a-z], [!a-z] at p: does c fit? *p moves behind it; a set that never closes is a plain "[". */
static bool in_set(qp_str pattern, size_t *p, char c)
{
    size_t i = *p + 1;
    bool not = i < pattern.n && (pattern.at[i] == '!' || pattern.at[i] == '^'), fits = false;

    i += not ;
    for (size_t first = i; i < pattern.n && (pattern.at[i] != ']' || i == first); i++) {
        if (i + 2 < pattern.n && pattern.at[i + 1] == '-' && pattern.at[i + 2] != ']') {
            fits |= c >= pattern.at[i] && c <= pattern.at[i + 2];
            i += 2;
        } else {
            fits |= c == pattern.at[i];
        }
    }
    if (i >= pattern.n) {
        ++*p;
        return c == '[';
    }
    *p = i + 1;
    return fits != not &&c != '/';
}

/* Matches greedily and goes back to the last star only, and to the last double star when that fails: what stood before
 * either has the shortest match already, so nothing is lost. */
bool qp_glob(qp_str pattern, qp_str path)
{
    size_t p = 0, s = 0, star_p = SIZE_MAX, star_s = 0, deep_p = SIZE_MAX, deep_s = 0;
    bool folders = false; /* the last "**" took its slash along: it stands for whole folders */

    while (s < path.n || p < pattern.n) {
        if (p < pattern.n) {
            char c = pattern.at[p];
            if (c == '*' && p + 1 < pattern.n && pattern.at[p + 1] == '*') {
                p += 2;
                folders = p < pattern.n && pattern.at[p] == '/' && (p == 2 || pattern.at[p - 3] == '/');
                p += folders; /* "**" and its slash may be nothing at all */
                deep_p = p;
                deep_s = s;
                star_p = SIZE_MAX;
                continue;
            }
            if (c == '*') {
                star_p = ++p;
                star_s = s;
                continue;
            }
            if (s < path.n) {
                size_t next = p;
                bool fits;
                if (c == '[') {
                    fits = in_set(pattern, &next, path.at[s]);
                } else if (c == '?') {
                    fits = path.at[s] != '/';
                    next++;
                } else {
                    next += c == '\\' && p + 1 < pattern.n;
                    fits = pattern.at[next++] == path.at[s];
                }
                if (fits) {
                    p = next;
                    s++;
                    continue;
                }
            }
        }
        if (star_p != SIZE_MAX && star_s < path.n && path.at[star_s] != '/') {
            p = star_p;
            s = ++star_s;
        } else if (deep_p != SIZE_MAX && deep_s < path.n) {
            do
                deep_s++;
            while (folders && deep_s < path.n && path.at[deep_s - 1] != '/');
            p = deep_p;
            s = deep_s;
            star_p = SIZE_MAX;
        } else {
            return false;
        }
    }
    return true;
}

int qp_ignore_line(qp_str line, qp_str path, bool is_dir)
{
    int verdict = 1;

    if (line.n && line.at[line.n - 1] == '\r')
        line.n--;
    while (line.n && line.at[line.n - 1] == ' ' && !(line.n > 1 && line.at[line.n - 2] == '\\'))
        line.n--;
    if (!line.n || line.at[0] == '#')
        return -1;
    if (line.at[0] == '!') {
        verdict = 0;
        line = qp_str_slice(line, 1, line.n);
    }
    if (line.n && line.at[line.n - 1] == '/') {
        if (!is_dir)
            return -1;
        line.n--;
    }
    if (!line.n)
        return -1;
    if (!memchr(line.at, '/', line.n))
        return qp_glob(line, qp_path_name(path)) ? verdict : -1;
    if (line.at[0] == '/')
        line = qp_str_slice(line, 1, line.n);
    return qp_glob(line, path) ? verdict : -1;
}

bool qp_glob_list(qp_str patterns, qp_str path)
{
    for (qp_str rest = patterns; rest.n;) {
        qp_str one = qp_str_trim(qp_str_split(rest, ',', &rest));
        if (one.n && qp_glob(one, memchr(one.at, '/', one.n) ? path : qp_path_name(path)))
            return true;
    }
    return false;
}
