// Mutator: bytes with a few random changes.
#ifndef HPU_PLUGIN_TESTING_FUZZ_MUTATOR_H_
#define HPU_PLUGIN_TESTING_FUZZ_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace hpu::fuzz {

// Equal seeds give equal changes.
class Mutator {
 public:
  static constexpr size_t kMaxBytes = 1 << 16;

  explicit Mutator(uint64_t seed) : random_(seed) {}

  // A random number below `limit`; 0 if that is 0.
  uint64_t Below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }
  uint64_t Number() { return random_(); }

  // `bytes`, cut to kMaxBytes, with a few changes; `other` gives parts.
  std::string Mutate(std::string bytes, const std::string& other);

 private:
  void MutateOnce(std::string* bytes, const std::string& other);
  // A number at the edge of what sizes may be, or near to the number that was there.
  void ReplaceNumber(std::string* bytes, size_t position);

  std::mt19937_64 random_;
};

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_MUTATOR_H_
