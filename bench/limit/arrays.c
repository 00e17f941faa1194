/* Whole arrays and parts of them: read and write through every chunk file, on as many threads as asked for. */
#include "limit.h"

#include <blosc.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

static void copy_row(char *target, const char *source, size_t size, int swap) {
    if (!swap) {
        memcpy(target, source, size);
        return;
    }
    for (size_t i = 0; i < size; i += 4) {
        uint32_t v;
        memcpy(&v, source + i, 4);
        v = __builtin_bswap32(v);
        memcpy(target + i, &v, 4);
    }
}

/* Step a counter over all but the last dimension; false after the last row. */
static int next_row(int64_t *at, const int64_t *extent, int dims) {
    for (int d = dims - 2; d >= 0; d--) {
        if (++at[d] < extent[d]) return 1;
        at[d] = 0;
    }
    return 0;
}

void copy_chunk(const job_t *job, const int64_t *origin, const int64_t *chunk, char *buffer, int to_array) {
    int last = job->dims - 1;
    int64_t extent[MAX_DIMS], outer[MAX_DIMS], inner[MAX_DIMS], at[MAX_DIMS] = {0};
    int64_t outer_stride = ITEM, inner_stride = ITEM;
    char *start = job->array;
    for (int d = last; d >= 0; d--) {
        extent[d] = origin[d] + chunk[d] > job->shape[d] ? job->shape[d] - origin[d] : chunk[d];
        outer[d] = outer_stride;
        inner[d] = inner_stride;
        start += origin[d] * outer_stride;
        outer_stride *= job->shape[d];
        inner_stride *= chunk[d];
    }
    size_t row = (size_t)extent[last] * ITEM;
    do {
        char *array = start, *chunk_row = buffer;
        for (int d = 0; d < last; d++) {
            array += at[d] * outer[d];
            chunk_row += at[d] * inner[d];
        }
        copy_row(to_array ? array : chunk_row, to_array ? chunk_row : array, row, job->swap);
    } while (next_row(at, extent, job->dims));
}

static size_t volume(const int64_t *extent, int dims) {
    size_t n = ITEM;
    for (int d = 0; d < dims; d++) n *= (size_t)extent[d];
    return n;
}

static void locate(const job_t *job, int64_t number, int64_t *index, int64_t *origin) {
    for (int d = job->dims - 1; d >= 0; d--) {
        index[d] = number % job->counts[d];
        number /= job->counts[d];
        origin[d] = index[d] * job->grid[d];
    }
}

/* Chunks in a shard, and the origin of the chunk `number` of the shard at `shard`. */
static int64_t inner_count(const job_t *job) {
    int64_t n = 1;
    for (int d = 0; d < job->dims; d++) n *= job->grid[d] / job->inner[d];
    return n;
}

static void inner_origin(const job_t *job, const int64_t *shard, int64_t number, int64_t *origin) {
    for (int d = job->dims - 1; d >= 0; d--) {
        int64_t per = job->grid[d] / job->inner[d];
        origin[d] = shard[d] + number % per * job->inner[d];
        number /= per;
    }
}

static int place(job_t *job, thread_t *t, const int64_t *origin, const int64_t *chunk, char *data, size_t size) {
    if (job->codec == RAW) {
        copy_chunk(job, origin, chunk, data, 1);
        return 0;
    }
    if (job->codec == BLOSC && !job->swap) return blosc_scatter(job, t, origin, chunk, data);
    size_t plain = volume(chunk, job->dims);
    reserve(&t->decoded, &t->decoded_size, plain);
    if (decode(job, t, data, size, t->decoded, plain)) return -2;
    copy_chunk(job, origin, chunk, t->decoded, 1);
    return 0;
}

static int read_one(job_t *job, thread_t *t, int64_t number) {
    int64_t index[MAX_DIMS], origin[MAX_DIMS];
    char path[PATH_BYTES];
    locate(job, number, index, origin);
    chunk_path(job, index, path);
    ssize_t size = read_file(path, t);
    if (size < 0) return -1;
    if (!job->sharded) return place(job, t, origin, job->grid, t->encoded, (size_t)size);
    int64_t count = inner_count(job);
    const char *table = t->encoded + size - 4 - 16 * count;
    for (int64_t i = 0; i < count; i++) {
        uint64_t entry[2];
        int64_t at[MAX_DIMS];
        memcpy(entry, table + 16 * i, 16);
        if (entry[0] == UINT64_MAX) continue;
        inner_origin(job, origin, i, at);
        if (place(job, t, at, job->inner, t->encoded + entry[0], entry[1])) return -2;
    }
    return 0;
}

static size_t pack(job_t *job, thread_t *t, const int64_t *origin, const int64_t *chunk, char *target, size_t room) {
    if (job->codec == RAW) {
        copy_chunk(job, origin, chunk, target, 0);
        return volume(chunk, job->dims);
    }
    size_t plain = volume(chunk, job->dims);
    reserve(&t->decoded, &t->decoded_size, plain);
    copy_chunk(job, origin, chunk, t->decoded, 0);
    return encode(job, t, t->decoded, plain, target, room);
}

static int write_one(job_t *job, thread_t *t, int64_t number) {
    int64_t index[MAX_DIMS], origin[MAX_DIMS];
    char path[PATH_BYTES];
    locate(job, number, index, origin);
    chunk_path(job, index, path);
    const int64_t *chunk = job->sharded ? job->inner : job->grid;
    size_t room = volume(chunk, job->dims) * 5 / 4 + 4096;
    int64_t count = job->sharded ? inner_count(job) : 1;
    reserve(&t->encoded, &t->encoded_size, room * (size_t)count + 16 * (size_t)count + 4);
    if (!job->sharded) {
        size_t size = pack(job, t, origin, chunk, t->encoded, room);
        return size ? write_file(path, t->encoded, size) : -2;
    }
    uint64_t *table = (void *)reserve(&t->scratch, &t->scratch_size, 16 * (size_t)count);
    size_t end = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t at[MAX_DIMS];
        inner_origin(job, origin, i, at);
        size_t size = pack(job, t, at, chunk, t->encoded + end, room);
        if (!size) return -2;
        table[2 * i] = end;
        table[2 * i + 1] = size;
        end += size;
    }
    uint32_t crc = crc32c_words(table, 2 * count);
    memcpy(t->encoded + end, table, 16 * (size_t)count);
    memcpy(t->encoded + end + 16 * (size_t)count, &crc, 4);
    return write_file(path, t->encoded, end + 16 * (size_t)count + 4);
}

typedef struct {
    job_t *job;
    int (*one)(job_t *, thread_t *, int64_t);
} work_t;

static void *work(void *argument) {
    work_t *w = argument;
    thread_t t = {0};
    for (;;) {
        long i = atomic_fetch_add(&w->job->next, 1);
        if (i >= w->job->count) break;
        int error = w->one(w->job, &t, i);
        if (error) {
            atomic_store(&w->job->error, error);
            break;
        }
    }
    thread_end(&t);
    return NULL;
}

static void make_folders(const job_t *job) {
    mkdir(job->base, 0755);
    if (job->version != 3) return;
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/c", job->base);
    mkdir(path, 0755);
    for (int64_t i = 0; job->dims > 1 && i < job->counts[0]; i++) {
        snprintf(path, sizeof path, "%s/c/%ld", job->base, (long)i);
        mkdir(path, 0755);
        for (int64_t k = 0; job->dims > 2 && k < job->counts[1]; k++) {
            snprintf(path, sizeof path, "%s/c/%ld/%ld", job->base, (long)i, (long)k);
            mkdir(path, 0755);
        }
    }
}

static void describe(job_t *job, const char *base, int version, int dims, const int64_t *shape, const int64_t *grid) {
    memset(job, 0, sizeof *job);
    job->base = base;
    job->version = version;
    job->dims = dims;
    job->count = 1;
    for (int d = 0; d < dims; d++) {
        job->shape[d] = shape[d];
        job->grid[d] = grid[d];
        job->counts[d] = (shape[d] + grid[d] - 1) / grid[d];
        job->count *= job->counts[d];
    }
}

/* Read (write = 0) or write the whole array; returns 0, or a negative number on failure. */
int limit_array(const char *base, int version, int dims, const int64_t *shape, const int64_t *grid, const int64_t *inner,
                int codec, int level, int threads, int swap, char *array, int write) {
    job_t job;
    describe(&job, base, version, dims, shape, grid);
    job.codec = (enum codec)codec;
    job.level = level;
    job.swap = swap;
    job.array = array;
    job.sharded = inner != NULL;
    for (int d = 0; inner && d < dims; d++) job.inner[d] = inner[d];
    if (write) make_folders(&job);
    work_t w = {&job, write ? write_one : read_one};
    pthread_t others[MAX_THREADS];
    for (int i = 1; i < threads; i++) pthread_create(&others[i], NULL, work, &w);
    work(&w);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
    return atomic_load(&job.error);
}

/* Of a raw chunk, read only what is asked for: one pread per index of the first axis, or one for all. */
static const char *read_part(thread_t *t, int file, const int64_t *low, const int64_t *extent, int dims,
                             const int64_t *strides, int64_t *outer) {
    int64_t first = 0, last = 0;
    for (int d = 1; d < dims; d++) {
        first += low[d] * strides[d];
        last += (low[d] + extent[d] - 1) * strides[d];
    }
    int64_t span = last + ITEM - first;
    *outer = strides[0];
    if (extent[0] > 1 && span * 2 < strides[0]) {
        reserve(&t->encoded, &t->encoded_size, (size_t)(span * extent[0]));
        for (int64_t i = 0; i < extent[0]; i++)
            if (pread(file, t->encoded + i * span, (size_t)span, (low[0] + i) * strides[0] + first) != span) return NULL;
        *outer = span;
        return t->encoded;
    }
    int64_t all = (extent[0] - 1) * strides[0] + span;
    reserve(&t->encoded, &t->encoded_size, (size_t)all);
    return pread(file, t->encoded, (size_t)all, low[0] * strides[0] + first) == all ? t->encoded : NULL;
}

/* Read `n` boxes, each inside one chunk, one after the other. */
double limit_boxes(const char *base, int version, int dims, const int64_t *shape, const int64_t *chunk, int codec, int n,
                   const int64_t *origins, const int64_t *extents, char *out) {
    job_t job;
    thread_t t = {0};
    describe(&job, base, version, dims, shape, chunk);
    job.codec = (enum codec)codec;
    int64_t strides[MAX_DIMS], size = ITEM;
    for (int d = dims - 1; d >= 0; d--) {
        strides[d] = size;
        size *= chunk[d];
    }
    reserve(&t.decoded, &t.decoded_size, (size_t)size);
    double start = now();
    for (int i = 0; i < n; i++) {
        const int64_t *extent = extents + (int64_t)i * dims;
        int64_t index[MAX_DIMS], low[MAX_DIMS], at[MAX_DIMS] = {0}, first = 0, last = ITEM, outer = strides[0];
        for (int d = 0; d < dims; d++) {
            int64_t o = origins[(int64_t)i * dims + d];
            index[d] = o / chunk[d];
            low[d] = o % chunk[d];
            first += low[d] * strides[d];
            last += (low[d] + extent[d] - 1) * strides[d];
        }
        char path[PATH_BYTES];
        chunk_path(&job, index, path);
        const char *box; /* where the first element of the box stands */
        if (job.codec == RAW) {
            int file = open(path, O_RDONLY | O_CLOEXEC);
            box = file < 0 ? NULL : read_part(&t, file, low, extent, dims, strides, &outer);
            close(file);
            if (!box) return -1;
        } else {
            ssize_t got = read_file(path, &t);
            if (got < 0) return -1;
            if (job.codec == BLOSC && (last - first) * 4 < size * 3) {
                if (blosc_getitem(t.encoded, (int)(first / ITEM), (int)((last - first) / ITEM), t.decoded) < 0) return -2;
                box = t.decoded;
            } else {
                if (decode(&job, &t, t.encoded, (size_t)got, t.decoded, (size_t)size)) return -2;
                box = t.decoded + first;
            }
        }
        do {
            const char *row = box + at[0] * outer;
            for (int d = 1; d < dims - 1; d++) row += at[d] * strides[d];
            memcpy(out, row, (size_t)extent[dims - 1] * ITEM);
        } while (next_row(at, extent, dims));
    }
    double taken = now() - start;
    thread_end(&t);
    return taken;
}

/* Read `n` single chunks out of shards: open, read the index, read the chunk, decode. Nothing is cached. */
double limit_inner(const char *base, int dims, const int64_t *shape, const int64_t *shard, const int64_t *inner, int codec,
                   int n, const int64_t *origins, char *out) {
    job_t job;
    thread_t t = {0};
    describe(&job, base, 3, dims, shape, shard);
    job.codec = (enum codec)codec;
    for (int d = 0; d < dims; d++) job.inner[d] = inner[d];
    int64_t count = inner_count(&job);
    size_t plain = volume(inner, dims);
    uint64_t *table = malloc(16 * (size_t)count + 4);
    double start = now();
    for (int i = 0; i < n; i++) {
        int64_t index[MAX_DIMS], number = 0;
        for (int d = 0; d < dims; d++) {
            int64_t o = origins[(int64_t)i * dims + d];
            index[d] = o / shard[d];
            number = number * (shard[d] / inner[d]) + o % shard[d] / inner[d];
        }
        char path[PATH_BYTES];
        chunk_path(&job, index, path);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (file < 0 || fstat(file, &status)) return -1;
        if (pread(file, table, 16 * (size_t)count + 4, status.st_size - 16 * count - 4) < 0) return -1;
        uint64_t offset = table[2 * number], size = table[2 * number + 1];
        reserve(&t.encoded, &t.encoded_size, size);
        if (pread(file, t.encoded, size, (off_t)offset) != (ssize_t)size) return -1;
        close(file);
        if (decode(&job, &t, t.encoded, size, out, plain)) return -2;
    }
    double taken = now() - start;
    free(table);
    thread_end(&t);
    return taken;
}
