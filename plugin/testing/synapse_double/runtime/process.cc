#include "plugin/testing/synapse_double/runtime/process.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "plugin/testing/synapse_double/runtime/configuration.h"
#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/faults.h"
#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

std::atomic<bool> is_initialized{false};
std::atomic<bool> is_forked_child{false};

// Serialises synInitialize and synDestroy.
std::mutex& LifecycleMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

// Runs in a forked child. Takes no lock, because a thread that the child lacks may hold it.
void MarkForkedChild() {
  if (!is_initialized) return;
  is_forked_child = true;
  Device::ForgetInChild();
}

synStatus CheckLifecycle(Lifecycle lifecycle) {
  if (is_forked_child) {
    return Refuse(Rule::kFork, synapse::synSynapseTerminated, "called in a forked child of an initialised process");
  }
  if (lifecycle == Lifecycle::kInitialized && !is_initialized) {
    return Refuse(Rule::kLifecycle, synapse::synUninitialized, "called before synInitialize or after synDestroy");
  }
  return synapse::synSuccess;
}

}  // namespace

ApiCall::ApiCall(const char* function, Lifecycle lifecycle) : previous_(CurrentFunction()) {
  CurrentFunction() = function;
  // Until synInitialize fixes the switches, each call reads the environment again.
  if (lifecycle == Lifecycle::kAnyTime && !is_initialized) ReadSwitches();
  status_ = CheckLifecycle(lifecycle);
  if (status_ == synapse::synSuccess) status_ = CallFault(function);
}

ApiCall::~ApiCall() { CurrentFunction() = previous_; }

synStatus Initialize() {
  std::lock_guard<std::mutex> lock(LifecycleMutex());
  if (is_initialized) {
    if (std::getenv("HABANA_DISABLE_DOUBLE_SYN_INITIALIZE") == nullptr) return synapse::synSuccess;
    return Refuse(Rule::kLifecycle, synapse::synAlreadyInitialized,
                  "initialised before, and HABANA_DISABLE_DOUBLE_SYN_INITIALIZE is set");
  }
  ReadSwitches();
  ResetFaults();
  ResetConfiguration();
  static const int registered = pthread_atfork(nullptr, nullptr, MarkForkedChild);
  static_cast<void>(registered);
  is_initialized = true;
  return synapse::synSuccess;
}

synStatus Destroy() {
  std::lock_guard<std::mutex> lock(LifecycleMutex());
  if (const std::shared_ptr<Device> device = Device::Current()) Device::Release(device->id());
  Handles::Get().Clear();
  is_initialized = false;
  return synapse::synSuccess;
}

}  // namespace hpu::synapse_double
