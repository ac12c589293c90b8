// sizes.cuh: the sizes of tiles and blocks, each stated once. The kernels include this file, and package
// kernels reads it to launch them (sizes.go): a line is a name, a number and what it counts.
#ifndef AMTRL_SIZES_CUH
#define AMTRL_SIZES_CUH

#define BLOCK 256                   // threads of a block, where a kernel has no size of its own
#define EACH 4                      // elements per thread of an elementwise operation
#define TILE 32                     // rows and columns of a square tile
#define TILE_LINES 8                // rows of it that a block moves at a time
#define COMBINE_BLOCK 128           // threads of a block of combine
#define DOTS_ROWS 4                 // rows per block of dots
#define HEAD_BLOCK 128              // threads of a block of head_gradient
#define GRADIENT_NARROW 1024        // the widest row that one warp of task_gradient holds
#define GRADIENT_NARROW_BLOCK 128   // threads of a block then
#define GRADIENT_REDUCE_COLUMNS 32  // columns per block of task_gradient_reduce where several threads share one
#define GRADIENT_REDUCE_THREADS 16  // threads per column then
#define OUTPUT_TILE 8               // outputs at a time of task_gradient_outputs
#define OUTPUT_ROWS 64              // rows at a time of it
#define CONV_ROWS 8                 // rows of a convolution's tile of outputs, twice as many where it has CONV_NARROW channels
#define CONV_COLS 16                // columns of it
#define CONV_SLAB 16                // input channels at a time
#define CONV_WIDE 32                // output channels of a block
#define CONV_NARROW 16              // output channels of a block where there are no more
#define CONV_THREADS 128            // threads of a block
#define GRAD_COLUMNS 8              // sums of a block of conv_grad_reduce, a sector of each part
#define GRAD_TURNS 8                // threads that share one of them

#endif
