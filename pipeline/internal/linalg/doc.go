// Package linalg has what gonum has not, or not in a form that overwrites or keeps what it should: dense.go is of the rows and columns
// of matrices, factors.go of their factors.
package linalg
