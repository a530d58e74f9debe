#include "plugin/testing/synapse_double/runtime/status.h"

#include <unistd.h>

#include <cstdlib>

#include "plugin/backends/gaudi/synapse/status_names.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

// Writes a line at once, so that lines of several threads and processes do not mix.
void Log(Rule rule, const std::string& text) {
  const char* const function = CurrentFunction();
  const std::string number = rule == Rule::kArguments ? "-" : std::to_string(static_cast<int>(rule));
  const std::string line =
      Text("synapse_double: rule ", number, ": ", function == nullptr ? "stream" : function, ": ", text, "\n");
  const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  static_cast<void>(written);
}

std::string WithStatus(const std::string& text, synStatus status) {
  return Text(text, ": status ", static_cast<uint32_t>(status), " (", synapse::StatusName(status), ")");
}

}  // namespace

synStatus Refuse(Rule rule, synStatus status, const std::string& text) {
  Log(rule, WithStatus(text, status));
  if (GetSwitches().abort_on_violation) std::abort();
  return status;
}

synStatus Fail(Rule rule, synStatus status, const std::string& text) {
  Log(rule, WithStatus(text, status));
  return status;
}

void Abort(Rule rule, const std::string& text) {
  Log(rule, Text(text, ": aborts"));
  std::abort();
}

std::string Hex(uint64_t number) {
  std::ostringstream text;
  text << "0x" << std::hex << number;
  return text.str();
}

const char*& CurrentFunction() {
  thread_local const char* function = nullptr;
  return function;
}

}  // namespace hpu::synapse_double
