/* Starts a server of this folder for a C test: it prints its port, and ends when its standard input does, so it never
 * outlives the test.
 */
#ifndef TESTS_SERVERS_START_H
#define TESTS_SERVERS_START_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct server {
    pid_t pid;
    int in, port;
} server;

/* port 0: it could not be started. argument may be null. */
static server server_start(const char *script, const char *argument)
{
    int in[2], out[2];
    server s = {0};
    char line[32] = "";
    if (pipe(in) || pipe(out))
        return s;
    s.pid = fork();
    if (s.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execlp("python3", "python3", script, argument, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    for (size_t n = 0; n + 1 < sizeof line && read(out[0], line + n, 1) == 1 && line[n] != '\n'; n++)
        ;
    close(out[0]);
    s.in = in[1];
    s.port = atoi(line);
    return s;
}

static void server_stop(server *s)
{
    close(s->in);
    waitpid(s->pid, NULL, 0);
}

#endif
