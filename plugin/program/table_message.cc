#include "plugin/program/table_message.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu {
namespace {

void SpecToMessage(const hal::TensorSpec& spec, recipe::v1::Tensor* message) {
  message->set_dtype(static_cast<uint32_t>(spec.dtype));
  message->mutable_dims()->Add(spec.dims.begin(), spec.dims.end());
}

// `what`: name of the tensor in error texts.
absl::StatusOr<hal::TensorSpec> SpecFromMessage(const recipe::v1::Tensor& message, absl::string_view what) {
  hal::TensorSpec spec;
  spec.dtype = static_cast<hal::DataType>(message.dtype());
  spec.bytes = message.dtype() <= UINT8_MAX ? hal::SizeOf(spec.dtype) : 0;
  if (spec.bytes == 0) {
    return absl::InvalidArgumentError(absl::StrCat(what, " has the unknown data type ", message.dtype()));
  }
  for (const int64_t dim : message.dims()) {
    if (dim < 0 || __builtin_mul_overflow(spec.bytes, static_cast<uint64_t>(dim), &spec.bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " has a dimension of invalid size ", dim, ": it is negative or exceeds 2^64 bytes"));
    }
    spec.dims.push_back(dim);
  }
  return spec;
}

absl::Status CheckAlias(const ProgramTable& table, const hal::ResultSpec& result) {
  const int32_t alias = result.aliased_argument;
  if (alias == -1) return absl::OkStatus();
  if (alias >= 0 && static_cast<size_t>(alias) < table.arguments.size() &&
      table.arguments[alias].bytes == result.spec.bytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("result ", table.results.size(), ", ", result.spec.bytes,
                                                 " bytes, aliases argument ", alias,
                                                 ", which is missing or has another size"));
}

}  // namespace

void ToMessage(const ProgramTable& table, recipe::v1::Table* message) {
  for (const hal::TensorSpec& argument : table.arguments) SpecToMessage(argument, message->add_arguments());
  for (const hal::ResultSpec& result : table.results) {
    recipe::v1::Result& added = *message->add_results();
    SpecToMessage(result.spec, added.mutable_tensor());
    added.set_aliased_argument(result.aliased_argument);
  }
}

absl::StatusOr<ProgramTable> FromMessage(const recipe::v1::Table& message) {
  ProgramTable table;
  for (const recipe::v1::Tensor& argument : message.arguments()) {
    HPU_ASSIGN_OR_RETURN(hal::TensorSpec spec,
                         SpecFromMessage(argument, absl::StrCat("argument ", table.arguments.size())));
    table.arguments.push_back(std::move(spec));
  }
  for (const recipe::v1::Result& result : message.results()) {
    HPU_ASSIGN_OR_RETURN(hal::TensorSpec spec,
                         SpecFromMessage(result.tensor(), absl::StrCat("result ", table.results.size())));
    hal::ResultSpec added{std::move(spec), result.aliased_argument()};
    HPU_RETURN_IF_ERROR(CheckAlias(table, added));
    table.results.push_back(std::move(added));
  }
  return table;
}

}  // namespace hpu
