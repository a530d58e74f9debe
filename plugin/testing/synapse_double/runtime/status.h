// Refusals of the Synapse double: rule numbers, the log, and statuses that calls return.
//
// A call that breaks a rule returns the documented status, after a line on stderr that names the rule, the function and
// the reason. SYNAPSE_DOUBLE_STRICT=abort makes the double abort instead. The double always aborts if the caller's next
// step would be undefined behaviour on a card.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_STATUS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_STATUS_H_

#include <sstream>
#include <string>

#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::synapse_double {

using synapse::synStatus;

// Rules that a caller may break. The log shows the numbers.
enum class Rule {
  kArguments = 0,         // arguments that the API's documentation excludes; no rule of its own
  kLifecycle = 1,         // call before synInitialize or after synDestroy
  kHandles = 2,           // unknown, foreign or destroyed handle
  kLockedProperties = 3,  // setter after a tensor's first node
  kTensorProperties = 4,  // incomplete or contradictory tensor
  kDuplicateName = 5,     // tensor name used twice in a graph
  kConstants = 6,         // large constant outside a constant section, wrong size of its data
  kSections = 7,          // section of another graph, group above 255, persistent and read-modify-write
  kInternalGuid = 8,      // guid that only the graph compiler may use
  kTpcNode = 9,           // unknown TPC guid, or operands that its kernel does not take
  kGraphNode = 10,        // counts, types or ranks that a node of the graph compiler does not take
  kShapes = 11,           // operands' sizes do not match
  kParams = 12,           // missing, superfluous or wrong params
  kRank = 13,             // more dimensions than the node takes
  kWideTypes = 14,        // 64-bit operand of a node that takes none
  kGraphStructure = 15,   // at compile time: inputs without data, cycles, several producers, unwritten outputs
  kMemoryOrder = 16,      // at compile time: overlapping tensors without order
  kSizeRegisters = 17,    // at compile time: sizes that the device's registers cannot hold
  kLaunch = 18,           // tensors, addresses or workspace of a launch
  kCopies = 19,           // copy whose host side is not mapped, or whose device side is not inside one allocation
  kInFlight = 20,         // free, unmap or destroy of what queued work uses
  kAcquire = 21,          // module held by another process, or second device in one process
  kFork = 22,             // call in a forked child
  kLayout = 23,           // struct of another release's layout
  kCollectives = 24,      // type, operands or order of a collective, or calls that differ between the ranks
};

// Logs a broken rule and returns `status`. Aborts under SYNAPSE_DOUBLE_STRICT=abort.
synStatus Refuse(Rule rule, synStatus status, const std::string& text);

// Logs a failure that a correct program may meet, such as a busy module, and returns `status`.
synStatus Fail(Rule rule, synStatus status, const std::string& text);

// Logs a broken rule and aborts: the caller's next step would be undefined behaviour on a card.
[[noreturn]] void Abort(Rule rule, const std::string& text);

// Concatenates values as text.
template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// "0x1f00"
std::string Hex(uint64_t number);

// The C function that the current thread runs; null outside. The log shows it.
const char*& CurrentFunction();

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_STATUS_H_
