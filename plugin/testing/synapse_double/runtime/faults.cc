#include "plugin/testing/synapse_double/runtime/faults.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

std::atomic<uint64_t> commands{0};
std::mutex calls_mutex;
std::map<std::string, uint64_t>& Calls() {
  static auto* const calls = new std::map<std::string, uint64_t>;
  return *calls;
}

// Finds "<function>:<call>:<status>" in a list with commas.
synStatus FindFault(const std::string& list, const std::string& function, uint64_t call) {
  const std::string wanted = Text(",", function, ":", call, ":");
  const std::string text = "," + list;
  const size_t position = text.find(wanted);
  if (position == std::string::npos) return synapse::synSuccess;
  return static_cast<synStatus>(std::atoi(text.c_str() + position + wanted.size()));
}

}  // namespace

synStatus CommandFault() {
  const uint64_t command = commands.fetch_add(1) + 1;
  const Switches& switches = GetSwitches();
  if (command != switches.failing_command) return synapse::synSuccess;
  return Fail(Rule::kArguments, static_cast<synStatus>(switches.failing_status),
              Text("command ", command, " fails, as SYNAPSE_DOUBLE_FAIL_COMMAND asks"));
}

synStatus CallFault(const char* function) {
  const Switches& switches = GetSwitches();
  if (switches.failing_calls.empty()) return synapse::synSuccess;
  std::lock_guard<std::mutex> lock(calls_mutex);
  const uint64_t call = ++Calls()[function];
  const synStatus status = FindFault(switches.failing_calls, function, call);
  if (status == synapse::synSuccess) return status;
  return Fail(Rule::kArguments, status, Text("call ", call, " fails, as SYNAPSE_DOUBLE_FAIL_CALLS asks"));
}

void ResetFaults() {
  std::lock_guard<std::mutex> lock(calls_mutex);
  commands = 0;
  Calls().clear();
}

}  // namespace hpu::synapse_double
