/* Runs a fuzz target over the files of a folder: `fuzz_NAME FOLDER`. Links in libFuzzer's place. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0, room = 0, n = 1;

    if (!f) {
        perror(path);
        exit(1);
    }
    while (n) {
        if (size == room) {
            room = room ? 2 * room : 4096;
            data = realloc(data, room);
            if (!data)
                abort();
        }
        size += n = fread(data + size, 1, room - size, f);
    }
    fclose(f);
    /* A copy of the exact size, so that AddressSanitizer sees a read past the end. */
    data = realloc(data, size ? size : 1);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

int main(int argc, char **argv)
{
    int files = 0;
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;

    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    if (!folder) {
        printf("no corpus here: only the empty input was tried\n");
        return 0;
    }
    for (struct dirent *e; (e = readdir(folder));) {
        char path[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        replay(path);
        files++;
    }
    closedir(folder);
    printf("%d files replayed\n", files);
    return 0;
}
