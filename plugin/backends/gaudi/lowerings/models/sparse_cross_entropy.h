// HLO of sparse_softmax_cross_entropy_with_logits.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_SPARSE_CROSS_ENTROPY_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_SPARSE_CROSS_ENTROPY_H_

namespace hpu::gaudi {

// As tf2xla emits it, without metadata.
inline constexpr char kSparseCrossEntropy[] = R"(HloModule m
c0 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] maximum(v0, v1)
}
c1 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] add(v0, v1)
}
c2 {
v0 = f32[] parameter(0)
v1 = f32[] parameter(1)
ROOT v2 = f32[] add(v0, v1)
}
ENTRY e {
v0 = f32[4,10] parameter(0)
v1 = f32[4,10] reshape(v0)
v2 = f32[] constant(-inf)
v3 = f32[4] reduce(v1, v2), dimensions={1}, to_apply=c0
v4 = f32[4,10] broadcast(v3), dimensions={0}
v5 = f32[4,10] subtract(v1, v4)
v6 = f32[4,10] exponential(v5)
v7 = f32[4,10] convert(v6)
v8 = f32[] constant(0)
v9 = f32[4] reduce(v7, v8), dimensions={1}, to_apply=c1
v10 = f32[4] convert(v9)
v11 = f32[4,10] broadcast(v10), dimensions={0}
v12 = f32[4,10] divide(v6, v11)
v13 = s32[4] parameter(1)
v14 = s32[4] reshape(v13)
v15 = s32[4,10] broadcast(v14), dimensions={0}
v16 = s32[4,10] iota(), iota_dimension=1
v17 = pred[4,10] compare(v15, v16), direction=EQ
v18 = f32[] constant(1)
v19 = f32[4,10] broadcast(v18), dimensions={}
v20 = f32[] constant(0)
v21 = f32[4,10] broadcast(v20), dimensions={}
v22 = f32[4,10] select(v17, v19, v21)
v23 = s32[] constant(0)
v24 = s32[4] broadcast(v23), dimensions={}
v25 = pred[4] compare(v24, v14), direction=LE
v26 = s32[] constant(10)
v27 = s32[4] broadcast(v26), dimensions={}
v28 = pred[4] compare(v14, v27), direction=LT
v29 = pred[4] and(v25, v28)
v30 = f32[] constant(0)
v31 = f32[4] broadcast(v30), dimensions={}
v32 = f32[] constant(nan)
v33 = f32[4] broadcast(v32), dimensions={}
v34 = f32[4] select(v29, v31, v33)
v35 = f32[4,10] broadcast(v34), dimensions={0}
v36 = f32[4,10] add(v22, v35)
v37 = f32[4,10] subtract(v12, v36)
v38 = f32[4,10] negate(v36)
v39 = f32[] constant(0)
v40 = f32[4,10] broadcast(v39), dimensions={}
v41 = pred[4,10] compare(v36, v40), direction=EQ
v42 = f32[] constant(0)
v43 = f32[4,10] broadcast(v42), dimensions={}
v44 = f32[4] log(v10)
v45 = f32[4,10] broadcast(v44), dimensions={0}
v46 = f32[4,10] subtract(v5, v45)
v47 = f32[4,10] select(v41, v43, v46)
v48 = f32[4,10] multiply(v38, v47)
v49 = f32[4,10] convert(v48)
v50 = f32[] constant(0)
v51 = f32[4] reduce(v49, v50), dimensions={1}, to_apply=c2
v52 = f32[4] convert(v51)
v53 = f32[4] reshape(v52)
v54 = (f32[4]) tuple(v53)
ROOT v55 = f32[4] get-tuple-element(v54), index=0
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_SPARSE_CROSS_ENTROPY_H_
