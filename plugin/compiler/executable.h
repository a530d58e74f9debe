// Executable: a recipe, and the mapping of a kernel's inputs and outputs to the recipe's arguments and results.
#ifndef HPU_PLUGIN_COMPILER_EXECUTABLE_H_
#define HPU_PLUGIN_COMPILER_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/compiler/dynamic_shapes/size_symbols.h"
#include "plugin/hal/recipe.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace hpu {

// Shared by all launches of a signature. Immutable after CompileCluster and PlaceConstants (kernels/launch/launch.h).
struct Executable {
  struct Output {
    enum class Kind { kResult, kConstant, kResource };
    Kind kind = Kind::kResult;
    tensorflow::DataType dtype = tensorflow::DT_INVALID;
    tensorflow::TensorShape shape;
    int result = -1;                     // kResult: index of the recipe's result
    tensorflow::Tensor constant;         // kConstant: the value, in host memory
    tensorflow::Tensor device_constant;  // kConstant: the value in device memory, shared by all launches
    int input = -1;                      // kResource: the input that is passed through
    SizeIndices sizes;                   // kResult of a dynamic shape: `shape` is the bound; see `sizes_result`
  };
  struct Update {
    int input = -1;   // kernel input with the variable's handle
    int result = -1;  // index of the recipe's result
    tensorflow::DataType dtype = tensorflow::DT_INVALID;
    tensorflow::TensorShape shape;
    int aliased_argument = -1;  // the recipe's argument whose memory the result reuses, or -1
    SizeIndices sizes;          // like Output::sizes
  };

  std::string name;
  std::string attributes;                     // of a single op, as text for traces; empty for clusters
  std::shared_ptr<const hal::Recipe> recipe;  // null if the cluster computes nothing
  std::vector<int> argument_inputs;           // recipe argument → kernel input (for a variable: the handle)
  std::vector<Output> outputs;                // one per kernel output
  std::vector<Update> updates;                // variables that the cluster writes
  int sizes = 0;                              // number of dynamic dimensions of all outputs and updates
  int sizes_result = -1;  // index of the int32 result with the sizes of dynamic dimensions; -1 without any
  // The recipe is compiled for the bounds of symbolic sizes (bounded_recipe.h). Inputs and outputs are the first bytes
  // of the larger arguments and results.
  bool padded = false;
  tensorflow::Tensor symbols;         // padded: the symbols' values, in host memory; the argument after all inputs
  tensorflow::Tensor device_symbols;  // the same in device memory, shared by all launches
  int64_t changing_bytes = 0;         // padded: arguments whose sizes are symbolic
  int64_t padded_bytes = 0;           // padded: the same arguments with the bounds as their sizes
  bool shares_recipe = false;         // with another signature of this cluster
  double compile_seconds = 0;         // time of lowering, and of code generation or loading
  double lowering_seconds = 0;        // time of lowering, needed even for a stored recipe
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_EXECUTABLE_H_
