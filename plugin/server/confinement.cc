#include "plugin/server/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace hpu::serve {
namespace {

// System calls for memory, threads, time, and the process's open files and sockets.
constexpr int kAllowed[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_lseek,
    SYS_fstatfs,
    SYS_poll,
    SYS_ppoll,
    SYS_select,
    SYS_pselect6,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_wait,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_pipe2,
    SYS_dup,
    SYS_fcntl,
    SYS_ftruncate,

    SYS_memfd_create,
    SYS_sendto,
    SYS_recvfrom,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_shutdown,
    SYS_getsockname,
    SYS_getpeername,
    SYS_getsockopt,
    SYS_setsockopt,
    SYS_socketpair,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_mincore,
    SYS_brk,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_setaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_membarrier,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getpriority,
    SYS_setpriority,
    SYS_getrusage,
    SYS_times,
    SYS_sysinfo,
    SYS_uname,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_time,
    SYS_getrandom,
    SYS_getcpu,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_pause,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
    SYS_pidfd_send_signal,
};

// Additional system calls for RunForkServer.
constexpr int kForking[] = {SYS_fork, SYS_vfork, SYS_wait4, SYS_waitid, SYS_kill, SYS_pidfd_open, SYS_setsid};

// A seccomp filter: a BPF program over struct seccomp_data.
class Filter {
 public:
  Filter() {
    Load(offsetof(seccomp_data, arch));
    // Other architectures have other system call numbers.
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
    Return(SECCOMP_RET_KILL_PROCESS);
    LoadNumber();
  }

  void Allow(int number) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
    Return(SECCOMP_RET_ALLOW);
  }
  void Refuse(int number, int error) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
    Return(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
  }
  // Allows the call if the lower 32 bits of argument `index`, masked with `mask`, equal `value`.
  void AllowIf(int number, int index, uint32_t mask, uint32_t value) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 5));
    Load(offsetof(seccomp_data, args) + static_cast<size_t>(index) * sizeof(uint64_t));
    program_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    Return(SECCOMP_RET_ALLOW);
    LoadNumber();
  }
  void RefuseTheRest(int error) { Return(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)); }

  // Installs the filter in all threads. Returns false and sets errno on failure.
  bool Install() {
    sock_fprog program = {static_cast<unsigned short>(program_.size()), program_.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  void Load(size_t offset) { program_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset))); }
  void LoadNumber() { Load(offsetof(seccomp_data, nr)); }
  void Return(uint32_t verdict) { program_.push_back(BPF_STMT(BPF_RET | BPF_K, verdict)); }

  std::vector<sock_filter> program_;
};

}  // namespace

absl::Status Confine(Role role) {
  Filter filter;
  for (const int number : kAllowed) filter.Allow(number);
  if (role == Role::kForks) {
    for (const int number : kForking) filter.Allow(number);
    filter.Allow(SYS_clone);
    filter.Allow(SYS_seccomp);
    filter.Allow(SYS_prctl);
    filter.Allow(SYS_prlimit64);
    filter.Allow(SYS_tgkill);
  } else {
    filter.AllowIf(SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
    // abort() sends a signal to its own thread.
    filter.AllowIf(SYS_tgkill, 0, ~uint32_t{0}, static_cast<uint32_t>(getpid()));
    filter.AllowIf(SYS_prctl, 0, ~uint32_t{0}, PR_SET_NAME);
    filter.AllowIf(SYS_prctl, 0, ~uint32_t{0}, PR_GET_NAME);
    filter.AllowIf(SYS_prctl, 0, ~uint32_t{0}, PR_SET_VMA);
    // Allowed for this process only.
    filter.AllowIf(SYS_prlimit64, 0, ~uint32_t{0}, 0);
  }
  // The filter cannot read clone3's arguments, because they are in memory. After ENOSYS, glibc calls clone instead.
  filter.Refuse(SYS_clone3, ENOSYS);
  filter.RefuseTheRest(EPERM);
  if (filter.Install()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("cannot confine the process with seccomp: ", std::strerror(errno),
                                               "; device servers require a kernel with CONFIG_SECCOMP_FILTER"));
}

void IsolateProcess() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    constexpr char kFirst[] = "800";
    static_cast<void>(!write(file, kFirst, sizeof(kFirst) - 1));
    close(file);
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // The kernel groups processes for scheduling (sched_autogroup) by their setsid sessions.
  setsid();
}

void LimitMemory(uint64_t bytes) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_max < bytes) return;
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_DATA, &limit);
}

void LimitProcessorTime(std::chrono::seconds more) {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  rlimit limit = {};
  getrlimit(RLIMIT_CPU, &limit);
  const auto end = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + more.count());
  if (limit.rlim_max < end) return;
  limit.rlim_cur = end;
  setrlimit(RLIMIT_CPU, &limit);
}

}  // namespace hpu::serve
