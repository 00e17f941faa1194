/* Codecs, files and buffers of the limit kernel. */
#include "limit.h"

#include <blosc.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void thread_end(thread_t *t) {
    if (t->inflate) libdeflate_free_decompressor(t->inflate);
    if (t->deflate) libdeflate_free_compressor(t->deflate);
    ZSTD_freeDCtx(t->zstd_d);
    ZSTD_freeCCtx(t->zstd_c);
    free(t->encoded);
    free(t->decoded);
    free(t->scratch);
}

char *reserve(char **buffer, size_t *size, size_t needed) {
    if (*size < needed) {
        free(*buffer);
        *buffer = aligned_alloc(4096, (needed + 4095) & ~(size_t)4095);
        *size = needed;
    }
    return *buffer;
}

void chunk_path(const job_t *job, const int64_t *index, char *path) {
    path += sprintf(path, job->version == 3 ? "%s/c" : "%s", job->base);
    for (int d = 0; d < job->dims; d++)
        path += sprintf(path, job->version == 3 || d == 0 ? "/%ld" : ".%ld", (long)index[d]);
}

/* One read into the buffer of the last file: chunks of an array are of about the same size, so no stat is needed. */
ssize_t read_file(const char *path, thread_t *t) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    struct stat status;
    if (t->encoded_size == 0) {
        fstat(file, &status);
        reserve(&t->encoded, &t->encoded_size, (size_t)status.st_size + 64);
    }
    size_t got = 0;
    for (;;) {
        if (got == t->encoded_size) {
            fstat(file, &status);
            size_t larger = 2 * t->encoded_size;
            if (larger < (size_t)status.st_size + 64) larger = (size_t)status.st_size + 64;
            char *grown = aligned_alloc(4096, (larger + 4095) & ~(size_t)4095);
            memcpy(grown, t->encoded, got);
            free(t->encoded);
            t->encoded = grown;
            t->encoded_size = larger;
        }
        ssize_t n = read(file, t->encoded + got, t->encoded_size - got);
        if (n < 0) {
            close(file);
            return -1;
        }
        got += (size_t)n;
        if (n == 0 || got < t->encoded_size) break;
    }
    close(file);
    return (ssize_t)got;
}

int write_file(const char *path, const char *data, size_t size) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return -1;
    for (size_t done = 0; done < size;) {
        ssize_t n = write(file, data + done, size - done);
        if (n < 0) {
            close(file);
            return -1;
        }
        done += (size_t)n;
    }
    close(file);
    return 0;
}

int decode(const job_t *job, thread_t *t, const char *source, size_t size, char *target, size_t expected) {
    size_t got = 0;
    switch (job->codec) {
    case RAW:
        memcpy(target, source, expected);
        return 0;
    case BLOSC:
        return blosc_decompress_ctx(source, target, expected, 1) == (int)expected ? 0 : -1;
    case ZSTD:
        if (!t->zstd_d) t->zstd_d = ZSTD_createDCtx();
        return ZSTD_decompressDCtx(t->zstd_d, target, expected, source, size) == expected ? 0 : -1;
    case GZIP:
    case ZLIB:
        if (!t->inflate) t->inflate = libdeflate_alloc_decompressor();
        return (job->codec == GZIP ? libdeflate_gzip_decompress : libdeflate_zlib_decompress)(
            t->inflate, source, size, target, expected, &got);
    }
    return -1;
}

size_t encode(const job_t *job, thread_t *t, const char *source, size_t size, char *target, size_t room) {
    switch (job->codec) {
    case RAW:
        memcpy(target, source, size);
        return size;
    case BLOSC: {
        int n = blosc_compress_ctx(5, BLOSC_SHUFFLE, ITEM, size, source, target, room, "lz4", 0, 1);
        return n > 0 ? (size_t)n : 0;
    }
    case ZSTD: {
        if (!t->zstd_c) t->zstd_c = ZSTD_createCCtx();
        size_t n = ZSTD_compressCCtx(t->zstd_c, target, room, source, size, job->level);
        return ZSTD_isError(n) ? 0 : n;
    }
    case GZIP:
    case ZLIB:
        if (!t->deflate) t->deflate = libdeflate_alloc_compressor(job->level);
        return (job->codec == GZIP ? libdeflate_gzip_compress : libdeflate_zlib_compress)(
            t->deflate, source, size, target, room);
    }
    return 0;
}

static void unshuffle4(const uint8_t *source, uint8_t *target, size_t n) {
    const uint8_t *a = source, *b = source + n, *c = source + 2 * n, *d = source + 3 * n;
    size_t i = 0;
#if defined(__AVX2__)
    for (; i + 32 <= n; i += 32) {
        __m256i va = _mm256_loadu_si256((const void *)(a + i)), vb = _mm256_loadu_si256((const void *)(b + i));
        __m256i vc = _mm256_loadu_si256((const void *)(c + i)), vd = _mm256_loadu_si256((const void *)(d + i));
        __m256i ab0 = _mm256_unpacklo_epi8(va, vb), ab1 = _mm256_unpackhi_epi8(va, vb);
        __m256i cd0 = _mm256_unpacklo_epi8(vc, vd), cd1 = _mm256_unpackhi_epi8(vc, vd);
        __m256i r0 = _mm256_unpacklo_epi16(ab0, cd0), r1 = _mm256_unpackhi_epi16(ab0, cd0);
        __m256i r2 = _mm256_unpacklo_epi16(ab1, cd1), r3 = _mm256_unpackhi_epi16(ab1, cd1);
        __m256i *out = (void *)(target + 4 * i);
        _mm256_storeu_si256(out, _mm256_permute2x128_si256(r0, r1, 0x20));
        _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(r2, r3, 0x20));
        _mm256_storeu_si256(out + 2, _mm256_permute2x128_si256(r0, r1, 0x31));
        _mm256_storeu_si256(out + 3, _mm256_permute2x128_si256(r2, r3, 0x31));
    }
#endif
    for (; i < n; i++) {
        target[4 * i] = a[i];
        target[4 * i + 1] = b[i];
        target[4 * i + 2] = c[i];
        target[4 * i + 3] = d[i];
    }
}

static uint32_t u32(const char *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

typedef struct {
    int64_t strides[MAX_DIMS];
    const int64_t *chunk;
    char *start;
    size_t row;
} rows_t;

static void scatter_bytes(const job_t *job, const rows_t *rows, size_t offset, const char *source, size_t size) {
    while (size) {
        size_t row = offset / rows->row, inside = offset % rows->row, n = rows->row - inside;
        if (n > size) n = size;
        char *target = rows->start + inside;
        for (int d = job->dims - 2; d >= 0; d--) {
            target += (int64_t)(row % (size_t)rows->chunk[d]) * rows->strides[d];
            row /= (size_t)rows->chunk[d];
        }
        memcpy(target, source, n);
        source += n;
        offset += n;
        size -= n;
    }
}

/* Blosc 1 with LZ4 and byte shuffle, block by block: each block goes to the array while it is still in the L2 cache. */
int blosc_scatter(const job_t *job, thread_t *t, const int64_t *origin, const int64_t *chunk, const char *source) {
    rows_t rows = {.chunk = chunk, .start = job->array, .row = (size_t)chunk[job->dims - 1] * ITEM};
    int64_t stride = ITEM;
    for (int d = job->dims - 1; d >= 0; d--) {
        rows.strides[d] = stride;
        rows.start += origin[d] * stride;
        stride *= job->shape[d];
    }
    const uint8_t flags = (uint8_t)source[2], typesize = (uint8_t)source[3];
    const uint32_t total = u32(source + 4), block = u32(source + 8);
    if (flags & 2) { /* stored */
        scatter_bytes(job, &rows, 0, source + 16, total);
        return 0;
    }
    char *shuffled = reserve(&t->scratch, &t->scratch_size, 2 * (size_t)block + 64), *plain = shuffled + block;
    for (uint32_t b = 0; (uint64_t)b * block < total; b++) {
        uint32_t at = u32(source + 16 + 4 * (size_t)b), size = block;
        int whole = total - b * block >= block;
        if (!whole) size = total - b * block;
        int streams = !(flags & 0x10) && whole ? typesize : 1;
        uint32_t part = size / (uint32_t)streams;
        for (int s = 0; s < streams; s++) {
            uint32_t packed = u32(source + at);
            char *target = shuffled + (size_t)s * part;
            at += 4;
            if (packed == part)
                memcpy(target, source + at, part);
            else if (LZ4_decompress_safe(source + at, target, (int)packed, (int)part) != (int)part)
                return -1;
            at += packed;
        }
        if (flags & 1) unshuffle4((uint8_t *)shuffled, (uint8_t *)plain, size / 4);
        scatter_bytes(job, &rows, (size_t)b * block, flags & 1 ? plain : shuffled, size);
    }
    return 0;
}

uint32_t crc32c_words(const uint64_t *words, int64_t count) {
    uint64_t crc = ~0u;
#if defined(__SSE4_2__)
    for (int64_t i = 0; i < count; i++) crc = _mm_crc32_u64(crc, words[i]);
#else
    for (int64_t i = 0; i < count; i++)
        for (int byte = 0; byte < 8; byte++) {
            crc ^= (words[i] >> (8 * byte)) & 0xff;
            for (int k = 0; k < 8; k++) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
        }
#endif
    return ~(uint32_t)crc;
}
