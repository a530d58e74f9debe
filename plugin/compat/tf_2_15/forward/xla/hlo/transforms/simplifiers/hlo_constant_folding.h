#include "xla/service/hlo_constant_folding.h"
