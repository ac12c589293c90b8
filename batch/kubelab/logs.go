package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (k *kubelet) logPath(namespace, pod string) string {
	return filepath.Join(k.root, "pods", namespace+"_"+pod+".log")
}

// serveLogs serves the logs that the API server asks a kubelet for in kubectl logs, and returns its port.
func (k *kubelet) serveLogs(ctx context.Context) (port int, err error) {
	cert, err := selfSigned()
	if err != nil {
		return 0, err
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		return 0, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.sendLog)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l)
	context.AfterFunc(ctx, func() { server.Close() })
	return l.Addr().(*net.TCPAddr).Port, nil
}

// sendLog sends the log of a pod. With follow=true it goes on until the pod ends.
func (k *kubelet) sendLog(w http.ResponseWriter, r *http.Request) {
	namespace, name := r.PathValue("namespace"), r.PathValue("pod")
	f, err := os.Open(k.logPath(filepath.Base(namespace), filepath.Base(name)))
	if err != nil {
		http.Error(w, "no log", http.StatusNotFound)
		return
	}
	defer f.Close()
	for {
		over := r.URL.Query().Get("follow") != "true" || k.over(r.Context(), namespace, name)
		if _, err := io.Copy(w, f); err != nil || over {
			return
		}
		w.(http.Flusher).Flush()
		time.Sleep(100 * time.Millisecond)
	}
}

func (k *kubelet) over(ctx context.Context, namespace, name string) bool {
	p, err := k.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	return err != nil || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: nodeName}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
