package k8s

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dnsLabelMax is the length of a DNS label, which bounds the name of a Job and the host name of its pods, NAME-INDEX.
const dnsLabelMax = 63

var (
	dnsLabelForm   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	labelValueForm = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$`)
	notInNames     = regexp.MustCompile(`[^a-z0-9]+`)
)

// jobName returns the name of the Job of a part: a DNS label that begins with "amtrl", holds what can be kept of the
// run's name for people, and ends with the part's key. The same part always gets the same name, so that a second
// attempt to create the Job meets the first.
func jobName(run, key string, completions int) string {
	room := dnsLabelMax - len("-") - len(strconv.Itoa(completions-1)) - len("amtrl-") - len("-"+key)
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(run), "-"), "-")
	name = strings.TrimRight(name[:max(0, min(room, len(name)))], "-")
	return join("-", "amtrl", name, key)
}

// isDNSLabel reports whether s is a DNS label of RFC 1123, the form of the names of namespaces.
func isDNSLabel(s string) bool { return dnsLabelForm.MatchString(s) }

// isDNSSubdomain reports whether s consists of DNS labels joined by dots, the form of the names of volume claims and queues.
func isDNSSubdomain(s string) bool {
	return len(s) <= 253 && !slices.ContainsFunc(strings.Split(s, "."), func(label string) bool { return !isDNSLabel(label) })
}

// isLabelKey reports whether s can be the key of a label: [PREFIX/]NAME.
func isLabelKey(s string) bool {
	prefix, name, ok := strings.Cut(s, "/")
	if !ok {
		return s != "" && isLabelValue(s)
	}
	return isDNSSubdomain(prefix) && name != "" && isLabelValue(name)
}

func isLabelValue(s string) bool { return labelValueForm.MatchString(s) }
