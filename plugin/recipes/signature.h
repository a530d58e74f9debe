// Signature: the properties of a launch's arguments on which a recipe depends.
#ifndef HPU_PLUGIN_RECIPES_SIGNATURE_H_
#define HPU_PLUGIN_RECIPES_SIGNATURE_H_

#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tsl/platform/hash.h"

namespace hpu::recipes {

// Contains, in argument order, the run-time dtypes and shapes of a cluster's arguments, the values of compile-time
// constants, and marks of uninitialised variables and of variables that are passed twice. Equal signatures of one
// cluster share a recipe. Built at every launch. Reusing an object avoids allocations.
class Signature {
 public:
  void AddParameter(tensorflow::DataType dtype, const tensorflow::TensorShape& shape) {
    AddArray(kParameter, dtype, shape);
  }
  // `value` must be in host memory and of a memcpy-able type.
  void AddConstant(const tensorflow::Tensor& value);
  void AddVariable(tensorflow::DataType dtype, const tensorflow::TensorShape& shape) {
    AddArray(kVariable, dtype, shape);
  }
  void AddUninitializedVariable() { words_.push_back(kUninitialized); }
  // The variable of argument `first` once more.
  void AddSameVariable(int first) { words_.push_back(kSameVariable | int64_t{first} << 32); }
  void Clear() { words_.clear(); }

  // Equal in all processes.
  uint64_t Fingerprint() const {
    return tsl::Hash64(reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(words_[0]));
  }

  friend bool operator==(const Signature& a, const Signature& b) { return a.words_ == b.words_; }
  template <typename H>
  friend H AbslHashValue(H hash, const Signature& signature) {
    return H::combine_contiguous(std::move(hash), signature.words_.data(), signature.words_.size());
  }

 private:
  enum Tag : int64_t { kParameter = 1, kConstant = 2, kVariable = 3, kUninitialized = 4, kSameVariable = 5 };

  void AddArray(Tag tag, tensorflow::DataType dtype, const tensorflow::TensorShape& shape) {
    const int rank = shape.dims();
    words_.push_back(tag | int64_t{dtype} << 8 | int64_t{rank} << 32);
    for (int i = 0; i < rank; ++i) words_.push_back(shape.dim_size(i));
  }

  // Each argument begins with a word of tag, dtype and rank, so different argument lists have different words.
  absl::InlinedVector<int64_t, 64> words_;
};

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_SIGNATURE_H_
