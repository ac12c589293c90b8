package manifest

import "slices"

// The names that columns often have, the likeliest first.
var (
	idNames    = append([]string{"id", "uuid", "key", "row_id", "sample_id", "index", "*_id", "*id"}, indexNames...)
	sureIDs    = []string{"id", "uuid", "*_id"}
	indexNames = []string{"__index_level_?__", "unnamed: 0"} // what pandas calls its index when it writes and reads it
	// numberNames are names of columns that number orders and the like, in which hardly a value occurs twice.
	numberNames = append(numbersOf("order", "invoice", "ticket", "listing", "serial", "record", "receipt", "booking", "transaction", "case",
		"claim", "customer", "client", "account", "policy", "contract"), "listing", "invoice", "receipt", "ticket", "barcode", "ean", "gtin",
		"isbn")
	// momentNames are names of points in time and of ranks, which are all different and quantities nevertheless.
	momentNames = []string{"t", "ts", "*time*", "*date*", "*year*", "*day*", "*hour*", "*minute*", "*second*", "*epoch*", "*_at", "*rank*",
		"*position*"}
	sureSources = []string{"source", "domain", "site", "shop", "store", "center", "centre", "hospital", "dataset", "corpus", "subset",
		"station", "plant", "clinic", "school", "factory", "*domain*", "*source*", "*site*"}
	sourceNames = []string{"source", "domain", "site", "shop", "store", "group", "center", "centre", "hospital", "dataset", "corpus",
		"subset",
		"machine", "device", "sensor", "station", "subject", "patient", "user", "client", "customer", "language", "lang",
		"country", "region",
		"city", "tenant", "plant", "account", "company", "brand", "clinic", "school", "branch", "office", "ward", "district", "factory",
		"environment", "env", "batch", "camera", "*domain*", "*source*", "*site*", "*group*"}
	sureLabels = []string{"label", "labels", "class", "y", "target", "outcome", "diagnosis"}
	labelNames = append(slices.Clone(sureLabels), "*label*", "*class*", "*target*")
	// maybeLabels are names of labels that features often have too.
	maybeLabels = append(slices.Clone(outcomeNames), "category", "sentiment", "rating", "score", "is_*", "has_*")
	// outcomeNames are names of what is usually predicted.
	outcomeNames = []string{"churn", "churned", "failure", "failed", "fraud", "survived", "converted", "conversion", "defaulted",
		"readmitted", "relapse", "defect", "fault", "anomaly"}
	splitNames = []string{"split", "fold", "partition", "part", "set", "*split*"}
	// groupNames are names of columns whose values say which rows belong together, where values are repeated.
	groupNames = withIDs("patient", "subject", "participant", "person", "user", "speaker", "author", "document", "doc", "animal", "individual")
	// partyNames are further names of such columns, where they have many values: few values are kinds of customers, or the runs of a bench.
	// The values are no small numbers, which may be counts, such as of employees. In landNames, and behind party names with id, they may be.
	partyNames = withIDs(parties...)
	landNames  = append(withIDs("parcel", "plot", "polygon", "transect"), ids(parties...)...)
	parties    = []string{"customer", "client", "account", "policy", "contract", "household", "student", "employee", "vehicle", "run",
		"session", "recording", "field", "farm"}
	costNames = []string{"cost", "price", "*cost*", "*per?label", "label?price"}
	// costWords are words in the names of columns that may say what a row costs, where they have one value in each source.
	costWords = []string{"cost", "costs", "price", "fee", "fees", "effort", "minute", "minutes", "min", "mins", "hour", "hours", "second",
		"seconds", "sec", "secs", "euro", "euros", "eur", "usd", "gbp", "dollar", "dollars", "cent", "cents"}
	featureNames = []string{"embedding", "embeddings", "vector", "features", "emb", "x", "hidden", "*emb*", "*vec*", "*feature*"}
)

// numbersOf returns names of columns that number the given things.
func numbersOf(things ...string) (names []string) {
	for _, of := range things {
		for _, number := range []string{"no", "nr", "num", "number", "ref"} {
			names = append(names, of+number, of+"?"+number)
		}
	}
	return names
}

// withIDs returns the names, and behind them the names of their ids and numbers.
func withIDs(names ...string) []string {
	return slices.Concat(names, numbersOf(names...), ids(names...))
}

// ids returns the names of the ids of the given things.
func ids(things ...string) (names []string) {
	for _, of := range things {
		names = append(names, of+"?id", of+"id")
	}
	return names
}
