#include "plugin/testing/cts/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "plugin/hal/backend.h"

namespace hpu::cts {
namespace {

constexpr char kFlag[] = "--cts_child=";

// Writes one line to standard output for ChildProcess.
void Print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void WaitForEndOfInput() {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

// Forks a child that sleeps for a minute. Returns when the child has closed the lock files that it inherited; fork()'s
// handlers close these files.
void ForkSleeper() {
  int started[2];
  if (pipe(started) != 0) std::abort();
  if (fork() == 0) {
    close(started[0]);
    close(started[1]);
    // Closes the test's pipes, so that the test can detect their end.
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    sleep(60);
    _exit(0);
  }
  close(started[1]);
  char byte;
  while (read(started[0], &byte, 1) < 0 && errno == EINTR) {
  }
  close(started[0]);
}

int Hold(const std::string& backend_name, bool fork_sleeper) {
  auto backend = hal::GetBackend(backend_name);
  if (!backend.ok()) {
    Print(backend.status().ToString());
    return 1;
  }
  hal::AcquireOptions options;
  options.memory_bytes = 1 << 20;
  auto device = (*backend)->Acquire(options);
  if (!device.ok()) {
    Print(device.status().ToString());
    return 1;
  }
  if (fork_sleeper) ForkSleeper();
  Print(absl::StrCat("acquired ", (*device)->info().module_id));
  WaitForEndOfInput();
  return 0;
}

const char* Name(ChildProcess::Role role) {
  switch (role) {
    case ChildProcess::Role::kHold:
      return "hold";
    case ChildProcess::Role::kForkAndHold:
      return "fork_and_hold";
    case ChildProcess::Role::kServe:
      return "serve";
  }
  return "";
}

#ifdef HPU_HAVE_REMOTE
// Replaces the process by `hpu serve`, which prints its address to standard output.
int Serve(const std::string& address) {
  setenv("PYTHONPATH", CTS_ROOT, 1);
  execl(CTS_PYTHON, CTS_PYTHON, "-m", "habana_frameworks.tensorflow", "serve", "--json", "--modules", "2",
        "--allow-faults", "--listen", address.c_str(), nullptr);
  Print(absl::StrCat("cannot run ", CTS_PYTHON));
  return 1;
}
#else
int Serve(const std::string&) { return 1; }
#endif

std::string ReadLine(int fd) {
  std::string line;
  char byte;
  while (read(fd, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

}  // namespace

bool PlayRole(int argc, char** argv, int* exit_code) {
  if (argc != 2 || !absl::StartsWith(argv[1], kFlag)) return false;
  const std::pair<std::string, std::string> words =
      absl::StrSplit(argv[1] + sizeof(kFlag) - 1, absl::MaxSplits(':', 1));
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  *exit_code = words.first == Name(ChildProcess::Role::kServe)
                   ? Serve(words.second)
                   : Hold(words.second, words.first == Name(ChildProcess::Role::kForkAndHold));
  return true;
}

ChildProcess::ChildProcess(const std::string& subject, Role role) {
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) std::abort();
  const std::string flag = absl::StrCat(kFlag, Name(role), ":", subject);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    execl("/proc/self/exe", "hpu_cts", flag.c_str(), nullptr);
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  input_ = input[1];
  answer_ = ReadLine(output[0]);
  close(output[0]);
}

ChildProcess::~ChildProcess() {
  Kill();
  close(input_);
}

void ChildProcess::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace hpu::cts
