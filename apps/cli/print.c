#include "cli.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool colors;

void print_colors(const cli *c)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    colors = !c->no_color && !(no && *no) && isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

const char *bold(void)
{
    return colors ? "\033[1m" : "";
}

const char *dim(void)
{
    return colors ? "\033[2m" : "";
}

const char *plain(void)
{
    return colors ? "\033[0m" : "";
}

int print_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col < 120 ? size.ws_col : 120;
    return 100;
}

/* Characters of UTF-8: bytes that begin one. */
static int columns(const char *at, size_t n)
{
    int count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)at[i] & 0xc0) != 0x80;
    return count;
}

void print_plain(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i], next = i + 1 < n ? (unsigned char)text[i + 1] : 0;
        bool space = c == '\n' || c == '\t', c1 = c == 0xc2 && next >= 0x80 && next < 0xa0; /* U+0080 to U+009F */
        putchar((c < ' ' && !space) || c == 0x7f || c1 ? '?' : c);
        i += c1;
    }
}

const char *one_line(const char *text)
{
    static char line[200];
    size_t n = 0;
    for (; text[n] && n + 1 < sizeof line; n++) {
        unsigned char c = (unsigned char)text[n];
        line[n] = c < ' ' || c == 0x7f ? '?' : text[n];
    }
    while (text[n] && n && ((unsigned char)text[n] & 0xc0) == 0x80) /* no half of a character */
        n--;
    line[n] = 0;
    return line;
}

void print_wrapped(const char *text, size_t n, int indent, int lines)
{
    int width = print_width(), column = 0;
    for (size_t i = 0; i < n;) {
        while (i < n && isspace((unsigned char)text[i]))
            i++;
        size_t from = i;
        while (i < n && !isspace((unsigned char)text[i]))
            i++;
        if (from == i)
            break;
        int wide = columns(text + from, i - from);
        if (column && column + 1 + wide > width) {
            if (--lines == 0) {
                fputs(" ...", stdout);
                break;
            }
            putchar('\n');
            column = 0;
        }
        if (column)
            putchar(' ');
        else
            printf("%*s", indent, "");
        column = column ? column + 1 + wide : indent + wide;
        print_plain(text + from, i - from);
    }
    putchar('\n');
}
