// Package gaussian is regression with a Gaussian kernel on the rows of several sources and of a target: the mean of a Gaussian process
// (Rasmussen and Williams 2006, chapter 2) of which a part is common to all sources and a part is each source's own.
//
//	fit.go     the fit, and what it says of the target's rows without them
//	choose.go  the width of the kernel, the noise and the spread of levels
package gaussian
