#include "plugin/program/hlo_ids.h"

#include <utility>

#include "absl/container/flat_hash_map.h"

namespace hpu {
namespace {

// Numbers keys by their first appearance.
template <typename Key>
class Renumbering {
 public:
  int64_t operator()(const Key& key) {
    return numbers_.try_emplace(key, static_cast<int64_t>(numbers_.size()) + 1).first->second;
  }

 private:
  absl::flat_hash_map<Key, int64_t> numbers_;
};

}  // namespace

void RenumberIds(xla::HloModuleProto* module) {
  Renumbering<int64_t> computations;
  Renumbering<std::pair<int64_t, int64_t>> instructions;  // key: the computation, the local id
  for (xla::HloComputationProto& computation : *module->mutable_computations()) {
    const int64_t own = computations(computation.id());
    computation.set_id(own);
    const auto renumbered = [&](int64_t id) { return instructions({own, LocalId(id)}); };
    for (xla::HloInstructionProto& instruction : *computation.mutable_instructions()) {
      instruction.set_id(renumbered(instruction.id()));
      for (int64_t& id : *instruction.mutable_operand_ids()) id = renumbered(id);
      for (int64_t& id : *instruction.mutable_control_predecessor_ids()) id = renumbered(id);
      for (int64_t& id : *instruction.mutable_called_computation_ids()) id = computations(id);
    }
    computation.set_root_id(renumbered(computation.root_id()));
  }
  module->set_entry_computation_id(computations(module->entry_computation_id()));
  if (!module->has_schedule()) return;
  auto* const sequences = module->mutable_schedule()->mutable_sequences();
  const auto before = std::exchange(*sequences, {});
  for (const auto& [computation, sequence] : before) {
    const int64_t own = computations(computation);
    auto& renumbered = (*sequences)[own] = sequence;
    for (int64_t& id : *renumbered.mutable_instruction_ids()) id = instructions({own, LocalId(id)});
  }
}

}  // namespace hpu
