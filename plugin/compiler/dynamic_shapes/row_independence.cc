#include "plugin/compiler/dynamic_shapes/row_independence.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/compiler/dynamic_shapes/row_rules.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"
#include "xla/service/hlo.pb.h"

namespace hpu {
namespace {

using xla::HloComputationProto;
using xla::HloInstructionProto;
using xla::HloModuleProto;

// A parsed program, with its instructions and computations by id.
class Module {
 public:
  absl::Status Parse(const hal::Program& program) {
    if (!proto_.ParseFromString(program.hlo)) {
      return absl::InvalidArgumentError(absl::StrCat(program.name, ": the program is not a serialised HloModuleProto (",
                                                     program.hlo.size(), " bytes)"));
    }
    for (const HloComputationProto& computation : proto_.computations()) {
      computations_[computation.id()] = &computation;
      for (const HloInstructionProto& instruction : computation.instructions()) {
        instructions_[instruction.id()] = &instruction;
      }
    }
    return IsComplete() ? absl::OkStatus()
                        : absl::InvalidArgumentError(absl::StrCat(
                              program.name, ": an id in the program refers to a missing instruction or computation"));
  }

  const HloModuleProto& proto() const { return proto_; }
  int64_t RootOf(int64_t computation) const { return computations_.at(computation)->root_id(); }
  const HloInstructionProto& instruction(int64_t id) const { return *instructions_.at(id); }

 private:
  // Whether all ids refer to existing instructions and computations.
  bool IsComplete() const {
    const auto known = [this](int64_t id) { return instructions_.contains(id); };
    const auto called = [this](int64_t id) { return computations_.contains(id); };
    return called(proto_.entry_computation_id()) && absl::c_all_of(proto_.computations(), [&](const auto& computation) {
             return known(computation.root_id()) &&
                    absl::c_all_of(computation.instructions(), [&](const auto& instruction) {
                      return absl::c_all_of(instruction.operand_ids(), known) &&
                             absl::c_all_of(instruction.called_computation_ids(), called);
                    });
           });
  }

  HloModuleProto proto_;
  absl::flat_hash_map<int64_t, const HloInstructionProto*> instructions_;
  absl::flat_hash_map<int64_t, const HloComputationProto*> computations_;
};

// The serialised attributes of an instruction. `with_rows` omits slice bounds and slice sizes.
std::string AttributesOf(const HloInstructionProto& instruction, bool with_rows) {
  HloInstructionProto attributes = instruction;
  attributes.clear_name();
  attributes.clear_id();
  attributes.clear_shape();
  attributes.clear_metadata();
  attributes.clear_operand_ids();
  attributes.clear_control_predecessor_ids();
  attributes.clear_called_computation_ids();
  if (with_rows) {  // the row rules check these fields
    attributes.clear_slice_dimensions();
    attributes.clear_dynamic_slice_sizes();
    attributes.clear_gather_slice_sizes();
  }
  return attributes.SerializeAsString();
}

bool AnyRows(const std::vector<RowArray>& arrays) {
  return absl::c_any_of(arrays, [](const RowArray& array) { return array.rows.has_value(); });
}

// Appends the op: "reduce operates across the rows, in Mean 'loss/Mean'".
absl::Status NameOp(const absl::Status& refusal, const HloInstructionProto& instruction) {
  const auto& op = instruction.metadata();
  if (op.op_name().empty() && op.op_type().empty()) return refusal;
  return absl::Status(refusal.code(), absl::StrCat(refusal.message(), ", in ", op.op_type(), " '", op.op_name(), "'"));
}

// Walks both modules in parallel, from results to arguments. For instructions that no result needs, checks only random
// numbers and side effects.
class PairWalk {
 public:
  PairWalk(const Module& module, const Module& padded, RowCounts counts)
      : module_(module), padded_(padded), counts_(counts) {}

  absl::Status Run() {
    TF_RETURN_IF_ERROR(CheckEffects());
    TF_RETURN_IF_ERROR(VisitRoots(module_.proto().entry_computation_id(), padded_.proto().entry_computation_id()));
    while (!left_.empty()) {
      const auto [id, padded_id] = left_.back();
      left_.pop_back();
      const HloInstructionProto& instruction = module_.instruction(id);
      TF_RETURN_IF_ERROR(NameOp(Check(instruction, padded_.instruction(padded_id)), instruction));
    }
    return CheckBorders();
  }

 private:
  static absl::Status Differs(const HloInstructionProto& instruction) {
    return absl::FailedPreconditionError(absl::StrCat(instruction.opcode(), " depends on the number of rows"));
  }

  // Refuses random numbers and side effects, even in instructions that no result needs.
  absl::Status CheckEffects() const {
    for (const HloComputationProto& computation : module_.proto().computations()) {
      for (const HloInstructionProto& instruction : computation.instructions()) {
        TF_RETURN_IF_ERROR(NameOp(CheckPure(instruction), instruction));
      }
    }
    return absl::OkStatus();
  }

  absl::Status VisitRoots(int64_t computation, int64_t padded_computation) {
    return Visit(module_.RootOf(computation), padded_.RootOf(padded_computation));
  }

  // Pairs two instructions. Fails if either instruction already has another partner.
  absl::Status Visit(int64_t id, int64_t padded_id) {
    const auto [it, added] = partners_.try_emplace(id, padded_id);
    const auto [padded_it, padded_added] = padded_partners_.try_emplace(padded_id, id);
    if (it->second != padded_id || padded_it->second != id) return Differs(module_.instruction(id));
    if (added) left_.emplace_back(id, padded_id);
    return absl::OkStatus();
  }

  absl::Status Check(const HloInstructionProto& instruction, const HloInstructionProto& padded) {
    if (instruction.opcode() != padded.opcode() || instruction.operand_ids_size() != padded.operand_ids_size() ||
        instruction.called_computation_ids_size() != padded.called_computation_ids_size()) {
      return Differs(instruction);
    }
    RowInstruction both{&instruction, &padded, {}, {}};
    absl::StatusOr<std::vector<RowArray>> results = RowArraysOf(instruction.shape(), padded.shape(), counts_);
    if (!results.ok()) {
      return absl::Status(results.status().code(), absl::StrCat(instruction.name(), ": ", results.status().message()));
    }
    both.results = std::move(results).value();
    for (int i = 0; i < instruction.operand_ids_size(); ++i) {
      const int64_t id = instruction.operand_ids(i), padded_id = padded.operand_ids(i);
      TF_RETURN_IF_ERROR(Visit(id, padded_id));
      TF_ASSIGN_OR_RETURN(std::vector<RowArray> operand, RowArraysOf(module_.instruction(id).shape(),
                                                                     padded_.instruction(padded_id).shape(), counts_));
      absl::c_copy(operand, std::back_inserter(both.operands));
    }
    for (int i = 0; i < instruction.called_computation_ids_size(); ++i) {
      TF_RETURN_IF_ERROR(VisitRoots(instruction.called_computation_ids(i), padded.called_computation_ids(i)));
    }
    const bool with_rows = AnyRows(both.results) || AnyRows(both.operands);
    if (with_rows && !IsStructural(instruction.opcode())) TF_RETURN_IF_ERROR(CheckRowRule(both));
    return AttributesOf(instruction, with_rows) == AttributesOf(padded, with_rows) ? absl::OkStatus()
                                                                                   : Differs(instruction);
  }

  // Checks that the rows of arguments and results are in the outermost dimension.
  absl::Status CheckBorders() const {
    const xla::ProgramShapeProto& shape = module_.proto().host_program_shape();
    const xla::ProgramShapeProto& padded_shape = padded_.proto().host_program_shape();
    if (shape.parameters_size() != padded_shape.parameters_size()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the number of arguments depends on the number of rows: ", shape.parameters_size(), " for ",
                       counts_.rows, " rows, ", padded_shape.parameters_size(), " for ", counts_.padded_rows, " rows"));
    }
    for (int i = 0; i < shape.parameters_size(); ++i) {
      TF_RETURN_IF_ERROR(CheckOutermost(shape.parameters(i), padded_shape.parameters(i), "argument", i));
    }
    return CheckOutermost(shape.result(), padded_shape.result(), "result", 0);
  }

  // `number`: index of the first array among the arguments or results.
  absl::Status CheckOutermost(const xla::ShapeProto& shape, const xla::ShapeProto& padded_shape, absl::string_view what,
                              int number) const {
    TF_ASSIGN_OR_RETURN(const std::vector<RowArray> arrays, RowArraysOf(shape, padded_shape, counts_));
    for (const RowArray& array : arrays) {
      if (array.rows && array.OuterSize() != 1) {
        return absl::FailedPreconditionError(absl::StrCat(what, " ", number, " has its rows in dimension ",
                                                          array.rows->dimension, ", not the outermost"));
      }
      ++number;
    }
    return absl::OkStatus();
  }

  const Module& module_;
  const Module& padded_;
  const RowCounts counts_;
  std::vector<std::pair<int64_t, int64_t>> left_;
  absl::flat_hash_map<int64_t, int64_t> partners_;
  absl::flat_hash_map<int64_t, int64_t> padded_partners_;
};

}  // namespace

absl::Status CheckRowIndependence(const hal::Program& program, const hal::Program& padded, RowCounts counts) {
  if (counts.rows < 1 || counts.padded_rows <= counts.rows) {
    return absl::InvalidArgumentError(absl::StrCat(counts.rows, " rows cannot be padded to ", counts.padded_rows,
                                                   " rows: expected 0 < rows < padded rows"));
  }
  Module module, padded_module;
  TF_RETURN_IF_ERROR(module.Parse(program));
  TF_RETURN_IF_ERROR(padded_module.Parse(padded));
  return PairWalk(module, padded_module, counts).Run();
}

}  // namespace hpu
