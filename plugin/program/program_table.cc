#include "plugin/program/program_table.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "xla/service/hlo.pb.h"
#include "xla/xla_data.pb.h"

namespace hpu {
namespace {

hal::DataType DataTypeOf(xla::PrimitiveType type) {
  switch (type) {
    case xla::PRED:
      return hal::DataType::kBool;
    case xla::S8:
      return hal::DataType::kInt8;
    case xla::S16:
      return hal::DataType::kInt16;
    case xla::S32:
      return hal::DataType::kInt32;
    case xla::S64:
      return hal::DataType::kInt64;
    case xla::U8:
    // Only programs compute with float8. For the HAL, float8 elements are opaque bytes.
    case xla::F8E5M2:
    case xla::F8E4M3FN:
      return hal::DataType::kUInt8;
    case xla::U16:
      return hal::DataType::kUInt16;
    case xla::U32:
      return hal::DataType::kUInt32;
    case xla::U64:
      return hal::DataType::kUInt64;
    case xla::F16:
      return hal::DataType::kFloat16;
    case xla::BF16:
      return hal::DataType::kBFloat16;
    case xla::F32:
      return hal::DataType::kFloat32;
    case xla::F64:
      return hal::DataType::kFloat64;
    case xla::C64:
      return hal::DataType::kComplex64;
    case xla::C128:
      return hal::DataType::kComplex128;
    default:
      return hal::DataType::kInvalid;
  }
}

// `what` names the array in error texts.
absl::StatusOr<hal::TensorSpec> SpecOf(const xla::ShapeProto& shape, const std::string& what) {
  if (shape.element_type() == xla::TUPLE) {
    return absl::InvalidArgumentError(absl::StrCat(what, " is a tuple; parameters and results must be arrays"));
  }
  hal::TensorSpec spec;
  spec.dtype = DataTypeOf(shape.element_type());
  if (spec.dtype == hal::DataType::kInvalid) {
    return absl::UnimplementedError(absl::StrCat(what, " has the unsupported element type ",
                                                 xla::PrimitiveType_Name(shape.element_type()),
                                                 "; use bool, an integer, float or complex type"));
  }
  for (int i = 0; i < shape.is_dynamic_dimension_size(); ++i) {
    if (shape.is_dynamic_dimension(i)) {
      return absl::UnimplementedError(
          absl::StrCat("dimension ", i, " of ", what, " is dynamic; all dimensions must be static"));
    }
  }
  uint64_t bytes = hal::SizeOf(spec.dtype);
  for (int64_t dim : shape.dimensions()) {
    if (dim < 0) return absl::InvalidArgumentError(absl::StrCat(what, " has a dimension of negative size ", dim));
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes)) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": a dimension of size ", dim,
                                                     " makes the array exceed 2^64 bytes; use smaller dimensions"));
    }
    spec.dims.push_back(dim);
  }
  spec.bytes = bytes;
  return spec;
}

absl::Status ReadAliases(const xla::HloModuleProto& module, ProgramTable* table) {
  for (const auto& entry : module.input_output_alias().entries()) {
    if (entry.output_shape_index_size() != 1 || entry.parameter_shape_index_size() != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input/output alias: expected an output index of length 1 and a parameter index of length 0, got lengths ",
          entry.output_shape_index_size(), " and ", entry.parameter_shape_index_size()));
    }
    int64_t result = entry.output_shape_index(0);
    int64_t argument = entry.parameter_number();
    if (result < 0 || result >= static_cast<int64_t>(table->results.size()) || argument < 0 ||
        argument >= static_cast<int64_t>(table->arguments.size())) {
      return absl::InvalidArgumentError(absl::StrCat("input/output alias of result ", result, " and parameter ",
                                                     argument, ": out of range for ", table->results.size(),
                                                     " results and ", table->arguments.size(), " parameters"));
    }
    if (table->results[result].spec.bytes != table->arguments[argument].bytes) {
      return absl::InvalidArgumentError(absl::StrCat("input/output alias of result ", result, " and parameter ",
                                                     argument, ": sizes differ (", table->results[result].spec.bytes,
                                                     " and ", table->arguments[argument].bytes,
                                                     " bytes); alias only arrays of equal size"));
    }
    table->results[result].aliased_argument = static_cast<int32_t>(argument);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ProgramTable> MakeProgramTable(const xla::HloModuleProto& module) {
  const xla::ProgramShapeProto& shape = module.host_program_shape();
  if (shape.result().element_type() != xla::TUPLE) {
    return absl::InvalidArgumentError(
        absl::StrCat("the program must return a tuple, got ", xla::PrimitiveType_Name(shape.result().element_type())));
  }
  ProgramTable table;
  for (int i = 0; i < shape.parameters_size(); ++i) {
    HPU_ASSIGN_OR_RETURN(hal::TensorSpec spec, SpecOf(shape.parameters(i), absl::StrCat("parameter ", i)));
    table.arguments.push_back(std::move(spec));
  }
  for (int i = 0; i < shape.result().tuple_shapes_size(); ++i) {
    HPU_ASSIGN_OR_RETURN(hal::TensorSpec spec, SpecOf(shape.result().tuple_shapes(i), absl::StrCat("result ", i)));
    table.results.push_back({std::move(spec), -1});
  }
  HPU_RETURN_IF_ERROR(ReadAliases(module, &table));
  return table;
}

absl::StatusOr<ProgramTable> ParseProgramTable(absl::string_view name, absl::string_view hlo) {
  xla::HloModuleProto module;
  if (hlo.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !module.ParseFromArray(hlo.data(), static_cast<int>(hlo.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", name, "' is not a serialised HloModuleProto (", hlo.size(), " bytes)"));
  }
  absl::StatusOr<ProgramTable> table = MakeProgramTable(module);
  if (!table.ok()) {
    return Reworded(table.status(), absl::StrCat("program '", name, "': ", table.status().message()));
  }
  return table;
}

}  // namespace hpu
