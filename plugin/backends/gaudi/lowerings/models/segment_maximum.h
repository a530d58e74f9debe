// HLO of unsorted_segment_max.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_SEGMENT_MAXIMUM_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_SEGMENT_MAXIMUM_H_

namespace hpu::gaudi {

// As tf2xla emits it, without metadata.
inline constexpr char kSegmentMaximum[] = R"(HloModule m
c0 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] maximum(v0, v1)
}
ENTRY e {
v0 = s32[] constant(6)
v1 = s32[] constant(3)
v2 = f32[] constant(-3.40282347e+38)
v3 = f32[6,3] broadcast(v2), dimensions={}
v4 = s32[5] parameter(1)
v5 = s32[5] reshape(v4)
v6 = f32[5,3] parameter(0)
v7 = f32[5,3] reshape(v6)
v8 = f32[6,3] scatter(v3, v5, v7), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=c0
v9 = f32[6,3] reshape(v8)
v10 = (f32[6,3]) tuple(v9)
ROOT v11 = f32[6,3] get-tuple-element(v10), index=0
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_SEGMENT_MAXIMUM_H_
