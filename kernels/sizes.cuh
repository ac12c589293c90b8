// sizes.cuh: the sizes of tiles and blocks, each stated once. The kernels include this file, and package
// kernels reads it to launch them (sizes.go): each line has a name, a number and a comment on what it counts.
#ifndef AMTRL_SIZES_CUH
#define AMTRL_SIZES_CUH

#define BLOCK 256                   // threads of a block, where a kernel has no size of its own
#define EACH 4                      // elements per thread of an elementwise operation
#define TILE 32                     // rows and columns of a square tile
#define TILE_LINES 8                // rows of a square tile that a block moves at a time
#define COMBINE_BLOCK 128           // threads of a block of combine
#define DOTS_ROWS 4                 // rows per block of dots
#define HEAD_BLOCK 128              // threads of a block of head_gradient
#define GRADIENT_NARROW 1024        // the widest row that one warp of task_gradient holds
#define GRADIENT_NARROW_BLOCK 128   // threads of a block of task_gradient for such rows
#define GRADIENT_REDUCE_COLUMNS 32  // columns per block of task_gradient_reduce where several threads share one
#define GRADIENT_REDUCE_THREADS 16  // threads that share a column there
#define OUTPUT_TILE 8               // outputs that task_gradient_outputs takes at a time
#define OUTPUT_ROWS 64              // rows that task_gradient_outputs takes at a time
#define CONV_ROWS 8                 // rows of a convolution's tile of outputs, twice as many where it has CONV_NARROW channels
#define CONV_COLS 16                // columns of a convolution's tile of outputs
#define CONV_SLAB 16                // input channels at a time
#define CONV_WIDE 32                // output channels of a block of a convolution
#define CONV_NARROW 16              // output channels of a block where the layer has no more
#define CONV_THREADS 128            // threads of a block of a convolution
#define GRAD_COLUMNS 8              // sums that a block of conv_grad_reduce computes, a sector of each part
#define GRAD_TURNS 8                // threads of a block of conv_grad_reduce that share a sum

#endif
