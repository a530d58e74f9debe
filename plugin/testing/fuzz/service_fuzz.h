// Fuzzing of a device server's handlers with mutated messages.
#ifndef HPU_PLUGIN_TESTING_FUZZ_SERVICE_FUZZ_H_
#define HPU_PLUGIN_TESTING_FUZZ_SERVICE_FUZZ_H_

#include <cstdint>

namespace hpu::fuzz {

struct ServiceFuzzOptions {
  int64_t messages = 1'000'000;  // number of mutated messages for the server to read
  uint64_t seed = 0;
  bool progress = false;  // print progress lines to stdout
};

struct ServiceFuzzReport {
  int64_t messages = 0;  // mutated messages that the server read, except in Hold
  int64_t sessions = 0;
  int64_t calls = 0;
  int64_t refused = 0;  // calls that ended with INVALID_ARGUMENT
  // Memory in use without a session: after a hundredth of the messages and at the end, in bytes.
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
};

// Sends messages to a server of null-backend modules until the server has read `options.messages` mutated messages.
// Prints the reason and aborts if a call that read a damaged message ends with a code other than INVALID_ARGUMENT. Also
// aborts if a call does not end, ends with INTERNAL or UNKNOWN, or fails without an error text. The process must not
// contain another server.
ServiceFuzzReport FuzzService(const ServiceFuzzOptions& options);

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_SERVICE_FUZZ_H_
