// Replacement for libFuzzer, for compilers without it: mutates inputs and keeps inputs that reach new code.
//
//   entry_fuzz [-max_total_time=SECONDS] [-seed=NUMBER] [FILE or DIRECTORY…]
//
// Each file is run unchanged and then seeds mutations. -max_total_time=0 only runs the files, to reproduce a failure.
// The code under test is compiled with -fsanitize-coverage=trace-pc. When the program crashes, the input is in the file
// "crash-input" of the working directory.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "plugin/testing/fuzz/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kMaxInputs = 2000;
constexpr absl::Duration kReportInterval = absl::Seconds(30);

// One byte for each hash of an edge; not 0 if an edge with this hash was reached. The code under test runs on one
// thread.
uint8_t reached[1 << 16];
bool reached_new = false;
uintptr_t previous = 0;

std::string* input = new std::string;

extern "C" void SaveInput() {
  std::FILE* file = std::fopen("crash-input", "wb");
  if (file == nullptr) return;
  std::fwrite(input->data(), 1, input->size(), file);
  std::fclose(file);
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// Runs the input. Returns whether the input reached an edge for the first time.
bool Run(const std::string& bytes) {
  *input = bytes;
  reached_new = false;
  previous = 0;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return reached_new;
}

void AddSeeds(const std::filesystem::path& path, std::vector<std::string>* seeds) {
  if (!std::filesystem::is_directory(path)) {
    seeds->push_back(ReadFile(path));
    return;
  }
  for (const auto& file : std::filesystem::directory_iterator(path)) {
    if (file.is_regular_file()) seeds->push_back(ReadFile(file.path()));
  }
}

void Fuzz(std::vector<std::string> inputs, absl::Duration duration, unsigned seed) {
  hpu::fuzz::Mutator mutator(seed);
  const absl::Time start = absl::Now(), end = start + duration;
  absl::Time next_report = start + kReportInterval;
  int64_t runs = 0;
  const auto report = [&] {
    std::printf("%lld runs, %zu inputs, %.0f s, seed %u\n", static_cast<long long>(runs), inputs.size(),
                absl::ToDoubleSeconds(absl::Now() - start), seed);
    std::fflush(stdout);
  };
  while (absl::Now() < end) {
    const std::string& base = inputs[mutator.Below(inputs.size())];
    std::string bytes = mutator.Mutate(base, inputs[mutator.Below(inputs.size())]);
    ++runs;
    if (Run(bytes) && inputs.size() < kMaxInputs) inputs.push_back(std::move(bytes));
    if (absl::Now() < next_report) continue;
    report();
    next_report += kReportInterval;
  }
  report();
}

}  // namespace

extern "C" {
// Called at each edge of the code under test.
void __sanitizer_cov_trace_pc() {
  const uintptr_t place = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  const uintptr_t edge = (place ^ (previous << 1)) & (sizeof(reached) - 1);
  previous = place;
  if (reached[edge] == 0) reached_new = true;
  reached[edge] = 1;
}
// Defined by AddressSanitizer and UndefinedBehaviorSanitizer: sets a callback for the end of the process.
void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));
}

int main(int argc, char** argv) {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(&SaveInput);
  std::signal(SIGABRT, [](int) { SaveInput(); });
  int64_t seconds = 600;
  unsigned seed = std::random_device()();
  std::vector<std::string> inputs;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    bool valid = true;
    if (absl::ConsumePrefix(&argument, "-max_total_time=")) {
      valid = absl::SimpleAtoi(argument, &seconds);
    } else if (absl::ConsumePrefix(&argument, "-seed=")) {
      valid = absl::SimpleAtoi(argument, &seed);
    } else if (absl::StartsWith(argument, "-") || !std::filesystem::exists(argv[i])) {
      valid = false;
    } else {
      AddSeeds(argv[i], &inputs);
    }
    if (!valid) {
      std::fprintf(stderr, "%s: %s is neither an option (-max_total_time=SECONDS, -seed=NUMBER) nor a file\n", argv[0],
                   argv[i]);
      return 2;
    }
  }
  if (inputs.empty()) inputs.emplace_back();
  for (const std::string& bytes : inputs) Run(bytes);
  std::printf("%zu seeds run\n", inputs.size());
  if (seconds > 0) Fuzz(std::move(inputs), absl::Seconds(seconds), seed);
  return 0;
}
