package k8s

import (
	"strconv"
	"strings"
)

// dnsLabelMax is the length of a DNS label, which bounds the name of a Job and
// the host name of its pods, NAME-INDEX.
const dnsLabelMax = 63

// jobName is the name of the Job of a part: a DNS label that begins with
// "amtrl", holds what can be kept of the run's name for people, and ends with
// the part's key. It is the same each time it is asked for, so that a second
// attempt to create the Job meets the first.
func jobName(run, key string, completions int) string {
	room := dnsLabelMax - len("-") - len(strconv.Itoa(completions-1)) - len("amtrl-") - len("-"+key)
	name := slug(run)
	if len(name) > room {
		name = strings.TrimRight(name[:max(room, 0)], "-")
	}
	if name == "" {
		return "amtrl-" + key
	}
	return "amtrl-" + name + "-" + key
}

// slug keeps the ASCII letters and digits of s in lower case and replaces
// each run of anything else by one hyphen.
func slug(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return b.String()
}

// isDNSLabel says whether s is a DNS label of RFC 1123, the form of the names
// of namespaces.
func isDNSLabel(s string) bool {
	if s == "" || len(s) > dnsLabelMax || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') {
			return false
		}
	}
	return true
}

// isDNSSubdomain says whether s is DNS labels joined by dots, the form of the
// names of volume claims and queues.
func isDNSSubdomain(s string) bool {
	if len(s) > 253 {
		return false
	}
	for _, label := range strings.Split(s, ".") {
		if !isDNSLabel(label) {
			return false
		}
	}
	return true
}

// isLabelKey says whether s can be the key of a label: [PREFIX/]NAME.
func isLabelKey(s string) bool {
	if prefix, name, ok := strings.Cut(s, "/"); ok {
		return isDNSSubdomain(prefix) && name != "" && isLabelValue(name)
	}
	return s != "" && isLabelValue(s)
}

// isLabelValue says whether s can be the value of a label.
func isLabelValue(s string) bool {
	if len(s) > dnsLabelMax {
		return false
	}
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case (r == '-' || r == '_' || r == '.') && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return true
}
