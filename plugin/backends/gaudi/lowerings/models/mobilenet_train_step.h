// HLO of a train step of a small MobileNetV2: two inverted residual blocks with depthwise convolutions.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_MOBILENET_TRAIN_STEP_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_MOBILENET_TRAIN_STEP_H_

namespace hpu::gaudi {

// As tf2xla emits it for gradient descent on the mean squared error, without metadata and unused instructions.
inline constexpr char kMobilenetTrainStep[] =
    R"(HloModule m, input_output_alias={ {1}: (2, {}, may-alias), {2}: (3, {}, may-alias), {3}: (4, {}, may-alias), {4}: (5, {}, may-alias), {5}: (6, {}, may-alias), {6}: (7, {}, may-alias), {7}: (8, {}, may-alias), {8}: (9, {}, may-alias), {9}: (10, {}, may-alias), {10}: (11, {}, may-alias), {11}: (12, {}, may-alias), {12}: (13, {}, may-alias), {13}: (14, {}, may-alias), {14}: (15, {}, may-alias), {15}: (16, {}, may-alias), {16}: (17, {}, may-alias), {17}: (18, {}, may-alias), {18}: (19, {}, may-alias), {19}: (20, {}, may-alias), {20}: (21, {}, may-alias), {21}: (22, {}, may-alias), {22}: (23, {}, may-alias), {23}: (24, {}, may-alias), {24}: (25, {}, may-alias), {25}: (26, {}, may-alias), {26}: (27, {}, may-alias), {27}: (28, {}, may-alias), {28}: (29, {}, may-alias), {29}: (30, {}, may-alias), {30}: (31, {}, may-alias), {31}: (32, {}, may-alias), {32}: (33, {}, may-alias), {33}: (34, {}, may-alias), {34}: (35, {}, may-alias), {35}: (36, {}, may-alias), {36}: (37, {}, may-alias), {37}: (38, {}, may-alias) }
c0 {
p0 = f32[] parameter(0)
p1 = f32[] parameter(1)
ROOT v2 = f32[] add(p0, p1)
}
ENTRY e {
p179 = f32[2,8,8,3] parameter(0)
v180 = f32[2,8,8,3] reshape(p179)
p181 = f32[3,3,3,4] parameter(2)
v182 = f32[2,4,4,4] convolution(v180, p181), window={size=3x3 stride=2x2 pad=0_1x0_1}, dim_labels=b01f_01io->b01f
p183 = f32[4] parameter(3)
p184 = f32[4] parameter(4)
v185 = (f32[2,4,4,4], f32[4], f32[4]) batch-norm-training(v182, p183, p184), epsilon=0.001, feature_index=3
v186 = f32[4] get-tuple-element(v185), index=1
v187 = f32[4] get-tuple-element(v185), index=2
v188 = f32[] constant(0)
v189 = f32[2,4,4,4] broadcast(v188), dimensions={}
v190 = f32[2,4,4,4] get-tuple-element(v185), index=0
v191 = f32[] constant(6)
v192 = f32[2,4,4,4] broadcast(v191), dimensions={}
v193 = f32[2,4,4,4] clamp(v189, v190, v192)
v194 = f32[] constant(6)
v195 = f32[2,4,4,4] broadcast(v194), dimensions={}
v196 = pred[2,4,4,4] compare(v193, v195), direction=LT
v197 = f32[] constant(0)
v198 = f32[2,4,4,4] broadcast(v197), dimensions={}
v199 = pred[2,4,4,4] compare(v193, v198), direction=GT
v200 = pred[2,4,4,4] and(v196, v199)
v201 = f32[] constant(0)
v202 = f32[2,4,4,8] broadcast(v201), dimensions={}
v203 = f32[] constant(0)
v204 = f32[2,4,4,8] broadcast(v203), dimensions={}
p205 = f32[1,1,4,8] parameter(7)
v206 = f32[2,4,4,8] convolution(v193, p205), window={size=1x1}, dim_labels=b01f_01io->b01f
p207 = f32[8] parameter(8)
p208 = f32[8] parameter(9)
v209 = (f32[2,4,4,8], f32[8], f32[8]) batch-norm-training(v206, p207, p208), epsilon=0.001, feature_index=3
v210 = f32[2,4,4,8] get-tuple-element(v209), index=0
v211 = f32[] constant(6)
v212 = f32[2,4,4,8] broadcast(v211), dimensions={}
v213 = f32[2,4,4,8] clamp(v204, v210, v212)
p214 = f32[3,3,8,1] parameter(12)
v215 = f32[3,3,1,8] reshape(p214)
v216 = f32[2,4,4,8] convolution(v213, v215), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=8
p217 = f32[8] parameter(13)
p218 = f32[8] parameter(14)
v219 = (f32[2,4,4,8], f32[8], f32[8]) batch-norm-training(v216, p217, p218), epsilon=0.001, feature_index=3
v220 = f32[2,4,4,8] get-tuple-element(v219), index=0
v221 = f32[] constant(6)
v222 = f32[2,4,4,8] broadcast(v221), dimensions={}
v223 = f32[2,4,4,8] clamp(v202, v220, v222)
p224 = f32[1,1,8,4] parameter(17)
v225 = f32[2,4,4,4] convolution(v223, p224), window={size=1x1}, dim_labels=b01f_01io->b01f
p226 = f32[4] parameter(18)
p227 = f32[4] parameter(19)
v228 = (f32[2,4,4,4], f32[4], f32[4]) batch-norm-training(v225, p226, p227), epsilon=0.001, feature_index=3
v229 = f32[2,4,4,4] get-tuple-element(v228), index=0
v230 = f32[2,4,4,4] add(v193, v229)
p231 = f32[1,1,4,8] parameter(22)
v232 = f32[2,4,4,8] convolution(v230, p231), window={size=1x1}, dim_labels=b01f_01io->b01f
p233 = f32[8] parameter(23)
p234 = f32[8] parameter(24)
v235 = (f32[2,4,4,8], f32[8], f32[8]) batch-norm-training(v232, p233, p234), epsilon=0.001, feature_index=3
v236 = f32[8] get-tuple-element(v235), index=1
v237 = f32[8] get-tuple-element(v235), index=2
v238 = f32[] constant(0)
v239 = f32[2,4,4,8] broadcast(v238), dimensions={}
v240 = f32[2,4,4,8] get-tuple-element(v235), index=0
v241 = f32[] constant(6)
v242 = f32[2,4,4,8] broadcast(v241), dimensions={}
v243 = f32[2,4,4,8] clamp(v239, v240, v242)
v244 = f32[] constant(6)
v245 = f32[2,4,4,8] broadcast(v244), dimensions={}
v246 = pred[2,4,4,8] compare(v243, v245), direction=LT
v247 = f32[] constant(0)
v248 = f32[2,4,4,8] broadcast(v247), dimensions={}
v249 = pred[2,4,4,8] compare(v243, v248), direction=GT
v250 = pred[2,4,4,8] and(v246, v249)
p251 = f32[3,3,8,1] parameter(27)
v252 = f32[3,3,1,8] reshape(p251)
v253 = f32[2,2,2,8] convolution(v243, v252), window={size=3x3 stride=2x2 pad=0_1x0_1}, dim_labels=b01f_01io->b01f, feature_group_count=8
p254 = f32[8] parameter(28)
p255 = f32[8] parameter(29)
v256 = (f32[2,2,2,8], f32[8], f32[8]) batch-norm-training(v253, p254, p255), epsilon=0.001, feature_index=3
v257 = f32[8] get-tuple-element(v256), index=1
v258 = f32[8] get-tuple-element(v256), index=2
v259 = f32[] constant(0)
v260 = f32[2,2,2,8] broadcast(v259), dimensions={}
v261 = f32[2,2,2,8] get-tuple-element(v256), index=0
v262 = f32[] constant(6)
v263 = f32[2,2,2,8] broadcast(v262), dimensions={}
v264 = f32[2,2,2,8] clamp(v260, v261, v263)
v265 = f32[] constant(6)
v266 = f32[2,2,2,8] broadcast(v265), dimensions={}
v267 = pred[2,2,2,8] compare(v264, v266), direction=LT
v268 = f32[] constant(0)
v269 = f32[2,2,2,8] broadcast(v268), dimensions={}
v270 = pred[2,2,2,8] compare(v264, v269), direction=GT
v271 = pred[2,2,2,8] and(v267, v270)
p272 = f32[1,1,8,6] parameter(32)
v273 = f32[2,2,2,6] convolution(v264, p272), window={size=1x1}, dim_labels=b01f_01io->b01f
p274 = f32[6] parameter(33)
p275 = f32[6] parameter(34)
v276 = (f32[2,2,2,6], f32[6], f32[6]) batch-norm-training(v273, p274, p275), epsilon=0.001, feature_index=3
v277 = f32[6] get-tuple-element(v276), index=1
v278 = f32[6] get-tuple-element(v276), index=2
v279 = f32[] constant(0.333333343)
v280 = f32[2,3] broadcast(v279), dimensions={}
v281 = f32[2,2,2,6] get-tuple-element(v276), index=0
v282 = f32[2,2,2,6] convert(v281)
v283 = f32[] constant(0)
v284 = f32[] convert(v283)
v285 = f32[2,6] reduce(v282, v284), dimensions={1,2}, to_apply=c0
v286 = s32[] constant(2)
v287 = s32[] constant(2)
v288 = s32[] multiply(v286, v287)
v289 = f32[] convert(v288)
v290 = f32[2,6] broadcast(v289), dimensions={}
v291 = f32[2,6] divide(v285, v290)
v292 = f32[2,6] convert(v291)
p293 = f32[6,3] parameter(37)
v294 = f32[2,3] dot(v292, p293), lhs_contracting_dims={1}, rhs_contracting_dims={0}
v295 = f32[2,3] transpose(v294), dimensions={0,1}
p296 = f32[3] parameter(38)
v297 = f32[2,3] broadcast(p296), dimensions={1}
v298 = f32[2,3] add(v295, v297)
p299 = f32[2,3] parameter(1)
v300 = f32[2,3] reshape(p299)
v301 = f32[2,3] subtract(v298, v300)
v302 = f32[] constant(1)
v303 = f32[2,3] broadcast(v302), dimensions={}
v304 = f32[2,3] power(v301, v303)
v305 = f32[2,3] multiply(v280, v304)
v306 = f32[2,6] dot(v305, p293), lhs_contracting_dims={1}, rhs_contracting_dims={1}
v307 = f32[2,6] transpose(v306), dimensions={0,1}
v308 = f32[2,1,1,6] reshape(v307)
v309 = f32[2,1,1,6] broadcast(v308), dimensions={0,1,2,3}
v310 = f32[2,6] reshape(v309)
v311 = f32[2,2,2,6] broadcast(v310), dimensions={0,3}
v312 = f32[] constant(4)
v313 = f32[2,2,2,6] broadcast(v312), dimensions={}
v314 = f32[2,2,2,6] divide(v311, v313)
v315 = (f32[2,2,2,6], f32[6], f32[6]) batch-norm-grad(v273, p274, v277, v278, v314), epsilon=0.001, feature_index=3
v316 = f32[2,2,2,6] get-tuple-element(v315), index=0
v317 = f32[1,1,8,6] reverse(p272), dimensions={0,1}
v318 = f32[2,2,2,8] convolution(v316, v317), window={size=1x1}, dim_labels=b01f_01oi->b01f
v319 = f32[2,2,2,8] select(v271, v318, v269)
v320 = (f32[2,2,2,8], f32[8], f32[8]) batch-norm-grad(v253, p254, v257, v258, v319), epsilon=0.001, feature_index=3
v321 = f32[2,2,2,8] get-tuple-element(v320), index=0
v322 = f32[3,3,8,1] reverse(p251), dimensions={0,1}
v323 = f32[2,4,4,8] convolution(v321, v322), window={size=3x3 pad=2_1x2_1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f, feature_group_count=8
v324 = f32[2,4,4,8] select(v250, v323, v248)
v325 = (f32[2,4,4,8], f32[8], f32[8]) batch-norm-grad(v232, p233, v236, v237, v324), epsilon=0.001, feature_index=3
v326 = f32[2,4,4,8] get-tuple-element(v325), index=0
v327 = f32[1,1,4,8] reverse(p231), dimensions={0,1}
v328 = f32[2,4,4,4] convolution(v326, v327), window={size=1x1}, dim_labels=b01f_01oi->b01f
v329 = f32[8] get-tuple-element(v209), index=1
v330 = f32[8] get-tuple-element(v209), index=2
v331 = f32[] constant(6)
v332 = f32[2,4,4,8] broadcast(v331), dimensions={}
v333 = pred[2,4,4,8] compare(v213, v332), direction=LT
v334 = f32[] constant(0)
v335 = f32[2,4,4,8] broadcast(v334), dimensions={}
v336 = pred[2,4,4,8] compare(v213, v335), direction=GT
v337 = pred[2,4,4,8] and(v333, v336)
v338 = f32[8] get-tuple-element(v219), index=1
v339 = f32[8] get-tuple-element(v219), index=2
v340 = f32[] constant(6)
v341 = f32[2,4,4,8] broadcast(v340), dimensions={}
v342 = pred[2,4,4,8] compare(v223, v341), direction=LT
v343 = f32[] constant(0)
v344 = f32[2,4,4,8] broadcast(v343), dimensions={}
v345 = pred[2,4,4,8] compare(v223, v344), direction=GT
v346 = pred[2,4,4,8] and(v342, v345)
v347 = f32[4] get-tuple-element(v228), index=1
v348 = f32[4] get-tuple-element(v228), index=2
v349 = (f32[2,4,4,4], f32[4], f32[4]) batch-norm-grad(v225, p226, v347, v348, v328), epsilon=0.001, feature_index=3
v350 = f32[2,4,4,4] get-tuple-element(v349), index=0
v351 = f32[1,1,8,4] reverse(p224), dimensions={0,1}
v352 = f32[2,4,4,8] convolution(v350, v351), window={size=1x1}, dim_labels=b01f_01oi->b01f
v353 = f32[2,4,4,8] select(v346, v352, v344)
v354 = (f32[2,4,4,8], f32[8], f32[8]) batch-norm-grad(v216, p217, v338, v339, v353), epsilon=0.001, feature_index=3
v355 = f32[2,4,4,8] get-tuple-element(v354), index=0
v356 = f32[3,3,8,1] reverse(p214), dimensions={0,1}
v357 = f32[2,4,4,8] convolution(v355, v356), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01oi->b01f, feature_group_count=8
v358 = f32[2,4,4,8] select(v337, v357, v335)
v359 = (f32[2,4,4,8], f32[8], f32[8]) batch-norm-grad(v206, p207, v329, v330, v358), epsilon=0.001, feature_index=3
v360 = f32[2,4,4,8] get-tuple-element(v359), index=0
v361 = f32[1,1,4,8] reverse(p205), dimensions={0,1}
v362 = f32[2,4,4,4] convolution(v360, v361), window={size=1x1}, dim_labels=b01f_01oi->b01f
v363 = f32[2,4,4,4] add(v328, v362)
v364 = f32[2,4,4,4] select(v200, v363, v198)
v365 = (f32[2,4,4,4], f32[4], f32[4]) batch-norm-grad(v182, p183, v186, v187, v364), epsilon=0.001, feature_index=3
v366 = f32[2,4,4,4] get-tuple-element(v365), index=0
v426 = f32[] constant(2)
v427 = f32[2,3] broadcast(v426), dimensions={}
v428 = f32[2,3] power(v301, v427)
v429 = f32[2,3] convert(v428)
v430 = f32[] constant(0)
v431 = f32[] convert(v430)
v432 = f32[] reduce(v429, v431), dimensions={0,1}, to_apply=c0
v433 = s32[] constant(2)
v434 = s32[] constant(3)
v435 = s32[] multiply(v433, v434)
v436 = f32[] convert(v435)
v437 = f32[] divide(v432, v436)
v438 = f32[] convert(v437)
v439 = f32[] reshape(v438)
v440 = f32[] constant(0.1)
v441 = f32[3,3,3,4] broadcast(v440), dimensions={}
v442 = f32[3,3,3,4] convolution(v180, v366), window={size=4x4 pad=0_1x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf
v443 = f32[3,3,3,4] multiply(v441, v442)
v444 = f32[3,3,3,4] subtract(p181, v443)
v445 = f32[3,3,3,4] reshape(v444)
v446 = f32[3,3,3,4] copy(v445)
v447 = f32[] constant(0.1)
v448 = f32[4] broadcast(v447), dimensions={}
v449 = f32[4] get-tuple-element(v365), index=1
v450 = f32[4] multiply(v448, v449)
v451 = f32[4] subtract(p183, v450)
v452 = f32[4] reshape(v451)
v453 = f32[4] copy(v452)
v454 = f32[] constant(0.1)
v455 = f32[4] broadcast(v454), dimensions={}
v456 = f32[4] get-tuple-element(v365), index=2
v457 = f32[4] multiply(v455, v456)
v458 = f32[4] subtract(p184, v457)
v459 = f32[4] reshape(v458)
v460 = f32[4] copy(v459)
p461 = f32[4] parameter(5)
v462 = f32[4] subtract(p461, v186)
v463 = f32[] constant(0.00999999)
v464 = f32[4] broadcast(v463), dimensions={}
v465 = f32[4] multiply(v462, v464)
v466 = f32[4] subtract(p461, v465)
v467 = f32[4] reshape(v466)
v468 = f32[4] copy(v467)
p469 = f32[4] parameter(6)
v470 = f32[] constant(1.03225803)
v471 = f32[4] broadcast(v470), dimensions={}
v472 = f32[4] multiply(v187, v471)
v473 = f32[4] subtract(p469, v472)
v474 = f32[] constant(0.00999999)
v475 = f32[4] broadcast(v474), dimensions={}
v476 = f32[4] multiply(v473, v475)
v477 = f32[4] subtract(p469, v476)
v478 = f32[4] reshape(v477)
v479 = f32[4] copy(v478)
v480 = f32[] constant(0.1)
v481 = f32[1,1,4,8] broadcast(v480), dimensions={}
v482 = f32[1,1,4,8] convolution(v193, v360), window={size=4x4}, dim_labels=f01b_i01o->01bf
v483 = f32[1,1,4,8] multiply(v481, v482)
v484 = f32[1,1,4,8] subtract(p205, v483)
v485 = f32[1,1,4,8] reshape(v484)
v486 = f32[1,1,4,8] copy(v485)
v487 = f32[] constant(0.1)
v488 = f32[8] broadcast(v487), dimensions={}
v489 = f32[8] get-tuple-element(v359), index=1
v490 = f32[8] multiply(v488, v489)
v491 = f32[8] subtract(p207, v490)
v492 = f32[8] reshape(v491)
v493 = f32[8] copy(v492)
v494 = f32[] constant(0.1)
v495 = f32[8] broadcast(v494), dimensions={}
v496 = f32[8] get-tuple-element(v359), index=2
v497 = f32[8] multiply(v495, v496)
v498 = f32[8] subtract(p208, v497)
v499 = f32[8] reshape(v498)
v500 = f32[8] copy(v499)
p501 = f32[8] parameter(10)
v502 = f32[8] subtract(p501, v329)
v503 = f32[] constant(0.00999999)
v504 = f32[8] broadcast(v503), dimensions={}
v505 = f32[8] multiply(v502, v504)
v506 = f32[8] subtract(p501, v505)
v507 = f32[8] reshape(v506)
v508 = f32[8] copy(v507)
p509 = f32[8] parameter(11)
v510 = f32[] constant(1.03225803)
v511 = f32[8] broadcast(v510), dimensions={}
v512 = f32[8] multiply(v330, v511)
v513 = f32[8] subtract(p509, v512)
v514 = f32[] constant(0.00999999)
v515 = f32[8] broadcast(v514), dimensions={}
v516 = f32[8] multiply(v513, v515)
v517 = f32[8] subtract(p509, v516)
v518 = f32[8] reshape(v517)
v519 = f32[8] copy(v518)
v520 = f32[] constant(0.1)
v521 = f32[3,3,8,1] broadcast(v520), dimensions={}
v522 = f32[3,3,1,8] convolution(v213, v355), window={size=4x4 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf, batch_group_count=8
v523 = f32[3,3,8,1] reshape(v522)
v524 = f32[3,3,8,1] multiply(v521, v523)
v525 = f32[3,3,8,1] subtract(p214, v524)
v526 = f32[3,3,8,1] reshape(v525)
v527 = f32[3,3,8,1] copy(v526)
v528 = f32[] constant(0.1)
v529 = f32[8] broadcast(v528), dimensions={}
v530 = f32[8] get-tuple-element(v354), index=1
v531 = f32[8] multiply(v529, v530)
v532 = f32[8] subtract(p217, v531)
v533 = f32[8] reshape(v532)
v534 = f32[8] copy(v533)
v535 = f32[] constant(0.1)
v536 = f32[8] broadcast(v535), dimensions={}
v537 = f32[8] get-tuple-element(v354), index=2
v538 = f32[8] multiply(v536, v537)
v539 = f32[8] subtract(p218, v538)
v540 = f32[8] reshape(v539)
v541 = f32[8] copy(v540)
p542 = f32[8] parameter(15)
v543 = f32[8] subtract(p542, v338)
v544 = f32[] constant(0.00999999)
v545 = f32[8] broadcast(v544), dimensions={}
v546 = f32[8] multiply(v543, v545)
v547 = f32[8] subtract(p542, v546)
v548 = f32[8] reshape(v547)
v549 = f32[8] copy(v548)
p550 = f32[8] parameter(16)
v551 = f32[] constant(1.03225803)
v552 = f32[8] broadcast(v551), dimensions={}
v553 = f32[8] multiply(v339, v552)
v554 = f32[8] subtract(p550, v553)
v555 = f32[] constant(0.00999999)
v556 = f32[8] broadcast(v555), dimensions={}
v557 = f32[8] multiply(v554, v556)
v558 = f32[8] subtract(p550, v557)
v559 = f32[8] reshape(v558)
v560 = f32[8] copy(v559)
v561 = f32[] constant(0.1)
v562 = f32[1,1,8,4] broadcast(v561), dimensions={}
v563 = f32[1,1,8,4] convolution(v223, v350), window={size=4x4}, dim_labels=f01b_i01o->01bf
v564 = f32[1,1,8,4] multiply(v562, v563)
v565 = f32[1,1,8,4] subtract(p224, v564)
v566 = f32[1,1,8,4] reshape(v565)
v567 = f32[1,1,8,4] copy(v566)
v568 = f32[] constant(0.1)
v569 = f32[4] broadcast(v568), dimensions={}
v570 = f32[4] get-tuple-element(v349), index=1
v571 = f32[4] multiply(v569, v570)
v572 = f32[4] subtract(p226, v571)
v573 = f32[4] reshape(v572)
v574 = f32[4] copy(v573)
v575 = f32[] constant(0.1)
v576 = f32[4] broadcast(v575), dimensions={}
v577 = f32[4] get-tuple-element(v349), index=2
v578 = f32[4] multiply(v576, v577)
v579 = f32[4] subtract(p227, v578)
v580 = f32[4] reshape(v579)
v581 = f32[4] copy(v580)
p582 = f32[4] parameter(20)
v583 = f32[4] subtract(p582, v347)
v584 = f32[] constant(0.00999999)
v585 = f32[4] broadcast(v584), dimensions={}
v586 = f32[4] multiply(v583, v585)
v587 = f32[4] subtract(p582, v586)
v588 = f32[4] reshape(v587)
v589 = f32[4] copy(v588)
p590 = f32[4] parameter(21)
v591 = f32[] constant(1.03225803)
v592 = f32[4] broadcast(v591), dimensions={}
v593 = f32[4] multiply(v348, v592)
v594 = f32[4] subtract(p590, v593)
v595 = f32[] constant(0.00999999)
v596 = f32[4] broadcast(v595), dimensions={}
v597 = f32[4] multiply(v594, v596)
v598 = f32[4] subtract(p590, v597)
v599 = f32[4] reshape(v598)
v600 = f32[4] copy(v599)
v601 = f32[] constant(0.1)
v602 = f32[1,1,4,8] broadcast(v601), dimensions={}
v603 = f32[1,1,4,8] convolution(v230, v326), window={size=4x4}, dim_labels=f01b_i01o->01bf
v604 = f32[1,1,4,8] multiply(v602, v603)
v605 = f32[1,1,4,8] subtract(p231, v604)
v606 = f32[1,1,4,8] reshape(v605)
v607 = f32[1,1,4,8] copy(v606)
v608 = f32[] constant(0.1)
v609 = f32[8] broadcast(v608), dimensions={}
v610 = f32[8] get-tuple-element(v325), index=1
v611 = f32[8] multiply(v609, v610)
v612 = f32[8] subtract(p233, v611)
v613 = f32[8] reshape(v612)
v614 = f32[8] copy(v613)
v615 = f32[] constant(0.1)
v616 = f32[8] broadcast(v615), dimensions={}
v617 = f32[8] get-tuple-element(v325), index=2
v618 = f32[8] multiply(v616, v617)
v619 = f32[8] subtract(p234, v618)
v620 = f32[8] reshape(v619)
v621 = f32[8] copy(v620)
p622 = f32[8] parameter(25)
v623 = f32[8] subtract(p622, v236)
v624 = f32[] constant(0.00999999)
v625 = f32[8] broadcast(v624), dimensions={}
v626 = f32[8] multiply(v623, v625)
v627 = f32[8] subtract(p622, v626)
v628 = f32[8] reshape(v627)
v629 = f32[8] copy(v628)
p630 = f32[8] parameter(26)
v631 = f32[] constant(1.03225803)
v632 = f32[8] broadcast(v631), dimensions={}
v633 = f32[8] multiply(v237, v632)
v634 = f32[8] subtract(p630, v633)
v635 = f32[] constant(0.00999999)
v636 = f32[8] broadcast(v635), dimensions={}
v637 = f32[8] multiply(v634, v636)
v638 = f32[8] subtract(p630, v637)
v639 = f32[8] reshape(v638)
v640 = f32[8] copy(v639)
v641 = f32[] constant(0.1)
v642 = f32[3,3,8,1] broadcast(v641), dimensions={}
v643 = f32[3,3,1,8] convolution(v243, v321), window={size=2x2 pad=0_1x0_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf, batch_group_count=8
v644 = f32[3,3,8,1] reshape(v643)
v645 = f32[3,3,8,1] multiply(v642, v644)
v646 = f32[3,3,8,1] subtract(p251, v645)
v647 = f32[3,3,8,1] reshape(v646)
v648 = f32[3,3,8,1] copy(v647)
v649 = f32[] constant(0.1)
v650 = f32[8] broadcast(v649), dimensions={}
v651 = f32[8] get-tuple-element(v320), index=1
v652 = f32[8] multiply(v650, v651)
v653 = f32[8] subtract(p254, v652)
v654 = f32[8] reshape(v653)
v655 = f32[8] copy(v654)
v656 = f32[] constant(0.1)
v657 = f32[8] broadcast(v656), dimensions={}
v658 = f32[8] get-tuple-element(v320), index=2
v659 = f32[8] multiply(v657, v658)
v660 = f32[8] subtract(p255, v659)
v661 = f32[8] reshape(v660)
v662 = f32[8] copy(v661)
p663 = f32[8] parameter(30)
v664 = f32[8] subtract(p663, v257)
v665 = f32[] constant(0.00999999)
v666 = f32[8] broadcast(v665), dimensions={}
v667 = f32[8] multiply(v664, v666)
v668 = f32[8] subtract(p663, v667)
v669 = f32[8] reshape(v668)
v670 = f32[8] copy(v669)
p671 = f32[8] parameter(31)
v672 = f32[] constant(1.14285719)
v673 = f32[8] broadcast(v672), dimensions={}
v674 = f32[8] multiply(v258, v673)
v675 = f32[8] subtract(p671, v674)
v676 = f32[] constant(0.00999999)
v677 = f32[8] broadcast(v676), dimensions={}
v678 = f32[8] multiply(v675, v677)
v679 = f32[8] subtract(p671, v678)
v680 = f32[8] reshape(v679)
v681 = f32[8] copy(v680)
v682 = f32[] constant(0.1)
v683 = f32[1,1,8,6] broadcast(v682), dimensions={}
v684 = f32[1,1,8,6] convolution(v264, v316), window={size=2x2}, dim_labels=f01b_i01o->01bf
v685 = f32[1,1,8,6] multiply(v683, v684)
v686 = f32[1,1,8,6] subtract(p272, v685)
v687 = f32[1,1,8,6] reshape(v686)
v688 = f32[1,1,8,6] copy(v687)
v689 = f32[] constant(0.1)
v690 = f32[6] broadcast(v689), dimensions={}
v691 = f32[6] get-tuple-element(v315), index=1
v692 = f32[6] multiply(v690, v691)
v693 = f32[6] subtract(p274, v692)
v694 = f32[6] reshape(v693)
v695 = f32[6] copy(v694)
v696 = f32[] constant(0.1)
v697 = f32[6] broadcast(v696), dimensions={}
v698 = f32[6] get-tuple-element(v315), index=2
v699 = f32[6] multiply(v697, v698)
v700 = f32[6] subtract(p275, v699)
v701 = f32[6] reshape(v700)
v702 = f32[6] copy(v701)
p703 = f32[6] parameter(35)
v704 = f32[6] subtract(p703, v277)
v705 = f32[] constant(0.00999999)
v706 = f32[6] broadcast(v705), dimensions={}
v707 = f32[6] multiply(v704, v706)
v708 = f32[6] subtract(p703, v707)
v709 = f32[6] reshape(v708)
v710 = f32[6] copy(v709)
p711 = f32[6] parameter(36)
v712 = f32[] constant(1.14285719)
v713 = f32[6] broadcast(v712), dimensions={}
v714 = f32[6] multiply(v278, v713)
v715 = f32[6] subtract(p711, v714)
v716 = f32[] constant(0.00999999)
v717 = f32[6] broadcast(v716), dimensions={}
v718 = f32[6] multiply(v715, v717)
v719 = f32[6] subtract(p711, v718)
v720 = f32[6] reshape(v719)
v721 = f32[6] copy(v720)
v722 = f32[] constant(0.1)
v723 = f32[6,3] broadcast(v722), dimensions={}
v724 = f32[6,3] dot(v292, v305), lhs_contracting_dims={0}, rhs_contracting_dims={0}
v725 = f32[6,3] transpose(v724), dimensions={0,1}
v726 = f32[6,3] multiply(v723, v725)
v727 = f32[6,3] subtract(p293, v726)
v728 = f32[6,3] reshape(v727)
v729 = f32[6,3] copy(v728)
v730 = f32[] constant(0.1)
v731 = f32[3] broadcast(v730), dimensions={}
v732 = f32[] constant(-0)
v733 = f32[3] reduce(v305, v732), dimensions={0}, to_apply=c0
v734 = f32[3] multiply(v731, v733)
v735 = f32[3] subtract(p296, v734)
v736 = f32[3] reshape(v735)
v737 = f32[3] copy(v736)
ROOT v738 = (f32[], f32[3,3,3,4], f32[4], f32[4], f32[4], f32[4], f32[1,1,4,8], f32[8], f32[8], f32[8], f32[8], f32[3,3,8,1], f32[8], f32[8], f32[8], f32[8], f32[1,1,8,4], f32[4], f32[4], f32[4], f32[4], f32[1,1,4,8], f32[8], f32[8], f32[8], f32[8], f32[3,3,8,1], f32[8], f32[8], f32[8], f32[8], f32[1,1,8,6], f32[6], f32[6], f32[6], f32[6], f32[6,3], f32[3]) tuple(v439, v446, v453, v460, v468, v479, v486, v493, v500, v508, v519, v527, v534, v541, v549, v560, v567, v574, v581, v589, v600, v607, v614, v621, v629, v640, v648, v655, v662, v670, v681, v688, v695, v702, v710, v721, v729, v737)
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_MOBILENET_TRAIN_STEP_H_
