// Command kubecheck reads manifests of batch/v1 Jobs and says what the API server would: it decodes them strictly, sets
// the defaults and runs the API server's own validation, with no server.
//
//	kubecheck FILE...    one verdict per line; exit code 1 where one is refused
//	kubecheck -          JSON strings of YAML in, JSON verdicts out, one per line
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-" {
		if err := stream(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "kubecheck:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: kubecheck FILE... or kubecheck -")
		os.Exit(2)
	}
	code := 0
	for _, name := range os.Args[1:] {
		raw, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "kubecheck:", err)
			os.Exit(1)
		}
		v := check(raw)
		if v.Error != "" {
			code = 1
		}
		fmt.Printf("%s: %s\n", name, cmp.Or(v.Error, "ok"))
		for _, w := range v.Warnings {
			fmt.Printf("%s: warning: %s\n", name, w)
		}
	}
	os.Exit(code)
}

func stream(in io.Reader, out io.Writer) error {
	dec := json.NewDecoder(bufio.NewReader(in))
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	for {
		var manifest string
		if err := dec.Decode(&manifest); errors.Is(err, io.EOF) {
			return w.Flush()
		} else if err != nil {
			return err
		}
		if err := enc.Encode(check([]byte(manifest))); err != nil {
			return err
		}
	}
}
