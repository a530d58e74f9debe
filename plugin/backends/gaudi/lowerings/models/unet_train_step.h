// HLO of a train step of a small U-Net: a transposed convolution that doubles the image, and a skip connection.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_UNET_TRAIN_STEP_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_UNET_TRAIN_STEP_H_

namespace hpu::gaudi {

// As tf2xla emits it for gradient descent on the mean squared error, without metadata and unused instructions.
inline constexpr char kUnetTrainStep[] =
    R"(HloModule m, input_output_alias={ {1}: (2, {}, may-alias), {2}: (3, {}, may-alias), {3}: (4, {}, may-alias), {4}: (5, {}, may-alias), {5}: (6, {}, may-alias), {6}: (7, {}, may-alias), {7}: (8, {}, may-alias), {8}: (9, {}, may-alias), {9}: (10, {}, may-alias), {10}: (11, {}, may-alias) }
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
p109 = f32[2,8,8,2] parameter(0)
v110 = f32[2,8,8,2] reshape(p109)
p111 = f32[3,3,2,3] parameter(2)
v112 = f32[2,8,8,3] convolution(v110, p111), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
p113 = f32[3] parameter(3)
v114 = f32[2,8,8,3] broadcast(p113), dimensions={3}
v115 = f32[2,8,8,3] add(v112, v114)
v116 = f32[] constant(0)
v117 = f32[2,8,8,3] broadcast(v116), dimensions={}
v118 = f32[2,8,8,3] maximum(v115, v117)
v121 = f32[] constant(0)
v122 = f32[2,8,8,3] broadcast(v121), dimensions={}
v123 = pred[2,8,8,3] compare(v118, v122), direction=GT
v124 = f32[] constant(-inf)
v125 = f32[2,4,4,3] reduce-window(v118, v124), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=c0
p126 = f32[3,3,3,4] parameter(4)
v127 = f32[2,4,4,4] convolution(v125, p126), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
p128 = f32[4] parameter(5)
v129 = f32[2,4,4,4] broadcast(p128), dimensions={3}
v130 = f32[2,4,4,4] add(v127, v129)
v131 = f32[] constant(0)
v132 = f32[2,4,4,4] broadcast(v131), dimensions={}
v133 = f32[2,4,4,4] maximum(v130, v132)
p134 = f32[2,2,3,4] parameter(6)
v135 = f32[2,2,3,4] reverse(p134), dimensions={0,1}
v136 = f32[2,8,8,3] convolution(v133, v135), window={size=2x2 pad=1_1x1_1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f
p137 = f32[3] parameter(7)
v138 = f32[2,8,8,3] broadcast(p137), dimensions={3}
v139 = f32[2,8,8,3] add(v136, v138)
v140 = f32[2,8,8,6] concatenate(v118, v139), dimensions={3}
p141 = f32[3,3,6,3] parameter(8)
v142 = f32[2,8,8,3] convolution(v140, p141), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
p143 = f32[3] parameter(9)
v144 = f32[2,8,8,3] broadcast(p143), dimensions={3}
v145 = f32[2,8,8,3] add(v142, v144)
v146 = f32[] constant(0)
v147 = f32[2,8,8,3] broadcast(v146), dimensions={}
v148 = f32[2,8,8,3] maximum(v145, v147)
v149 = f32[] constant(0)
v150 = f32[2,8,8,3] broadcast(v149), dimensions={}
v151 = pred[2,8,8,3] compare(v148, v150), direction=GT
v152 = f32[] constant(0.015625)
v153 = f32[2,8,8,1] broadcast(v152), dimensions={}
p154 = f32[1,1,3,1] parameter(10)
v155 = f32[2,8,8,1] convolution(v148, p154), window={size=1x1}, dim_labels=b01f_01io->b01f
p156 = f32[1] parameter(11)
v157 = f32[2,8,8,1] broadcast(p156), dimensions={3}
v158 = f32[2,8,8,1] add(v155, v157)
v159 = f32[2,8,8,1] logistic(v158)
p160 = f32[2,8,8,1] parameter(1)
v161 = f32[2,8,8,1] reshape(p160)
v162 = f32[2,8,8,1] subtract(v159, v161)
v163 = f32[] constant(1)
v164 = f32[2,8,8,1] broadcast(v163), dimensions={}
v165 = f32[2,8,8,1] power(v162, v164)
v166 = f32[2,8,8,1] multiply(v153, v165)
v167 = f32[2,8,8,1] multiply(v166, v159)
v168 = f32[] constant(1)
v169 = f32[2,8,8,1] broadcast(v168), dimensions={}
v170 = f32[2,8,8,1] subtract(v169, v159)
v171 = f32[2,8,8,1] multiply(v167, v170)
v172 = f32[1,1,3,1] reverse(p154), dimensions={0,1}
v173 = f32[2,8,8,3] convolution(v171, v172), window={size=1x1}, dim_labels=b01f_01oi->b01f
v174 = f32[2,8,8,3] select(v151, v173, v150)
v175 = f32[3,3,6,3] reverse(p141), dimensions={0,1}
v176 = f32[2,8,8,6] convolution(v174, v175), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01oi->b01f
v177 = f32[2,8,8,3] slice(v176), slice={[0:2], [0:8], [0:8], [0:3]}
v178 = f32[] constant(0)
v179 = f32[2,4,4,4] broadcast(v178), dimensions={}
v180 = pred[2,4,4,4] compare(v133, v179), direction=GT
v181 = f32[2,8,8,3] slice(v176), slice={[0:2], [0:8], [0:8], [3:6]}
v182 = f32[2,4,4,4] convolution(v181, p134), window={size=2x2 stride=2x2}, dim_labels=b01f_01io->b01f
v183 = f32[2,4,4,4] select(v180, v182, v179)
v184 = f32[3,3,3,4] reverse(p126), dimensions={0,1}
v185 = f32[2,4,4,3] convolution(v183, v184), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01oi->b01f
v186 = f32[] constant(0)
v187 = f32[2,8,8,3] select-and-scatter(v118, v185, v186), window={size=1x2x2x1 stride=1x2x2x1}, select=c2, scatter=c1
v188 = f32[2,8,8,3] add(v177, v187)
v189 = f32[2,8,8,3] select(v123, v188, v122)
v193 = f32[] constant(2)
v194 = f32[2,8,8,1] broadcast(v193), dimensions={}
v195 = f32[2,8,8,1] power(v162, v194)
v196 = f32[2,8,8,1] convert(v195)
v197 = f32[] constant(0)
v198 = f32[] convert(v197)
v199 = f32[] reduce(v196, v198), dimensions={0,1,2,3}, to_apply=c1
v200 = s32[] constant(2)
v201 = s32[] constant(8)
v202 = s32[] multiply(v200, v201)
v203 = s32[] constant(8)
v204 = s32[] multiply(v202, v203)
v205 = s32[] constant(1)
v206 = s32[] multiply(v204, v205)
v207 = f32[] convert(v206)
v208 = f32[] divide(v199, v207)
v209 = f32[] convert(v208)
v210 = f32[] reshape(v209)
v211 = f32[] constant(0.1)
v212 = f32[3,3,2,3] broadcast(v211), dimensions={}
v213 = f32[3,3,2,3] convolution(v110, v189), window={size=8x8 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
v214 = f32[3,3,2,3] multiply(v212, v213)
v215 = f32[3,3,2,3] subtract(p111, v214)
v216 = f32[3,3,2,3] reshape(v215)
v217 = f32[3,3,2,3] copy(v216)
v218 = f32[] constant(0.1)
v219 = f32[3] broadcast(v218), dimensions={}
v220 = f32[] constant(-0)
v221 = f32[3] reduce(v189, v220), dimensions={0,1,2}, to_apply=c1
v222 = f32[3] multiply(v219, v221)
v223 = f32[3] subtract(p113, v222)
v224 = f32[3] reshape(v223)
v225 = f32[3] copy(v224)
v226 = f32[] constant(0.1)
v227 = f32[3,3,3,4] broadcast(v226), dimensions={}
v228 = f32[3,3,3,4] convolution(v125, v183), window={size=4x4 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
v229 = f32[3,3,3,4] multiply(v227, v228)
v230 = f32[3,3,3,4] subtract(p126, v229)
v231 = f32[3,3,3,4] reshape(v230)
v232 = f32[3,3,3,4] copy(v231)
v233 = f32[] constant(0.1)
v234 = f32[4] broadcast(v233), dimensions={}
v235 = f32[] constant(-0)
v236 = f32[4] reduce(v183, v235), dimensions={0,1,2}, to_apply=c1
v237 = f32[4] multiply(v234, v236)
v238 = f32[4] subtract(p128, v237)
v239 = f32[4] reshape(v238)
v240 = f32[4] copy(v239)
v241 = f32[] constant(0.1)
v242 = f32[2,2,3,4] broadcast(v241), dimensions={}
v243 = f32[2,2,3,4] convolution(v181, v133), window={size=4x4 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf
v244 = f32[2,2,3,4] multiply(v242, v243)
v245 = f32[2,2,3,4] subtract(p134, v244)
v246 = f32[2,2,3,4] reshape(v245)
v247 = f32[2,2,3,4] copy(v246)
v248 = f32[] constant(0.1)
v249 = f32[3] broadcast(v248), dimensions={}
v250 = f32[] constant(-0)
v251 = f32[3] reduce(v181, v250), dimensions={0,1,2}, to_apply=c1
v252 = f32[3] multiply(v249, v251)
v253 = f32[3] subtract(p137, v252)
v254 = f32[3] reshape(v253)
v255 = f32[3] copy(v254)
v256 = f32[] constant(0.1)
v257 = f32[3,3,6,3] broadcast(v256), dimensions={}
v258 = f32[3,3,6,3] convolution(v140, v174), window={size=8x8 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
v259 = f32[3,3,6,3] multiply(v257, v258)
v260 = f32[3,3,6,3] subtract(p141, v259)
v261 = f32[3,3,6,3] reshape(v260)
v262 = f32[3,3,6,3] copy(v261)
v263 = f32[] constant(0.1)
v264 = f32[3] broadcast(v263), dimensions={}
v265 = f32[] constant(-0)
v266 = f32[3] reduce(v174, v265), dimensions={0,1,2}, to_apply=c1
v267 = f32[3] multiply(v264, v266)
v268 = f32[3] subtract(p143, v267)
v269 = f32[3] reshape(v268)
v270 = f32[3] copy(v269)
v271 = f32[] constant(0.1)
v272 = f32[1,1,3,1] broadcast(v271), dimensions={}
v273 = f32[1,1,3,1] convolution(v148, v171), window={size=8x8}, dim_labels=f01b_i01o->01bf
v274 = f32[1,1,3,1] multiply(v272, v273)
v275 = f32[1,1,3,1] subtract(p154, v274)
v276 = f32[1,1,3,1] reshape(v275)
v277 = f32[1,1,3,1] copy(v276)
v278 = f32[] constant(0.1)
v279 = f32[1] broadcast(v278), dimensions={}
v280 = f32[] constant(-0)
v281 = f32[1] reduce(v171, v280), dimensions={0,1,2}, to_apply=c1
v282 = f32[1] multiply(v279, v281)
v283 = f32[1] subtract(p156, v282)
v284 = f32[1] reshape(v283)
v285 = f32[1] copy(v284)
ROOT v286 = (f32[], f32[3,3,2,3], f32[3], f32[3,3,3,4], f32[4], f32[2,2,3,4], f32[3], f32[3,3,6,3], f32[3], f32[1,1,3,1], f32[1]) tuple(v210, v217, v225, v232, v240, v247, v255, v262, v270, v277, v285)
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_UNET_TRAIN_STEP_H_
