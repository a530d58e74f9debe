// Environment switches of the Synapse double.
//
// Variables start with SYNAPSE_DOUBLE_. synInitialize reads them, and aborts on an unknown one. Before synInitialize,
// synDriverGetVersion does the same.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_SWITCHES_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_SWITCHES_H_

#include <cstdint>
#include <string>

#include "plugin/backends/gaudi/synapse/generation.h"

namespace hpu::synapse_double {

struct Switches {
  // SEED: of delays, of the order of nodes, and of random kernels.
  uint64_t seed = 0;
  // STRICT=abort: broken rules abort.
  bool abort_on_violation = false;
  // MIN_DELAY_US, MAX_DELAY_US: bounds of the random delay before half of the commands; before all of them if the
  // minimum is not 0.
  uint64_t min_delay_us = 0;
  uint64_t max_delay_us = 100;
  // CALL_DELAY_US: delay after a command is queued, before the call returns.
  uint64_t call_delay_us = 0;
  // EMPTY_LAUNCH=1: launches neither check nor run anything, for measurements of the caller's own time.
  bool empty_launch = false;
  // GATE: path of a file. No command runs while it exists.
  std::string gate;
  // GUARD_BYTES=1: kGuardBytes must follow every array of structs that a caller passes (guard.h).
  bool guard_bytes = false;

  // VERSION: text of synDriverGetVersion. Empty: the release's own.
  std::string version;
  // GENERATION: gaudi, gaudi2 or gaudi3. Default: the release's own.
  synapse::Generation generation = synapse::Generation::kGaudi2;
  // DEVICES: number of modules.
  uint32_t devices = 8;
  // DEVICE_BYTES: memory of a device.
  uint64_t device_bytes = uint64_t{16} << 30;
  // LOCKS: folder of the lock files through which processes share modules. Empty: each process has modules of its own.
  std::string lock_folder;

  // HCCL_TIMEOUT_MS: how long a rank of a communicator waits for other ranks before it fails.
  uint64_t hccl_timeout_ms = 60000;

  // FLUSH_DENORMALS=1: products take and return 0 for denormal numbers.
  bool flush_denormals = false;
  // LOSE_NAN=1: max and min return the operand that is not NaN.
  bool lose_nan_in_max_min = false;
  // COMPLEX_GUIDS=0: guids that the complex-guid library provides are unknown.
  bool complex_guids = true;

  // FAIL_COMMAND=n and FAIL_STATUS=s: the n-th command of the process, counted over all streams from 1, fails with s
  // instead of running. s = 17 or 31 loses the device.
  uint64_t failing_command = 0;
  uint32_t failing_status = 26;
  // FAIL_CALLS=synDeviceMalloc:2:4,…: the second call of synDeviceMalloc returns 4.
  std::string failing_calls;
};

// The switches that synInitialize read; before it, those that the last synDriverGetVersion read. Thread safe.
const Switches& GetSwitches();

// Reads the environment again. Earlier references stay valid.
const Switches& ReadSwitches();

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_SWITCHES_H_
