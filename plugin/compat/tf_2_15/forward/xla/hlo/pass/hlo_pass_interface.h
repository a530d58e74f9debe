#include "xla/service/hlo_pass_interface.h"
