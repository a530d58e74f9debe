// HLO of a train step of a CNN with batch normalisation, maximum and average pooling.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_CNN_TRAIN_STEP_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_CNN_TRAIN_STEP_H_

namespace hpu::gaudi {

// As tf2xla emits it for gradient descent on the mean squared error, without metadata and unused instructions.
inline constexpr char kCnnTrainStep[] =
    R"(HloModule m, input_output_alias={ {1}: (2, {}, may-alias), {2}: (3, {}, may-alias), {3}: (4, {}, may-alias), {4}: (5, {}, may-alias), {5}: (6, {}, may-alias), {6}: (7, {}, may-alias), {7}: (8, {}, may-alias), {8}: (9, {}, may-alias), {9}: (10, {}, may-alias), {10}: (11, {}, may-alias), {11}: (12, {}, may-alias), {12}: (13, {}, may-alias), {13}: (14, {}, may-alias) }
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
p59 = f32[2,12,12,3] parameter(0)
v60 = f32[2,12,12,3] reshape(p59)
p61 = f32[3,3,3,4] parameter(2)
v62 = f32[2,12,12,4] convolution(v60, p61), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
p63 = f32[4] parameter(3)
p64 = f32[4] parameter(4)
v65 = (f32[2,12,12,4], f32[4], f32[4]) batch-norm-training(v62, p63, p64), epsilon=0.001, feature_index=3
v66 = f32[2,12,12,4] get-tuple-element(v65), index=0
v67 = f32[] constant(0)
v68 = f32[2,12,12,4] broadcast(v67), dimensions={}
v69 = f32[2,12,12,4] maximum(v66, v68)
v73 = f32[4] get-tuple-element(v65), index=1
v74 = f32[4] get-tuple-element(v65), index=2
v75 = f32[] constant(0)
v76 = f32[2,12,12,4] broadcast(v75), dimensions={}
v77 = pred[2,12,12,4] compare(v69, v76), direction=GT
v78 = f32[] constant(-inf)
v79 = f32[2,6,6,4] reduce-window(v69, v78), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0}, to_apply=c0
p80 = f32[3,3,4,6] parameter(7)
v81 = f32[2,2,2,6] convolution(v79, p80), window={size=3x3 stride=2x2}, dim_labels=b01f_01io->b01f
p82 = f32[6] parameter(8)
v83 = f32[2,2,2,6] broadcast(p82), dimensions={3}
v84 = f32[2,2,2,6] add(v81, v83)
p85 = f32[6] parameter(9)
p86 = f32[6] parameter(10)
v87 = (f32[2,2,2,6], f32[6], f32[6]) batch-norm-training(v84, p85, p86), epsilon=0.001, feature_index=3
v88 = f32[6] get-tuple-element(v87), index=1
v89 = f32[6] get-tuple-element(v87), index=2
v90 = f32[2,2,2,6] get-tuple-element(v87), index=0
v91 = f32[] constant(0)
v92 = f32[2,2,2,6] broadcast(v91), dimensions={}
v93 = f32[2,2,2,6] maximum(v90, v92)
v94 = f32[] constant(0)
v95 = f32[2,2,2,6] broadcast(v94), dimensions={}
v96 = pred[2,2,2,6] compare(v93, v95), direction=GT
v97 = f32[] constant(0.333333343)
v98 = f32[2,3] broadcast(v97), dimensions={}
v99 = f32[2,2,2,6] convert(v93)
v100 = f32[] constant(0)
v101 = f32[2,2,2,6] pad(v99, v100), padding=0_0x0_0x0_0x0_0
v102 = f32[] constant(0)
v103 = f32[2,1,1,6] reduce-window(v101, v102), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=c1
v104 = f32[] constant(4)
v105 = f32[2,1,1,6] broadcast(v104), dimensions={}
v106 = f32[2,1,1,6] divide(v103, v105)
v107 = f32[2,1,1,6] convert(v106)
v108 = f32[2,6] reshape(v107)
p109 = f32[6,3] parameter(13)
v110 = f32[2,3] dot(v108, p109), lhs_contracting_dims={1}, rhs_contracting_dims={0}
v111 = f32[2,3] transpose(v110), dimensions={0,1}
p112 = f32[3] parameter(14)
v113 = f32[2,3] broadcast(p112), dimensions={1}
v114 = f32[2,3] add(v111, v113)
p115 = f32[2,3] parameter(1)
v116 = f32[2,3] reshape(p115)
v117 = f32[2,3] subtract(v114, v116)
v118 = f32[] constant(1)
v119 = f32[2,3] broadcast(v118), dimensions={}
v120 = f32[2,3] power(v117, v119)
v121 = f32[2,3] multiply(v98, v120)
v122 = f32[2,6] dot(v121, p109), lhs_contracting_dims={1}, rhs_contracting_dims={1}
v123 = f32[2,6] transpose(v122), dimensions={0,1}
v124 = f32[2,1,1,6] reshape(v123)
v125 = f32[2,1,1,6] convert(v124)
v126 = f32[] constant(4)
v127 = f32[2,1,1,6] broadcast(v126), dimensions={}
v128 = f32[2,1,1,6] divide(v125, v127)
v129 = f32[] constant(0)
v130 = f32[2,3,3,6] pad(v128, v129), padding=0_0_0x1_1_1x1_1_1x0_0_0
v131 = f32[] constant(0)
v132 = f32[2,2,2,6] reduce-window(v130, v131), window={size=1x2x2x1}, to_apply=c1
v133 = f32[2,2,2,6] pad(v132, v129), padding=0_0x0_0x0_0x0_0
v134 = f32[2,2,2,6] convert(v133)
v135 = f32[2,2,2,6] select(v96, v134, v95)
v136 = (f32[2,2,2,6], f32[6], f32[6]) batch-norm-grad(v84, p85, v88, v89, v135), epsilon=0.001, feature_index=3
v137 = f32[2,2,2,6] get-tuple-element(v136), index=0
v138 = f32[3,3,4,6] reverse(p80), dimensions={0,1}
v139 = f32[2,6,6,4] convolution(v137, v138), window={size=3x3 pad=2_3x2_3 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f
v140 = f32[] constant(0)
v141 = f32[2,12,12,4] select-and-scatter(v69, v139, v140), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0}, select=c2, scatter=c1
v142 = f32[2,12,12,4] select(v77, v141, v76)
v143 = (f32[2,12,12,4], f32[4], f32[4]) batch-norm-grad(v62, p63, v73, v74, v142), epsilon=0.001, feature_index=3
v144 = f32[2,12,12,4] get-tuple-element(v143), index=0
v164 = f32[] constant(2)
v165 = f32[2,3] broadcast(v164), dimensions={}
v166 = f32[2,3] power(v117, v165)
v167 = f32[2,3] convert(v166)
v168 = f32[] constant(0)
v169 = f32[] convert(v168)
v170 = f32[] reduce(v167, v169), dimensions={0,1}, to_apply=c1
v171 = s32[] constant(2)
v172 = s32[] constant(3)
v173 = s32[] multiply(v171, v172)
v174 = f32[] convert(v173)
v175 = f32[] divide(v170, v174)
v176 = f32[] convert(v175)
v177 = f32[] reshape(v176)
v178 = f32[] constant(0.1)
v179 = f32[3,3,3,4] broadcast(v178), dimensions={}
v180 = f32[3,3,3,4] convolution(v60, v144), window={size=12x12 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
v181 = f32[3,3,3,4] multiply(v179, v180)
v182 = f32[3,3,3,4] subtract(p61, v181)
v183 = f32[3,3,3,4] reshape(v182)
v184 = f32[3,3,3,4] copy(v183)
v185 = f32[] constant(0.1)
v186 = f32[4] broadcast(v185), dimensions={}
v187 = f32[4] get-tuple-element(v143), index=1
v188 = f32[4] multiply(v186, v187)
v189 = f32[4] subtract(p63, v188)
v190 = f32[4] reshape(v189)
v191 = f32[4] copy(v190)
v192 = f32[] constant(0.1)
v193 = f32[4] broadcast(v192), dimensions={}
v194 = f32[4] get-tuple-element(v143), index=2
v195 = f32[4] multiply(v193, v194)
v196 = f32[4] subtract(p64, v195)
v197 = f32[4] reshape(v196)
v198 = f32[4] copy(v197)
p199 = f32[4] parameter(5)
v200 = f32[4] subtract(p199, v73)
v201 = f32[] constant(0.00999999)
v202 = f32[4] broadcast(v201), dimensions={}
v203 = f32[4] multiply(v200, v202)
v204 = f32[4] subtract(p199, v203)
v205 = f32[4] reshape(v204)
v206 = f32[4] copy(v205)
p207 = f32[4] parameter(6)
v208 = f32[] constant(1.00348437)
v209 = f32[4] broadcast(v208), dimensions={}
v210 = f32[4] multiply(v74, v209)
v211 = f32[4] subtract(p207, v210)
v212 = f32[] constant(0.00999999)
v213 = f32[4] broadcast(v212), dimensions={}
v214 = f32[4] multiply(v211, v213)
v215 = f32[4] subtract(p207, v214)
v216 = f32[4] reshape(v215)
v217 = f32[4] copy(v216)
v218 = f32[] constant(0.1)
v219 = f32[3,3,4,6] broadcast(v218), dimensions={}
v220 = f32[3,3,4,6] convolution(v79, v137), window={size=2x2 pad=0_-1x0_-1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf
v221 = f32[3,3,4,6] multiply(v219, v220)
v222 = f32[3,3,4,6] subtract(p80, v221)
v223 = f32[3,3,4,6] reshape(v222)
v224 = f32[3,3,4,6] copy(v223)
v225 = f32[] constant(0.1)
v226 = f32[6] broadcast(v225), dimensions={}
v227 = f32[] constant(-0)
v228 = f32[6] reduce(v137, v227), dimensions={0,1,2}, to_apply=c1
v229 = f32[6] multiply(v226, v228)
v230 = f32[6] subtract(p82, v229)
v231 = f32[6] reshape(v230)
v232 = f32[6] copy(v231)
v233 = f32[] constant(0.1)
v234 = f32[6] broadcast(v233), dimensions={}
v235 = f32[6] get-tuple-element(v136), index=1
v236 = f32[6] multiply(v234, v235)
v237 = f32[6] subtract(p85, v236)
v238 = f32[6] reshape(v237)
v239 = f32[6] copy(v238)
v240 = f32[] constant(0.1)
v241 = f32[6] broadcast(v240), dimensions={}
v242 = f32[6] get-tuple-element(v136), index=2
v243 = f32[6] multiply(v241, v242)
v244 = f32[6] subtract(p86, v243)
v245 = f32[6] reshape(v244)
v246 = f32[6] copy(v245)
p247 = f32[6] parameter(11)
v248 = f32[6] subtract(p247, v88)
v249 = f32[] constant(0.00999999)
v250 = f32[6] broadcast(v249), dimensions={}
v251 = f32[6] multiply(v248, v250)
v252 = f32[6] subtract(p247, v251)
v253 = f32[6] reshape(v252)
v254 = f32[6] copy(v253)
p255 = f32[6] parameter(12)
v256 = f32[] constant(1.14285719)
v257 = f32[6] broadcast(v256), dimensions={}
v258 = f32[6] multiply(v89, v257)
v259 = f32[6] subtract(p255, v258)
v260 = f32[] constant(0.00999999)
v261 = f32[6] broadcast(v260), dimensions={}
v262 = f32[6] multiply(v259, v261)
v263 = f32[6] subtract(p255, v262)
v264 = f32[6] reshape(v263)
v265 = f32[6] copy(v264)
v266 = f32[] constant(0.1)
v267 = f32[6,3] broadcast(v266), dimensions={}
v268 = f32[6,3] dot(v108, v121), lhs_contracting_dims={0}, rhs_contracting_dims={0}
v269 = f32[6,3] transpose(v268), dimensions={0,1}
v270 = f32[6,3] multiply(v267, v269)
v271 = f32[6,3] subtract(p109, v270)
v272 = f32[6,3] reshape(v271)
v273 = f32[6,3] copy(v272)
v274 = f32[] constant(0.1)
v275 = f32[3] broadcast(v274), dimensions={}
v276 = f32[] constant(-0)
v277 = f32[3] reduce(v121, v276), dimensions={0}, to_apply=c1
v278 = f32[3] multiply(v275, v277)
v279 = f32[3] subtract(p112, v278)
v280 = f32[3] reshape(v279)
v281 = f32[3] copy(v280)
ROOT v282 = (f32[], f32[3,3,3,4], f32[4], f32[4], f32[4], f32[4], f32[3,3,4,6], f32[6], f32[6], f32[6], f32[6], f32[6], f32[6,3], f32[3]) tuple(v177, v184, v191, v198, v206, v217, v224, v232, v239, v246, v254, v265, v273, v281)
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_CNN_TRAIN_STEP_H_
