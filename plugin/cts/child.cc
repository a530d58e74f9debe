#include "plugin/cts/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "plugin/hal/backend.h"
#include "plugin/serve/compile_worker.h"
#include "plugin/serve/server.h"

namespace hpu::cts {
namespace {

constexpr char kFlag[] = "--cts_child=";

// One line on standard output for ChildProcess.
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

const char* Name(ChildProcess::Role role) {
  switch (role) {
    case ChildProcess::Role::kHold:
      return "hold";
    case ChildProcess::Role::kForkAndHold:
      return "fork_and_hold";
    case ChildProcess::Role::kServe:
      return "serve";
    case ChildProcess::Role::kCompile:
      return "compile";
  }
  return "";
}

int Serve(const std::string& address) {
  // Modules of its own, which only its clients compete for.
  setenv("HPU_EMULATOR_LOCK_DIR", absl::StrCat(address.substr(address.find('/')), ".modules").c_str(), 1);
  setenv("HPU_EMULATOR_MODULES", "2", 1);
  serve::ServerOptions options;
  options.address = address;
  options.allow_faults = true;
  options.compile.command = {"/proc/self/exe",
                             absl::StrCat(kFlag, Name(ChildProcess::Role::kCompile), ":", options.backend)};
  auto server = serve::Server::Start(options);
  Say(server.ok() ? absl::StrCat("serving ", (*server)->spec()) : server.status().ToString());
  if (server.ok()) WaitForEndOfInput();
  return server.ok() ? 0 : 1;
}

[[noreturn]] void Compile(const std::string& backend_name) {
  auto backend = hal::GetBackend(backend_name);
  if (!backend.ok()) std::abort();
  serve::RunCompileWorker(**backend, STDIN_FILENO);
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
  const std::pair<std::string, std::string> words =
      absl::StrSplit(argv[1] + sizeof(kFlag) - 1, absl::MaxSplits(':', 1));
  if (words.first == Name(ChildProcess::Role::kCompile)) Compile(words.second);
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
