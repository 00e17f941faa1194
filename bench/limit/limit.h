/* A kernel without a library around it: what two threads can do with chunk files when the layout is known in advance,
 * nothing is checked and no document is parsed. It is the yardstick of the race, not a reader to use.
 *
 * Arrays are float32. All functions that return a double return seconds, or a negative number on failure. */
#ifndef OMNIZARR_BENCH_LIMIT_H
#define OMNIZARR_BENCH_LIMIT_H

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum codec { RAW = 0, BLOSC = 1, ZSTD = 2, GZIP = 3, ZLIB = 4 };
enum { MAX_DIMS = 6, ITEM = 4, PATH_BYTES = 4096 };

typedef struct {
    const char *base;
    int version; /* 2: "i.j.k", 3: "c/i/j/k" */
    int dims;
    int64_t shape[MAX_DIMS];
    int64_t grid[MAX_DIMS];  /* what one file holds: a chunk or a shard */
    int64_t inner[MAX_DIMS]; /* chunk inside a shard */
    int sharded;
    enum codec codec;
    int level;
    int swap; /* big-endian on disk */
    char *array;
    int64_t counts[MAX_DIMS], count; /* files per dimension, and all of them */
    atomic_long next;
    atomic_int error;
} job_t;

/* What one thread keeps between chunks: codec contexts and buffers that only grow. */
typedef struct {
    void *inflate, *deflate, *zstd_d, *zstd_c;
    char *encoded, *decoded, *scratch;
    size_t encoded_size, decoded_size, scratch_size;
} thread_t;

double now(void);
void thread_end(thread_t *t);
char *reserve(char **buffer, size_t *size, size_t needed);
void chunk_path(const job_t *job, const int64_t *index, char *path);
ssize_t read_file(const char *path, thread_t *t);
int write_file(const char *path, const char *data, size_t size);
int decode(const job_t *job, thread_t *t, const char *source, size_t size, char *target, size_t expected);
size_t encode(const job_t *job, thread_t *t, const char *source, size_t size, char *target, size_t room);
int blosc_scatter(const job_t *job, thread_t *t, const int64_t *origin, const int64_t *chunk, const char *source);
void copy_chunk(const job_t *job, const int64_t *origin, const int64_t *chunk, char *buffer, int to_array);
uint32_t crc32c_words(const uint64_t *words, int64_t count);

#endif
