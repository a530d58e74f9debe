#include "plugin/backends/gaudi/guids/guid_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hpu::gaudi {
namespace {

using synapse::Generation;
using synapse::Profile;
using synapse::syn_type_bf16;
using synapse::syn_type_fp16;
using synapse::syn_type_int16;
using synapse::syn_type_int32;
using synapse::syn_type_int64;
using synapse::syn_type_int8;
using synapse::syn_type_na;
using synapse::syn_type_single;
using synapse::syn_type_uint8;
using synapse::synDataType;

TEST(GuidTableTest, NamesWithoutSuffix) {
  const auto gemm = FindGuid("gemm");
  ASSERT_TRUE(gemm);
  EXPECT_EQ(gemm->guid->kind, GuidKind::kGraphCompiler);
  EXPECT_EQ(gemm->type, syn_type_na);
  EXPECT_FALSE(FindGuid("gemm_f32"));
}

TEST(GuidTableTest, SuffixesResolveToTypes) {
  const auto add = FindGuid("add_fwd_bf16");
  ASSERT_TRUE(add);
  EXPECT_EQ(add->guid->stem, "add_fwd");
  EXPECT_EQ(add->type, syn_type_bf16);
  EXPECT_EQ(FindGuid("not_i8")->guid->stem, "not");
  EXPECT_EQ(FindGuid("constant_i64")->type, syn_type_int64);
}

TEST(GuidTableTest, CastsHaveTwoTypes) {
  const auto cast = FindGuid("cast_f32_to_i32");
  ASSERT_TRUE(cast);
  EXPECT_EQ(cast->guid->stem, "cast");
  EXPECT_EQ(cast->source_type, syn_type_single);
  EXPECT_EQ(cast->type, syn_type_int32);
  for (const char* name : {"cast_f32", "cast_to_i32", "cast__to_i32", "cast_f32_i32", "add_fwd_f32_to_i32",
                           "cast_f64_to_i32", "cast_f32_to_u64", "_to_i32"}) {
    EXPECT_FALSE(FindGuid(name)) << name;
  }
}

TEST(GuidTableTest, UnknownNamesAreNotFound) {
  for (const char* name : {"", "_", "_f32", "add_fwd", "add_fwd_", "add_fwd_f64", "add_f32", "ADD_FWD_F32",
                           "add_fwd_f32_f32", "div_fwd_i32", "moments_fwd_f32"}) {
    EXPECT_FALSE(FindGuid(name)) << name;
  }
}

TEST(GuidTableTest, InternalGuidAndKernelMayShareAStem) {
  EXPECT_EQ(FindGuid("reverse")->guid->kind, GuidKind::kInternal);
  EXPECT_EQ(FindGuid("reverse_f32")->guid->kind, GuidKind::kTpc);
}

TEST(GuidTableTest, GuidNameIsTheInverseOfFindGuid) {
  for (const char* name : {"gemm", "moments_fwd", "add_fwd_f16", "cast_i16_to_u8", "topk", "where_fwd_i64"}) {
    const auto match = FindGuid(name);
    ASSERT_TRUE(match) << name;
    EXPECT_EQ(GuidName(*match->guid, match->type, match->source_type), name);
  }
}

TEST(GuidTableTest, TypesDependOnTheGeneration) {
  const Guid& add = *FindGuid("add_fwd_f16")->guid;
  EXPECT_FALSE(add.Supports(Generation::kGaudi, syn_type_fp16));
  EXPECT_TRUE(add.Supports(Generation::kGaudi2, syn_type_fp16));
  EXPECT_FALSE(add.Supports(Generation::kGaudi, syn_type_int64));
  EXPECT_TRUE(FindGuid("transpose")->guid->Supports(Generation::kGaudi, syn_type_int64));
}

TEST(GuidTableTest, OperandTypesAreThoseOfTheNode) {
  const auto types = [](const char* name, size_t operand, synDataType guid_type) {
    const GuidMatch match = *FindGuid(name);
    return OperandTypes(match, match.guid->operands[operand], Generation::kGaudi2, guid_type);
  };
  EXPECT_EQ(types("add_fwd_bf16", 1, syn_type_bf16), syn_type_bf16);
  EXPECT_EQ(types("mult_fwd_bf16", 1, syn_type_bf16), syn_type_bf16 | syn_type_int8);
  EXPECT_EQ(types("where_fwd_f32", 0, syn_type_single), syn_type_int8);
  EXPECT_EQ(types("cast_f32_to_bf16", 0, syn_type_bf16), syn_type_single);
  EXPECT_EQ(types("batch_norm_fwd_bf16", 1, syn_type_bf16), syn_type_single);
  const GuidMatch dedw = *FindGuid("dedw");
  EXPECT_EQ(OperandTypes(dedw, dedw.guid->results[0], Generation::kGaudi, syn_type_bf16),
            syn_type_bf16 | syn_type_single);
  const GuidOperand& shape = FindGuid("dedx")->guid->operands[2];
  EXPECT_TRUE(shape.is_shape);
  EXPECT_EQ(shape.presence, Presence::kOptional);
}

TEST(GuidTableTest, GaudiTakesNoListedInt64) {
  for (const char* name : {"gather_fwd_f32", "gather_elements_fwd_bf16"}) {
    const GuidMatch match = *FindGuid(name);
    const GuidOperand& indices = match.guid->operands[1];
    EXPECT_EQ(OperandTypes(match, indices, Generation::kGaudi, match.type), syn_type_int32) << name;
    EXPECT_EQ(OperandTypes(match, indices, Generation::kGaudi2, match.type), syn_type_int32 | syn_type_int64) << name;
  }
  const GuidMatch reshape = *FindGuid("reshape");
  EXPECT_EQ(OperandTypes(reshape, reshape.guid->operands[0], Generation::kGaudi, syn_type_int64), syn_type_int64);
}

TEST(GuidTableTest, SizesSelectVersionsOfParams) {
  const Guid& convolution = *FindGuid("spatial_convolution")->guid;
  for (const size_t size : {72, 88, 104, 112}) {
    EXPECT_TRUE(convolution.HasParamsOf(Profile::k1_18, size)) << size;
    EXPECT_EQ(convolution.HasParamsOf(Profile::k1_5, size), size == 72) << size;
  }
  for (const Profile profile : {Profile::k1_5, Profile::k1_18}) {
    for (const size_t size : {0, 71, 73, 128}) EXPECT_FALSE(convolution.HasParamsOf(profile, size)) << size;
    EXPECT_TRUE(FindGuid("add_fwd_f32")->guid->HasParamsOf(profile, 0));
    EXPECT_FALSE(FindGuid("add_fwd_f32")->guid->HasParamsOf(profile, 4));
    EXPECT_TRUE(FindGuid("memset")->guid->HasParamsOf(profile, 17));  // unknown
  }
}

TEST(GuidTableTest, EveryRowIsWellFormed) {
  EXPECT_GT(AllGuids().size(), 150);
  for (const Guid& guid : AllGuids()) {
    EXPECT_LE(1, guid.min_rank) << guid.stem;
    EXPECT_LE(guid.max_rank, synapse::SYN_GAUDI_MAX_TENSOR_DIM) << guid.stem;
    EXPECT_FALSE(guid.sources.empty()) << guid.stem;
    if (guid.is_proven) {
      EXPECT_NE(guid.results.size(), 0) << guid.stem;
      EXPECT_NE(guid.params.size(), 0) << guid.stem;
    }
    const synDataType type = guid.suffix == GuidSuffix::kNone ? syn_type_na : syn_type_single;
    if (guid.Supports(Generation::kGaudi2, syn_type_single)) {
      const auto match = FindGuid(GuidName(guid, type, type));
      ASSERT_TRUE(match) << guid.stem;
      EXPECT_EQ(match->guid, &guid) << guid.stem;
    }
    for (const Generation generation : synapse::kGenerations) {
      const TypeMask types = guid.types[static_cast<size_t>(generation)];
      EXPECT_NE(types, 0) << guid.stem;
      EXPECT_EQ(types & ~kAllTypes, 0) << guid.stem;
    }
  }
}

TEST(GuidTableTest, TypeSuffixesRoundTrip) {
  for (const char* suffix : {"f32", "bf16", "f16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"}) {
    EXPECT_EQ(TypeSuffix(TypeOfSuffix(suffix)), suffix);
  }
  EXPECT_EQ(TypeOfSuffix("f64"), syn_type_na);
  EXPECT_EQ(TypeOfSuffix(""), syn_type_na);
  EXPECT_EQ(TypeSuffix(syn_type_na), "");
}

TEST(GuidTableTest, CastPathsGoThroughOtherTypes) {
  using Path = std::vector<synDataType>;
  EXPECT_EQ(CastPath(Generation::kGaudi, syn_type_single, syn_type_bf16), Path({syn_type_bf16}));
  EXPECT_EQ(CastPath(Generation::kGaudi, syn_type_single, syn_type_int16), Path({syn_type_int32, syn_type_int16}));
  EXPECT_EQ(CastPath(Generation::kGaudi, syn_type_bf16, syn_type_int16),
            Path({syn_type_single, syn_type_int32, syn_type_int16}));
  EXPECT_EQ(CastPath(Generation::kGaudi2, syn_type_bf16, syn_type_int16), Path({syn_type_int16}));
  EXPECT_EQ(CastPath(Generation::kGaudi, syn_type_int64, syn_type_single), Path({syn_type_int32, syn_type_single}));
  EXPECT_EQ(CastPath(Generation::kGaudi2, syn_type_int64, syn_type_single), Path({syn_type_single}));
  EXPECT_EQ(CastPath(Generation::kGaudi3, syn_type_single, syn_type_int64), Path({syn_type_int32, syn_type_int64}));
  EXPECT_EQ(CastPath(Generation::kGaudi3, syn_type_uint8, syn_type_int16), Path({syn_type_int32, syn_type_int16}));
  EXPECT_TRUE(CastPath(Generation::kGaudi, syn_type_fp16, syn_type_single).empty());
  EXPECT_TRUE(CastPath(Generation::kGaudi2, syn_type_single, syn_type_single).empty());
}

TEST(GuidTableTest, EveryCastPathEndsWithDirectSteps) {
  const Guid& cast = *FindGuid("cast_f32_to_i32")->guid;
  for (const Generation generation : synapse::kGenerations) {
    for (uint32_t source = 1; source < kAllTypes; source <<= 1) {
      for (uint32_t destination = 1; destination < kAllTypes; destination <<= 1) {
        const auto from = static_cast<synDataType>(source);
        const auto to = static_cast<synDataType>(destination);
        if (from == to || !cast.Supports(generation, from) || !cast.Supports(generation, to)) continue;
        const auto path = CastPath(generation, from, to);
        ASSERT_FALSE(path.empty());
        EXPECT_EQ(path.back(), to);
        synDataType last = from;
        for (const synDataType step : path) {
          EXPECT_EQ(CastPath(generation, last, step).size(), 1) << TypeSuffix(last) << " to " << TypeSuffix(step);
          last = step;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hpu::gaudi
