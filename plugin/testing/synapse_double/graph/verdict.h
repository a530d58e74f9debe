// Verdict of a check of the Synapse double: success, or the rule that a call breaks and the status that it returns.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_VERDICT_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_VERDICT_H_

#include <string>

#include "plugin/backends/gaudi/synapse/types.h"
#include "plugin/testing/synapse_double/runtime/status.h"

namespace hpu::synapse_double {

struct Verdict {
  Rule rule = Rule::kArguments;
  synStatus status = synapse::synSuccess;
  std::string text;          // of the log line
  bool breaks_rule = false;  // false: a failure that a correct program may meet, or a limit of the double

  bool ok() const { return status == synapse::synSuccess; }
};

template <typename... Parts>
Verdict Violation(Rule rule, synStatus status, const Parts&... parts) {
  return {rule, status, Text(parts...), true};
}

// A limit of the double: a card may accept the call.
template <typename... Parts>
Verdict NotModelled(const Parts&... parts) {
  return {Rule::kArguments, synapse::synUnsupported, Text(parts...), false};
}

// Logs a verdict and returns its status.
inline synStatus Report(const Verdict& verdict) {
  if (verdict.ok()) return synapse::synSuccess;
  return verdict.breaks_rule ? Refuse(verdict.rule, verdict.status, verdict.text)
                             : Fail(verdict.rule, verdict.status, verdict.text);
}

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_VERDICT_H_
