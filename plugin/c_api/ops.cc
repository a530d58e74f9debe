// The function of the C interface that describes TensorFlow's ops.
#include <string>
#include <string_view>
#include <vector>

#include "hpu/ops/v1/ops.pb.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/op_list.h"
#include "tensorflow/core/framework/types.h"

namespace hpu {
namespace {

using Numbers = google::protobuf::RepeatedField<int32_t>;

std::vector<ops::v1::Fact> ShownFacts(const OpFacts& facts) {
  std::vector<ops::v1::Fact> shown;
  const auto add_if = [&](bool holds, ops::v1::Fact fact) {
    if (holds) shown.push_back(fact);
  };
  add_if(facts.fusible, ops::v1::FUSIBLE);
  add_if(facts.product, ops::v1::PRODUCT);
  add_if(facts.result_size == ResultSize::kBounded, ops::v1::SIZE_BOUNDED);
  add_if(facts.result_size == ResultSize::kData, ops::v1::SIZE_FROM_VALUES);
  add_if(facts.random == RandomNumbers::kSeeded, ops::v1::RANDOM_SEEDED);
  add_if(facts.random == RandomNumbers::kOther, ops::v1::RANDOM_OTHER);
  add_if(facts.compile == CompilePolicy::kJitOnly, ops::v1::JIT_ONLY);
  add_if(facts.eager == EagerPolicy::kCpu, ops::v1::EAGER_ON_CPU);
  add_if(facts.indices.has_value(), ops::v1::CHECKED_INDICES);
  add_if(facts.values.has_value(), ops::v1::CHECKED_VALUES);
  add_if(facts.loses_error, ops::v1::LOSES_ERROR);
  add_if(facts.narrowing.has_value(), ops::v1::NARROWED);
  return shown;
}

void AddTypes(uint64_t types, Numbers* numbers) {
  for (int type = 0; type < 64; ++type) {
    if (passes::HasType(types, static_cast<tensorflow::DataType>(type))) numbers->Add(type);
  }
}

const char* NameOf(passes::Verdict verdict) {
  switch (verdict) {
    case passes::Verdict::kDocumented:
      return "documented";
    case passes::Verdict::kInferred:
      return "inferred";
    case passes::Verdict::kUnknown:
      return "unknown";
  }
  return "";
}

void DescribeList(const passes::OpListData& list, ops::v1::OpList* described) {
  AddTypes(list.types, described->mutable_types());
  AddTypes(list.index_types, described->mutable_index_types());
  for (const char* attribute : list.index_attributes) described->add_index_attributes(attribute);
  for (const passes::OpEntry& entry : list.entries) {
    ops::v1::ListedOp* op = described->add_ops();
    op->set_name(entry.op);
    op->set_verdict(NameOf(entry.verdict));
    op->set_source(entry.source);
    op->set_max_rank(entry.max_rank);
    for (const passes::TypeRule& rule : entry.types)
      AddTypes(rule.types, (*op->mutable_types())[rule.attribute].mutable_types());
  }
}

ops::v1::Ops DescribeOps() {
  ops::v1::Ops described;
  for (const std::string_view name : ListedOps()) {
    const std::vector<ops::v1::Fact> facts = ShownFacts(FactsOf(name));
    if (facts.empty()) continue;
    ops::v1::Op* op = described.add_ops();
    op->set_name(std::string(name));
    for (const ops::v1::Fact fact : facts) op->add_facts(fact);
  }
  if (const passes::OpListData* gaudi = passes::FindOpList("gaudi")) DescribeList(*gaudi, described.mutable_gaudi());
  return described;
}

}  // namespace
}  // namespace hpu

hpu_buffer hpu_ops() { return hpu::MakeBuffer(hpu::DescribeOps().SerializeAsString()); }
