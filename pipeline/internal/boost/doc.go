// Package boost fits gradient-boosted regression trees (Friedman 2001; with the second-order gains and leaves of Chen
// and Guestrin 2016) to the columns of a table. All sums are in one order, so that the same input gives the same trees.
//
//	columns.go  the bins of columns
//	grow.go     one tree
//	some.go     the columns that it tries
//	sources.go  splits by source
//	fit.go      a sum of trees for numbers or classes
//	forest.go   its predictions
package boost
