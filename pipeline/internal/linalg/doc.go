// Package linalg has matrix operations that gonum lacks, or lacks in a form that overwrites or keeps its operands as needed:
// dense.go for the rows and columns of matrices, factors.go for factorisations.
package linalg
