// Child processes of tests: this program again, in another role.
#ifndef HPU_PLUGIN_TESTING_CTS_CHILD_H_
#define HPU_PLUGIN_TESTING_CTS_CHILD_H_

#include <sys/types.h>

#include <string>

#include "plugin/server/fork_server.h"

namespace hpu::cts {

// If the command line asks for a role (--cts_child=…), plays it and returns true with its exit code. Called by main().
bool PlayRole(int argc, char** argv, int* exit_code);

// A process that acquires something, says so, and keeps it until told to stop. Its environment is this process's.
// Killed and reaped at destruction.
class ChildProcess {
 public:
  enum class Role {
    kHold,         // a device of the backend that the subject names
    kForkAndHold,  // and forks a child that lives on for a minute
    kServe,        // a device server of two modules at the address that the subject is
  };

  ChildProcess(const std::string& subject, Role role);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // What the process said after trying: "acquired <module>", the line of `hpu serve --json`, or the error.
  const std::string& answer() const { return answer_; }
  // As a crash would end it.
  void Kill();

 private:
  pid_t pid_ = -1;
  int input_ = -1;  // closing it ends the process
  std::string answer_;
};

// Forks compile workers for modules of the null backend. Called first by main(), which has one thread then.
serve::ForkClient* CompileForkServer();

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_CHILD_H_
