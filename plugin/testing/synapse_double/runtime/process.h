// Process state: synInitialize to synDestroy, forks, and the entry of every C function.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_PROCESS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_PROCESS_H_

#include "plugin/testing/synapse_double/runtime/status.h"

namespace hpu::synapse_double {

// Whether a function may be called before synInitialize.
enum class Lifecycle { kAnyTime, kInitialized };

// A call of a C function. Names the function in the log while it exists.
class ApiCall {
 public:
  explicit ApiCall(const char* function, Lifecycle lifecycle);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  // synSynapseTerminated in a forked child, synUninitialized before synInitialize, or a fault that switches ask for.
  synStatus status() const { return status_; }

 private:
  const char* const previous_;
  synStatus status_;
};

// Begins every C function:
//   synStatus synGraphDestroy(const synGraphHandle graph) {
//     SYNAPSE_DOUBLE_CALL();
#define SYNAPSE_DOUBLE_CALL() SYNAPSE_DOUBLE_CALL_IN(::hpu::synapse_double::Lifecycle::kInitialized)
// The same for functions that may be called before synInitialize.
#define SYNAPSE_DOUBLE_CALL_AT_ANY_TIME() SYNAPSE_DOUBLE_CALL_IN(::hpu::synapse_double::Lifecycle::kAnyTime)
#define SYNAPSE_DOUBLE_CALL_IN(lifecycle)                                        \
  const ::hpu::synapse_double::ApiCall synapse_double_call(__func__, lifecycle); \
  if (synapse_double_call.status() != ::hpu::synapse::synSuccess) return synapse_double_call.status()

// Returns from a C function if an expression is not synSuccess.
#define SYNAPSE_DOUBLE_RETURN_IF_ERROR(expression)                          \
  if (const ::hpu::synapse::synStatus synapse_double_status = (expression); \
      synapse_double_status != ::hpu::synapse::synSuccess)                  \
  return synapse_double_status

// Refuses null pointers: SYNAPSE_DOUBLE_REQUIRE_POINTER(count).
#define SYNAPSE_DOUBLE_REQUIRE_POINTER(pointer)                                                                     \
  if ((pointer) == nullptr)                                                                                         \
  return ::hpu::synapse_double::Refuse(::hpu::synapse_double::Rule::kArguments, ::hpu::synapse::synInvalidArgument, \
                                       #pointer " is null")

synStatus Initialize();
synStatus Destroy();

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_PROCESS_H_
