// HLO of a train step of an embedding.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_EMBEDDING_TRAIN_STEP_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_EMBEDDING_TRAIN_STEP_H_

namespace hpu::gaudi {

// As tf2xla emits it for Adam with sparse updates of the sum of squared rows, without metadata.
inline constexpr char kEmbeddingTrainStep[] =
    R"(HloModule m, input_output_alias={ {0}: (1, {}, may-alias), {1}: (2, {}, may-alias), {2}: (4, {}, may-alias), {3}: (5, {}, may-alias) }
c0 {
v0 = pred[] constant(true)
v1 = pred[] broadcast(v0), dimensions={}
v2 = s32[] parameter(0)
v3 = s32[] parameter(1)
v4 = pred[] compare(v2, v3), direction=EQ
v5 = pred[] and(v1, v4)
v6 = s32[] parameter(2)
v7 = s32[] parameter(3)
v8 = pred[] compare(v6, v7), direction=LT
v9 = pred[] compare(v2, v3), direction=LT
v10 = pred[] select(v1, v9, v1)
ROOT v11 = pred[] select(v5, v8, v10)
}
c1 {
v0 = pred[] parameter(0)
v1 = pred[] parameter(1)
ROOT v2 = pred[] or(v0, v1)
}
c2 {
v0 = (s32[], s32[6], s32[6], s32[6]) parameter(0)
v1 = s32[] get-tuple-element(v0), index=0
v2 = s32[] constant(1)
v3 = s32[] add(v1, v2)
v4 = s32[6] get-tuple-element(v0), index=1
v5 = s32[6] get-tuple-element(v0), index=2
v6 = s32[6] get-tuple-element(v0), index=3
v7 = s32[1] dynamic-slice(v5, v1), dynamic_slice_sizes={1}
v8 = s32[] reshape(v7)
v9 = pred[] convert(v8)
v10 = s32[1] dynamic-slice(v4, v1), dynamic_slice_sizes={1}
v11 = s32[] reshape(v10)
v12 = s32[] constant(0)
v13 = pred[] compare(v1, v12), direction=EQ
v14 = s32[] constant(1)
v15 = s32[] subtract(v1, v14)
v16 = s32[] select(v13, v12, v15)
v17 = s32[1] dynamic-slice(v6, v16), dynamic_slice_sizes={1}
v18 = s32[] reshape(v17)
v19 = s32[] select(v9, v11, v18)
v20 = s32[1] reshape(v19)
v21 = s32[6] dynamic-update-slice(v6, v20, v1)
ROOT v22 = (s32[], s32[6], s32[6], s32[6]) tuple(v3, v4, v5, v21)
}
c3 {
v0 = (s32[], s32[6], s32[6], s32[6]) parameter(0)
v1 = s32[] get-tuple-element(v0), index=0
v2 = s32[] constant(6)
ROOT v3 = pred[] compare(v1, v2), direction=LT
}
c4 {
v0 = s32[] parameter(2)
v1 = s32[] parameter(3)
v2 = s32[] parameter(4)
v3 = s32[] parameter(5)
v4 = pred[] constant(true)
v5 = pred[] broadcast(v4), dimensions={}
v6 = s32[] parameter(0)
v7 = s32[] parameter(1)
v8 = pred[] compare(v6, v7), direction=LT
ROOT v9 = pred[] select(v5, v8, v5)
}
c5 {
v0 = s32[] parameter(0)
v1 = s32[] parameter(1)
ROOT v2 = s32[] add(v0, v1)
}
c6 {
v0 = s32[] parameter(2)
v1 = s32[] parameter(3)
v2 = pred[] constant(true)
v3 = pred[] broadcast(v2), dimensions={}
v4 = s32[] parameter(0)
v5 = s32[] parameter(1)
v6 = pred[] compare(v4, v5), direction=GT
ROOT v7 = pred[] select(v3, v6, v3)
}
c7 {
v0 = s32[] parameter(0)
v1 = s32[] parameter(1)
ROOT v2 = s32[] add(v0, v1)
}
c8 {
v0 = s32[] parameter(2)
v1 = s32[] parameter(3)
v2 = pred[] constant(true)
v3 = pred[] broadcast(v2), dimensions={}
v4 = s32[] parameter(0)
v5 = s32[] parameter(1)
v6 = pred[] compare(v4, v5), direction=LT
ROOT v7 = pred[] select(v3, v6, v3)
}
c9 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] add(v0, v1)
}
c10 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] add(v0, v1)
}
c11 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] add(v0, v1)
}
c12 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] add(v0, v1)
}
ENTRY e {
v0 = s32[] constant(4)
v1 = f32[11,4] parameter(1)
v2 = s32[2,3] parameter(0)
v3 = s32[2,3] reshape(v2)
v4 = f32[2,3,4] gather(v1, v3), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,4}
v5 = f32[] constant(2)
v6 = f32[2,3,4] broadcast(v5), dimensions={}
v7 = f32[2,3,4] power(v4, v6)
v8 = f32[2,3,4] convert(v7)
v9 = f32[] constant(0)
v10 = f32[] convert(v9)
v11 = f32[] reduce(v8, v10), dimensions={0,1,2}, to_apply=c12
v12 = f32[] convert(v11)
v13 = f32[11,4] parameter(4)
v14 = f32[11,4] negate(v13)
v15 = f32[] constant(0.1)
v16 = f32[11,4] broadcast(v15), dimensions={}
v17 = f32[11,4] multiply(v14, v16)
v18 = f32[11,4] add(v13, v17)
v19 = s32[6] reshape(v3)
v20 = s32[6] transpose(v19), dimensions={0}
v21 = s32[6,1] reshape(v20)
v22 = s32[] constant(0)
v23 = s32[6,1] slice(v21), slice={[0:6], [0:1]}
v24 = s32[6] reshape(v23)
v25 = s32[6] iota(), iota_dimension=0
v26 = (s32[6], s32[6]) sort(v24, v25), dimensions={0}, is_stable=true, to_apply=c0
v27 = s32[6] get-tuple-element(v26), index=1
v28 = s32[6,1] gather(v21, v27), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}
v29 = s32[5,1] slice(v28), slice={[1:6], [0:1]}
v30 = s32[5,1] slice(v28), slice={[0:5], [0:1]}
v31 = pred[5,1] compare(v29, v30), direction=NE
v32 = pred[] constant(false)
v33 = pred[5] reduce(v31, v32), dimensions={1}, to_apply=c1
v34 = s32[5] convert(v33)
v35 = s32[] constant(1)
v36 = s32[6] pad(v34, v35), padding=1_0
v37 = s32[6] broadcast(v22), dimensions={}
v38 = (s32[], s32[6], s32[6], s32[6]) tuple(v22, v27, v36, v37)
v39 = (s32[], s32[6], s32[6], s32[6]) while(v38), condition=c3, body=c2
v40 = s32[6] get-tuple-element(v39), index=3
v41 = (s32[6], s32[6], s32[6]) sort(v40, v36, v27), dimensions={0}, is_stable=true, to_apply=c4
v42 = s32[6] get-tuple-element(v41), index=1
v43 = s32[6] get-tuple-element(v41), index=2
v44 = (s32[6], s32[6]) sort(v42, v43), dimensions={0}, is_stable=true, to_apply=c6
v45 = s32[6] get-tuple-element(v44), index=1
v46 = s32[6,1] gather(v21, v45), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}
v47 = s32[6] reshape(v46)
v48 = s32[6] transpose(v47), dimensions={0}
v49 = s32[] constant(0)
v50 = s32[] reduce(v42, v49), dimensions={0}, to_apply=c5
v51 = s32[<=6] set-dimension-size(v48, v50), dimensions={0}
v52 = f32[] constant(0)
v53 = f32[6,4] broadcast(v52), dimensions={}
v54 = s32[] get-dimension-size(v51), dimensions={0}
v55 = s32[] convert(v54)
v56 = s32[1] broadcast(v55), dimensions={}
v57 = s32[1] concatenate(v56), dimensions={0}
v58 = s32[1] slice(v57), slice={[0:1]}
v59 = s32[] reshape(v58)
v60 = f32[<=6,4] set-dimension-size(v53, v59), dimensions={0}
v61 = s32[] constant(0)
v62 = s32[6] reduce-window(v42, v61), window={size=6 pad=5_0}, to_apply=c7
v63 = s32[] constant(1)
v64 = s32[6] broadcast(v63), dimensions={}
v65 = s32[6] subtract(v62, v64)
v66 = (s32[6], s32[6]) sort(v43, v65), dimensions={0}, to_apply=c8
v67 = s32[6] get-tuple-element(v66), index=1
v68 = s32[6] convert(v67)
v69 = f32[] constant(2)
v70 = f32[2,3,4] broadcast(v69), dimensions={}
v71 = f32[] constant(1)
v72 = f32[2,3,4] broadcast(v71), dimensions={}
v73 = f32[2,3,4] power(v4, v72)
v74 = f32[2,3,4] multiply(v70, v73)
v75 = f32[6,4] reshape(v74)
v76 = f32[<=6,4] scatter(v60, v68, v75), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=c9
v77 = f32[] constant(0.1)
v78 = f32[<=6,4] broadcast(v77), dimensions={}
v79 = f32[<=6,4] multiply(v76, v78)
v80 = f32[11,4] scatter(v18, v51, v79), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=c11
v81 = f32[] parameter(3)
v82 = f32[] constant(1)
v83 = f32[] constant(0.999)
v84 = s64[] parameter(2)
v85 = s64[] constant(1)
v86 = s64[] add(v84, v85)
v87 = f32[] convert(v86)
v88 = f32[] power(v83, v87)
v89 = f32[] subtract(v82, v88)
v90 = f32[] sqrt(v89)
v91 = f32[] multiply(v81, v90)
v92 = f32[] constant(1)
v93 = f32[] constant(0.9)
v94 = f32[] power(v93, v87)
v95 = f32[] subtract(v92, v94)
v96 = f32[] divide(v91, v95)
v97 = f32[11,4] broadcast(v96), dimensions={}
v98 = f32[11,4] multiply(v80, v97)
v99 = f32[11,4] parameter(5)
v100 = f32[11,4] negate(v99)
v101 = f32[] constant(0.001)
v102 = f32[11,4] broadcast(v101), dimensions={}
v103 = f32[11,4] multiply(v100, v102)
v104 = f32[11,4] add(v99, v103)
v105 = f32[<=6,4] multiply(v76, v76)
v106 = f32[] constant(0.001)
v107 = f32[<=6,4] broadcast(v106), dimensions={}
v108 = f32[<=6,4] multiply(v105, v107)
v109 = f32[11,4] scatter(v104, v51, v108), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=c10
v110 = f32[11,4] sqrt(v109)
v111 = f32[] constant(1e-07)
v112 = f32[11,4] broadcast(v111), dimensions={}
v113 = f32[11,4] add(v110, v112)
v114 = f32[11,4] divide(v98, v113)
v115 = f32[11,4] subtract(v1, v114)
v116 = f32[11,4] reshape(v115)
v117 = f32[11,4] copy(v116)
v118 = s64[] constant(1)
v119 = s64[] add(v84, v118)
v120 = s64[] reshape(v119)
v121 = s64[] copy(v120)
v122 = f32[11,4] reshape(v80)
v123 = f32[11,4] copy(v122)
v124 = f32[11,4] reshape(v109)
v125 = f32[11,4] copy(v124)
ROOT v126 = (f32[11,4], s64[], f32[11,4], f32[11,4]) tuple(v117, v121, v123, v125)
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_EMBEDDING_TRAIN_STEP_H_
