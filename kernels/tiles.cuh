// tiles.cuh: square matrices by tiles of TILE by TILE.
#ifndef AMTRL_TILES_CUH
#define AMTRL_TILES_CUH

#include "common.cuh"

// lower_tile gives tile (row, column), column <= row, of number n in the order
// (0, 0), (1, 0), (1, 1), (2, 0), ...
__device__ inline void lower_tile(i64 n, i64 &row, i64 &column) {
  row = (i64)((sqrt(8.0 * (double)n + 1) - 1) / 2);
  while (row * (row + 1) / 2 > n) row--;
  while ((row + 1) * (row + 2) / 2 <= n) row++;
  column = n - row * (row + 1) / 2;
}

#endif
