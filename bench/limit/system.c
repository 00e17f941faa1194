/* Floors set by the system: memory, and the calls that metadata needs, with one pass over the bytes and no parser. */
#include "limit.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char *target;
    const char *source;
    size_t size;
} copy_t;

static void *copy(void *argument) {
    copy_t *c = argument;
    memcpy(c->target, c->source, c->size);
    return NULL;
}

double limit_memcpy(char *target, const char *source, size_t size, int threads) {
    pthread_t running[64];
    copy_t parts[64];
    size_t share = size / (size_t)threads;
    double start = now();
    for (int i = 0; i < threads; i++) {
        parts[i] = (copy_t){target + share * (size_t)i, source + share * (size_t)i, share};
        pthread_create(&running[i], NULL, copy, &parts[i]);
    }
    for (int i = 0; i < threads; i++) pthread_join(running[i], NULL);
    return now() - start;
}

/* Touch every page of fresh memory once. */
double limit_fault(size_t size, int huge) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
#ifdef MADV_HUGEPAGE
    if (huge) madvise(memory, size, MADV_HUGEPAGE);
#else
    (void)huge;
#endif
    double start = now();
    for (size_t i = 0; i < size; i += 4096) memory[i] = 1;
    double taken = now() - start;
    munmap(memory, size);
    return taken;
}

static int64_t scan(const char *text, ssize_t size) {
    int64_t marks = 0;
    for (ssize_t i = 0; i < size; i++)
        marks += (text[i] == '{') | (text[i] == '[') | (text[i] == ':') | (text[i] == '"');
    return marks;
}

static volatile int64_t seen; /* keeps the scan from being optimised away */

/* Open and scan one document, `n` times. */
double limit_open(const char *path, int n) {
    static char buffer[1 << 16];
    double start = now();
    for (int i = 0; i < n; i++) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return -1;
        seen += scan(buffer, read(file, buffer, sizeof buffer));
        close(file);
    }
    return now() - start;
}

/* List a folder of nodes and scan the document of each. */
double limit_list(const char *base, const char *document, int64_t *count) {
    static char buffer[1 << 16];
    double start = now();
    DIR *folder = opendir(base);
    if (!folder) return -1;
    int64_t found = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[PATH_BYTES];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", entry->d_name, document);
        int file = openat(dirfd(folder), path, O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        seen += scan(buffer, read(file, buffer, sizeof buffer));
        close(file);
        found++;
    }
    closedir(folder);
    *count = found;
    return now() - start;
}

/* Read and scan one large document. */
double limit_scan(const char *path) {
    double start = now();
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status)) return -1;
    char *text = malloc((size_t)status.st_size + 1);
    seen += scan(text, read(file, text, (size_t)status.st_size));
    close(file);
    free(text);
    return now() - start;
}

/* Make `n` arrays of one chunk each. */
double limit_create(const char *base, int n, const char *document, int64_t document_size, const char *chunk,
                    int64_t chunk_size) {
    double start = now();
    mkdir(base, 0755);
    int folder = open(base, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "a%04d", i);
        mkdirat(folder, name, 0755);
        int array = openat(folder, name, O_RDONLY | O_DIRECTORY);
        mkdirat(array, "c", 0755);
        int file = openat(array, "zarr.json", O_WRONLY | O_CREAT, 0644);
        if (write(file, document, (size_t)document_size) != document_size) return -1;
        close(file);
        file = openat(array, "c/0", O_WRONLY | O_CREAT, 0644);
        if (write(file, chunk, (size_t)chunk_size) != chunk_size) return -1;
        close(file);
        close(array);
    }
    close(folder);
    return now() - start;
}
