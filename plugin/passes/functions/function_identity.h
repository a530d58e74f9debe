// FunctionIdentity: whether two functions are the same program, or the same program for other shapes.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_IDENTITY_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_IDENTITY_H_

#include <cstdint>
#include <string>

#include "tensorflow/core/framework/function.h"

namespace hpu::passes {

// TensorFlow traces a function again for new shapes, and gives the trace a new name. Hashes, valid in this process.
struct FunctionIdentity {
  uint64_t ops = 0;      // of the types of all reachable ops: equal for traces of one function with different shapes
  uint64_t content = 0;  // of all reachable nodes with their attributes: equal for equal traces only
};

// The identity of `function` and the functions that it calls. Names of called functions do not count.
FunctionIdentity IdentityOf(const std::string& function, const tensorflow::FunctionLibraryDefinition& library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_IDENTITY_H_
