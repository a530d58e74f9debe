// HLO of the dense gradient of an embedding.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_EMBEDDING_GRADIENT_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_EMBEDDING_GRADIENT_H_

namespace hpu::gaudi {

// As tf2xla emits it for the sum of squared rows, without metadata.
inline constexpr char kEmbeddingGradient[] = R"(HloModule m
c0 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] add(v0, v1)
}
c1 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] add(v0, v1)
}
ENTRY e {
v0 = s32[] constant(11)
v1 = s32[] constant(4)
v2 = f32[11,4] parameter(0)
v3 = f32[11,4] reshape(v2)
v4 = s32[2,3] parameter(1)
v5 = s32[2,3] reshape(v4)
v6 = f32[2,3,4] gather(v3, v5), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,4}
v7 = f32[] constant(2)
v8 = f32[2,3,4] broadcast(v7), dimensions={}
v9 = f32[2,3,4] power(v6, v8)
v10 = f32[2,3,4] convert(v9)
v11 = f32[] constant(0)
v12 = f32[] convert(v11)
v13 = f32[] reduce(v10, v12), dimensions={0,1,2}, to_apply=c1
v14 = f32[] convert(v13)
v15 = f32[] constant(0)
v16 = f32[11,4] broadcast(v15), dimensions={}
v17 = s32[6] reshape(v5)
v18 = f32[] constant(2)
v19 = f32[2,3,4] broadcast(v18), dimensions={}
v20 = f32[] constant(1)
v21 = f32[2,3,4] broadcast(v20), dimensions={}
v22 = f32[2,3,4] power(v6, v21)
v23 = f32[2,3,4] multiply(v19, v22)
v24 = f32[6,4] reshape(v23)
v25 = f32[11,4] scatter(v16, v17, v24), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=c0
v26 = f32[11,4] reshape(v25)
v27 = (f32[11,4]) tuple(v26)
ROOT v28 = f32[11,4] get-tuple-element(v27), index=0
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_EMBEDDING_GRADIENT_H_
