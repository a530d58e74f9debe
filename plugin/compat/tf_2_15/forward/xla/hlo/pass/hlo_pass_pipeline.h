#include "xla/service/hlo_pass_pipeline.h"
