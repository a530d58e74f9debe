// HLO of a train step of a small ResNet-50: padded stem, two bottleneck blocks with projections, global average
// pooling.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_RESNET_TRAIN_STEP_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_RESNET_TRAIN_STEP_H_

namespace hpu::gaudi {

// As tf2xla emits it for gradient descent on the mean squared error, without metadata and unused instructions.
inline constexpr char kResnetTrainStep[] =
    R"(HloModule m, input_output_alias={ {1}: (2, {}, may-alias), {2}: (3, {}, may-alias), {3}: (4, {}, may-alias), {4}: (5, {}, may-alias), {5}: (6, {}, may-alias), {6}: (7, {}, may-alias), {7}: (8, {}, may-alias), {8}: (9, {}, may-alias), {9}: (10, {}, may-alias), {10}: (11, {}, may-alias), {11}: (12, {}, may-alias), {12}: (13, {}, may-alias), {13}: (14, {}, may-alias), {14}: (15, {}, may-alias), {15}: (16, {}, may-alias), {16}: (17, {}, may-alias), {17}: (18, {}, may-alias), {18}: (19, {}, may-alias), {19}: (20, {}, may-alias), {20}: (21, {}, may-alias), {21}: (22, {}, may-alias), {22}: (23, {}, may-alias), {23}: (24, {}, may-alias), {24}: (25, {}, may-alias), {25}: (26, {}, may-alias), {26}: (27, {}, may-alias), {27}: (28, {}, may-alias), {28}: (29, {}, may-alias), {29}: (30, {}, may-alias), {30}: (31, {}, may-alias), {31}: (32, {}, may-alias), {32}: (33, {}, may-alias), {33}: (34, {}, may-alias), {34}: (35, {}, may-alias), {35}: (36, {}, may-alias), {36}: (37, {}, may-alias), {37}: (38, {}, may-alias), {38}: (39, {}, may-alias), {39}: (40, {}, may-alias), {40}: (41, {}, may-alias), {41}: (42, {}, may-alias), {42}: (43, {}, may-alias), {43}: (44, {}, may-alias), {44}: (45, {}, may-alias), {45}: (46, {}, may-alias), {46}: (47, {}, may-alias), {47}: (48, {}, may-alias) }
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
p288 = f32[2,16,16,3] parameter(0)
v289 = f32[2,16,16,3] reshape(p288)
v290 = f32[] constant(0)
v291 = f32[2,22,22,3] pad(v289, v290), padding=0_0x3_3x3_3x0_0
p292 = f32[7,7,3,4] parameter(2)
v293 = f32[2,8,8,4] convolution(v291, p292), window={size=7x7 stride=2x2}, dim_labels=b01f_01io->b01f
p294 = f32[4] parameter(3)
p295 = f32[4] parameter(4)
v296 = (f32[2,8,8,4], f32[4], f32[4]) batch-norm-training(v293, p294, p295), epsilon=0.001, feature_index=3
v297 = f32[2,8,8,4] get-tuple-element(v296), index=0
v298 = f32[] constant(0)
v299 = f32[2,8,8,4] broadcast(v298), dimensions={}
v300 = f32[2,8,8,4] maximum(v297, v299)
v301 = f32[] constant(0)
v302 = f32[2,10,10,4] pad(v300, v301), padding=0_0x1_1x1_1x0_0
v306 = f32[4] get-tuple-element(v296), index=1
v307 = f32[4] get-tuple-element(v296), index=2
v308 = f32[] constant(0)
v309 = f32[2,8,8,4] broadcast(v308), dimensions={}
v310 = pred[2,8,8,4] compare(v300, v309), direction=GT
v311 = f32[] constant(-inf)
v312 = f32[2,4,4,4] reduce-window(v302, v311), window={size=1x3x3x1 stride=1x2x2x1}, to_apply=c0
p313 = f32[1,1,4,4] parameter(17)
v314 = f32[2,4,4,4] convolution(v312, p313), window={size=1x1}, dim_labels=b01f_01io->b01f
p315 = f32[4] parameter(23)
p316 = f32[4] parameter(24)
v317 = (f32[2,4,4,4], f32[4], f32[4]) batch-norm-training(v314, p315, p316), epsilon=0.001, feature_index=3
v318 = f32[4] get-tuple-element(v317), index=1
v319 = f32[4] get-tuple-element(v317), index=2
p320 = f32[1,1,4,2] parameter(7)
v321 = f32[2,4,4,2] convolution(v312, p320), window={size=1x1}, dim_labels=b01f_01io->b01f
p322 = f32[2] parameter(8)
p323 = f32[2] parameter(9)
v324 = (f32[2,4,4,2], f32[2], f32[2]) batch-norm-training(v321, p322, p323), epsilon=0.001, feature_index=3
v325 = f32[2,4,4,2] get-tuple-element(v324), index=0
v326 = f32[] constant(0)
v327 = f32[2,4,4,2] broadcast(v326), dimensions={}
v328 = f32[2,4,4,2] maximum(v325, v327)
p329 = f32[3,3,2,2] parameter(12)
v330 = f32[2,4,4,2] convolution(v328, p329), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
p331 = f32[2] parameter(13)
p332 = f32[2] parameter(14)
v333 = (f32[2,4,4,2], f32[2], f32[2]) batch-norm-training(v330, p331, p332), epsilon=0.001, feature_index=3
v334 = f32[2,4,4,2] get-tuple-element(v333), index=0
v335 = f32[] constant(0)
v336 = f32[2,4,4,2] broadcast(v335), dimensions={}
v337 = f32[2,4,4,2] maximum(v334, v336)
p338 = f32[1,1,2,4] parameter(18)
v339 = f32[2,4,4,4] convolution(v337, p338), window={size=1x1}, dim_labels=b01f_01io->b01f
p340 = f32[4] parameter(19)
p341 = f32[4] parameter(20)
v342 = (f32[2,4,4,4], f32[4], f32[4]) batch-norm-training(v339, p340, p341), epsilon=0.001, feature_index=3
v343 = f32[2,4,4,4] get-tuple-element(v342), index=0
v344 = f32[2,4,4,4] get-tuple-element(v317), index=0
v345 = f32[2,4,4,4] add(v343, v344)
v346 = f32[] constant(0)
v347 = f32[2,4,4,4] broadcast(v346), dimensions={}
v348 = f32[2,4,4,4] maximum(v345, v347)
v349 = f32[] constant(0)
v350 = f32[2,4,4,4] broadcast(v349), dimensions={}
v351 = pred[2,4,4,4] compare(v348, v350), direction=GT
p352 = f32[1,1,4,8] parameter(37)
v353 = f32[2,2,2,8] convolution(v348, p352), window={size=1x1 stride=2x2}, dim_labels=b01f_01io->b01f
p354 = f32[8] parameter(43)
p355 = f32[8] parameter(44)
v356 = (f32[2,2,2,8], f32[8], f32[8]) batch-norm-training(v353, p354, p355), epsilon=0.001, feature_index=3
v357 = f32[8] get-tuple-element(v356), index=1
v358 = f32[8] get-tuple-element(v356), index=2
p359 = f32[1,1,4,4] parameter(27)
v360 = f32[2,2,2,4] convolution(v348, p359), window={size=1x1 stride=2x2}, dim_labels=b01f_01io->b01f
p361 = f32[4] parameter(28)
p362 = f32[4] parameter(29)
v363 = (f32[2,2,2,4], f32[4], f32[4]) batch-norm-training(v360, p361, p362), epsilon=0.001, feature_index=3
v364 = f32[2,2,2,4] get-tuple-element(v363), index=0
v365 = f32[] constant(0)
v366 = f32[2,2,2,4] broadcast(v365), dimensions={}
v367 = f32[2,2,2,4] maximum(v364, v366)
p368 = f32[3,3,4,4] parameter(32)
v369 = f32[2,2,2,4] convolution(v367, p368), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
p370 = f32[4] parameter(33)
p371 = f32[4] parameter(34)
v372 = (f32[2,2,2,4], f32[4], f32[4]) batch-norm-training(v369, p370, p371), epsilon=0.001, feature_index=3
v373 = f32[2,2,2,4] get-tuple-element(v372), index=0
v374 = f32[] constant(0)
v375 = f32[2,2,2,4] broadcast(v374), dimensions={}
v376 = f32[2,2,2,4] maximum(v373, v375)
p377 = f32[1,1,4,8] parameter(38)
v378 = f32[2,2,2,8] convolution(v376, p377), window={size=1x1}, dim_labels=b01f_01io->b01f
p379 = f32[8] parameter(39)
p380 = f32[8] parameter(40)
v381 = (f32[2,2,2,8], f32[8], f32[8]) batch-norm-training(v378, p379, p380), epsilon=0.001, feature_index=3
v382 = f32[2,2,2,8] get-tuple-element(v381), index=0
v383 = f32[2,2,2,8] get-tuple-element(v356), index=0
v384 = f32[2,2,2,8] add(v382, v383)
v385 = f32[] constant(0)
v386 = f32[2,2,2,8] broadcast(v385), dimensions={}
v387 = f32[2,2,2,8] maximum(v384, v386)
v388 = f32[] constant(0)
v389 = f32[2,2,2,8] broadcast(v388), dimensions={}
v390 = pred[2,2,2,8] compare(v387, v389), direction=GT
v391 = f32[] constant(0.333333343)
v392 = f32[2,3] broadcast(v391), dimensions={}
v393 = f32[2,2,2,8] convert(v387)
v394 = f32[] constant(0)
v395 = f32[] convert(v394)
v396 = f32[2,8] reduce(v393, v395), dimensions={1,2}, to_apply=c1
v397 = s32[] constant(2)
v398 = s32[] constant(2)
v399 = s32[] multiply(v397, v398)
v400 = f32[] convert(v399)
v401 = f32[2,8] broadcast(v400), dimensions={}
v402 = f32[2,8] divide(v396, v401)
v403 = f32[2,8] convert(v402)
p404 = f32[8,3] parameter(47)
v405 = f32[2,3] dot(v403, p404), lhs_contracting_dims={1}, rhs_contracting_dims={0}
v406 = f32[2,3] transpose(v405), dimensions={0,1}
p407 = f32[3] parameter(48)
v408 = f32[2,3] broadcast(p407), dimensions={1}
v409 = f32[2,3] add(v406, v408)
p410 = f32[2,3] parameter(1)
v411 = f32[2,3] reshape(p410)
v412 = f32[2,3] subtract(v409, v411)
v413 = f32[] constant(1)
v414 = f32[2,3] broadcast(v413), dimensions={}
v415 = f32[2,3] power(v412, v414)
v416 = f32[2,3] multiply(v392, v415)
v417 = f32[2,8] dot(v416, p404), lhs_contracting_dims={1}, rhs_contracting_dims={1}
v418 = f32[2,8] transpose(v417), dimensions={0,1}
v419 = f32[2,1,1,8] reshape(v418)
v420 = f32[2,1,1,8] broadcast(v419), dimensions={0,1,2,3}
v421 = f32[2,8] reshape(v420)
v422 = f32[2,2,2,8] broadcast(v421), dimensions={0,3}
v423 = f32[] constant(4)
v424 = f32[2,2,2,8] broadcast(v423), dimensions={}
v425 = f32[2,2,2,8] divide(v422, v424)
v426 = f32[2,2,2,8] select(v390, v425, v389)
v427 = (f32[2,2,2,8], f32[8], f32[8]) batch-norm-grad(v353, p354, v357, v358, v426), epsilon=0.001, feature_index=3
v428 = f32[2,2,2,8] get-tuple-element(v427), index=0
v429 = f32[1,1,4,8] reverse(p352), dimensions={0,1}
v430 = f32[2,4,4,4] convolution(v428, v429), window={size=1x1 pad=0_1x0_1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f
v431 = f32[4] get-tuple-element(v363), index=1
v432 = f32[4] get-tuple-element(v363), index=2
v433 = f32[] constant(0)
v434 = f32[2,2,2,4] broadcast(v433), dimensions={}
v435 = pred[2,2,2,4] compare(v367, v434), direction=GT
v436 = f32[4] get-tuple-element(v372), index=1
v437 = f32[4] get-tuple-element(v372), index=2
v438 = f32[] constant(0)
v439 = f32[2,2,2,4] broadcast(v438), dimensions={}
v440 = pred[2,2,2,4] compare(v376, v439), direction=GT
v441 = f32[8] get-tuple-element(v381), index=1
v442 = f32[8] get-tuple-element(v381), index=2
v443 = (f32[2,2,2,8], f32[8], f32[8]) batch-norm-grad(v378, p379, v441, v442, v426), epsilon=0.001, feature_index=3
v444 = f32[2,2,2,8] get-tuple-element(v443), index=0
v445 = f32[1,1,4,8] reverse(p377), dimensions={0,1}
v446 = f32[2,2,2,4] convolution(v444, v445), window={size=1x1}, dim_labels=b01f_01oi->b01f
v447 = f32[2,2,2,4] select(v440, v446, v439)
v448 = (f32[2,2,2,4], f32[4], f32[4]) batch-norm-grad(v369, p370, v436, v437, v447), epsilon=0.001, feature_index=3
v449 = f32[2,2,2,4] get-tuple-element(v448), index=0
v450 = f32[3,3,4,4] reverse(p368), dimensions={0,1}
v451 = f32[2,2,2,4] convolution(v449, v450), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01oi->b01f
v452 = f32[2,2,2,4] select(v435, v451, v434)
v453 = (f32[2,2,2,4], f32[4], f32[4]) batch-norm-grad(v360, p361, v431, v432, v452), epsilon=0.001, feature_index=3
v454 = f32[2,2,2,4] get-tuple-element(v453), index=0
v455 = f32[1,1,4,4] reverse(p359), dimensions={0,1}
v456 = f32[2,4,4,4] convolution(v454, v455), window={size=1x1 pad=0_1x0_1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f
v457 = f32[2,4,4,4] add(v430, v456)
v458 = f32[2,4,4,4] select(v351, v457, v350)
v459 = (f32[2,4,4,4], f32[4], f32[4]) batch-norm-grad(v314, p315, v318, v319, v458), epsilon=0.001, feature_index=3
v460 = f32[2,4,4,4] get-tuple-element(v459), index=0
v461 = f32[1,1,4,4] reverse(p313), dimensions={0,1}
v462 = f32[2,4,4,4] convolution(v460, v461), window={size=1x1}, dim_labels=b01f_01oi->b01f
v463 = f32[2] get-tuple-element(v324), index=1
v464 = f32[2] get-tuple-element(v324), index=2
v465 = f32[] constant(0)
v466 = f32[2,4,4,2] broadcast(v465), dimensions={}
v467 = pred[2,4,4,2] compare(v328, v466), direction=GT
v468 = f32[2] get-tuple-element(v333), index=1
v469 = f32[2] get-tuple-element(v333), index=2
v470 = f32[] constant(0)
v471 = f32[2,4,4,2] broadcast(v470), dimensions={}
v472 = pred[2,4,4,2] compare(v337, v471), direction=GT
v473 = f32[4] get-tuple-element(v342), index=1
v474 = f32[4] get-tuple-element(v342), index=2
v475 = (f32[2,4,4,4], f32[4], f32[4]) batch-norm-grad(v339, p340, v473, v474, v458), epsilon=0.001, feature_index=3
v476 = f32[2,4,4,4] get-tuple-element(v475), index=0
v477 = f32[1,1,2,4] reverse(p338), dimensions={0,1}
v478 = f32[2,4,4,2] convolution(v476, v477), window={size=1x1}, dim_labels=b01f_01oi->b01f
v479 = f32[2,4,4,2] select(v472, v478, v471)
v480 = (f32[2,4,4,2], f32[2], f32[2]) batch-norm-grad(v330, p331, v468, v469, v479), epsilon=0.001, feature_index=3
v481 = f32[2,4,4,2] get-tuple-element(v480), index=0
v482 = f32[3,3,2,2] reverse(p329), dimensions={0,1}
v483 = f32[2,4,4,2] convolution(v481, v482), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01oi->b01f
v484 = f32[2,4,4,2] select(v467, v483, v466)
v485 = (f32[2,4,4,2], f32[2], f32[2]) batch-norm-grad(v321, p322, v463, v464, v484), epsilon=0.001, feature_index=3
v486 = f32[2,4,4,2] get-tuple-element(v485), index=0
v487 = f32[1,1,4,2] reverse(p320), dimensions={0,1}
v488 = f32[2,4,4,4] convolution(v486, v487), window={size=1x1}, dim_labels=b01f_01oi->b01f
v489 = f32[2,4,4,4] add(v462, v488)
v490 = f32[] constant(0)
v491 = f32[2,10,10,4] select-and-scatter(v302, v489, v490), window={size=1x3x3x1 stride=1x2x2x1}, select=c2, scatter=c1
v492 = f32[2,8,8,4] slice(v491), slice={[0:2], [1:9], [1:9], [0:4]}
v493 = f32[2,8,8,4] select(v310, v492, v309)
v494 = (f32[2,8,8,4], f32[4], f32[4]) batch-norm-grad(v293, p294, v306, v307, v493), epsilon=0.001, feature_index=3
v495 = f32[2,8,8,4] get-tuple-element(v494), index=0
v571 = f32[] constant(2)
v572 = f32[2,3] broadcast(v571), dimensions={}
v573 = f32[2,3] power(v412, v572)
v574 = f32[2,3] convert(v573)
v575 = f32[] constant(0)
v576 = f32[] convert(v575)
v577 = f32[] reduce(v574, v576), dimensions={0,1}, to_apply=c1
v578 = s32[] constant(2)
v579 = s32[] constant(3)
v580 = s32[] multiply(v578, v579)
v581 = f32[] convert(v580)
v582 = f32[] divide(v577, v581)
v583 = f32[] convert(v582)
v584 = f32[] reshape(v583)
v585 = f32[] constant(0.1)
v586 = f32[7,7,3,4] broadcast(v585), dimensions={}
v587 = f32[7,7,3,4] convolution(v291, v495), window={size=8x8 pad=0_-1x0_-1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf
v588 = f32[7,7,3,4] multiply(v586, v587)
v589 = f32[7,7,3,4] subtract(p292, v588)
v590 = f32[7,7,3,4] reshape(v589)
v591 = f32[7,7,3,4] copy(v590)
v592 = f32[] constant(0.1)
v593 = f32[4] broadcast(v592), dimensions={}
v594 = f32[4] get-tuple-element(v494), index=1
v595 = f32[4] multiply(v593, v594)
v596 = f32[4] subtract(p294, v595)
v597 = f32[4] reshape(v596)
v598 = f32[4] copy(v597)
v599 = f32[] constant(0.1)
v600 = f32[4] broadcast(v599), dimensions={}
v601 = f32[4] get-tuple-element(v494), index=2
v602 = f32[4] multiply(v600, v601)
v603 = f32[4] subtract(p295, v602)
v604 = f32[4] reshape(v603)
v605 = f32[4] copy(v604)
p606 = f32[4] parameter(5)
v607 = f32[4] subtract(p606, v306)
v608 = f32[] constant(0.00999999)
v609 = f32[4] broadcast(v608), dimensions={}
v610 = f32[4] multiply(v607, v609)
v611 = f32[4] subtract(p606, v610)
v612 = f32[4] reshape(v611)
v613 = f32[4] copy(v612)
p614 = f32[4] parameter(6)
v615 = f32[] constant(1.00787401)
v616 = f32[4] broadcast(v615), dimensions={}
v617 = f32[4] multiply(v307, v616)
v618 = f32[4] subtract(p614, v617)
v619 = f32[] constant(0.00999999)
v620 = f32[4] broadcast(v619), dimensions={}
v621 = f32[4] multiply(v618, v620)
v622 = f32[4] subtract(p614, v621)
v623 = f32[4] reshape(v622)
v624 = f32[4] copy(v623)
v625 = f32[] constant(0.1)
v626 = f32[1,1,4,2] broadcast(v625), dimensions={}
v627 = f32[1,1,4,2] convolution(v312, v486), window={size=4x4}, dim_labels=f01b_i01o->01bf
v628 = f32[1,1,4,2] multiply(v626, v627)
v629 = f32[1,1,4,2] subtract(p320, v628)
v630 = f32[1,1,4,2] reshape(v629)
v631 = f32[1,1,4,2] copy(v630)
v632 = f32[] constant(0.1)
v633 = f32[2] broadcast(v632), dimensions={}
v634 = f32[2] get-tuple-element(v485), index=1
v635 = f32[2] multiply(v633, v634)
v636 = f32[2] subtract(p322, v635)
v637 = f32[2] reshape(v636)
v638 = f32[2] copy(v637)
v639 = f32[] constant(0.1)
v640 = f32[2] broadcast(v639), dimensions={}
v641 = f32[2] get-tuple-element(v485), index=2
v642 = f32[2] multiply(v640, v641)
v643 = f32[2] subtract(p323, v642)
v644 = f32[2] reshape(v643)
v645 = f32[2] copy(v644)
p646 = f32[2] parameter(10)
v647 = f32[2] subtract(p646, v463)
v648 = f32[] constant(0.00999999)
v649 = f32[2] broadcast(v648), dimensions={}
v650 = f32[2] multiply(v647, v649)
v651 = f32[2] subtract(p646, v650)
v652 = f32[2] reshape(v651)
v653 = f32[2] copy(v652)
p654 = f32[2] parameter(11)
v655 = f32[] constant(1.03225803)
v656 = f32[2] broadcast(v655), dimensions={}
v657 = f32[2] multiply(v464, v656)
v658 = f32[2] subtract(p654, v657)
v659 = f32[] constant(0.00999999)
v660 = f32[2] broadcast(v659), dimensions={}
v661 = f32[2] multiply(v658, v660)
v662 = f32[2] subtract(p654, v661)
v663 = f32[2] reshape(v662)
v664 = f32[2] copy(v663)
v665 = f32[] constant(0.1)
v666 = f32[3,3,2,2] broadcast(v665), dimensions={}
v667 = f32[3,3,2,2] convolution(v328, v481), window={size=4x4 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
v668 = f32[3,3,2,2] multiply(v666, v667)
v669 = f32[3,3,2,2] subtract(p329, v668)
v670 = f32[3,3,2,2] reshape(v669)
v671 = f32[3,3,2,2] copy(v670)
v672 = f32[] constant(0.1)
v673 = f32[2] broadcast(v672), dimensions={}
v674 = f32[2] get-tuple-element(v480), index=1
v675 = f32[2] multiply(v673, v674)
v676 = f32[2] subtract(p331, v675)
v677 = f32[2] reshape(v676)
v678 = f32[2] copy(v677)
v679 = f32[] constant(0.1)
v680 = f32[2] broadcast(v679), dimensions={}
v681 = f32[2] get-tuple-element(v480), index=2
v682 = f32[2] multiply(v680, v681)
v683 = f32[2] subtract(p332, v682)
v684 = f32[2] reshape(v683)
v685 = f32[2] copy(v684)
p686 = f32[2] parameter(15)
v687 = f32[2] subtract(p686, v468)
v688 = f32[] constant(0.00999999)
v689 = f32[2] broadcast(v688), dimensions={}
v690 = f32[2] multiply(v687, v689)
v691 = f32[2] subtract(p686, v690)
v692 = f32[2] reshape(v691)
v693 = f32[2] copy(v692)
p694 = f32[2] parameter(16)
v695 = f32[] constant(1.03225803)
v696 = f32[2] broadcast(v695), dimensions={}
v697 = f32[2] multiply(v469, v696)
v698 = f32[2] subtract(p694, v697)
v699 = f32[] constant(0.00999999)
v700 = f32[2] broadcast(v699), dimensions={}
v701 = f32[2] multiply(v698, v700)
v702 = f32[2] subtract(p694, v701)
v703 = f32[2] reshape(v702)
v704 = f32[2] copy(v703)
v705 = f32[] constant(0.1)
v706 = f32[1,1,4,4] broadcast(v705), dimensions={}
v707 = f32[1,1,4,4] convolution(v312, v460), window={size=4x4}, dim_labels=f01b_i01o->01bf
v708 = f32[1,1,4,4] multiply(v706, v707)
v709 = f32[1,1,4,4] subtract(p313, v708)
v710 = f32[1,1,4,4] reshape(v709)
v711 = f32[1,1,4,4] copy(v710)
v712 = f32[] constant(0.1)
v713 = f32[1,1,2,4] broadcast(v712), dimensions={}
v714 = f32[1,1,2,4] convolution(v337, v476), window={size=4x4}, dim_labels=f01b_i01o->01bf
v715 = f32[1,1,2,4] multiply(v713, v714)
v716 = f32[1,1,2,4] subtract(p338, v715)
v717 = f32[1,1,2,4] reshape(v716)
v718 = f32[1,1,2,4] copy(v717)
v719 = f32[] constant(0.1)
v720 = f32[4] broadcast(v719), dimensions={}
v721 = f32[4] get-tuple-element(v475), index=1
v722 = f32[4] multiply(v720, v721)
v723 = f32[4] subtract(p340, v722)
v724 = f32[4] reshape(v723)
v725 = f32[4] copy(v724)
v726 = f32[] constant(0.1)
v727 = f32[4] broadcast(v726), dimensions={}
v728 = f32[4] get-tuple-element(v475), index=2
v729 = f32[4] multiply(v727, v728)
v730 = f32[4] subtract(p341, v729)
v731 = f32[4] reshape(v730)
v732 = f32[4] copy(v731)
p733 = f32[4] parameter(21)
v734 = f32[4] subtract(p733, v473)
v735 = f32[] constant(0.00999999)
v736 = f32[4] broadcast(v735), dimensions={}
v737 = f32[4] multiply(v734, v736)
v738 = f32[4] subtract(p733, v737)
v739 = f32[4] reshape(v738)
v740 = f32[4] copy(v739)
p741 = f32[4] parameter(22)
v742 = f32[] constant(1.03225803)
v743 = f32[4] broadcast(v742), dimensions={}
v744 = f32[4] multiply(v474, v743)
v745 = f32[4] subtract(p741, v744)
v746 = f32[] constant(0.00999999)
v747 = f32[4] broadcast(v746), dimensions={}
v748 = f32[4] multiply(v745, v747)
v749 = f32[4] subtract(p741, v748)
v750 = f32[4] reshape(v749)
v751 = f32[4] copy(v750)
v752 = f32[] constant(0.1)
v753 = f32[4] broadcast(v752), dimensions={}
v754 = f32[4] get-tuple-element(v459), index=1
v755 = f32[4] multiply(v753, v754)
v756 = f32[4] subtract(p315, v755)
v757 = f32[4] reshape(v756)
v758 = f32[4] copy(v757)
v759 = f32[] constant(0.1)
v760 = f32[4] broadcast(v759), dimensions={}
v761 = f32[4] get-tuple-element(v459), index=2
v762 = f32[4] multiply(v760, v761)
v763 = f32[4] subtract(p316, v762)
v764 = f32[4] reshape(v763)
v765 = f32[4] copy(v764)
p766 = f32[4] parameter(25)
v767 = f32[4] subtract(p766, v318)
v768 = f32[] constant(0.00999999)
v769 = f32[4] broadcast(v768), dimensions={}
v770 = f32[4] multiply(v767, v769)
v771 = f32[4] subtract(p766, v770)
v772 = f32[4] reshape(v771)
v773 = f32[4] copy(v772)
p774 = f32[4] parameter(26)
v775 = f32[] constant(1.03225803)
v776 = f32[4] broadcast(v775), dimensions={}
v777 = f32[4] multiply(v319, v776)
v778 = f32[4] subtract(p774, v777)
v779 = f32[] constant(0.00999999)
v780 = f32[4] broadcast(v779), dimensions={}
v781 = f32[4] multiply(v778, v780)
v782 = f32[4] subtract(p774, v781)
v783 = f32[4] reshape(v782)
v784 = f32[4] copy(v783)
v785 = f32[] constant(0.1)
v786 = f32[1,1,4,4] broadcast(v785), dimensions={}
v787 = f32[1,1,4,4] convolution(v348, v454), window={size=2x2 pad=0_-1x0_-1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf
v788 = f32[1,1,4,4] multiply(v786, v787)
v789 = f32[1,1,4,4] subtract(p359, v788)
v790 = f32[1,1,4,4] reshape(v789)
v791 = f32[1,1,4,4] copy(v790)
v792 = f32[] constant(0.1)
v793 = f32[4] broadcast(v792), dimensions={}
v794 = f32[4] get-tuple-element(v453), index=1
v795 = f32[4] multiply(v793, v794)
v796 = f32[4] subtract(p361, v795)
v797 = f32[4] reshape(v796)
v798 = f32[4] copy(v797)
v799 = f32[] constant(0.1)
v800 = f32[4] broadcast(v799), dimensions={}
v801 = f32[4] get-tuple-element(v453), index=2
v802 = f32[4] multiply(v800, v801)
v803 = f32[4] subtract(p362, v802)
v804 = f32[4] reshape(v803)
v805 = f32[4] copy(v804)
p806 = f32[4] parameter(30)
v807 = f32[4] subtract(p806, v431)
v808 = f32[] constant(0.00999999)
v809 = f32[4] broadcast(v808), dimensions={}
v810 = f32[4] multiply(v807, v809)
v811 = f32[4] subtract(p806, v810)
v812 = f32[4] reshape(v811)
v813 = f32[4] copy(v812)
p814 = f32[4] parameter(31)
v815 = f32[] constant(1.14285719)
v816 = f32[4] broadcast(v815), dimensions={}
v817 = f32[4] multiply(v432, v816)
v818 = f32[4] subtract(p814, v817)
v819 = f32[] constant(0.00999999)
v820 = f32[4] broadcast(v819), dimensions={}
v821 = f32[4] multiply(v818, v820)
v822 = f32[4] subtract(p814, v821)
v823 = f32[4] reshape(v822)
v824 = f32[4] copy(v823)
v825 = f32[] constant(0.1)
v826 = f32[3,3,4,4] broadcast(v825), dimensions={}
v827 = f32[3,3,4,4] convolution(v367, v449), window={size=2x2 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
v828 = f32[3,3,4,4] multiply(v826, v827)
v829 = f32[3,3,4,4] subtract(p368, v828)
v830 = f32[3,3,4,4] reshape(v829)
v831 = f32[3,3,4,4] copy(v830)
v832 = f32[] constant(0.1)
v833 = f32[4] broadcast(v832), dimensions={}
v834 = f32[4] get-tuple-element(v448), index=1
v835 = f32[4] multiply(v833, v834)
v836 = f32[4] subtract(p370, v835)
v837 = f32[4] reshape(v836)
v838 = f32[4] copy(v837)
v839 = f32[] constant(0.1)
v840 = f32[4] broadcast(v839), dimensions={}
v841 = f32[4] get-tuple-element(v448), index=2
v842 = f32[4] multiply(v840, v841)
v843 = f32[4] subtract(p371, v842)
v844 = f32[4] reshape(v843)
v845 = f32[4] copy(v844)
p846 = f32[4] parameter(35)
v847 = f32[4] subtract(p846, v436)
v848 = f32[] constant(0.00999999)
v849 = f32[4] broadcast(v848), dimensions={}
v850 = f32[4] multiply(v847, v849)
v851 = f32[4] subtract(p846, v850)
v852 = f32[4] reshape(v851)
v853 = f32[4] copy(v852)
p854 = f32[4] parameter(36)
v855 = f32[] constant(1.14285719)
v856 = f32[4] broadcast(v855), dimensions={}
v857 = f32[4] multiply(v437, v856)
v858 = f32[4] subtract(p854, v857)
v859 = f32[] constant(0.00999999)
v860 = f32[4] broadcast(v859), dimensions={}
v861 = f32[4] multiply(v858, v860)
v862 = f32[4] subtract(p854, v861)
v863 = f32[4] reshape(v862)
v864 = f32[4] copy(v863)
v865 = f32[] constant(0.1)
v866 = f32[1,1,4,8] broadcast(v865), dimensions={}
v867 = f32[1,1,4,8] convolution(v348, v428), window={size=2x2 pad=0_-1x0_-1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf
v868 = f32[1,1,4,8] multiply(v866, v867)
v869 = f32[1,1,4,8] subtract(p352, v868)
v870 = f32[1,1,4,8] reshape(v869)
v871 = f32[1,1,4,8] copy(v870)
v872 = f32[] constant(0.1)
v873 = f32[1,1,4,8] broadcast(v872), dimensions={}
v874 = f32[1,1,4,8] convolution(v376, v444), window={size=2x2}, dim_labels=f01b_i01o->01bf
v875 = f32[1,1,4,8] multiply(v873, v874)
v876 = f32[1,1,4,8] subtract(p377, v875)
v877 = f32[1,1,4,8] reshape(v876)
v878 = f32[1,1,4,8] copy(v877)
v879 = f32[] constant(0.1)
v880 = f32[8] broadcast(v879), dimensions={}
v881 = f32[8] get-tuple-element(v443), index=1
v882 = f32[8] multiply(v880, v881)
v883 = f32[8] subtract(p379, v882)
v884 = f32[8] reshape(v883)
v885 = f32[8] copy(v884)
v886 = f32[] constant(0.1)
v887 = f32[8] broadcast(v886), dimensions={}
v888 = f32[8] get-tuple-element(v443), index=2
v889 = f32[8] multiply(v887, v888)
v890 = f32[8] subtract(p380, v889)
v891 = f32[8] reshape(v890)
v892 = f32[8] copy(v891)
p893 = f32[8] parameter(41)
v894 = f32[8] subtract(p893, v441)
v895 = f32[] constant(0.00999999)
v896 = f32[8] broadcast(v895), dimensions={}
v897 = f32[8] multiply(v894, v896)
v898 = f32[8] subtract(p893, v897)
v899 = f32[8] reshape(v898)
v900 = f32[8] copy(v899)
p901 = f32[8] parameter(42)
v902 = f32[] constant(1.14285719)
v903 = f32[8] broadcast(v902), dimensions={}
v904 = f32[8] multiply(v442, v903)
v905 = f32[8] subtract(p901, v904)
v906 = f32[] constant(0.00999999)
v907 = f32[8] broadcast(v906), dimensions={}
v908 = f32[8] multiply(v905, v907)
v909 = f32[8] subtract(p901, v908)
v910 = f32[8] reshape(v909)
v911 = f32[8] copy(v910)
v912 = f32[] constant(0.1)
v913 = f32[8] broadcast(v912), dimensions={}
v914 = f32[8] get-tuple-element(v427), index=1
v915 = f32[8] multiply(v913, v914)
v916 = f32[8] subtract(p354, v915)
v917 = f32[8] reshape(v916)
v918 = f32[8] copy(v917)
v919 = f32[] constant(0.1)
v920 = f32[8] broadcast(v919), dimensions={}
v921 = f32[8] get-tuple-element(v427), index=2
v922 = f32[8] multiply(v920, v921)
v923 = f32[8] subtract(p355, v922)
v924 = f32[8] reshape(v923)
v925 = f32[8] copy(v924)
p926 = f32[8] parameter(45)
v927 = f32[8] subtract(p926, v357)
v928 = f32[] constant(0.00999999)
v929 = f32[8] broadcast(v928), dimensions={}
v930 = f32[8] multiply(v927, v929)
v931 = f32[8] subtract(p926, v930)
v932 = f32[8] reshape(v931)
v933 = f32[8] copy(v932)
p934 = f32[8] parameter(46)
v935 = f32[] constant(1.14285719)
v936 = f32[8] broadcast(v935), dimensions={}
v937 = f32[8] multiply(v358, v936)
v938 = f32[8] subtract(p934, v937)
v939 = f32[] constant(0.00999999)
v940 = f32[8] broadcast(v939), dimensions={}
v941 = f32[8] multiply(v938, v940)
v942 = f32[8] subtract(p934, v941)
v943 = f32[8] reshape(v942)
v944 = f32[8] copy(v943)
v945 = f32[] constant(0.1)
v946 = f32[8,3] broadcast(v945), dimensions={}
v947 = f32[8,3] dot(v403, v416), lhs_contracting_dims={0}, rhs_contracting_dims={0}
v948 = f32[8,3] transpose(v947), dimensions={0,1}
v949 = f32[8,3] multiply(v946, v948)
v950 = f32[8,3] subtract(p404, v949)
v951 = f32[8,3] reshape(v950)
v952 = f32[8,3] copy(v951)
v953 = f32[] constant(0.1)
v954 = f32[3] broadcast(v953), dimensions={}
v955 = f32[] constant(-0)
v956 = f32[3] reduce(v416, v955), dimensions={0}, to_apply=c1
v957 = f32[3] multiply(v954, v956)
v958 = f32[3] subtract(p407, v957)
v959 = f32[3] reshape(v958)
v960 = f32[3] copy(v959)
ROOT v961 = (f32[], f32[7,7,3,4], f32[4], f32[4], f32[4], f32[4], f32[1,1,4,2], f32[2], f32[2], f32[2], f32[2], f32[3,3,2,2], f32[2], f32[2], f32[2], f32[2], f32[1,1,4,4], f32[1,1,2,4], f32[4], f32[4], f32[4], f32[4], f32[4], f32[4], f32[4], f32[4], f32[1,1,4,4], f32[4], f32[4], f32[4], f32[4], f32[3,3,4,4], f32[4], f32[4], f32[4], f32[4], f32[1,1,4,8], f32[1,1,4,8], f32[8], f32[8], f32[8], f32[8], f32[8], f32[8], f32[8], f32[8], f32[8,3], f32[3]) tuple(v584, v591, v598, v605, v613, v624, v631, v638, v645, v653, v664, v671, v678, v685, v693, v704, v711, v718, v725, v732, v740, v751, v758, v765, v773, v784, v791, v798, v805, v813, v824, v831, v838, v845, v853, v864, v871, v878, v885, v892, v900, v911, v918, v925, v933, v944, v952, v960)
}
)";

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MODELS_RESNET_TRAIN_STEP_H_
