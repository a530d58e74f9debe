#include "plugin/server/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <thread>
#include <vector>

namespace hpu::serve {
namespace {

// Runs `body` in a forked child and returns its exit code, or the negated number of the signal that ended it.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// 0 if `call` fails with EPERM, else `number`.
template <typename Call>
int Refused(int number, const Call& call) {
  return call() < 0 && errno == EPERM ? 0 : number;
}

TEST(ConfinementTest, RefusesFilesNetworkProgramsAndOtherProcesses) {
  const pid_t parent = getpid();
  EXPECT_EQ(0, InChild([parent] {
              if (!Confine(Role::kComputes).ok()) return 100;
              int failed = 0;
              failed += Refused(1, [] { return open("/proc/self/maps", O_RDONLY); });
              failed += Refused(2, [] { return open("/tmp/x", O_RDWR | O_CREAT, 0600); });
              failed += Refused(4, [] { return socket(AF_INET, SOCK_STREAM, 0); });
              failed += Refused(8, [] { return execl("/bin/true", "true", nullptr); });
              failed += Refused(16, [parent] { return kill(parent, 0); });
              failed += Refused(32, [] { return fork(); });
              return failed;
            }));
}

TEST(ConfinementTest, LeavesThreadsMemoryAndAbort) {
  EXPECT_EQ(42, InChild([] {
              if (!Confine(Role::kComputes).ok()) return 100;
              std::vector<char> large(64 << 20, 'x');
              int result = 0;
              std::thread([&] { result = large.back() == 'x' ? 42 : 0; }).join();
              void* code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0) return 101;
              return result;
            }));
  EXPECT_EQ(-SIGABRT, InChild([]() -> int {
    if (!Confine(Role::kComputes).ok()) return 100;
    abort();
  }));
}

TEST(ConfinementTest, ConfinesThreadsThatRunAlready) {
  EXPECT_EQ(0, InChild([] {
              int ends[2];
              if (pipe(ends) != 0) return 99;
              int refused = 1;
              std::thread other([&] {
                char byte = 0;
                if (read(ends[0], &byte, 1) == 1) refused = Refused(1, [] { return open("/dev/null", O_RDONLY); });
              });
              if (!Confine(Role::kComputes).ok() || write(ends[1], "x", 1) != 1) return 100;
              other.join();
              return refused;
            }));
}

TEST(ConfinementTest, ForkServerForksAndItsChildrenDoNot) {
  EXPECT_EQ(7, InChild([] {
              if (!Confine(Role::kForks).ok()) return 100;
              if (open("/dev/null", O_RDONLY) >= 0) return 101;
              return InChild([] {
                if (!Confine(Role::kComputes).ok()) return 102;
                return Refused(1, [] { return fork(); }) == 0 ? 7 : 103;
              });
            }));
}

TEST(ConfinementTest, LimitsMemoryAndProcessorTime) {
  EXPECT_EQ(0, InChild([] {
              LimitMemory(uint64_t{1} << 30);
              void* much = mmap(nullptr, size_t{2} << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return much == MAP_FAILED ? 0 : 1;
            }));
  EXPECT_EQ(-SIGXCPU, InChild([]() -> int {
    LimitProcessorTime(std::chrono::seconds(1));
    for (volatile int spin = 0;; spin = spin + 1) {
    }
  }));
}

}  // namespace
}  // namespace hpu::serve
