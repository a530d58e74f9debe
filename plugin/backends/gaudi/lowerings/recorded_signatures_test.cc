// Nodes of the lowerings against nodes that were recorded in graphs of SynapseAI (tests/gaudi/recorded_signatures.py):
// order, types and sizes of the operands and results, and sizes of the params. So the guid table, the lowerings and the
// double cannot share a mistake about these nodes.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "plugin/backends/gaudi/guids/guid_table.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace recorded_signatures_test {

// A line of RECORDED_SIGNATURES.
struct Signature {
  std::string guid;
  std::string operands;  // "f32{4,3};f32{5,4}"
  std::string results;
  std::vector<size_t> params_bytes;
};

// Reads all rows. A key such as "gemm#0" is the guid and the number of the row among rows of the same guid.
std::map<std::string, Signature> ReadSignatures() {
  std::map<std::string, Signature> signatures;
  std::map<std::string, int> counts;
  std::ifstream file(RECORDED_SIGNATURES);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, '|');
    CHECK_EQ(fields.size(), 4) << line;
    Signature signature{fields[0], fields[1], fields[2], {}};
    for (const std::string& bytes : std::vector<std::string>(absl::StrSplit(fields[3], ','))) {
      signature.params_bytes.emplace_back();
      CHECK(absl::SimpleAtoi(bytes, &signature.params_bytes.back())) << line;
    }
    signatures.emplace(absl::StrCat(fields[0], "#", counts[fields[0]]++), signature);
  }
  return signatures;
}

// A program whose lowering has the node of a row.
struct Case {
  std::string row;
  std::string hlo;
  // Replace the row's values if the lowering has other sizes, or differs in an optional operand.
  std::string operands;
  std::string results;
  std::string guid;
};

// A program with the entry computation `text`.
std::string Entry(const std::string& text) { return absl::StrCat("HloModule m\nENTRY e { ", text, " }"); }

std::string WithSum(const std::string& text) {
  return absl::StrCat(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
      "g { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GE }\n"
      "ENTRY e { ",
      text, " }");
}

std::vector<Case> Cases() {
  return {
      {"gemm#0", Entry("a = bf16[4096,132] parameter(0)\n b = bf16[132,1024] parameter(1)\n"
                       "ROOT r = bf16[4096,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}")},
      {"batch_gemm#0",
       Entry("a = f32[8,128,30] parameter(0)\n b = f32[8,30,64] parameter(1)\n"
             "ROOT r = f32[8,128,64] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
             "rhs_contracting_dims={1}"),
       "f32{30,128,8};f32{64,30,8}", "f32{64,128,8}"},
      {"spatial_convolution#0",
       Entry("x = bf16[64,56,56,64] parameter(0)\n w = bf16[1,1,64,256] parameter(1)\n"
             "ROOT r = bf16[64,56,56,256] convolution(x, w), window={size=1x1}, dim_labels=b01f_01io->b01f")},
      {"dedw#0",
       Entry("x = bf16[256,56,56,256] parameter(0)\n dy = bf16[256,56,56,64] parameter(1)\n"
             "ROOT r = bf16[1,1,256,64] convolution(x, dy), window={size=56x56}, dim_labels=f01b_i01o->01bf")},
      // A larger filter, because the image's gradient for a filter of size 1 is a forward convolution.
      {"dedx#0",
       Entry("dy = bf16[256,56,56,64] parameter(0)\n w = bf16[3,3,256,64] parameter(1)\n"
             "v = bf16[3,3,256,64] reverse(w), dimensions={0,1}\n"
             "ROOT r = bf16[256,56,56,256] convolution(dy, v), window={size=3x3 pad=1_1x1_1}, "
             "dim_labels=b01f_01oi->b01f"),
       "bf16{64,56,56,256};bf16{64,256,3,3}"},
      // The shape tensor is optional.
      {"dedx3d#0",
       Entry("dy = bf16[2,8,8,8,64] parameter(0)\n w = bf16[3,3,3,32,64] parameter(1)\n"
             "v = bf16[3,3,3,32,64] reverse(w), dimensions={0,1,2}\n"
             "ROOT r = bf16[2,8,8,8,32] convolution(dy, v), window={size=3x3x3 pad=1_1x1_1x1_1}, "
             "dim_labels=b012f_012oi->b012f"),
       "bf16{64,8,8,8,2};bf16{64,32,3,3,3}"},
      {"gather_fwd_f32#0",
       Entry("x = f32[30522,768] parameter(0)\n i = s32[4096] parameter(1)\n"
             "ROOT r = f32[4096,768] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
             "index_vector_dim=1, slice_sizes={1,768}"),
       "f32{768,30522,1};i32{4096}", "f32{768,4096,1}"},
      {"maxpool_2d_bwd_f32#0",
       WithSum("x = f32[64,7,7,50] parameter(0)\n dy = f32[64,3,3,50] parameter(1)\n z = f32[] constant(0)\n"
               "ROOT r = f32[64,7,7,50] select-and-scatter(x, dy, z), window={size=1x3x3x1 stride=1x2x2x1}, select=g, "
               "scatter=f")},
      // The lowering omits x, which only provides sizes (docs/developer/gaudi_first_run.md).
      {"avg_pool_2d_bwd_f32#0",
       WithSum("x = f32[2,4,4,3] parameter(0)\n i = f32[] constant(0)\n"
               "p = f32[2,11,11,3] pad(x, i), padding=0_0_0x2_2_1x2_2_1x0_0_0\n"
               "s = f32[2,9,9,3] reduce-window(p, i), window={size=1x3x3x1}, to_apply=f\n"
               "ROOT r = f32[2,7,8,3] pad(s, i), padding=0_0x-1_-1x0_-1x0_0"),
       "f32{3,4,4,2}", "f32{3,9,9,2}"},
      {"reduce_sum_fwd_f32#0",
       Entry("a = s32[3,5] parameter(0)\n b = s32[5,4] parameter(1)\n"
             "ROOT r = s32[3,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
       "*", "*", "reduce_sum_fwd_i32"},
      {"cast_f32_to_bf16#0", Entry("x = f32[9216,1024] parameter(0)\n ROOT r = bf16[9216,1024] convert(x)")},
      {"cast_bf16_to_f32#0", Entry("x = bf16[9216,1024] parameter(0)\n ROOT r = f32[9216,1024] convert(x)")},
      {"cast_i32_to_f32#0", Entry("x = s32[64] parameter(0)\n ROOT r = f32[64] convert(x)")},
      {"broadcast#0",
       Entry("x = bf16[8,2048,128] parameter(0)\n ROOT r = bf16[1,8,8,2048,128] broadcast(x), dimensions={1,3,4}")},
      {"mult_fwd_bf16#1",
       Entry("x = bf16[2,4] parameter(0)\n s = bf16[] parameter(1)\n b = bf16[2,4] broadcast(s), dimensions={}\n"
             "ROOT r = bf16[2,4] multiply(x, b)"),
       "bf16{4,2};bf16{1,1}"},
      {"mult_fwd_f32#0",
       Entry("x = f32[32,7,7,64] parameter(0)\n s = f32[] parameter(1)\n b = f32[32,7,7,64] broadcast(s), "
             "dimensions={}\n ROOT r = f32[32,7,7,64] multiply(x, b)")},
      {"reshape#0", Entry("x = f32[128,1024] parameter(0)\n s = f32[1024] parameter(1)\n b = f32[128,1024] "
                          "broadcast(s), dimensions={1}\n ROOT r = f32[128,1024] add(x, b)")},
      {"add_fwd_f32#0", Entry("x = f32[128,1024] parameter(0)\n s = f32[1024] parameter(1)\n b = f32[128,1024] "
                              "broadcast(s), dimensions={1}\n ROOT r = f32[128,1024] add(x, b)")},
  };
}

// Rows of nodes that no lowering adds.
const std::set<std::string>& RowsWithoutLowering() {
  static const auto* const rows = new std::set<std::string>{"dedw#1",  // a product whose result has another type
                                                            "dedx#1",  // with a shape tensor
                                                            "batch_norm_fwd_f32#0",
                                                            "batch_norm_fwd_bf16#0",
                                                            "batch_norm_bwd_bf16#0",
                                                            "layer_norm_fwd_bf16#0",
                                                            "norm_moments_fwd_f32#0",
                                                            "softmax_fwd_bf16#0",
                                                            "softmax_bwd_bf16#0",
                                                            "softmax_cross_entropy_bwd_bf16#0",
                                                            "dropout_fwd_bf16#0",
                                                            "dropout_bwd_bf16#0",
                                                            "gelu_fwd_bf16#0",
                                                            "gelu_bwd_bf16#0",
                                                            "constant_f32#0",
                                                            "constant_i32#0",
                                                            "strided_view#0",
                                                            "strided_insert#0",
                                                            "mult_fwd_bf16#0",  // with a mask
                                                            "relu_fwd_f32#0",
                                                            "relu_bwd_f32#0"};
  return *rows;
}

std::string TextOf(const GraphPlan& plan, const std::vector<TensorId>& tensors) {
  return absl::StrJoin(tensors, ";", [&](std::string* out, TensorId id) {
    if (id == kNoTensor) {
      out->append("none");
      return;
    }
    const PlanTensor& tensor = plan.tensors[id];
    absl::StrAppend(out, std::string(TypeSuffix(tensor.type)), "{", absl::StrJoin(tensor.sizes, ","), "}");
  });
}

class RecordedSignaturesTest : public ProgramTest {};

TEST_P(RecordedSignaturesTest, LoweringsAddTheRecordedNodes) {
  const std::map<std::string, Signature> signatures = ReadSignatures();
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.row);
    ASSERT_TRUE(signatures.count(c.row));
    const Signature& row = signatures.at(c.row);
    const std::string guid = c.guid.empty() ? row.guid : c.guid;
    const std::string operands = c.operands.empty() ? row.operands : c.operands;
    const std::string results = c.results.empty() ? row.results : c.results;
    const auto lowered = Lower(*ParseProgram(c.hlo));
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    const GraphPlan& plan = lowered->plan;
    const bool is_found = std::any_of(plan.nodes.begin(), plan.nodes.end(), [&](const PlanNode& node) {
      const bool has_operands = operands == "*" ? node.operands.size() == 1 : TextOf(plan, node.operands) == operands;
      const bool has_results = results == "*" ? node.results.size() == 1 : TextOf(plan, node.results) == results;
      const auto& bytes = row.params_bytes;
      return node.guid == guid && has_operands && has_results &&
             std::find(bytes.begin(), bytes.end(), node.params.size()) != bytes.end();
    });
    EXPECT_TRUE(is_found) << "no node " << guid << "(" << operands << ") of results " << results << ", params of "
                          << absl::StrJoin(row.params_bytes, ", ") << " bytes, in\n"
                          << ToText(plan);
  }
}

TEST_P(RecordedSignaturesTest, EachRowHasACaseOrNoLowering) {
  std::set<std::string> rows = RowsWithoutLowering();
  for (const Case& c : Cases()) EXPECT_TRUE(rows.insert(c.row).second) << c.row;
  const std::map<std::string, Signature> signatures = ReadSignatures();
  for (const auto& [row, signature] : signatures) EXPECT_TRUE(rows.count(row)) << row << ": add a case";
  EXPECT_EQ(rows.size(), signatures.size());
}

HPU_GAUDI_SUITE(RecordedSignaturesTest);

}  // namespace recorded_signatures_test
}  // namespace hpu::gaudi
