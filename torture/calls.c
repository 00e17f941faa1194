/* Follows a child process through its system calls, and ends it, lets a call fail, or writes down what it did.

   Only calls that change something below one folder count. Loaded by calls.py. Linux on x86-64. */

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* glibc and the kernel both define this structure, under different names. */
#define INFO_ENTRY 1
#define INFO_EXIT 2
struct info {
  uint8_t op, pad[3];
  uint32_t arch;
  uint64_t ip, sp;
  union {
    struct { uint64_t nr, args[6]; } entry;
    struct { int64_t rval; uint8_t is_error; } exit;
  };
};

enum { COUNT, KILL, FAIL, SHORT, RECORD };
enum { MOST = 512, PATH = 4096 };

struct call {
  char op; /* o open, w write, r rename, l link, u unlink, d rmdir, m mkdir, t truncate, s sync, p permissions */
  char path[PATH], other[PATH];
  long offset;
  int fd; /* of the file, 0 or more where there is one */
};

struct thread {
  pid_t id;
  int counted; /* the call under way counts, and its result is wanted */
  long fails;  /* with this error */
  struct call call;
};

static struct thread threads[MOST];
static int nthreads;

static struct thread *thread_of(pid_t id) {
  for (int i = 0; i < nthreads; i++)
    if (threads[i].id == id) return &threads[i];
  if (nthreads == MOST) return NULL;
  memset(&threads[nthreads], 0, sizeof threads[0]);
  threads[nthreads].id = id;
  return &threads[nthreads++];
}

static int text(pid_t id, uint64_t at, char *to) {
  size_t got = 0;
  while (got < PATH) { /* page by page: what follows the text may not be there */
    size_t n = 4096 - ((at + got) & 4095);
    if (n > PATH - got) n = PATH - got;
    struct iovec here = {to + got, n}, there = {(void *)(at + got), n};
    if (process_vm_readv(id, &here, 1, &there, 1, 0) != (ssize_t)n) return 0;
    if (memchr(to + got, 0, n)) return 1;
    got += n;
  }
  return 0;
}

static int opened(pid_t id, int fd, char *to) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/fd/%d", id, fd);
  ssize_t n = readlink(name, to, PATH - 1);
  if (n < 0) return 0;
  to[n] = 0;
  return 1;
}

static int place(pid_t id, int fd, uint64_t at, char *to) {
  static char name[PATH], base[PATH];
  if (!text(id, at, name)) return 0;
  if (name[0] == '/') { strcpy(to, name); return 1; }
  if (fd == AT_FDCWD) {
    char cwd[64];
    snprintf(cwd, sizeof cwd, "/proc/%d/cwd", id);
    ssize_t n = readlink(cwd, base, PATH - 1);
    if (n < 0) return 0;
    base[n] = 0;
  } else if (!opened(id, fd, base)) return 0;
  if (strlen(base) + strlen(name) + 2 > PATH) return 0;
  sprintf(to, "%s/%s", base, name);
  return 1;
}

static long position(pid_t id, int fd) {
  char name[64], line[128];
  long at = 0;
  snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", id, fd);
  FILE *file = fopen(name, "r");
  if (!file) return 0;
  if (fgets(line, sizeof line, file)) sscanf(line, "pos: %ld", &at);
  fclose(file);
  return at;
}

/* 'n' is a file without a name. */
static char kind(uint64_t flags) { return (flags & O_TMPFILE) == O_TMPFILE ? 'n' : flags & (O_CREAT | O_TRUNC) ? 'o' : 0; }

/* What a call is about to change; 0 if nothing that we know of. */
static int understand(pid_t id, struct info *info, struct call *call) {
  uint64_t *a = info->entry.args;
  memset(call, 0, sizeof *call);
  call->fd = -1;
  switch (info->entry.nr) {
  case SYS_open: call->op = kind(a[1]); return call->op && place(id, AT_FDCWD, a[0], call->path);
  case SYS_creat: call->op = 'o'; return place(id, AT_FDCWD, a[0], call->path);
  case SYS_openat: call->op = kind(a[2]); return call->op && place(id, (int)a[0], a[1], call->path);
  case SYS_openat2: {
    struct open_how how = {0};
    struct iovec here = {&how, sizeof how}, there = {(void *)a[2], sizeof how};
    if (process_vm_readv(id, &here, 1, &there, 1, 0) < (ssize_t)sizeof how) return 0;
    call->op = kind(how.flags);
    return call->op && place(id, (int)a[0], a[1], call->path);
  }
  case SYS_write: case SYS_writev:
    call->op = 'w'; call->fd = (int)a[0]; call->offset = position(id, call->fd);
    return opened(id, call->fd, call->path);
  case SYS_pwrite64: case SYS_pwritev: case SYS_pwritev2:
    call->op = 'w'; call->fd = (int)a[0]; call->offset = (long)a[3];
    return opened(id, call->fd, call->path);
  case SYS_copy_file_range: case SYS_splice:
    call->op = 'w'; call->fd = (int)a[2]; call->offset = position(id, call->fd);
    return opened(id, call->fd, call->path);
  case SYS_sendfile:
    call->op = 'w'; call->fd = (int)a[0]; call->offset = position(id, call->fd);
    return opened(id, call->fd, call->path);
  case SYS_rename: call->op = 'r'; return place(id, AT_FDCWD, a[0], call->path) && place(id, AT_FDCWD, a[1], call->other);
  case SYS_renameat: case SYS_renameat2:
    call->op = 'r'; return place(id, (int)a[0], a[1], call->path) && place(id, (int)a[2], a[3], call->other);
  case SYS_link: call->op = 'l'; return place(id, AT_FDCWD, a[0], call->path) && place(id, AT_FDCWD, a[1], call->other);
  case SYS_linkat:
    call->op = 'l'; return place(id, (int)a[0], a[1], call->path) && place(id, (int)a[2], a[3], call->other);
  case SYS_unlink: call->op = 'u'; return place(id, AT_FDCWD, a[0], call->path);
  case SYS_rmdir: call->op = 'd'; return place(id, AT_FDCWD, a[0], call->path);
  case SYS_unlinkat:
    call->op = a[2] & AT_REMOVEDIR ? 'd' : 'u'; return place(id, (int)a[0], a[1], call->path);
  case SYS_mkdir: call->op = 'm'; return place(id, AT_FDCWD, a[0], call->path);
  case SYS_mkdirat: call->op = 'm'; return place(id, (int)a[0], a[1], call->path);
  case SYS_truncate: call->op = 't'; call->offset = (long)a[1]; return place(id, AT_FDCWD, a[0], call->path);
  case SYS_ftruncate:
    call->op = 't'; call->fd = (int)a[0]; call->offset = (long)a[1]; return opened(id, call->fd, call->path);
  case SYS_fallocate: call->op = 't'; call->fd = (int)a[0]; call->offset = (long)(a[2] + a[3]); return opened(id, call->fd, call->path);
  case SYS_fsync: case SYS_fdatasync: call->op = 's'; call->fd = (int)a[0]; return opened(id, call->fd, call->path);
  case SYS_fsetxattr: case SYS_fremovexattr: case SYS_fchmod: call->op = 'p'; call->fd = (int)a[0]; return opened(id, call->fd, call->path);
  default: return 0;
  }
}

static void record(FILE *log, pid_t id, struct call *call, int64_t result) {
  char *data = NULL;
  long size = 0;
  if (call->op == 'w' && result > 0) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd/%d", id, call->fd);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    data = malloc(result);
    if (file >= 0 && data) size = pread(file, data, result, call->offset);
    if (size < 0) size = 0;
    if (file >= 0) close(file);
  }
  fprintf(log, "%c\t%s\t%s\t%ld\t%ld\n", call->op, call->path, call->other, call->offset, size);
  if (size) fwrite(data, 1, size, log);
  free(data);
}

/* Stop here until the parent follows; called by the child. */
int stand_by(void) {
  if (ptrace(PTRACE_TRACEME, 0, 0, 0)) return -1;
  return raise(SIGSTOP);
}

/* Follow a child to its end. Returns how many calls counted, or -1; `status` is how it ended. */
long follow(pid_t child, const char *folder, int mode, long at, int error, const char *log_path, int *status, char *what) {
  long count = 0, options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                            PTRACE_O_EXITKILL;
  size_t length = strlen(folder);
  FILE *log = mode == RECORD ? fopen(log_path, "wb") : NULL;
  nthreads = 0;
  what[0] = 0;
  if (waitpid(child, status, __WALL) != child || !WIFSTOPPED(*status)) return -1;
  if (ptrace(PTRACE_SETOPTIONS, child, 0, options)) return -1;
  ptrace(PTRACE_SYSCALL, child, 0, 0);
  for (;;) {
    int state;
    pid_t id = waitpid(-child, &state, __WALL); /* the child leads a group of its own */
    if (id < 0) break;
    if (WIFEXITED(state) || WIFSIGNALED(state)) {
      if (id == child) { *status = state; break; }
      continue;
    }
    int signal = WSTOPSIG(state);
    if (signal != (SIGTRAP | 0x80)) {
      /* New threads begin with a stop, events are ours; other signals are the child's. */
      int pass = signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
      ptrace(PTRACE_SYSCALL, id, 0, pass);
      continue;
    }
    struct thread *thread = thread_of(id);
    struct info info;
    if (!thread || ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) <= 0) { ptrace(PTRACE_SYSCALL, id, 0, 0); continue; }
    if (info.op == INFO_ENTRY) {
      thread->counted = 0;
      thread->fails = 0;
      if (understand(id, &info, &thread->call) && !strncmp(thread->call.path, folder, length)) {
        thread->counted = 1;
        if (++count == at && mode != COUNT && mode != RECORD) {
          snprintf(what, PATH, "%c %s", thread->call.op, thread->call.path + length);
          if (mode == KILL) {
            kill(child, SIGKILL);
            continue;
          }
          struct user_regs_struct regs;
          ptrace(PTRACE_GETREGS, id, 0, &regs);
          if (mode == FAIL) {
            regs.orig_rax = -1;
            thread->fails = error;
          } else if (thread->call.op == 'w' && info.entry.nr != SYS_writev && info.entry.nr != SYS_pwritev) {
            if (info.entry.nr == SYS_write || info.entry.nr == SYS_pwrite64) regs.rdx = regs.rdx > 1 ? regs.rdx / 2 : regs.rdx;
          }
          ptrace(PTRACE_SETREGS, id, 0, &regs);
        }
      }
    } else if (info.op == INFO_EXIT && thread->counted) {
      if (thread->fails) {
        struct user_regs_struct regs;
        ptrace(PTRACE_GETREGS, id, 0, &regs);
        regs.rax = -thread->fails;
        ptrace(PTRACE_SETREGS, id, 0, &regs);
      } else if (log && !info.exit.is_error)
        record(log, id, &thread->call, info.exit.rval);
      thread->counted = 0;
    }
    ptrace(PTRACE_SYSCALL, id, 0, 0);
  }
  if (log) fclose(log);
  return count;
}
