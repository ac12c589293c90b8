package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/jsonfile"
)

// Difference describes the first place where two identities differ, and returns "" where there is none. i is the one
// "there", other the one "here". The names of the data and the reasons for choosing the backend do not count. The
// content of the data comes first, since settings follow from it, then the representation, since settings of different
// representations do not compare.
func (i Identity) Difference(other Identity) (string, error) {
	if difference := i.Data.Difference(other.Data); difference != "" {
		return difference, nil
	}
	if a, b := i.Config.Representation, other.Config.Representation; a != b {
		return fmt.Sprintf("representation is %s there and %s here", a, b), nil
	}
	other.Backend.Reason, other.Data.Name = i.Backend.Reason, i.Data.Name
	there, errA := jsonfile.Encode(i)
	here, errB := jsonfile.Encode(other)
	if err := errors.Join(errA, errB); err != nil || bytes.Equal(there, here) {
		return "", err
	}
	a, errA := decodeTree(there)
	b, errB := decodeTree(here)
	if err := errors.Join(errA, errB); err != nil {
		return "", err
	}
	where, was, is := firstDifference("", a, b)
	return fmt.Sprintf("%s is %s there and %s here", where, compact(was), compact(is)), nil
}

// decodeTree decodes JSON and keeps numbers as they are written.
func decodeTree(raw []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return v, dec.Decode(&v)
}

func firstDifference(path string, a, b any) (where string, was, is any) {
	ma, okA := a.(map[string]any)
	mb, okB := b.(map[string]any)
	if !okA || !okB {
		return path, a, b
	}
	keys := slices.AppendSeq(slices.Collect(maps.Keys(ma)), maps.Keys(mb))
	slices.Sort(keys)
	for _, k := range keys {
		if !reflect.DeepEqual(ma[k], mb[k]) {
			return firstDifference(strings.TrimPrefix(path+"."+k, "."), ma[k], mb[k])
		}
	}
	return path, a, b
}

// compact returns a value as JSON, cut to a readable length.
func compact(v any) string {
	if v == nil {
		return "absent"
	}
	js, _ := json.Marshal(v) // it was read from JSON
	if len(js) > 80 {
		return string(js[:77]) + "..."
	}
	return string(js)
}
