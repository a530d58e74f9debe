// ChildProcess: child process of a test, which runs the test program in another role.
#ifndef HPU_PLUGIN_TESTING_CTS_CHILD_H_
#define HPU_PLUGIN_TESTING_CTS_CHILD_H_

#include <sys/types.h>

#include <string>

namespace hpu::cts {

// If the command line selects a role (--cts_child=…), runs it, sets its exit code and returns true. Called by main().
bool PlayRole(int argc, char** argv, int* exit_code);

// A process that acquires a device or starts a device server, and reports the result. The process inherits this
// process's environment. The destructor kills and reaps the process.
class ChildProcess {
 public:
  enum class Role {
    kHold,         // holds a device of the backend `subject` until the end of its input
    kForkAndHold,  // like kHold, and forks a child that sleeps for a minute
    kServe,        // runs a device server with two modules at the address `subject`
  };

  ChildProcess(const std::string& subject, Role role);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // The process's report: "acquired <module>", the line of `hpu serve --json`, or the error.
  const std::string& answer() const { return answer_; }
  // Kills the process, like a crash.
  void Kill();

 private:
  pid_t pid_ = -1;
  int input_ = -1;  // write end of the pipe to the process's input
  std::string answer_;
};

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_CHILD_H_
