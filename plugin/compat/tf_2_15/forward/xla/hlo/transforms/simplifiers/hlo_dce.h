#include "xla/service/hlo_dce.h"
