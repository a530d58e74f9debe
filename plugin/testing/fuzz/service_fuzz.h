// Mutated messages against the handlers of a device server.
#ifndef HPU_PLUGIN_TESTING_FUZZ_SERVICE_FUZZ_H_
#define HPU_PLUGIN_TESTING_FUZZ_SERVICE_FUZZ_H_

#include <cstdint>

namespace hpu::fuzz {

struct ServiceFuzzOptions {
  int64_t messages = 1'000'000;  // mutated ones that the server shall read
  uint64_t seed = 0;
  bool progress = false;  // a line now and then, to stdout
};

struct ServiceFuzzReport {
  int64_t messages = 0;  // mutated, which the server read; without those of Hold
  int64_t sessions = 0;
  int64_t calls = 0;
  int64_t refused = 0;  // calls that ended with INVALID_ARGUMENT
  // Memory in use without a session: after a hundredth of the messages and at the end, in bytes.
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
};

// Sends messages to a server of the null backend's modules until the server has read as many mutated ones. Aborts,
// having said why, if a call that breaks the protocol ends with anything but INVALID_ARGUMENT, or a refusal does not
// say why. The process may have no other server.
ServiceFuzzReport FuzzService(const ServiceFuzzOptions& options);

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_SERVICE_FUZZ_H_
