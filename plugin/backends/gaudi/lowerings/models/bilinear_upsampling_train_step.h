// HLO of a train step of a convolution, maximum pooling and bilinear upsampling.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_BILINEAR_UPSAMPLING_TRAIN_STEP_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_BILINEAR_UPSAMPLING_TRAIN_STEP_H_

namespace hpu::gaudi {

// As tf2xla emits it for gradient descent on the mean squared error, without metadata and unused instructions.
inline constexpr char kBilinearUpsamplingTrainStep[] =
    R"(HloModule m, input_output_alias={ {1}: (2, {}, may-alias), {2}: (3, {}, may-alias) }
c0 {
p0 = f32[] parameter(0)
p1 = f32[] parameter(1)
ROOT v2 = f32[] maximum(p0, p1)
}
c1 {
p0 = f32[] parameter(0)
p1 = f32[] parameter(1)
ROOT v2 = f32[] add(p0, p1)
}
c2 {
p0 = f32[] parameter(0)
p1 = f32[] parameter(1)
ROOT v2 = pred[] compare(p0, p1), direction=GE
}
ENTRY e {
p26 = f32[1,6,6,2] parameter(0)
v27 = f32[1,6,6,2] reshape(p26)
p28 = f32[3,3,2,3] parameter(2)
v29 = f32[1,6,6,3] convolution(v27, p28), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
p30 = f32[3] parameter(3)
v31 = f32[1,6,6,3] broadcast(p30), dimensions={3}
v32 = f32[1,6,6,3] add(v29, v31)
v35 = s32[] constant(0)
v36 = f32[] convert(v35)
v37 = f32[1,3,3,3] broadcast(v36), dimensions={}
v38 = s32[] constant(0)
v39 = f32[] convert(v38)
v40 = f32[6] broadcast(v39), dimensions={}
v41 = f32[6] iota(), iota_dimension=0
v42 = f64[] constant(0.5)
v43 = f32[] convert(v42)
v44 = f32[6] broadcast(v43), dimensions={}
v45 = f32[6] add(v41, v44)
v46 = f32[] constant(0.5)
v47 = f32[] convert(v46)
v48 = f32[6] broadcast(v47), dimensions={}
v49 = f32[6] multiply(v45, v48)
v50 = s32[] constant(1)
v51 = f32[] convert(v50)
v52 = f32[6] broadcast(v51), dimensions={}
v53 = f32[6] subtract(v49, v52)
v54 = f32[6] broadcast(v43), dimensions={}
v55 = f32[6] subtract(v53, v54)
v56 = f32[6] ceil(v55)
v57 = s64[] constant(0)
v58 = f32[] convert(v57)
v59 = f32[6] broadcast(v58), dimensions={}
v60 = f32[6] clamp(v40, v56, v59)
v61 = f32[6,6,1] broadcast(v60), dimensions={0}
v62 = f32[6] broadcast(v39), dimensions={}
v63 = f32[6] iota(), iota_dimension=0
v64 = f32[6] broadcast(v43), dimensions={}
v65 = f32[6] add(v63, v64)
v66 = f32[] constant(0.5)
v67 = f32[] convert(v66)
v68 = f32[6] broadcast(v67), dimensions={}
v69 = f32[6] multiply(v65, v68)
v70 = f32[6] broadcast(v51), dimensions={}
v71 = f32[6] subtract(v69, v70)
v72 = f32[6] broadcast(v43), dimensions={}
v73 = f32[6] subtract(v71, v72)
v74 = f32[6] ceil(v73)
v75 = s64[] constant(0)
v76 = f32[] convert(v75)
v77 = f32[6] broadcast(v76), dimensions={}
v78 = f32[6] clamp(v62, v74, v77)
v79 = f32[6,6,1] broadcast(v78), dimensions={1}
v80 = f32[6,6,2] concatenate(v61, v79), dimensions={2}
v81 = s32[6,6,2] convert(v80)
v82 = f32[6,3] broadcast(v39), dimensions={}
v83 = f32[6,3] broadcast(v51), dimensions={}
v84 = f32[6] subtract(v78, v69)
v85 = f32[6,3] broadcast(v84), dimensions={0}
v86 = f32[3] iota(), iota_dimension=0
v87 = f32[6,3] broadcast(v86), dimensions={1}
v88 = f32[6,3] add(v85, v87)
v89 = f32[6,3] broadcast(v43), dimensions={}
v90 = f32[6,3] add(v88, v89)
v91 = f32[6,3] abs(v90)
v92 = f32[6,3] subtract(v83, v91)
v93 = f32[6,3] maximum(v82, v92)
v94 = f32[6] reduce(v93, v39), dimensions={1}, to_apply=c1
v95 = f32[6,3] broadcast(v94), dimensions={0}
v96 = f32[6,3] divide(v93, v95)
v97 = f32[6,3] broadcast(v39), dimensions={}
v98 = f32[6,3] broadcast(v51), dimensions={}
v99 = f32[6] subtract(v60, v49)
v100 = f32[6,3] broadcast(v99), dimensions={0}
v101 = f32[3] iota(), iota_dimension=0
v102 = f32[6,3] broadcast(v101), dimensions={1}
v103 = f32[6,3] add(v100, v102)
v104 = f32[6,3] broadcast(v43), dimensions={}
v105 = f32[6,3] add(v103, v104)
v106 = f32[6,3] abs(v105)
v107 = f32[6,3] subtract(v98, v106)
v108 = f32[6,3] maximum(v97, v107)
v109 = f32[6] reduce(v108, v39), dimensions={1}, to_apply=c1
v110 = f32[6,3] broadcast(v109), dimensions={0}
v111 = f32[6,3] divide(v108, v110)
v112 = f32[6,3,6,3] dot(v96, v111), lhs_contracting_dims={}, rhs_contracting_dims={}
v113 = f32[] constant(0.0185185187)
v114 = f32[1,6,6,3] broadcast(v113), dimensions={}
v115 = s32[] constant(0)
v116 = f32[] convert(v115)
v117 = f32[6,3] broadcast(v116), dimensions={}
v118 = s32[] constant(1)
v119 = f32[] convert(v118)
v120 = f32[6,3] broadcast(v119), dimensions={}
v121 = f32[6] broadcast(v116), dimensions={}
v122 = f32[6] iota(), iota_dimension=0
v123 = f64[] constant(0.5)
v124 = f32[] convert(v123)
v125 = f32[6] broadcast(v124), dimensions={}
v126 = f32[6] add(v122, v125)
v127 = f32[] constant(0.5)
v128 = f32[] convert(v127)
v129 = f32[6] broadcast(v128), dimensions={}
v130 = f32[6] multiply(v126, v129)
v131 = f32[6] broadcast(v119), dimensions={}
v132 = f32[6] subtract(v130, v131)
v133 = f32[6] broadcast(v124), dimensions={}
v134 = f32[6] subtract(v132, v133)
v135 = f32[6] ceil(v134)
v136 = s64[] constant(0)
v137 = f32[] convert(v136)
v138 = f32[6] broadcast(v137), dimensions={}
v139 = f32[6] clamp(v121, v135, v138)
v140 = f32[6] subtract(v139, v130)
v141 = f32[6,3] broadcast(v140), dimensions={0}
v142 = f32[3] iota(), iota_dimension=0
v143 = f32[6,3] broadcast(v142), dimensions={1}
v144 = f32[6,3] add(v141, v143)
v145 = f32[6,3] broadcast(v124), dimensions={}
v146 = f32[6,3] add(v144, v145)
v147 = f32[6,3] abs(v146)
v148 = f32[6,3] subtract(v120, v147)
v149 = f32[6,3] maximum(v117, v148)
v150 = f32[6] reduce(v149, v116), dimensions={1}, to_apply=c1
v151 = f32[6,3] broadcast(v150), dimensions={0}
v152 = f32[6,3] divide(v149, v151)
v153 = f32[6,3] broadcast(v116), dimensions={}
v154 = f32[6,3] broadcast(v119), dimensions={}
v155 = f32[6] broadcast(v116), dimensions={}
v156 = f32[6] iota(), iota_dimension=0
v157 = f32[6] broadcast(v124), dimensions={}
v158 = f32[6] add(v156, v157)
v159 = f32[] constant(0.5)
v160 = f32[] convert(v159)
v161 = f32[6] broadcast(v160), dimensions={}
v162 = f32[6] multiply(v158, v161)
v163 = f32[6] broadcast(v119), dimensions={}
v164 = f32[6] subtract(v162, v163)
v165 = f32[6] broadcast(v124), dimensions={}
v166 = f32[6] subtract(v164, v165)
v167 = f32[6] ceil(v166)
v168 = s64[] constant(0)
v169 = f32[] convert(v168)
v170 = f32[6] broadcast(v169), dimensions={}
v171 = f32[6] clamp(v155, v167, v170)
v172 = f32[6] subtract(v171, v162)
v173 = f32[6,3] broadcast(v172), dimensions={0}
v174 = f32[3] iota(), iota_dimension=0
v175 = f32[6,3] broadcast(v174), dimensions={1}
v176 = f32[6,3] add(v173, v175)
v177 = f32[6,3] broadcast(v124), dimensions={}
v178 = f32[6,3] add(v176, v177)
v179 = f32[6,3] abs(v178)
v180 = f32[6,3] subtract(v154, v179)
v181 = f32[6,3] maximum(v153, v180)
v182 = f32[6] reduce(v181, v116), dimensions={1}, to_apply=c1
v183 = f32[6,3] broadcast(v182), dimensions={0}
v184 = f32[6,3] divide(v181, v183)
v185 = f32[6,3,6,3] dot(v152, v184), lhs_contracting_dims={}, rhs_contracting_dims={}
v186 = f32[] constant(-inf)
v187 = f32[1,3,3,3] reduce-window(v32, v186), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=c0
v188 = f32[1,3,3,3] convert(v187)
v189 = f32[6,6,1] broadcast(v171), dimensions={0}
v190 = f32[6,6,1] broadcast(v139), dimensions={1}
v191 = f32[6,6,2] concatenate(v189, v190), dimensions={2}
v192 = s32[6,6,2] convert(v191)
v193 = f32[1,3,3,3,6,6] gather(v188, v192), offset_dims={0,1,2,3}, collapsed_slice_dims={}, start_index_map={1,2}, index_vector_dim=2, slice_sizes={1,3,3,3}
v194 = f32[6,6,1,3] dot(v185, v193), lhs_batch_dims={2,0}, lhs_contracting_dims={3,1}, rhs_batch_dims={4,5}, rhs_contracting_dims={1,2}
v195 = f32[1,6,6,3] transpose(v194), dimensions={2,0,1,3}
p196 = f32[1,6,6,3] parameter(1)
v197 = f32[1,6,6,3] reshape(p196)
v198 = f32[1,6,6,3] subtract(v195, v197)
v199 = f32[] constant(1)
v200 = f32[1,6,6,3] broadcast(v199), dimensions={}
v201 = f32[1,6,6,3] power(v198, v200)
v202 = f32[1,6,6,3] multiply(v114, v201)
v203 = f32[1,6,6,3] convert(v202)
v204 = f32[6,6,3,3,1,3] dot(v112, v203), lhs_batch_dims={2,0}, lhs_contracting_dims={}, rhs_batch_dims={1,2}, rhs_contracting_dims={}
v205 = f32[1,3,3,3,6,6] transpose(v204), dimensions={4,3,2,5,0,1}
v206 = f32[1,3,3,3] scatter(v37, v81, v205), update_window_dims={0,1,2,3}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,2}, index_vector_dim=2, to_apply=c1
v207 = f32[] constant(0)
v208 = f32[1,6,6,3] select-and-scatter(v32, v206, v207), window={size=1x2x2x1 stride=1x2x2x1}, select=c2, scatter=c1
v212 = f32[] constant(2)
v213 = f32[1,6,6,3] broadcast(v212), dimensions={}
v214 = f32[1,6,6,3] power(v198, v213)
v215 = f32[1,6,6,3] convert(v214)
v216 = f32[] constant(0)
v217 = f32[] convert(v216)
v218 = f32[] reduce(v215, v217), dimensions={0,1,2,3}, to_apply=c1
v219 = s32[] constant(1)
v220 = s32[] constant(6)
v221 = s32[] multiply(v219, v220)
v222 = s32[] constant(6)
v223 = s32[] multiply(v221, v222)
v224 = s32[] constant(3)
v225 = s32[] multiply(v223, v224)
v226 = f32[] convert(v225)
v227 = f32[] divide(v218, v226)
v228 = f32[] convert(v227)
v229 = f32[] reshape(v228)
v230 = f32[] constant(0.1)
v231 = f32[3,3,2,3] broadcast(v230), dimensions={}
v232 = f32[3,3,2,3] convolution(v27, v208), window={size=6x6 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
v233 = f32[3,3,2,3] multiply(v231, v232)
v234 = f32[3,3,2,3] subtract(p28, v233)
v235 = f32[3,3,2,3] reshape(v234)
v236 = f32[3,3,2,3] copy(v235)
v237 = f32[] constant(0.1)
v238 = f32[3] broadcast(v237), dimensions={}
v239 = f32[] constant(-0)
v240 = f32[3] reduce(v208, v239), dimensions={0,1,2}, to_apply=c1
v241 = f32[3] multiply(v238, v240)
v242 = f32[3] subtract(p30, v241)
v243 = f32[3] reshape(v242)
v244 = f32[3] copy(v243)
ROOT v245 = (f32[], f32[3,3,2,3], f32[3]) tuple(v229, v236, v244)
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_BILINEAR_UPSAMPLING_TRAIN_STEP_H_
