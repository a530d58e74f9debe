// Test harness that runs a computation as a recipe and as XLA's own just-in-time executable.
#ifndef HPU_PLUGIN_TESTING_RECIPE_HARNESS_H_
#define HPU_PLUGIN_TESTING_RECIPE_HARNESS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/backends/emulator/codegen/recipe.h"
#include "plugin/backends/emulator/threads/compute_pool.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/builder/xla_computation.h"
#include "xla/literal.h"

namespace hpu::emulator {

// Bytes of one array, aligned like device memory.
class TestBuffer {
 public:
  explicit TestBuffer(uint64_t bytes);
  explicit TestBuffer(absl::string_view contents);

  // Null for 0 bytes, like the device's addresses.
  void* data() const { return bytes_ == 0 ? nullptr : aligned_; }
  absl::string_view contents() const { return {aligned_, bytes_}; }

 private:
  uint64_t bytes_;
  std::unique_ptr<char[]> storage_;
  char* aligned_;
};

hal::Program ProgramOf(const xla::XlaComputation& computation);

// Runs a recipe and returns the bytes of its results. A result that aliases an argument uses the argument's memory.
// Fails the test on an error.
std::vector<std::string> RunRecipe(const EmulatorRecipe& recipe, const std::vector<xla::Literal>& arguments,
                                   ComputePool& pool);
std::vector<std::string> RunRecipe(const EmulatorRecipe& recipe, const std::vector<xla::Literal>& arguments);

// Runs a computation with XLA's LocalClient, as tf.function(jit_compile=True) does on the CPU. Returns the bytes of the
// results.
std::vector<std::string> RunJit(const xla::XlaComputation& computation, const std::vector<xla::Literal>& arguments);

// Random values of the element type, determined by `seed`: floats in [-1, 1], integers over their whole range.
xla::Literal Numbers(const xla::Shape& shape, uint32_t seed);
// Random values for every parameter of the computation.
std::vector<xla::Literal> ArgumentsOf(const xla::XlaComputation& computation);

// Fails the test unless the computation's recipe returns the same bytes after it has been serialised and loaded.
void ExpectSameFromDisk(const xla::XlaComputation& computation);

// Bytes of an array literal.
std::string BytesOf(const xla::Literal& literal);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_TESTING_RECIPE_HARNESS_H_
