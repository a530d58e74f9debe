// Faults that switches ask for: commands and calls that fail.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_FAULTS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_FAULTS_H_

#include "plugin/testing/synapse_double/runtime/status.h"

namespace hpu::synapse_double {

// Counts a command of any stream. Returns its fault (FAIL_COMMAND), or synSuccess if it is to run.
synStatus CommandFault();

// Counts a call of a C function. Returns its fault (FAIL_CALLS), or synSuccess.
synStatus CallFault(const char* function);

// Restarts both counts.
void ResetFaults();

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_FAULTS_H_
