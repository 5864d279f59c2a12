#include "ingest/charset.h"

#include <ctype.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#include "text/utf8.h"

static void charset_of(qp_str s, char name[40])
{
    strcpy(name, "WINDOWS-1252");
    for (size_t i = 0; i + 8 < s.n && i < 4096; i++)
        if (!strncasecmp(s.at + i, "charset=", 8)) {
            size_t n = 0;
            i += 8;
            while (i < s.n && (s.at[i] == '"' || s.at[i] == '\''))
                i++;
            while (i + n < s.n && n < 30 && (isalnum((unsigned char)s.at[i + n]) || strchr("-_:.", s.at[i + n])))
                n++;
            if (n) {
                memcpy(name, s.at + i, n);
                name[n] = 0;
            }
            return;
        }
}

static bool recode(qp_str s, const char *name, qp_buf *out)
{
    iconv_t cd = iconv_open("UTF-8", name);
    char *in = (char *)(uintptr_t)s.at; /* iconv reads only, whatever its prototype says */
    size_t left = s.n;

    if (cd == (iconv_t)-1 || !strcasecmp(name, "utf-8"))
        return cd != (iconv_t)-1 && (iconv_close(cd), false);
    while (left) {
        size_t room = left * 3 + 16, before;
        char *to = qp_buf_room(out, room);
        if (!to)
            break;
        before = room;
        size_t rc = iconv(cd, &in, &left, &to, &room);
        out->n += before - room;
        out->at[out->n] = 0;
        if (rc == (size_t)-1 && left) { /* a byte that the encoding does not know */
            qp_buf_text(out, "\xEF\xBF\xBD");
            in++;
            left--;
        }
    }
    iconv_close(cd);
    return !out->oom;
}

bool qp_charset_recode(qp_str s, qp_buf *out)
{
    char name[40];
    charset_of(s, name);
    return recode(s, name, out);
}

bool qp_charset_windows(qp_str s, qp_buf *out)
{
    size_t high = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!s.at[i] ||
            ((unsigned char)s.at[i] >= 0x80 && qp_utf8_valid(qp_str_slice(s, i, i + 4 < s.n ? i + 4 : s.n))))
            return false;
        high += (unsigned char)s.at[i] >= 0x80;
    }
    return high && high * 4 <= s.n && recode(s, "WINDOWS-1252", out);
}
