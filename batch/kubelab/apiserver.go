package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

type apiServer struct {
	kubeconfig string
	client     *kubernetes.Clientset
	failed     chan error
}

func (s *apiServer) config() (*rest.Config, error) {
	c, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return nil, err
	}
	c.QPS, c.Burst = 500, 1000
	return c, nil
}

// startAPIServer starts the API server with etcd at the address store and waits until it answers.
func startAPIServer(ctx context.Context, root, store string) (*apiServer, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	key := filepath.Join(root, "service-account.key")
	if err := writeKey(key); err != nil {
		return nil, err
	}
	token, tokens := rand.Text(), filepath.Join(root, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,1,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	certs := filepath.Join(root, "certs")
	cmd := app.NewAPIServerCommand()
	cmd.SetArgs([]string{
		"--etcd-servers=" + store,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + certs,
		"--token-auth-file=" + tokens,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubelab.local",
		"--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=10.0.0.0/24",
		// No controller makes the default service account.
		"--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none",
	})
	s := &apiServer{kubeconfig: filepath.Join(root, "kubeconfig"), failed: make(chan error, 1)}
	go func() {
		if err := cmd.ExecuteContext(ctx); err != nil && ctx.Err() == nil {
			s.failed <- err
		}
	}()
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://127.0.0.1:%d", certificate-authority: %q}}]
users: [{name: admin, user: {token: %q}}]
contexts: [{name: lab, context: {cluster: lab, user: admin}}]
current-context: lab
`, port, filepath.Join(certs, "apiserver.crt"), token)
	if err := os.WriteFile(s.kubeconfig, []byte(text), 0o600); err != nil {
		return nil, err
	}
	deadline := time.After(time.Minute)
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case err := <-s.failed:
			return nil, err
		case <-deadline:
			return nil, errors.New("not ready after a minute")
		case <-time.After(50 * time.Millisecond):
		}
		if s.answers(ctx) {
			return s, nil
		}
	}
}

// answers reports whether the server is ready and has made its namespaces.
func (s *apiServer) answers(ctx context.Context) bool {
	c, err := s.config()
	if err != nil {
		return false
	}
	if s.client, err = kubernetes.NewForConfig(c); err != nil {
		return false
	}
	if b, err := s.client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err != nil || string(b) != "ok" {
		return false
	}
	_, err = s.client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return err == nil
}

func writeKey(path string) error {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	b, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b}), 0o600)
}
