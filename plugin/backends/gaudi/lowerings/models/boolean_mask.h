// HLO of the sum of the positive elements, by tf.boolean_mask.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_BOOLEAN_MASK_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_BOOLEAN_MASK_H_

namespace hpu::gaudi {

// As tf2xla emits it, without metadata.
inline constexpr char kBooleanMask[] = R"(HloModule m
c0 {
v0 = s32[] parameter(0)
ROOT v1 = s32[] parameter(1)
}
c1 {
v0 = s32[] parameter(0)
v1 = s32[] parameter(1)
ROOT v2 = s32[] add(v0, v1)
}
c2 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] add(v0, v1)
}
ENTRY e {
v0 = f32[20] parameter(0)
v1 = f32[20] reshape(v0)
v2 = f32[20] reshape(v1)
v3 = s32[] constant(0)
v4 = s32[20,1] broadcast(v3), dimensions={}
v5 = f32[] constant(0)
v6 = f32[20] broadcast(v5), dimensions={}
v7 = pred[20] compare(v1, v6), direction=GT
v8 = pred[20] reshape(v7)
v9 = pred[20] reshape(v8)
v10 = pred[] constant(false)
v11 = pred[20] broadcast(v10), dimensions={}
v12 = pred[20] compare(v9, v11), direction=NE
v13 = s32[20] convert(v12)
v14 = s32[] constant(0)
v15 = s32[32] pad(v13, v14), padding=0_12
v16 = s32[8] slice(v15), slice={[0:32:4]}
v17 = s32[8] slice(v15), slice={[1:32:4]}
v18 = s32[8] add(v16, v17)
v19 = s32[8] slice(v15), slice={[2:32:4]}
v20 = s32[8] add(v18, v19)
v21 = s32[8] slice(v15), slice={[3:32:4]}
v22 = s32[8] add(v20, v21)
v23 = s32[2] slice(v22), slice={[0:8:4]}
v24 = s32[2] slice(v22), slice={[1:8:4]}
v25 = s32[2] add(v23, v24)
v26 = s32[2] slice(v22), slice={[2:8:4]}
v27 = s32[2] add(v25, v26)
v28 = s32[2] slice(v22), slice={[3:8:4]}
v29 = s32[2] add(v27, v28)
v30 = s32[] constant(0)
v31 = s32[3] pad(v29, v30), padding=1_0
v32 = s32[2] slice(v31), slice={[0:2]}
v33 = s32[2] add(v29, v32)
v34 = s32[2] subtract(v33, v28)
v35 = s32[2] subtract(v34, v26)
v36 = s32[2] subtract(v35, v24)
v37 = s32[] constant(0)
v38 = s32[8] pad(v36, v37), padding=0_3_3
v39 = s32[] constant(0)
v40 = s32[8] pad(v35, v39), padding=1_2_3
v41 = s32[8] add(v38, v40)
v42 = s32[] constant(0)
v43 = s32[8] pad(v34, v42), padding=2_1_3
v44 = s32[8] add(v41, v43)
v45 = s32[] constant(0)
v46 = s32[8] pad(v33, v45), padding=3_0_3
v47 = s32[8] add(v44, v46)
v48 = s32[8] subtract(v47, v21)
v49 = s32[8] subtract(v48, v19)
v50 = s32[8] subtract(v49, v17)
v51 = s32[] constant(0)
v52 = s32[32] pad(v50, v51), padding=0_3_3
v53 = s32[] constant(0)
v54 = s32[32] pad(v49, v53), padding=1_2_3
v55 = s32[32] add(v52, v54)
v56 = s32[] constant(0)
v57 = s32[32] pad(v48, v56), padding=2_1_3
v58 = s32[32] add(v55, v57)
v59 = s32[] constant(0)
v60 = s32[32] pad(v47, v59), padding=3_0_3
v61 = s32[32] add(v58, v60)
v62 = s32[20] slice(v61), slice={[0:20]}
v63 = s32[] constant(0)
v64 = s32[21] pad(v62, v63), padding=1_0
v65 = s32[20] slice(v64), slice={[0:20]}
v66 = pred[20] compare(v62, v65), direction=NE
v67 = s32[] constant(1)
v68 = s32[20] broadcast(v67), dimensions={}
v69 = s32[20] subtract(v62, v68)
v70 = s32[] constant(20)
v71 = s32[20] broadcast(v70), dimensions={}
v72 = s32[20] select(v66, v69, v71)
v73 = s32[20,1] reshape(v72)
v74 = s32[20] iota(), iota_dimension=0
v75 = s32[20,1] reshape(v74)
v76 = s32[20,1] concatenate(v75), dimensions={1}
v77 = s32[20,1] scatter(v4, v73, v76), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=c0
v78 = s64[20,1] convert(v77)
v79 = s32[20] convert(v13)
v80 = s32[] constant(0)
v81 = s32[] reduce(v79, v80), dimensions={0}, to_apply=c1
v82 = s64[<=20,1] set-dimension-size(v78, v81), dimensions={0}
v83 = s64[<=20] reshape(v82)
v84 = f32[<=20] gather(v2, v83), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
v85 = f32[<=20] convert(v84)
v86 = f32[] constant(0)
v87 = f32[] convert(v86)
v88 = f32[] reduce(v85, v87), dimensions={0}, to_apply=c2
v89 = f32[] convert(v88)
v90 = f32[] reshape(v89)
v91 = (f32[]) tuple(v90)
ROOT v92 = f32[] get-tuple-element(v91), index=0
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_BOOLEAN_MASK_H_
