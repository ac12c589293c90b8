// Package amtrl is the root of a module about active multi-task representation
// learning: it learns which data sources are worth sampling. The command is in
// cmd/amtrl, the algorithm in pipeline.
package amtrl
