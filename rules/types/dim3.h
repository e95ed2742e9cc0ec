// The size of a grid or a block, of CUDA and of HIP.
#pragma once

typedef struct dim3 {
    unsigned int x, y, z;
} dim3;
