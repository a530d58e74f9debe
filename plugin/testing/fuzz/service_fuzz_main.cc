// Fuzzer of a device server's handlers with mutated messages (make fuzz-service).
//
//   service_fuzz [-messages=NUMBER] [-seed=NUMBER]
//
// Exit code 0: the server has read the given number of mutated messages, and its memory grew by at most 1 MiB.
#include <cstdio>
#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "plugin/compat/protobuf_silence.h"
#include "plugin/testing/fuzz/service_fuzz.h"

namespace {

constexpr int64_t kMaxGrowth = 1 << 20;

bool Read(absl::string_view argument, hpu::fuzz::ServiceFuzzOptions* options) {
  if (absl::ConsumePrefix(&argument, "-messages=")) return absl::SimpleAtoi(argument, &options->messages);
  return absl::ConsumePrefix(&argument, "-seed=") && absl::SimpleAtoi(argument, &options->seed);
}

}  // namespace

int main(int argc, char** argv) {
  hpu::fuzz::ServiceFuzzOptions options;
  options.seed = std::random_device()();
  options.progress = true;
  for (int i = 1; i < argc; ++i) {
    if (Read(argv[i], &options)) continue;
    std::fprintf(stderr, "%s: %s is not an option; expected -messages=NUMBER or -seed=NUMBER\n", argv[0], argv[i]);
    return 2;
  }
  const hpu::compat::ProtobufSilence silence;  // silences the parser on damaged strings
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  const hpu::fuzz::ServiceFuzzReport report = hpu::fuzz::FuzzService(options);
  const int64_t growth = report.bytes_after - report.bytes_before;
  std::printf(
      "%lld mutated messages read in %lld calls of %lld sessions; %lld calls refused; memory grew by %lld bytes\n",
      static_cast<long long>(report.messages), static_cast<long long>(report.calls),
      static_cast<long long>(report.sessions), static_cast<long long>(report.refused), static_cast<long long>(growth));
  return growth > kMaxGrowth ? 1 : 0;
}
