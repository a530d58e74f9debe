// RandomChoice: seeded choices of sizes, dimensions and element types for random HLO programs.
#ifndef HPU_PLUGIN_TESTING_FUZZ_HLO_RANDOM_CHOICE_H_
#define HPU_PLUGIN_TESTING_FUZZ_HLO_RANDOM_CHOICE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hpu::fuzz {

enum class TypeClass { kFloat, kSigned, kUnsigned, kBoolean };

struct ElementType {
  const char* name;  // in HLO text
  TypeClass type_class;
  int bits;
  double tolerance;  // of computed numbers, relative to the largest one
};

using Dimensions = std::vector<int64_t>;

// All element types that the Gaudi backend lowers.
const std::vector<ElementType>& ElementTypes();
const ElementType& TypeNamed(const char* name);

// "f32[2,3]"
std::string ShapeText(const ElementType& type, const Dimensions& dimensions);
// "2,3"
std::string Join(const Dimensions& numbers, const char* separator = ",");

// The choices depend on the seed alone. Not thread safe.
class RandomChoice {
 public:
  explicit RandomChoice(uint64_t seed) : engine_(seed) {}

  // From min to max, both included.
  int64_t Between(int64_t min, int64_t max);
  bool OneIn(int64_t n) { return Between(1, n) == 1; }
  template <typename T>
  const T& Of(const std::vector<T>& values) {
    return values[Between(0, static_cast<int64_t>(values.size()) - 1)];
  }

  const ElementType& Type() { return Of(ElementTypes()); }
  const ElementType& TypeOf(const std::vector<TypeClass>& classes);
  // Sizes of 1 to 5, with at most 96 elements.
  Dimensions Shape(int64_t min_rank, int64_t max_rank);
  // Like Shape; of shapes with dimensions, one in 40 has a dimension of size 0.
  Dimensions ShapeOrEmpty(int64_t min_rank, int64_t max_rank);
  // The numbers 0 to n - 1 in random order.
  Dimensions Permutation(int64_t n);
  // `count` of the numbers 0 to n - 1, ascending.
  Dimensions Subset(int64_t n, int64_t count);

 private:
  std::mt19937_64 engine_;
};

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_HLO_RANDOM_CHOICE_H_
