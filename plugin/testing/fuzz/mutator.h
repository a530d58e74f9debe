// Mutator: random mutations of byte strings.
#ifndef HPU_PLUGIN_TESTING_FUZZ_MUTATOR_H_
#define HPU_PLUGIN_TESTING_FUZZ_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace hpu::fuzz {

// Equal seeds produce equal mutations.
class Mutator {
 public:
  static constexpr size_t kMaxBytes = 1 << 16;

  explicit Mutator(uint64_t seed) : random_(seed) {}

  // A random number below `limit`; 0 if `limit` is 0.
  uint64_t Below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }
  uint64_t Number() { return random_(); }

  // Returns `bytes`, cut to kMaxBytes, with a few changes; may insert parts of `other`.
  std::string Mutate(std::string bytes, const std::string& other);

 private:
  void MutateOnce(std::string* bytes, const std::string& other);
  // Replaces a number by a boundary value of sizes, or by a number close to the current value.
  void ReplaceNumber(std::string* bytes, size_t position);

  std::mt19937_64 random_;
};

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_MUTATOR_H_
