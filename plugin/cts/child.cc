#include "plugin/cts/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "plugin/hal/backend.h"

namespace hpu::cts {
namespace {

constexpr char kFlag[] = "--cts_child=";

// One line on standard output for HoldingProcess.
void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void WaitForEndOfInput() {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

void ForkSleeper() {
  if (fork() != 0) return;
  // Does not keep the pipes of the test open.
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  sleep(60);
  _exit(0);
}

int Hold(const std::string& backend_name, bool fork_sleeper) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto backend = hal::GetBackend(backend_name);
  if (!backend.ok()) {
    Say(backend.status().ToString());
    return 1;
  }
  hal::AcquireOptions options;
  options.memory_bytes = 1 << 20;
  auto device = (*backend)->Acquire(options);
  if (!device.ok()) {
    Say(device.status().ToString());
    return 1;
  }
  if (fork_sleeper) ForkSleeper();
  Say(absl::StrCat("acquired ", (*device)->info().module_id));
  WaitForEndOfInput();
  return 0;
}

std::string ReadLine(int fd) {
  std::string line;
  char byte;
  while (read(fd, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

}  // namespace

bool PlayRole(int argc, char** argv, int* exit_code) {
  if (argc != 2 || !absl::StartsWith(argv[1], kFlag)) return false;
  const std::vector<std::string> words = absl::StrSplit(argv[1] + sizeof(kFlag) - 1, ':');
  *exit_code = Hold(words.at(1), words.at(0) == "fork_and_hold");
  return true;
}

HoldingProcess::HoldingProcess(const std::string& backend, Role role) {
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) std::abort();
  const std::string flag = absl::StrCat(kFlag, role == Role::kHold ? "hold:" : "fork_and_hold:", backend);
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

HoldingProcess::~HoldingProcess() {
  Kill();
  close(input_);
}

void HoldingProcess::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace hpu::cts
