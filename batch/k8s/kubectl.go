package k8s

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/amtrl/amtrl/internal/text"
)

// kubectlPatience bounds one call of kubectl, which makes requests of at most kubectlRequest each. Tests shorten it.
var kubectlPatience = 2 * time.Minute

const (
	kubectlRequest = "30s"
	// kubectlTextMax bounds how much of a message is repeated, in bytes.
	kubectlTextMax = 600
	// kubectlWarningMax is the same for a warning: one of Pod Security lists what each container lacks.
	kubectlWarningMax = 1500
)

type kubectlError struct {
	verb string
	// code is the exit code, -1 if the process did not end by itself.
	code int
	// text is the message of kubectl.
	text string
}

func (e *kubectlError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("kubectl %s ended with exit code %d and said nothing", e.verb, e.code)
	}
	return fmt.Sprintf("kubectl %s: %s", e.verb, e.text)
}

// errNoKubectl is the error of every query of a cluster if kubectl is not installed.
var errNoKubectl = errors.New("kubectl is not in PATH: install it to reach a Kubernetes cluster; --dry-run works without")

// runKubectl runs a command that begins with kubectl and returns its standard output.
func runKubectl(ctx context.Context, stdin []byte, argv []string) ([]byte, error) {
	out, _, err := runKubectlAloud(ctx, stdin, argv)
	return out, err
}

// runKubectlAloud is runKubectl, and also returns the warnings of the server, each once, if the command succeeded.
func runKubectlAloud(ctx context.Context, stdin []byte, argv []string) (out []byte, warnings []string, err error) {
	verb := argv[1+slices.IndexFunc(argv[1:], func(word string) bool { return !strings.HasPrefix(word, "-") })]
	ctx, cancel := context.WithTimeoutCause(ctx, kubectlPatience, &kubectlError{verb, -1, fmt.Sprintf("no answer in %s", kubectlPatience)})
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	// A child of kubectl, such as a login plugin, may hold the pipes open.
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.Bytes(), kubectlWarnings(stderr.String()), nil
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return nil, nil, errNoKubectl
	case errors.As(err, &exit):
		text := kubectlText(stderr.String())
		if exit.ExitCode() < 0 {
			text = strings.TrimSuffix(exit.String()+": "+text, ": ")
		}
		return nil, nil, &kubectlError{verb, exit.ExitCode(), text}
	}
	return nil, nil, &kubectlError{verb, -1, err.Error()}
}

// kubectlWarnings returns what the server warns of, each as one line of bounded length.
func kubectlWarnings(stderr string) []string {
	var list []string
	for line := range strings.Lines(stderr) {
		said, ok := strings.CutPrefix(strings.TrimSpace(line), "Warning: ")
		if said = text.OneLine(said, kubectlWarningMax); ok && said != "" && !slices.Contains(list, said) {
			list = append(list, said)
		}
	}
	return list
}

// klogLine matches a line that kubectl logs besides its message.
var klogLine = regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d`)

// kubectlText returns the message of kubectl as one line of bounded length.
func kubectlText(stderr string) string {
	var lines, logged []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(strings.ToValidUTF8(line, "?"))
		switch {
		case line == "":
		case klogLine.MatchString(line):
			logged = append(logged, line)
		case !slices.Contains(lines, line):
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 && len(logged) > 0 {
		lines = logged[len(logged)-1:]
	}
	text := strings.Join(lines, "; ")
	if len(text) > kubectlTextMax {
		text = strings.ToValidUTF8(text[:kubectlTextMax], "") + "..."
	}
	return text
}

// kubectlRefused reports whether an error means that the server has not made what it was asked to make. After any other
// error nobody can be sure.
func kubectlRefused(err error) bool {
	return errors.Is(err, errNoKubectl) || kubectlSaid(err,
		"(Invalid)", "(BadRequest)", "(Forbidden)", "(Unauthorized)", "(NotFound)", "(MethodNotAllowed)", "(UnsupportedMediaType)",
		" is invalid: ", "error validating", "unable to recognize", "no matches for kind",
		"was refused", "no such host", "dial tcp", "must be logged in", "invalid configuration",
		"does not exist", "denied the request", "error parsing")
}

// kubectlSaid reports whether kubectl ended by itself with an error that contains one of these texts.
func kubectlSaid(err error, texts ...string) bool {
	k, ok := errors.AsType[*kubectlError](err)
	return ok && k.code > 0 && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(k.text, text) })
}

// csvField returns s as the only element of a kubectl flag that takes a list separated by commas.
func csvField(s string) string {
	var out strings.Builder
	csv.NewWriter(&out).WriteAll([][]string{{s}}) // to memory
	return strings.TrimSuffix(out.String(), "\n")
}
